"""Plays with bots that are programs, by JSON lines (docs/programs.md), as a player of the driver.

One question at a time, and the next when it is answered: so what a decision takes is its own, and
a line too many is seen. All else is as with Python bots in children: one process for the matches
of a chunk (in `strict`, one for each), and where it is lost, its matches are played again one by
one, each by a process of its own, and there it is convicted.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ladder.commands import command_of
from ladder.games import Game
from ladder.isolate.nursery import shared_nurseries
from ladder.isolate.player import ChildrenPlayer
from ladder.isolate.probe import require
from ladder.isolate.program import Call, ProgramProcess
from ladder.isolate.served import START_WALL, Batch
from ladder.isolate.verdict import DEFAULT_LIMITS, Limits, LostError
from ladder.record import Fault
from ladder.sources import Source

PROTOCOL = 1
MOST_LINE = 65_536  # bytes of an answer
LANES = 32  # matches side by side: as many are played again where a process is lost

Note = Callable[[str, bytes], None]  # a line is sent (>) or has come (<)


class ForeignPlayer(ChildrenPlayer):
    """A program as one bot version in one chunk. Raises: SpecError where it cannot be contained."""

    def __init__(
        self,
        game: Game,
        source: Source,
        params: dict[str, Any],
        *,
        is_trusted: bool,
        tier: str = "sandbox",
        limits: Limits = DEFAULT_LIMITS,
        note: Note | None = None,
    ) -> None:
        super().__init__(tier, LANES, limits)
        abi = None
        if not is_trusted:
            offer = shared_nurseries().offer
            require(offer)
            abi = offer.landlock_abi
        command, folder = command_of(source)
        self._call = Call(command, folder, abi)
        self._game, self._note = game, note
        self._greeting = _line({
            "protocol": PROTOCOL, "game": game.name,
            "decisions": list(game.decisions.values()), "params": params,
        })  # fmt: skip

    def spawn(self, count: int) -> list[Talk]:
        """So many processes, which start side by side."""
        talks = []
        for _ in range(count):
            note, self._note = self._note, None  # of the first alone: the others' lines would mix
            child = ProgramProcess(self._call, self.limits, self.output)
            talks.append(Talk(child, self.limits, self._game, self._greeting, note))
        return talks

    def dismiss(self, served: Talk) -> None:
        """End a process."""
        served.child.close()


class Talk:
    """One process and the matches it serves: what it is told and asked, and what it answers."""

    def __init__(
        self,
        child: ProgramProcess,
        limits: Limits,
        game: Game,
        greeting: bytes,
        note: Note | None,
    ) -> None:
        self.child, self._limits, self._game, self._note = child, limits, game, note
        self.keys: dict[int, None] = {}
        self.history = 0
        self.fault: Fault | None = None
        self.lost: LostError | None = None
        self.is_loaded = False
        self.is_beginning = False  # it has no part in making what it keeps of a match
        self._names = list(game.view.attributes())
        self._greeting = greeting
        self._refusal = ""  # why the program cannot be started
        self._numbers: dict[int, int] = {}  # of live matches, as the program is told
        self._untold = b""  # goes with the next question
        self._batches: deque[Batch] = deque()
        self._is_asked = False

    def begin_loading(self) -> None:
        """Start the program proper and greet it. Raises: LostError where it is not locked down."""
        self._refusal = self.child.begin()
        self._send(self._greeting)

    def finish_loading(self) -> None:
        """Raises: LostError."""
        if self.is_loaded:
            return
        if self._refusal:
            self.child.give_up("init_failed", f"it cannot be started: {self._refusal}")
        start = self._limits.start_ms
        line = self._take(start, START_WALL * start)
        wanted = _line({"protocol": PROTOCOL}).decode().strip()
        if _read(line, "protocol") != PROTOCOL:
            self.child.refuse(f"answered {_shown(line)} to the greeting, not {wanted}")
        self.is_loaded = True

    def start(self, key: int) -> None:
        """A new match for this key, under a number of its own."""
        self.finish(key)
        self.history += 1
        self.keys[key] = None
        self._numbers[key] = self.history
        self._untold += _line({"start": self.history})

    def finish(self, key: int) -> None:
        """This match ended; the program is not told, as it may forget at any start."""
        self.keys.pop(key, None)
        self._numbers.pop(key, None)

    def post(self, batch: Batch) -> None:
        """Ask; at once where nothing else is asked. Raises: LostError."""
        self._batches.append(batch)
        if not self._is_asked:
            self.finish_loading()
            self._ask_next()

    def complete(self, batch: Batch) -> None:
        """Wait for the rest of a batch, which is the first one. Raises: LostError."""
        while len(batch.answers) < len(batch.keys):
            if not self._is_asked:
                self.finish_loading()
                self._ask_next()
            batch.answers.append(self._answer())
            self._is_asked = False
            if len(batch.answers) == len(batch.keys):
                self._batches.popleft()
            if self._batches:
                self._ask_next()

    def _ask_next(self) -> None:
        batch = self._batches[0]
        at = len(batch.answers)
        view = self._game.view(batch.rows[at].tolist())
        question = {
            "decide": self._game.decisions[batch.kind],
            "match": self._numbers[batch.keys[at]],
            "view": {name: getattr(view, name) for name in self._names},
        }
        if self.child.has_more():
            self.child.refuse("wrote more lines than it was asked for")
        self._send(self._untold + _line(question))
        self._untold = b""
        self._is_asked = True

    def _answer(self) -> Any:
        """`{"action": 20}` or `20`; whether it is legal the driver judges. Raises: LostError."""
        line = self._take(self._limits.decision_ms, self._limits.wall_ms)
        answer = _read(line, "action")
        if answer is _NOTHING:
            self.child.refuse(f"answered {_shown(line)}, not an action")
        return answer

    def _send(self, lines: bytes) -> None:
        if self._note is not None:
            for line in lines.splitlines():
                self._note(">", line)
        self.child.send(lines)

    def _take(self, cpu_ms: float, wall_ms: float) -> bytes:
        line, _ = self.child.take(self._size_of, cpu_ms=cpu_ms, wall_ms=wall_ms)
        if self._note is not None:
            self._note("<", line)
        return line

    def _size_of(self, buffer: bytearray) -> int:
        size = buffer.find(b"\n") + 1
        if (size or len(buffer)) > MOST_LINE:
            self.child.give_up("output", f"wrote a line of more than {MOST_LINE:,} bytes")
        return size


_NOTHING = object()


def _read(line: bytes, name: str) -> Any:
    """The value of that name in a line, or the line's value if it is no object."""
    try:
        value = json.loads(line)
        return value[name] if isinstance(value, dict) else value
    except (ValueError, KeyError, RecursionError):
        return _NOTHING


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _shown(line: Sequence[int]) -> str:
    text = bytes(line[:80]).decode("utf-8", "replace").rstrip("\n")
    return repr(text + ("..." if len(line) > 80 else ""))
