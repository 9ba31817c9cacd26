#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Make a pending change permanent."""

from __future__ import annotations

DOCUMENTATION = r"""
module: confirm
short_description: Make a pending change permanent
description:
  - Stops the timer of a change and writes its configuration files. Does nothing where the change is confirmed already, or where none is pending.
  - Fails where somebody else changed a value meanwhile, or the host has taken the change back.
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
- name: Keep it
  wirerate.tuning.confirm:
    binaries: dist
    id: "{{ applied.id }}"
"""

RETURN = r"""
id:
  description: The change.
  returned: when there is one
  type: str
confirmed:
  description: What C(wirerate confirm --json) prints (docs/schema/confirm.json).
  returned: when it was confirmed now
  type: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    w = Wirerate({"id": {"type": "str"}})
    changes = w.named(w.changes("pending", "confirming", "confirmed", "rolled-back")[0])
    if w.params["id"] and changes[-1]["state"] == "rolled-back":
        w.module.fail_json(msg="change {0} is rolled back: its timer ran out, or somebody took it back".format(w.params["id"]))
    waiting = [c for c in changes if c["state"] in ("pending", "confirming")]
    if not waiting:
        w.module.exit_json(changed=False, id=w.params["id"])
    if w.module.check_mode:
        w.module.exit_json(changed=True, id=waiting[-1]["id"])
    confirmed = w.ask("confirm", waiting[-1]["id"])
    if not confirmed["confirmed"]:
        said = "change {0} is not confirmed, as somebody else changed something: {1}"
        w.module.fail_json(msg=said.format(confirmed["id"], "; ".join(confirmed["foreign"])), confirmed=confirmed)
    w.module.exit_json(changed=True, id=confirmed["id"], confirmed=confirmed)


if __name__ == "__main__":
    main()
