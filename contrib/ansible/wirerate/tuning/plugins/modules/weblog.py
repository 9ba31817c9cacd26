#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Count request times of access logs on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: weblog
short_description: Count request times of access logs on a host
description:
  - Reads access logs and counts how long requests took. No line leaves the host; what is saved are counts.
  - The playbook C(wirerate.tuning.weblog) fetches and merges those of many hosts.
version_added: 1.0.0
options:
  path:
    description: The logs; C(*), C(?) and C([...]) stand for what they do in a shell.
    type: list
    elements: str
    required: true
  full:
    description: Count by status, path, size, client and the like, too.
    type: bool
    default: false
  save:
    description: The file on the host for the counts (C(.wrl)), which C(wirerate weblog merge) reads.
    type: path
  options:
    description: More words for the command, such as C(--status) and C(200).
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - wirerate.tuning.wirerate
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Count
  wirerate.tuning.weblog:
    binaries: dist
    path: [/var/log/nginx/access.log*]
    save: /var/lib/wirerate/counts.wrl
"""

RETURN = r"""
report:
  description: What C(wirerate weblog --json) prints (docs/schema/weblog.json).
  returned: always
  type: dict
"""

import glob

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import Wirerate


def main():
    spec = {
        "path": {"type": "list", "elements": "str", "required": True},
        "full": {"type": "bool", "default": False},
        "save": {"type": "path"},
        "options": {"type": "list", "elements": "str", "default": []},
    }
    w = Wirerate(spec)
    files = [name for pattern in w.params["path"] for name in sorted(glob.glob(pattern)) or [pattern]]
    words = files + w.params["options"] + (["--full"] if w.params["full"] else [])
    if w.params["save"] and not w.module.check_mode:
        words += ["--save", w.params["save"]]
    # Some log that cannot be read (2) does not stop the others. The counts are an answer that is kept, no state of the host.
    w.module.exit_json(changed=False, report=w.ask("weblog", *words, bear=(0, 1, 2)))


if __name__ == "__main__":
    main()
