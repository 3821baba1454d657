"""Becomes a program: locks itself down as a child process, and then executes the program's file.

Runs in an interpreter of its own, started for one program. The walls are those of Python bots,
but wider (syscalls.py), and a third stands beside them: a filter that asks its listener, which is
Ladder, about every exec. Ladder lets the first one pass and then hangs up; from then on the kernel
refuses every exec, as there is nobody to ask.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from ladder.isolate import lockdown
from ladder.isolate.syscalls import exec_notifier, seccomp_program

NEW_LISTENER = 8  # SECCOMP_FILTER_FLAG_NEW_LISTENER
LISTENS, HELD = b"L", b"H"
CONTROL = 3  # our end of the socket to Ladder
EXIT_NOT_STARTED = 78
MAX_OPEN_FILES = 256
HEAP_MB = 1024  # of memory it may ask for beyond what it may hold: a bound for a sudden burst
NUM_HOLDS = len(lockdown.TRIALS) + 1


def main() -> None:
    """Read what to become from the control socket, and become it."""
    control = socket.socket(fileno=CONTROL)
    os.closerange(CONTROL + 1, 1 << 16)
    control.set_inheritable(False)
    boot: dict[str, Any] = json.loads(control.recv(1 << 20))
    try:
        lockdown.die_with_parent(boot["parent"])
        os.chdir(boot["folder"])
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if boot["readable"] is not None:
            _lock(control, boot)
        os.execve(boot["path"], boot["command"], boot["environment"])
    except OSError as error:  # no other call may be left to us than this
        os.write(CONTROL, (error.strerror or str(error)).encode()[:500])
    finally:
        os._exit(EXIT_NOT_STARTED)


def _lock(control: socket.socket, boot: dict[str, Any]) -> None:
    with suppress(OSError):  # where the machine's memory runs out, a bot goes first
        Path("/proc/self/oom_score_adj").write_text("1000")
    ruleset = lockdown.make_ruleset([tuple(each) for each in boot["readable"]], boot["abi"])
    lockdown.drop_capabilities()
    limits = _limits(boot["memory_mb"])
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    lockdown.forbid_new_privileges()
    lockdown.restrict_files(ruleset)
    listener = lockdown.add_filter(exec_notifier(), NEW_LISTENER)
    socket.send_fds(control, [LISTENS], [listener])
    os.close(listener)
    lockdown.add_filter(seccomp_program(os.getpid(), is_program=True))
    held = [lockdown.is_refused(trial) for trial in lockdown.TRIALS]
    held.append(all(resource.getrlimit(each) == (value, value) for each, value in limits.items()))
    os.write(CONTROL, HELD + bytes(held))


def _limits(memory_mb: int) -> dict[int, int]:
    """Not RLIMIT_AS: runtimes reserve room that they never use. Not RLIMIT_NPROC: it counts all
    processes of a user, and does not bind root; the filter has no fork."""
    return {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_DATA: (memory_mb + HEAP_MB) << 20,
    }
