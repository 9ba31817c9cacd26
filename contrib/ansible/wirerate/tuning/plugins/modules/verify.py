#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Compare a running host with a plan."""

from __future__ import annotations

DOCUMENTATION = r"""
module: verify
short_description: Compare a running host with a plan
description:
  - Says which settings of a plan differ on the host, and what is not as its changes left it. Nothing is changed.
version_added: 1.0.0
options:
  fail_on_drift:
    description: Fail unless everything is as planned and as it was left.
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
- name: Is it still as planned?
  wirerate.tuning.verify:
    binaries: dist
    plan: "{{ lookup('ansible.builtin.file', 'plan.json') | from_json }}"
    fail_on_drift: true
"""

RETURN = r"""
settings:
  description: The settings that were not as planned, each with C(setting), C(value), C(running) and C(state).
  returned: always
  type: list
  elements: dict
as_planned:
  description: Whether all settings are as planned.
  returned: always
  type: bool
drift:
  description: Settings and files that are not as a change left them.
  returned: always
  type: list
  elements: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    w = Wirerate({"plan": {"type": "dict", "required": True}, "fail_on_drift": {"type": "bool", "default": False}})
    differ, diff = w.compare(w.plan_file())
    drift = w.changes()[1]
    if w.params["fail_on_drift"] and (differ or drift):
        names = [s["setting"] for s in differ] + [d.get("setting") or d.get("file") for d in drift]
        w.module.fail_json(msg="not as planned: " + ", ".join(sorted(set(names))), as_planned=not differ, settings=differ, drift=drift)
    w.module.exit_json(changed=False, as_planned=not differ, settings=differ, drift=drift, diff=diff)


if __name__ == "__main__":
    main()
