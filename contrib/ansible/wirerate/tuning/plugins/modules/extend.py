#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Give a pending change more time."""

from __future__ import annotations

DOCUMENTATION = r"""
module: extend
short_description: Give a pending change more time
description:
  - Restarts the timer of a pending change. Call it repeatedly to observe a change for longer than its timer.
  - When the calls stop, the host takes the change back.
version_added: 1.0.0
options:
  confirm_within:
    description: The time from now after which the host takes back what is not confirmed.
    type: str
    default: 5m
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
- name: It is still watched
  wirerate.tuning.extend:
    binaries: dist
    confirm_within: 10m
"""

RETURN = r"""
id:
  description: The change.
  returned: when there is one
  type: str
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    w = Wirerate({"id": {"type": "str"}, "confirm_within": {"type": "str", "default": "5m"}})
    if w.module.check_mode:
        pending = w.changes("pending")[0]
        w.module.exit_json(changed=False, id=w.params["id"] or (pending[-1]["id"] if pending else None))
    words = [w.params["id"]] if w.params["id"] else []
    extended = w.ask("extend", "--confirm-within", w.params["confirm_within"], *words)
    # Nothing on the host is other than before but the time that is left.
    w.module.exit_json(changed=False, id=extended["id"])


if __name__ == "__main__":
    main()
