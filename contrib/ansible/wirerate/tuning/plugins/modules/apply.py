#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Put a plan in place, under a timer."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Put a plan in place, under a timer
description:
  - Writes a plan's settings on the running host, under a journal.
  - The host takes them back by itself unless M(wirerate.tuning.confirm) comes in time; no configuration file is written before.
  - Does nothing where all settings are as planned and a change of this host keeps them.
  - Confirm only after the host was reached on a new connection (a task C(meta) with C(reset_connection)).
version_added: 1.0.0
options:
  confirm_within:
    description: The time after which the host takes back what is not confirmed, from C(1s) to C(24h).
    type: str
    default: 5m
  runtime_only:
    description: Write no files when confirmed, so that the values stay until the next boot only.
    type: bool
    default: false
  skip_absent:
    description: Leave out settings that the host does not have.
    type: bool
    default: false
  only:
    description: Settings of the plan that are applied; others are left out.
    type: list
    elements: str
  except:
    description: Settings of the plan that are left out.
    type: list
    elements: str
  anyway:
    description: Apply even if values have changed since the plan was made.
    type: bool
    default: false
extends_documentation_fragment:
  - wirerate.tuning.wirerate
  - wirerate.tuning.wirerate.plan
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Put it in place
  wirerate.tuning.apply:
    binaries: dist
    plan: "{{ planned.plan }}"
    confirm_within: 2m
  register: applied

- name: The next task comes over a new connection
  ansible.builtin.meta: reset_connection

- name: It is reached, so keep it
  wirerate.tuning.confirm:
    binaries: dist
"""

RETURN = r"""
id:
  description: The change that waits to be confirmed.
  returned: when there is one
  type: str
pending:
  description: Whether a change waits to be confirmed.
  returned: always
  type: bool
applied:
  description: What C(wirerate apply --json) prints (docs/schema/apply.json).
  returned: when it was applied
  type: dict
settings:
  description: The settings that were not as planned, each with C(setting), C(value), C(running) and C(state).
  returned: always
  type: list
  elements: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    spec = {
        "plan": {"type": "dict", "required": True},
        "confirm_within": {"type": "str", "default": "5m"},
        "runtime_only": {"type": "bool", "default": False},
        "skip_absent": {"type": "bool", "default": False},
        "only": {"type": "list", "elements": "str"},
        "except": {"type": "list", "elements": "str"},
        "anyway": {"type": "bool", "default": False},
    }
    w = Wirerate(spec)
    plan = w.plan_file()
    differ, diff = w.compare(plan)
    left_out = set(w.params["except"] or [])
    only = set(w.params["only"] or [])
    differ = [s for s in differ if s["setting"] not in left_out and (not only or s["setting"] in only)]
    open_now = [s for s in differ if s["state"] == "differs" or s["state"] == "unknown" and not w.params["skip_absent"]]
    kept, drift = w.changes("pending", "confirming", "confirmed")
    if kept and not open_now and not drift:
        # A change that is confirmed may be another one, which nobody is to take back in place of this.
        pending = kept[-1]["state"] == "pending"
        w.module.exit_json(changed=False, id=kept[-1]["id"] if pending else None, pending=pending, settings=differ)
    if w.module.check_mode:
        w.module.exit_json(changed=True, pending=False, settings=differ, diff=diff)
    words = ["--confirm-within", w.params["confirm_within"]]
    for option in ("runtime_only", "skip_absent", "anyway"):
        if w.params[option]:
            words.append("--" + option.replace("_", "-"))
    for option in ("only", "except"):
        for name in w.params[option] or []:
            words += ["--" + option, name]
    applied = w.ask("apply", plan, *words)
    w.module.exit_json(changed=True, id=applied["id"], pending=True, applied=applied, settings=differ, diff=diff)


if __name__ == "__main__":
    main()
