"""Programs of any language as child processes: started locked down, watched, ended.

The walls are put up by launch.py in the process that becomes the program. Here is the other side:
what it may read, the one exec it is granted, and its memory and threads, which are looked at from
outside, as a limit on the address space would keep many runtimes from starting.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ladder import errors
from ladder.isolate import grounds
from ladder.isolate.launch import CONTROL, HELD, LISTENS, NUM_HOLDS
from ladder.isolate.lockdown import FILE, RUN, SINK, TREE
from ladder.isolate.nursery import in_lasting_thread
from ladder.isolate.process import FROM_OUTSIDE, ChildProcess, Output
from ladder.isolate.served import is_filtered
from ladder.isolate.syscalls import EXECS
from ladder.isolate.verdict import Limits, LostError

CODE = "import sys; sys.path.insert(0, sys.argv[1]); from ladder.isolate.launch import main; main()"
LAUNCH_S = 30.0  # for the launcher to lock itself down, on a busy machine
LOOK_S = 0.02  # between two looks at its memory
MOST_THREADS = 128
HIGH = 64  # descriptors from here on are in nobody's way
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") >> 10
# Runtimes, their libraries and what these read when they start; nothing of any user's.
SYSTEM = (
    ("/bin", RUN), ("/lib", RUN), ("/lib64", RUN), ("/usr/bin", RUN), ("/usr/lib", RUN),
    ("/usr/lib64", RUN), ("/usr/libexec", RUN), ("/usr/local/bin", RUN), ("/usr/local/lib", RUN),
    ("/usr/share", TREE), ("/etc/ld.so.cache", FILE), ("/etc/localtime", FILE),
    ("/etc/ssl/openssl.cnf", FILE), ("/dev/null", SINK), ("/dev/zero", FILE),
    ("/dev/random", FILE), ("/dev/urandom", FILE),
)  # fmt: skip

# ioctls on the listener of a filter, with struct seccomp_notif (80 bytes) and its response.
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101
NOTIF_CALL = struct.Struct("<QIIi")  # id, process, flags, call number; more follows
NOTIF_BYTES = 80
CONTINUE = 1


@dataclass(frozen=True)
class Call:
    """A program to start."""

    command: tuple[str, ...]
    folder: str  # where it runs, its own files in it
    landlock_abi: int | None  # None: trusted, and so without walls


class ProgramProcess(ChildProcess):
    """A program that was started by us: asked for lines, limited and ended."""

    longest_ms = LOOK_S * 1e3

    def __init__(self, call: Call, limits: Limits, keep: Output) -> None:
        self._limits, self._is_walled = limits, call.landlock_abi is not None
        self._next_look = 0.0
        # Until its exec it shares our memory, and the kernel counts that as its own.
        self._ours_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._seen_kib = 0
        self._ended: tuple[int, int, int] | None = None
        pipes = [os.pipe() for _ in range(3)]
        (stdin, requests), (answers, stdout), (output, stderr) = pipes
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        placed = ((stdin, 0), (stdout, 1), (stderr, 2), (theirs.fileno(), CONTROL))
        try:
            pid = in_lasting_thread(lambda: _spawn(placed))
        finally:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
            theirs.close()
        super().__init__(
            pid, requests=requests, answers=answers, output=output, handle=os.pidfd_open(pid),
            reap=self._wait_for, keep=keep,
        )  # fmt: skip
        self._control.settimeout(LAUNCH_S)
        with suppress(OSError):  # it is gone: `begin` tells
            self._control.send(_boot(call, limits))

    def begin(self) -> str:
        """Let it become the program; gives why it cannot be started, "" if it was.

        Raises: LostError where the walls do not stand.
        """
        try:
            if self._is_walled:
                self._let_pass()
            said = self._control.recv(1024)
        except (OSError, LostError) as error:
            reason = error.detail if isinstance(error, LostError) else str(error)
            self.give_up("infra", f"lock-down failed: {reason}")
        self._control.close()
        self._mark_ns = self._cpu_ns()  # what our launcher used is not its own
        return said.decode("utf-8", "replace")

    def _let_pass(self) -> None:
        """See that the walls stand, and grant one exec. Raises: LostError, OSError."""
        word, files, _, _ = socket.recv_fds(self._control, 1024, 1)
        if word != LISTENS or len(files) != 1:
            raise LostError("infra", word.decode("utf-8", "replace") or "it ended")
        (listener,) = files
        try:
            held = self._control.recv(1024)
            if held != HELD + bytes([1] * NUM_HOLDS) or not is_filtered(self.pid):
                raise LostError("infra", f"the walls do not stand (attested {held.hex()})")
            waiting = select.poll()
            waiting.register(listener, select.POLLIN)
            if not waiting.poll(LAUNCH_S * 1e3):
                raise LostError("infra", "it did not get to start the program")
            question = bytearray(NOTIF_BYTES)
            fcntl.ioctl(listener, NOTIF_RECV, question)
            number, _, _, call = NOTIF_CALL.unpack_from(question)
            if call not in EXECS:
                raise LostError("infra", f"it asked for system call {call}")
            fcntl.ioctl(
                listener, NOTIF_SEND, bytearray(struct.pack("<QqiI", number, 0, 0, CONTINUE))
            )
        finally:
            os.close(listener)

    def watch(self) -> None:
        """Look at its memory and threads now and then. Raises: LostError."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_S
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return  # it has ended
        threads, held_kib = int(fields[17]), int(fields[21]) * PAGE_KIB
        self._seen_kib = max(self._seen_kib, held_kib)
        most_mb = self._limits.memory_mb
        if held_kib > most_mb << 10:
            self.give_up("memory", f"holds {held_kib >> 10} MiB, {most_mb} are allowed")
        if threads > MOST_THREADS:
            self.give_up("memory", f"runs {threads} threads, {MOST_THREADS} are allowed")

    def cause_of(self, status: int, peak_kib: int) -> tuple[str, str]:
        """Why it ended; a burst of memory may have been quicker than our looks."""
        if peak_kib >> 10 > self._limits.memory_mb:
            return "memory", f"held more than the {self._limits.memory_mb} MiB that are allowed"
        if not os.WIFSIGNALED(status):
            return "crash", f"exited with code {os.WEXITSTATUS(status)}"
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        if number in FROM_OUTSIDE and self._is_walled:
            return "infra", f"the program was killed from outside ({name})"
        return "crash", f"killed by {name}"

    def _queued_ms(self) -> float:
        """How long its threads stood in the kernel's queue for a CPU, in all."""
        queued = 0
        with suppress(OSError, ValueError, IndexError):
            for thread in Path(f"/proc/{self.pid}/task").iterdir():
                queued += int((thread / "schedstat").read_text().split()[1])
        return queued / 1e6

    def _wait_for(self, pid: int) -> tuple[int, int, int]:
        """Its wait status, CPU time and most memory; what it started is ended with it."""
        if self._ended is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            _, status, used = os.wait4(pid, 0)
            cpu_us = int((used.ru_utime + used.ru_stime) * 1e6)
            is_its = used.ru_maxrss > self._ours_kib
            self._ended = status, cpu_us, used.ru_maxrss if is_its else self._seen_kib
        return self._ended

    def close(self) -> None:
        """End it, wait for it, and let go of it."""
        super().close()
        self._control.close()
        self._wait_for(self.number)


