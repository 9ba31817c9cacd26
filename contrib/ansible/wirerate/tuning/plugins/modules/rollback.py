#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Take a change back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollback
short_description: Take a change back
description:
  - Restores what a change replaced, files included. Does nothing where it is rolled back already, or where none is pending.
  - Values that somebody else changed meanwhile are left and named.
version_added: 1.0.0
extends_documentation_fragment:
  - wirerate.tuning.wirerate
  - wirerate.tuning.wirerate.change
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Take it back
  wirerate.tuning.rollback:
    binaries: dist
"""

RETURN = r"""
id:
  description: The change.
  returned: when there is one
  type: str
rolled_back:
  description: What C(wirerate rollback --json) prints (docs/schema/rollback.json).
  returned: when it was taken back now
  type: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    w = Wirerate({"id": {"type": "str"}})
    changes = w.named(w.changes("pending", "confirming", "confirmed", "rolled-back", "damaged")[0])
    left_alone = ("rolled-back",) if w.params["id"] else ("rolled-back", "confirmed")
    todo = [c for c in changes if c["state"] not in left_alone]
    if not todo:
        w.module.exit_json(changed=False, id=w.params["id"])
    if w.module.check_mode:
        w.module.exit_json(changed=True, id=todo[-1]["id"])
    report = w.ask("rollback", todo[-1]["id"])
    for left in report["foreign"] + report["kept"]:
        w.module.warn(left)
    w.module.exit_json(changed=True, id=todo[-1]["id"], rolled_back=report)


if __name__ == "__main__":
    main()
