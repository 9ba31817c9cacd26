# Copyright (c) 2026, the wirerate authors
# BSD 2-Clause License (see LICENSE or https://opensource.org/license/bsd-2-clause)
# SPDX-License-Identifier: BSD-2-Clause

"""Bring the binary to the host, then run the task's module with it."""

from __future__ import annotations

import os
import shlex

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.hashing import secure_hash
from hashlib import sha256

MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}

# One question: what the host is, who asks, and the sums of what was brought before.
QUESTION = """uname -sm; id -u; cd {0} 2>/dev/null || exit 0
for f in wirerate-*; do sha256sum "$f" 2>/dev/null || sha256 -r "$f"; done 2>/dev/null; true"""


class ActionModule(ActionBase):
    """Runs the modules of this collection."""

    TRANSFERS_FILES = True

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = dict(self._task.args)
        source = args.pop("binaries", None)
        if not args.get("binary"):
            if not source:
                raise AnsibleActionFail(
                    "binaries is needed: the wirerate of this machine, or the folder that make dist wrote;"
                    " or binary, where it is installed on the hosts"
                )
            args["binary"] = self._bring(source, task_vars)
        result.update(self._execute_module(module_args=args, task_vars=task_vars))
        return result

    def _bring(self, source, task_vars):
        """Return the path on the host of the binary, sent only where its sum is not there yet."""
        folder = "/var/lib/wirerate/bin"
        system, user, sums = self._ask(folder)
        if user != "0":
            folder = self._remote_expand_user("~/.cache/wirerate")
            system, user, sums = self._ask(folder)
        local = self._local(source, system)
        digest = secure_hash(local, sha256)
        name = "wirerate-" + digest[:16]
        path = folder + "/" + name
        if "{0} {1}".format(digest, name) in sums:
            return path
        # What an earlier version left is not needed any more; what runs of it keeps its file.
        quoted = shlex.quote(folder)
        made = self._low_level_execute_command("umask 077; mkdir -p {0} && rm -f {0}/wirerate-*".format(quoted))
        if made["rc"] != 0:
            raise AnsibleActionFail("{0} cannot be written: {1}".format(folder, made["stderr"].strip()))
        task = self._task.copy()
        task.check_mode = False  # the answer in check mode comes from the binary too
        task.args = {"src": local, "dest": path, "mode": "0700"}
        copy = self._shared_loader_obj.action_loader.get(
            "ansible.legacy.copy",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        sent = copy.run(task_vars=task_vars)
        if sent.get("failed"):
            raise AnsibleActionFail("the binary cannot be brought to the host: {0}".format(sent.get("msg")))
        return path

    def _ask(self, folder):
        """Return system and machine, the user's number, and lines of SUM NAME."""
        answer = self._low_level_execute_command(QUESTION.format(shlex.quote(folder)))
        lines = answer["stdout"].splitlines()
        if len(lines) < 2:
            raise AnsibleActionFail("the host does not say what it is: {0}".format(answer["stderr"].strip()))
        return lines[0].strip(), lines[1].strip(), {" ".join(line.replace("*", " ").split()) for line in lines[2:]}

    def _local(self, source, system):
        """Return the binary for a host that said uname -sm."""
        source = self._loader.path_dwim(source)
        if not os.path.isdir(source):
            if not os.path.isfile(source):
                raise AnsibleActionFail("binaries: {0} is not there".format(source))
            return source
        words = system.split()
        machine = MACHINES.get(words[-1])
        local = os.path.join(source, "wirerate-{0}-{1}".format(words[0].lower(), machine))
        if machine is None or not os.path.isfile(local):
            raise AnsibleActionFail(
                "binaries: {0} has none for {1}; make dist builds linux, freebsd and openbsd for amd64 and arm64".format(source, system)
            )
        return local
