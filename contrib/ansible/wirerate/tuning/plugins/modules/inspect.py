#!/usr/bin/python
# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Say what limits a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: inspect
short_description: Say what limits a host
description:
  - Reads a host's facts and finds its ceilings and problems. Nothing is changed.
version_added: 1.0.0
options:
  duration:
    description: Observe the counters for this time, such as C(5s), so that totals become rates.
    type: str
extends_documentation_fragment:
  - wirerate.tuning.wirerate
  - wirerate.tuning.wirerate.place
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Inspect
  wirerate.tuning.inspect:
    binaries: dist
    path: rate=10gbit,rtt=30ms
    role: web
  register: inspected

- name: Keep it for wirerate fleet
  ansible.builtin.copy:
    content: "{{ inspected.inspection | to_json }}"
    dest: "fleet/{{ inventory_hostname }}.json"
    mode: "0600"
  delegate_to: localhost
"""

RETURN = r"""
inspection:
  description: What C(wirerate inspect --json) prints (docs/schema/inspect.json).
  returned: always
  type: dict
problems:
  description: The problems, each with C(problem), C(severity) and C(subject).
  returned: always
  type: list
  elements: dict
ansible_facts:
  description: Facts of the host.
  returned: always
  type: dict
  contains:
    wirerate:
      description: The system, its release and the settings that were read.
      returned: always
      type: dict
"""

from ansible_collections.wirerate.tuning.plugins.module_utils.wirerate import ROLES, Wirerate


def main():
    spec = {"path": {"type": "str"}, "role": {"type": "str", "choices": ROLES}, "duration": {"type": "str"}}
    w = Wirerate(spec)
    words = []
    for option, flag in (("path", "--path"), ("role", "--role"), ("duration", "--for")):
        if w.params[option]:
            words += [flag, w.params[option]]
    found = w.ask("inspect", *words)
    facts = found.get("facts") or {}
    settings = {name: s.get("value") for name, s in (facts.get("settings") or {}).items()}
    kept = {"os": facts.get("os"), "release": facts.get("release"), "settings": settings}
    w.module.exit_json(changed=False, inspection=found, problems=found.get("problems") or [], ansible_facts={"wirerate": kept})


if __name__ == "__main__":
    main()
