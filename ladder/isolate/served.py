"""One child and the matches it serves: what it is asked, in which frames, and what it answers."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ladder.isolate import protocol
from ladder.isolate.lockdown import ATTESTED
from ladder.isolate.process import ChildProcess
from ladder.isolate.protocol import (
    ACT,
    ANSWERS,
    BEGIN,
    BEGUN,
    DESCRIBE,
    DESCRIBED,
    FAILED,
    HEADER,
    LOAD,
    LOADED,
    READY,
)
from ladder.isolate.verdict import Limits, LostError
from ladder.record import Fault

Ints = NDArray[np.int64]

MAX_ROWS = 1024  # decisions in a frame
SHARE = 0.25  # of one decision's budget: what a frame of many is expected to take at most
START_WALL = 5  # times `start_ms`: the backstop for loading


@dataclass
class Batch:
    """Decisions of one child asked with one `post`."""

    kind: int
    keys: list[int]
    rows: Ints
    answers: list[Any] = field(default_factory=list)


class Pace:
    """How many things to ask at once: the budget of one is that of all, so it starts with one."""

    def __init__(self, budget_ms: float) -> None:
        self._budget_ms = budget_ms
        self._cost_ms = 0.0  # of one, the dearest of late
        self.size = 1

    def saw(self, count: int, used_ms: float) -> None:
        """Take note of what it cost."""
        self._cost_ms = max(used_ms / count, 0.9 * self._cost_ms)
        room = int(SHARE * self._budget_ms / max(self._cost_ms, 1e-6))
        self.size = max(1, min(room, 2 * self.size, MAX_ROWS))


class Served:
    """One child and the matches it serves."""

    def __init__(self, child: ChildProcess, limits: Limits, bundle: bytes) -> None:
        self.child, self._limits, self._bundle = child, limits, bundle
        self.keys: dict[int, None] = {}  # live matches, in order
        self.history = 0  # matches it ever served
        self.fault: Fault | None = None  # convicted: all its answers are this
        self.lost: LostError | None = None  # unsettled
        self._unborn: dict[int, None] = {}
        self._ended: list[int] = []
        self._batches: deque[Batch] = deque()
        self._asked = 0  # rows of the first batch that are in flight; below 0: births
        self._nonce = 0
        self._decisions = Pace(limits.decision_ms)
        self._births = Pace(limits.start_ms)
        self._has_constructor: bool | None = None  # None: not loaded yet

    @property
    def is_loaded(self) -> bool:
        """Whether the bot was loaded."""
        return self._has_constructor is not None

    @property
    def is_beginning(self) -> bool:
        """Whether it makes bot objects, rather than decide."""
        return self._asked < 0

    def begin_loading(self) -> None:
        """Hand the bot over, once the child has shown that it is locked down. Raises: LostError."""
        self._see_it_locked()
        self._ask(LOAD, self._bundle)

    def describe(self, *, cap: int) -> bytes:
        """What the child tells of its bot's class, at most `cap` bytes. Raises: LostError."""
        self._see_it_locked()
        self._ask(DESCRIBE, self._bundle)
        start = self._limits.start_ms
        payload, _ = self._take(
            DESCRIBED, start, START_WALL * start, cap=max(cap, protocol.MAX_FAULT)
        )
        return payload

    def _see_it_locked(self) -> None:
        start = self._limits.start_ms
        try:
            attested, _ = self._take(READY, start, START_WALL * start, cap=len(ATTESTED))
        except LostError as lost:
            # No line of the bot has run yet: whatever went wrong is ours.
            raise LostError("infra", f"lock-down failed: {lost.detail}", lost.output) from lost
        if attested != ATTESTED or not is_filtered(self.child.pid):
            self.child.close()
            raise LostError("infra", f"the child is not locked down (attested {attested.hex()})")

    def finish_loading(self) -> None:
        """Raises: LostError; cause init_failed where the bot would not load."""
        if self._has_constructor is not None:
            return
        start = self._limits.start_ms
        payload, _ = self._take(LOADED, start, START_WALL * start, cap=protocol.MAX_FAULT)
        self._has_constructor = payload != b"\0"

    def start(self, key: int) -> None:
        """A new match for this key; one that had it before has ended."""
        self.finish(key)
        self.keys[key] = None
        self._unborn[key] = None
        self.history += 1

    def finish(self, key: int) -> None:
        """This match ended."""
        if key in self.keys:
            del self.keys[key]
            if self._unborn.pop(key, key) is not None:
                self._ended.append(key)

    def post(self, batch: Batch) -> None:
        """Ask; at once where the child has nothing else to do. Raises: LostError."""
        self._batches.append(batch)
        if self._asked == 0:
            self.finish_loading()
            self._ask_next()

    def complete(self, batch: Batch) -> None:
        """Wait for the rest of a batch, which is the first one. Raises: LostError."""
        while len(batch.answers) < len(batch.keys):
            if self._asked == 0:
                self.finish_loading()
                self._ask_next()
            if self._asked < 0:
                start = self._limits.start_ms
                _, used = self._take(BEGUN, start, START_WALL * start, cap=0)
                self._births.saw(-self._asked, used)
            else:
                self._take_answers(batch)
            self._asked = 0
            if self._batches:
                self._ask_next()

    def _ask_next(self) -> None:
        batch = self._batches[0]
        ended, self._ended = self._ended, []
        if self._has_constructor and self._unborn:
            born = list(self._unborn)[: self._births.size]
            for key in born:
                del self._unborn[key]
            self._ask(BEGIN, protocol.pack_question(0, ended, born, b"", 0))
            self._asked = -len(born)
            return
        self._unborn.clear()
        first = len(batch.answers)
        rows = batch.rows[first : first + self._decisions.size]
        keys = batch.keys[first : first + self._decisions.size]
        width = rows.shape[1]
        small = rows.astype(np.int32)
        sent = small if (small == rows).all() else rows
        question = protocol.pack_question(
            batch.kind, ended, keys, sent.tobytes(), width, sent.itemsize
        )
        self._ask(ACT, question)
        self._asked = len(keys)

    def _take_answers(self, batch: Batch) -> None:
        count = self._asked
        limits = self._limits
        cap = count * (8 + protocol.MAX_FAULT)
        payload, used = self._take(ANSWERS, limits.decision_ms, limits.wall_ms, cap=cap)
        try:
            answers, claims = protocol.parse_answers(payload, count)
        except protocol.ProtocolError as error:
            self.child.refuse(str(error))
        found: list[Any] = answers
        for position, cause, detail, traceback in claims:
            if cause == "memory" and self.history > 1:
                # Other matches of this child may have used the memory up.
                self.child.close()
                raise LostError("memory", detail)
            found[position] = Fault(cause, detail, traceback)
        batch.answers += found
        if len(batch.answers) == len(batch.keys):
            self._batches.popleft()
        self._decisions.saw(count, used)

    def _ask(self, kind: int, payload: bytes) -> None:
        self._nonce = int.from_bytes(os.urandom(8), "little")
        self.child.send(protocol.frame(kind, self._nonce, payload))

    def _take(self, kind: int, cpu_ms: float, wall_ms: float, *, cap: int) -> tuple[bytes, float]:
        """The payload of the answer of that kind. Raises: LostError."""
        frame, used = self.child.take(
            lambda buffer: self._size_of(buffer, kind, cap), cpu_ms=cpu_ms, wall_ms=wall_ms
        )
        payload = frame[HEADER.size :]
        if frame[4] == FAILED:
            try:
                (_, cause, detail, traceback), _ = protocol.parse_claim(payload, 0)
            except protocol.ProtocolError as error:
                self.child.refuse(str(error))
            self.child.close()
            raise LostError(cause, detail, traceback)
        return payload, used

    def _size_of(self, buffer: bytearray, kind: int, cap: int) -> int:
        if len(buffer) < HEADER.size:
            return 0
        size, got, nonce = HEADER.unpack_from(buffer)
        may = (kind, FAILED) if kind in (LOADED, DESCRIBED) else (kind,)
        if got not in may or nonce != self._nonce:
            self.child.refuse("wrote bytes that are no answer to what it was asked")
        if size > cap:
            self.child.refuse(f"an answer of {size} bytes, {cap} allowed")
        return HEADER.size + int(size)


def is_filtered(pid: int) -> bool:
    """Whether the kernel says that a process has a seccomp filter: seen from outside."""
    try:
        with open(f"/proc/{pid}/status") as status:
            lines = set(status.read().splitlines())
    except OSError:
        return False
    return {"Seccomp:\t2", "NoNewPrivs:\t1"} <= lines
