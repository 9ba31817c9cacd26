#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Plan a host's settings for its path and role."""

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Plan a host's settings for its path and role
description:
  - Computes what this host needs, each setting with its reason. Nothing is changed.
version_added: 1.0.0
options:
  path:
    required: true
  role:
    required: true
  harden:
    description: Add the settings whose purpose is security.
    type: bool
    default: false
extends_documentation_fragment:
  - wirerate.tuning.wirerate
  - wirerate.tuning.wirerate.place
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Plan
  wirerate.tuning.plan:
    binaries: dist
    path: rate=10gbit,rtt=30ms
    role: web
  register: planned
"""

RETURN = r"""
plan:
  description: The plan (docs/schema/plan.json), for M(wirerate.tuning.apply) and M(wirerate.tuning.verify).
  returned: always
  type: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import ROLES, Wirerate


def main():
    spec = {
        "path": {"type": "str", "required": True},
        "role": {"type": "str", "choices": ROLES, "required": True},
        "harden": {"type": "bool", "default": False},
    }
    w = Wirerate(spec)
    plan = w.ask("plan", "--path", w.params["path"], "--role", w.params["role"], *(["--harden"] if w.params["harden"] else []))
    changes = plan.get("changes") or []

    def lines(key):
        return "".join("{0} = {1}\n".format(c["setting"], c.get(key, "")) for c in changes)

    diff = {"before": lines("running"), "after": lines("value")}
    w.module.exit_json(changed=False, plan=plan, diff=diff)


if __name__ == "__main__":
    main()
