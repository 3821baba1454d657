"""A child process from outside: questions and answers under a deadline, its clock, its end.

Nothing here knows what the bytes mean, so bots in any language can be held by it.
"""

from __future__ import annotations

import math
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from ladder.isolate.protocol import shown
from ladder.isolate.verdict import EXIT_MEMORY, LostError

TAIL_BYTES = 4096
FLOOD = 256  # times the output kept that a child may write in one go
EXIT_WAIT_MS = 100  # a child that closed its pipes has this long to be gone
SETTLE_MS = 5  # waits shorter than this are not looked into
READ_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
F_SETPIPE_SZ = 1031
# A locked-down bot cannot send these, not even to itself.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)

Reap = Callable[[int], tuple[int, int, int]]  # process id -> wait status, CPU us, peak KiB


class Output:
    """What a bot printed, from all its children: the first part, and how much in all."""

    def __init__(self, keep_bytes: int) -> None:
        self.keep_bytes = keep_bytes
        self.head = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take what was printed."""
        self.total += len(chunk)
        self.head += chunk[: self.keep_bytes - len(self.head)]

    def text(self) -> str:
        """As text, with a mark where something was left out."""
        if self.total <= self.keep_bytes:
            return shown(bytes(self.head))
        left_out = self.total - self.keep_bytes
        return shown(bytes(self.head)) + f"\n... {left_out} bytes more\n"


class ChildProcess:
    """One child: two pipes to talk, one for what it prints, a handle to kill it by."""

    longest_ms = math.inf  # between two looks at a child that does not answer

    def __init__(
        self,
        pid: int,
        *,
        requests: int,
        answers: int,
        output: int,
        handle: int,
        reap: Reap,
        keep: Output,
    ) -> None:
        self.number = pid  # as its zygote calls it
        self.pid = _pid_of(handle)  # as we do
        self._requests, self._answers, self._printed = requests, answers, output
        self._handle, self._reap, self.output = handle, reap, keep
        self._clock = (~self.pid << 3) | 2  # CPUCLOCK_SCHED of that process
        self._tail = b""  # of what it printed
        self._unsent = memoryview(b"")
        self._buffer = bytearray()
        self._mark_ns = 0
        self._poll = select.poll()
        for descriptor in (requests, answers, output):
            os.set_blocking(descriptor, False)
        self._poll.register(answers, select.POLLIN)
        self._poll.register(output, select.POLLIN)
        self.is_open = True

    def widen(self) -> None:
        """Give the pipes room for a frame of many rows, where the system lets us."""
        import fcntl

        for descriptor in (self._requests, self._answers):
            with suppress(OSError):
                fcntl.fcntl(descriptor, F_SETPIPE_SZ, PIPE_BYTES)

    def cpu_ms(self) -> float:
        """CPU time used since the last answer was taken, in between included."""
        return (self._cpu_ns() - self._mark_ns) / 1e6

    def _cpu_ns(self) -> int:
        try:
            return time.clock_gettime_ns(self._clock)
        except OSError:  # gone: what it used up is known when it is reaped
            return self._mark_ns

    def send(self, question: bytes) -> None:
        """Begin a question; what the pipe has no room for goes while we wait for the answer."""
        self._unsent = memoryview(question)
        self._push()

    def _push(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._requests, self._unsent) :]
        except BlockingIOError:
            self._poll.register(self._requests, select.POLLOUT)
            return
        except OSError:  # it closed its end: the answers' end tells us more
            self._unsent = memoryview(b"")
        with suppress(KeyError):
            self._poll.unregister(self._requests)

    def take(
        self, size_of: Callable[[bytearray], int], *, cpu_ms: float, wall_ms: float
    ) -> tuple[bytes, float]:
        """The answer, and the CPU time it took in ms.

        `size_of` gives the number of bytes of the answer that begins the buffer, 0 while it cannot
        be told. Raises: LostError, and the child is gone then.
        """
        try:
            size = self._wait(size_of, cpu_ms, wall_ms)
        except LostError:
            self.close()
            raise
        used = self.cpu_ms()
        if used > cpu_ms:
            self.give_up("timeout_cpu", f"took {used:.1f} ms of CPU time, {cpu_ms:g} allowed")
        self._mark_ns += int(used * 1e6)
        answer = bytes(self._buffer[:size])
        del self._buffer[:size]
        return answer, used

    def _wait(self, size_of: Callable[[bytearray], int], cpu_ms: float, wall_ms: float) -> int:
        start = time.monotonic()
        queued_ms: float | None = None  # for want of a CPU, at the first look
        flood = self.output.total + FLOOD * self.output.keep_bytes
        wait_ms: float = SETTLE_MS
        while True:
            ready = dict(self._poll.poll(wait_ms))
            self.watch()
            # What it printed it printed before it answered: read that before the wait ends.
            if self._printed in ready:
                self._drain()
            if self._requests in ready:
                self._push()
            if self._answers in ready:
                if not self._read(ready[self._answers]):
                    raise self._died()
                size = size_of(self._buffer)
                if 0 < size <= len(self._buffer) and not self._unsent:
                    return size
            if self.output.total > flood:
                kept = self.output.keep_bytes
                self.give_up("output", f"printed more than {FLOOD * kept} bytes in one go")
            used = self.cpu_ms()
            if used > cpu_ms:
                self.give_up("timeout_cpu", f"took {used:.1f} ms of CPU time, {cpu_ms:g} allowed")
            elapsed = (time.monotonic() - start) * 1e3
            if elapsed > SETTLE_MS and queued_ms is None:
                queued_ms = self._queued_ms()
            if elapsed > wall_ms and not ready:
                queued = self._queued_ms() - (queued_ms or 0.0)
                if elapsed - queued > wall_ms:
                    self.give_up(
                        "timeout_wall",
                        f"no answer after {elapsed:.0f} ms, {wall_ms:g} allowed; it used"
                        f" {used:.1f} ms of CPU time and waited {queued:.0f} ms for a CPU",
                    )
            left_ms = min(cpu_ms - used, wall_ms - elapsed, self.longest_ms)
            wait_ms = max(1.0, left_ms) if queued_ms is not None else SETTLE_MS

    def watch(self) -> None:
        """Look at what else is limited; called at every turn of waiting. Raises: LostError."""

    def has_more(self) -> bool:
        """Whether there is more from the child than was taken."""
        if not self._buffer and dict(self._poll.poll(0)).get(self._answers):
            self._read(0)
        return bool(self._buffer)

    def _read(self, events: int) -> bool:
        """Read what is there; False at the end, or where the child is past answering."""
        try:
            chunk = os.read(self._answers, READ_BYTES)
        except BlockingIOError:
            return not events & select.POLLHUP
        self._buffer += chunk
        return bool(chunk)

    def _drain(self) -> None:
        try:
            chunk = os.read(self._printed, READ_BYTES)
        except BlockingIOError:
            return
        if chunk:
            self._heard(chunk)
        else:
            with suppress(KeyError):
                self._poll.unregister(self._printed)

    def _heard(self, chunk: bytes) -> None:
        self.output.add(chunk)
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]

    def _queued_ms(self) -> float:
        """How long the child stood in the kernel's queue for a CPU, in all."""
        try:
            return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[1]) / 1e6
        except (OSError, ValueError, IndexError):
            return 0.0

    def _died(self) -> LostError:
        """Why the answers ended."""
        gone = select.poll()
        gone.register(self._handle, select.POLLIN)
        if not gone.poll(EXIT_WAIT_MS):
            self.kill()
            return LostError("crash", "closed its answer pipe", self._last_words())
        status, cpu_us, peak_kib = self._reap(self.number)
        cause, detail = self.cause_of(status, peak_kib)
        detail += f" (CPU {cpu_us / 1e3:.0f} ms, at most {peak_kib >> 10} MiB resident)"
        return LostError(cause, detail, self._last_words())

    def cause_of(self, status: int, peak_kib: int) -> tuple[str, str]:
        """Why a child ended, from its wait status and the most memory it held."""
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            name = signal.Signals(number).name
            if number in FROM_OUTSIDE:
                return "infra", f"the child was killed from outside ({name})"
            return "crash", f"killed by {name}"
        code = os.WEXITSTATUS(status)
        if code == EXIT_MEMORY:
            return "memory", "no memory left"
        return "crash", f"exited with code {code}"

    def _last_words(self) -> str:
        with suppress(OSError):
            while chunk := os.read(self._printed, READ_BYTES):
                self._heard(chunk)
                if self.output.total > FLOOD * self.output.keep_bytes:
                    break
        return shown(self._tail)[-TAIL_BYTES:]

    def give_up(self, cause: str, detail: str) -> NoReturn:
        """Kill the child for what it did. Raises: LostError."""
        self.kill()
        lost = LostError(cause, detail, self._last_words())
        self.close()
        raise lost

    def refuse(self, detail: str) -> NoReturn:
        """Give the child up for what it sent. Raises: LostError."""
        self.give_up("protocol", detail)

    def kill(self) -> None:
        """SIGKILL, at once."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def close(self) -> None:
        """Kill the child and let go of it; what it printed so far is kept."""
        if not self.is_open:
            return
        self.is_open = False
        self.kill()
        self._last_words()
        for descriptor in (self._requests, self._answers, self._printed, self._handle):
            os.close(descriptor)


def _pid_of(handle: int) -> int:
    """The process id behind a handle, in our own namespace."""
    for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pid" and int(value) > 0:
            return int(value)
    raise LostError("infra", "a child was gone before it could be looked at")