def _spawn(placed: Sequence[tuple[int, int]]) -> int:
    """Start the launcher; each (ours, its) of `placed` is a descriptor that it gets."""
    ladder = str(Path(errors.__file__).resolve().parents[1])
    words = [os.path.realpath(sys.executable), "-s", "-P", "-B", "-S", "-c", CODE, ladder]
    copies = [(fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, HIGH), its) for ours, its in placed]
    try:
        return os.posix_spawn(
            words[0], words, grounds.WHITELIST, setsid=True, setsigmask=[],
            file_actions=[(os.POSIX_SPAWN_DUP2, copy, its) for copy, its in copies],
        )  # fmt: skip
    finally:
        for copy, _ in copies:
            os.close(copy)


def _boot(call: Call, limits: Limits) -> bytes:
    first = call.command[0]
    path = shutil.which(first) or first
    readable = None
    words = list(call.command)
    environment = grounds.WHITELIST | {"HOME": call.folder}
    if call.landlock_abi is None:
        kept = ("PATH", "HOME", "TMPDIR")
        environment |= {name: os.environ[name] for name in kept if name in os.environ}
    else:
        # By its real name: a runtime looks for its files from there, and where a link stands
        # it could not look.
        path = words[0] = os.path.realpath(path)
        readable = [(call.folder, RUN), (path, RUN), *_beside(Path(path)), *SYSTEM]
    return json.dumps({
        "parent": os.getpid(), "path": path, "command": words, "folder": call.folder,
        "environment": environment, "readable": readable, "abi": call.landlock_abi,
        "memory_mb": limits.memory_mb,
    }).encode()  # fmt: skip


def _beside(program: Path) -> list[tuple[str, str]]:
    """The libraries of a runtime that is installed in a place of its own."""
    libraries = program.parent.parent / "lib"
    return [(str(libraries), TREE)] if program.parent.name == "bin" else []
