#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Judge configuration files on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lint
short_description: Judge configuration files on a host
description:
  - Finds lines that do not exist any more, do nothing, or harm. Nothing is changed.
version_added: 1.0.0
options:
  path:
    description: The files on the host, such as C(/etc/sysctl.conf).
    type: list
    elements: path
    required: true
  fail_on:
    description: Fail when there are problems of this severity or above.
    type: str
    choices: [never, info, warning, error]
    default: never
extends_documentation_fragment:
  - wirerate.tuning.wirerate
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Judge what is there
  wirerate.tuning.lint:
    binaries: dist
    path: [/etc/sysctl.conf]
    fail_on: error
"""

RETURN = r"""
lint:
  description: What C(wirerate lint --json) prints (docs/schema/lint.json).
  returned: always
  type: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    spec = {
        "path": {"type": "list", "elements": "path", "required": True},
        "fail_on": {"type": "str", "choices": ["never", "info", "warning", "error"], "default": "never"},
    }
    w = Wirerate(spec)
    found = w.ask("lint", "--fail-on", "never", *w.params["path"])
    order = ["info", "warning", "error"]
    problems = found.get("problems") or []
    worst = max([order.index(p["severity"]) for p in problems if p["severity"] in order], default=-1)
    if w.params["fail_on"] != "never" and worst >= order.index(w.params["fail_on"]):
        w.module.fail_json(msg="there are problems of severity {0}".format(order[worst]), lint=found)
    w.module.exit_json(changed=False, lint=found)


if __name__ == "__main__":
    main()
