"""Plays with bots that are programs, by JSON lines (docs/programs.md), as a player of the driver.

Decisions are sent ahead and answered in order, so the one a program works at is the first without
an answer: if the program dies, hangs or grows there, that decision is convicted and no other. The
program is then started anew, told again what the other matches had seen so far, and goes on.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ladder.driver import Ints
from ladder.games import Game
from ladder.record import Fault

PROTOCOL = 1
MOST_LINE = 65_536  # bytes of an answer
STDERR_KEPT = 4096
POLL_S = 0.05


@dataclass(frozen=True)
class ProgramLimits:
    """What a program may take; wall-clock times, so they are generous."""

    start_s: float = 10.0
    decision_s: float = 5.0
    memory_mb: int = 1024  # resident, all of the process


@dataclass(eq=False)
class _Question:
    """A decision that was asked for."""

    match: int
    line: bytes
    answer: Any = None
    is_answered: bool = False


@dataclass
class _Match:
    """One seat's match: what the program has seen of it, to tell it again."""

    number: int
    lines: list[bytes] = field(default_factory=list)
    fault: Fault | None = None  # that ended the program's part in it


class ForeignPlayer:
    """A program as one bot version in one chunk."""

    lanes = 256  # matches side by side: what is told again after a death grows with them

    def __init__(
        self,
        game: Game,
        command: Sequence[str],
        folder: str,
        params: dict[str, Any],
        limits: ProgramLimits | None = None,
    ) -> None:
        self._again = (game, command, folder, params, limits)
        self._game, self._limits = game, limits or ProgramLimits()
        self._command, self._folder, self._params = list(command), folder, params
        self._names = list(game.view.attributes())
        self._matches: dict[int, _Match] = {}
        self._started = 0
        self._posts: deque[list[_Question]] = deque()
        self._open: deque[_Question] = deque()  # sent or to be sent, not answered, oldest first
        self._process: _Process | None = None
        self._failed: Fault | None = None  # the program does not start

    def note(self, sign: str, line: bytes) -> None:
        """A line is sent (>) or has come (<); for those who want to see them."""

    def _send(self, line: bytes) -> None:
        assert self._process is not None
        self.note(">", line)
        self._process.send(line)

    def _receive(self, seconds: float) -> bytes:
        assert self._process is not None
        line = self._process.receive(seconds, self._limits.memory_mb)
        self.note("<", line)
        return line

    def start(self, keys: Sequence[int]) -> None:
        """Tell of new matches, each under a number of its own."""
        for key in keys:
            self._started += 1
            self._matches[key] = _Match(self._started, [_line({"start": self._started})])
            if self._process is not None:
                self._send(self._matches[key].lines[0])

    def post(self, kind: int, keys: Sequence[int], rows: Ints) -> None:
        """Send questions ahead."""
        questions = []
        process = self._running()
        method = self._game.decisions[kind]
        for key, row in zip(keys, rows.tolist(), strict=True):
            match = self._matches[key]
            view = self._game.view(row)
            shown = {name: getattr(view, name) for name in self._names}
            line = _line({"decide": method, "match": match.number, "view": shown})
            question = _Question(match.number, line)
            fault = match.fault or self._failed
            if fault is not None or process is None:
                question.answer, question.is_answered = fault, True
            else:
                match.lines.append(line)
                self._open.append(question)
                self._send(line)
            questions.append(question)
        self._posts.append(questions)

    def collect(self) -> list[Any]:
        """The answers to the oldest post."""
        questions = self._posts.popleft()
        while not all(question.is_answered for question in questions):
            self._step()
        return [question.answer for question in questions]

    def finish(self, keys: Sequence[int]) -> None:
        """Forget matches that are over."""
        for key in keys:
            self._matches.pop(key, None)

    def fresh(self) -> ForeignPlayer:
        """The same program, not started yet."""
        return ForeignPlayer(*self._again)

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.end()
            self._process = None
        self._matches.clear()

    def _running(self) -> _Process | None:
        """The program, started if it is not; None where it does not start."""
        if self._process is None and self._failed is None:
            greeting = {
                "protocol": PROTOCOL, "game": self._game.name,
                "decisions": list(self._game.decisions.values()), "params": self._params,
            }  # fmt: skip
            try:
                self._process = _Process(self._command, self._folder)
                self._send(_line(greeting))
                self._greeted()
            except _TroubleError as trouble:
                self._failed = self._ended("init_failed", f"{trouble.fault.cause}: {trouble}")
                return None
            for match in self._matches.values():
                self._send(match.lines[0])
        return self._process

    def _greeted(self) -> None:
        line = self._receive(self._limits.start_s)
        try:
            is_right = json.loads(line)["protocol"] == PROTOCOL
        except (ValueError, TypeError, KeyError, RecursionError):
            is_right = False
        if not is_right:
            wanted = _line({"protocol": PROTOCOL}).decode().strip()
            raise _TroubleError(
                "protocol", f"answered {_shown(line)} to the greeting, not {wanted}"
            )

    def _step(self) -> None:
        """Receive one answer, or convict the decision that it does not come to."""
        assert self._process is not None
        question = self._open[0]
        try:
            line = self._receive(self._limits.decision_s)
            answer = _read_answer(line)
        except _TroubleError as trouble:
            self._convict(question, trouble)
            return
        self._open.popleft()
        question.answer, question.is_answered = answer, True

    def _convict(self, question: _Question, trouble: _TroubleError) -> None:
        fault = self._ended(trouble.fault.cause, str(trouble))
        for match in self._matches.values():
            if match.number == question.match:
                match.fault = fault
                match.lines = match.lines[:1]
        for other in [q for q in self._open if q.match == question.match]:
            other.answer, other.is_answered = fault, True
            self._open.remove(other)
        if self._running() is None:
            for other in self._open:
                other.answer, other.is_answered = self._failed, True
            self._open.clear()
            return
        self._tell_again()

    def _tell_again(self) -> None:
        """Bring a new program to where the old one was; its answers are known already."""
        assert self._process is not None
        waiting = {id(q.line) for q in self._open}
        for match in self._matches.values():
            for line in match.lines[1:]:
                if id(line) in waiting:
                    continue
                self._send(line)
                try:
                    self._receive(self._limits.decision_s)
                except _TroubleError as trouble:
                    match.fault = self._ended(
                        "nondeterministic",
                        f"answered this before, and now: {trouble.fault.cause}: {trouble}",
                    )
                    match.lines = match.lines[:1]
                    for other in [q for q in self._open if q.match == match.number]:
                        other.answer, other.is_answered = match.fault, True
                        self._open.remove(other)
                    if self._running() is not None:
                        self._tell_again()
                    return
        for question in self._open:
            self._send(question.line)

    def _ended(self, cause: str, detail: str) -> Fault:
        """Put the program away, with the last that it wrote to standard error."""
        said = ""
        if self._process is not None:
            said = self._process.end()
            self._process = None
        return Fault(cause, detail[:500], said)


