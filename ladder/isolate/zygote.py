"""The zygote: a clean interpreter that forks locked-down children, and never loads a bot.

It is exec'd with a whitelisted environment, imports what every child needs, and then does what we
say on its control socket. No byte of a bot passes through it (children get theirs from us, down
their own pipe), so one zygote serves every bot of this process and none finds another's source
in the memory it inherits.

Control messages, each answered before the next: SPAWN n -> n times (pid or -errno, with four file
descriptors); REAP pid -> its wait status, CPU time and peak memory; KILL pid -> nothing.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import signal
import socket
import struct
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

MESSAGE = struct.Struct("<cIQ")  # what, a count or process id, bytes of memory
SPAWNED = struct.Struct("<i")
REAPED = struct.Struct("<iQQ")  # wait status, CPU microseconds, peak KiB
UP, SPAWN, REAP, KILL = b"U", b"S", b"R", b"K"
REAP_WAIT_S = 5.0
HIGH = 200


def main(control_fd: int, parent: int) -> None:
    """Serve until the control socket closes."""
    from ladder.isolate import lockdown
    from ladder.isolate.syscalls import seccomp_program

    if parent:  # 0: something stands between us that dies with our parent (bubblewrap)
        lockdown.die_with_parent(parent)
    boot: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    with suppress(OSError):  # where the machine's memory runs out, a bot goes first
        Path("/proc/self/oom_score_adj").write_text("1000")
    if boot["core"] is not None:
        os.sched_setaffinity(0, {boot["core"]})
    os.environ.update(boot["settings"])
    for name in boot["preload"]:
        module, _, function = name.partition(":")
        prepared = import_module(module)
        if function:
            getattr(prepared, function)()
    for name in boot["settings"]:
        del os.environ[name]
    sys.path[:] = boot["child_path"]
    sys.path_importer_cache.clear()
    made = lockdown.make_ruleset([tuple(each) for each in boot["readable"]], boot["abi"])
    ruleset = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, HIGH)  # clear of a child's descriptors
    os.close(made)
    seccomp_program(0)  # built once, here
    gc.collect()
    gc.freeze()  # children touch, and so copy, less of our memory
    gc.disable()
    control = socket.socket(fileno=control_fd)
    control.send(UP)
    _Zygote(control, ruleset, boot["uid"]).serve()


class _Zygote:
    def __init__(self, control: socket.socket, ruleset: int, uid: int | None) -> None:
        self._control, self._ruleset, self._uid = control, ruleset, uid
        self._children: set[int] = set()
        self._nothing, end = os.pipe()  # the children's standard input: at its end already
        os.close(end)

    def serve(self) -> None:
        """Answer messages; at the end of them no child is left."""
        try:
            while message := self._control.recv(MESSAGE.size):
                what, number, value = MESSAGE.unpack(message)
                if what == SPAWN:
                    for _ in range(number):
                        self._spawn(value)
                elif what == REAP:
                    self._control.send(REAPED.pack(*self._reap(number)))
                elif what == KILL:
                    self._kill(number)
        finally:
            for pid in tuple(self._children):
                self._kill(pid)

    def _spawn(self, memory_bytes: int) -> None:
        from ladder.isolate import child
        from ladder.isolate.lockdown import Walls

        requests, our_requests = os.pipe()
        our_answers, answers = os.pipe()
        our_output, output = os.pipe()
        zygote = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                walls = Walls(self._ruleset, zygote, memory_bytes, self._uid)
                child.run(
                    walls,
                    stdin=self._nothing,
                    output=output,
                    requests=requests,
                    answers=answers,
                )
            except BaseException:  # noqa: BLE001 - told in the output we keep
                with suppress(BaseException):
                    os.write(2, traceback.format_exc().encode("utf-8", "replace")[-4000:])
            finally:
                os._exit(70)
        self._children.add(pid)
        handle = os.pidfd_open(pid)
        ours = [our_requests, our_answers, our_output, handle]
        socket.send_fds(self._control, [SPAWNED.pack(pid)], ours)
        for descriptor in (*ours, requests, answers, output):
            os.close(descriptor)

    def _reap(self, pid: int) -> tuple[int, int, int]:
        """Wait for a child that is dead or dying; one that is neither is killed."""
        if pid not in self._children:
            return 0, 0, 0
        end = time.monotonic() + REAP_WAIT_S
        while True:
            found, status, used = os.wait4(pid, os.WNOHANG)
            if found:
                break
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.0005)
        self._children.discard(pid)
        return status, int((used.ru_utime + used.ru_stime) * 1e6), used.ru_maxrss

    def _kill(self, pid: int) -> None:
        if pid in self._children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self._children.discard(pid)
