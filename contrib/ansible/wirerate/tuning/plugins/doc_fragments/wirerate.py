# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Documentation that the modules share."""

from __future__ import annotations


class ModuleDocFragment:
    """What every module has, and what some have in common."""

    DOCUMENTATION = r"""
options:
  binaries:
    description:
      - On the controller, the C(wirerate) for the hosts, or the folder that C(make dist) writes with one for each
        system and architecture.
      - The fitting one is brought to the host where its SHA-256 sum is not there yet, to C(/var/lib/wirerate/bin),
        or below the home folder of a user who is not root.
    type: path
  binary:
    description:
      - On the host, the C(wirerate) that is installed there. Then nothing is brought.
    type: path
requirements:
  - Python 3.8 or newer and a POSIX shell on the host
author:
  - the wirerate authors (@wirerate)
attributes:
  check_mode:
    description: Can run in check mode and says what would change, without changing it.
  diff_mode:
    description: Returns what has changed, or would change, where C(--diff) is given.
"""

    CHANGE = r"""
options:
  id:
    description: The change, as M(wirerate.tuning.apply) returned it; by default the one that is pending.
    type: str
"""

    PLAN = r"""
options:
  plan:
    description: The plan, as M(wirerate.tuning.plan) returned it or as C(plan.json) holds it.
    type: dict
    required: true
"""

    PLACE = r"""
options:
  path:
    description: The path that the host serves, such as C(rate=10gbit,rtt=30ms).
    type: str
  role:
    description: What the host is for.
    type: str
    choices: [bulk, web, file, router, dns, latency, home]
"""