class _TroubleError(Exception):
    """What a program did instead of answering."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(cause, detail)


class _Process:
    """One process: lines to it and from it."""

    def __init__(self, command: list[str], folder: str) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        self._out = bytearray()
        self._in = bytearray()
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
                cwd=folder, env=_surroundings(), start_new_session=True, bufsize=0,
                preexec_fn=_before_exec,
            )  # fmt: skip
        except OSError as error:
            self._stderr.close()
            raise _TroubleError("crash", f"{command[0]} cannot be started: {error}") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._stdin, self._stdout = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._chosen = selectors.DefaultSelector()
        self._chosen.register(self._stdout, selectors.EVENT_READ)
        self._is_writing = False

    def send(self, line: bytes) -> None:
        """Queue a line; it is written while an answer is waited for."""
        self._out += line

    def receive(self, seconds: float, memory_mb: int) -> bytes:
        """The next line. Raises: _TroubleError."""
        deadline = time.monotonic() + seconds
        while True:
            end = self._in.find(b"\n")
            if end >= 0:
                line = bytes(self._in[:end])
                del self._in[: end + 1]
                return line
            if len(self._in) > MOST_LINE:
                raise _TroubleError("output", f"wrote a line of more than {MOST_LINE:,} bytes")
            self._want_to_write(is_wanted=bool(self._out))
            ready = self._chosen.select(POLL_S)
            for key, _ in ready:
                self._read() if key.fd == self._stdout else self._write()
            if not ready or len(self._in) > MOST_LINE:
                self._check_memory(memory_mb)
            if time.monotonic() > deadline and b"\n" not in self._in:
                raise _TroubleError("timeout_wall", f"no answer within {seconds:g} s")

    def _want_to_write(self, *, is_wanted: bool) -> None:
        if is_wanted and not self._is_writing:
            self._chosen.register(self._stdin, selectors.EVENT_WRITE)
        elif self._is_writing and not is_wanted:
            self._chosen.unregister(self._stdin)
        self._is_writing = is_wanted

    def _write(self) -> None:
        try:
            sent = os.write(self._stdin, self._out[:65536])
        except BlockingIOError:
            return
        except OSError:  # it has closed its input; reading tells whether it lives
            self._out.clear()
            return
        del self._out[:sent]

    def _read(self) -> None:
        try:
            got = os.read(self._stdout, 65536)
        except BlockingIOError:
            return
        if not got:
            code = self._wait(1.0)
            if code is None:
                raise _TroubleError("protocol", "closed its standard output")
            how = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit {code}"
            raise _TroubleError("crash", f"ended with {how}")
        self._in += got

    def _check_memory(self, most_mb: int) -> None:
        try:
            with open(f"/proc/{self._child.pid}/statm", encoding="ascii") as file:
                pages = int(file.read().split()[1])
        except (OSError, IndexError, ValueError):
            return  # no such file on this system, or it has just ended
        used = pages * resource.getpagesize() / 2**20
        if used > most_mb:
            raise _TroubleError("memory", f"holds {used:.0f} MiB, {most_mb} are allowed")

    def _wait(self, seconds: float) -> int | None:
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> str:
        """End it and all it started; gives the last it wrote to standard error."""
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                stream.close()
        self._chosen.close()
        # One that waits for its input to end gets a moment; the rest is ended.
        if self._wait(0.2) is None:
            self._kill()
            self._wait(5.0)
        self._kill()
        with self._stderr:
            size = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, size - STDERR_KEPT))
            return self._stderr.read().decode("utf-8", "replace")

    def _kill(self) -> None:
        try:
            os.killpg(self._child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


def _before_exec() -> None:
    """In the child: no core files, and no filling of the disk through standard error."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 2**20, 16 * 2**20))


def _surroundings() -> dict[str, str]:
    """The environment of a program: enough to find its runtime, nothing of ours."""
    kept = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    return {**found, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _read_answer(line: bytes) -> Any:
    """`{"action": 20}` or `20`; whether it is legal the driver judges. Raises: _TroubleError."""
    try:
        value = json.loads(line)
        return value["action"] if isinstance(value, dict) else value
    except (ValueError, KeyError, RecursionError):
        raise _TroubleError("protocol", f"answered {_shown(line)}, not an action") from None


def _shown(line: bytes) -> str:
    text = line[:80].decode("utf-8", "replace")
    return repr(text + ("..." if len(line) > 80 else ""))
