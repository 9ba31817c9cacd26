# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Runs wirerate on the host and understands its answers."""

from __future__ import annotations

import json
import os

from ansible.module_utils.basic import AnsibleModule

COMMON = {"binary": {"type": "path"}, "binaries": {"type": "path"}}

ROLES = ["bulk", "web", "file", "router", "dns", "latency", "home"]

# What the exit statuses say (docs/ARCHITECTURE.md of wirerate).
REASONS = {2: "input", 3: "missing", 4: "failure"}


class Wirerate:
    """One run of a module."""

    def __init__(self, spec, supports_check_mode=True):
        self.module = AnsibleModule(argument_spec=dict(COMMON, **spec), supports_check_mode=supports_check_mode)
        self.params = self.module.params
        if not self.params["binary"]:
            self.module.fail_json(msg="binary is needed where the module runs by itself")

    def ask(self, verb, *words, bear=(0, 1)):
        """Return the JSON of a verb; a negative answer (status 1) is one too. What else is borne is a warning."""
        command = [self.params["binary"], verb] + [str(w) for w in words] + ["--json"]
        status, out, err = self.module.run_command(command)
        answer = None
        if status in bear:
            try:
                answer = json.loads(out)
            except ValueError:
                pass
        if answer is None:
            said = err.strip() or out.strip() or "it said nothing"
            self.module.fail_json(msg=said, rc=status, reason=REASONS.get(status, "failure"), cmd=command)
        if status > 1:
            self.module.warn(err.strip())
        return answer

    def plan_file(self):
        """Write the task's plan where the binary can read it; return the file."""
        name = os.path.join(self.module.tmpdir, "plan.json")
        with open(name, "w", encoding="utf-8") as f:
            json.dump(self.params["plan"], f)
        return name

    def compare(self, plan):
        """Return the settings of a plan that are not as planned, and how they differ for --diff."""
        settings = [s for s in self.ask("verify", plan)["settings"] if s["state"] != "as-planned"]

        def lines(key):
            return "".join("{0} = {1}\n".format(s["setting"], s[key] or "?") for s in settings)

        return settings, {"before": lines("running"), "after": lines("value")}

    def changes(self, *states):
        """Return the host's changes that are in one of the states, and its drift."""
        status = self.ask("status")
        return [c for c in status["changes"] if c["state"] in states], status["drift"]

    def named(self, changes):
        """Return the changes that the task's id names, which must be one the host knows; all of them without an id."""
        if not self.params["id"]:
            return changes
        found = [c for c in changes if c["id"] == self.params["id"]]
        if not found:
            self.module.fail_json(msg="the host knows no change {0}".format(self.params["id"]))
        return found
