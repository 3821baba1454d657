"""Bots in child processes as the driver sees them: one frame of many decisions, one frame back.

`sandbox`: one child for all matches of the chunk, with a new bot object every match; where the
bot sits at several seats of one match, a child for each of them, so that no child sees two hands.
`strict`: a fresh child for every seat of every match.

A child that dies, overruns or lies is blamed only where it never served but one match. Otherwise
its matches are Unsettled: the driver replays them one by one, in fresh children, and convicts
there; so a verdict does not depend on which matches happened to be played side by side.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ladder.errors import InfraError
from ladder.isolate import protocol
from ladder.isolate.lockdown import ATTESTED
from ladder.isolate.nursery import Nurseries, Nursery
from ladder.isolate.process import ChildProcess, Output
from ladder.isolate.protocol import ACT, ANSWERS, BEGIN, BEGUN, FAILED, HEADER, LOAD, LOADED, READY
from ladder.isolate.verdict import Bundle, Limits, LostError, Unsettled
from ladder.record import Fault

Ints = NDArray[np.int64]

SEAT_BITS = 3  # key: lane << 3 | seat
MAX_ROWS = 1024  # decisions in a frame
SHARE = 0.25  # of one decision's budget: what a frame of many is expected to take at most
START_WALL = 5  # times `start_ms`: the backstop for loading
# How many matches side by side suit a tier: many fill the frames, but in `strict` each match
# takes a process a seat.
LANES = {"sandbox": 1024, "strict": 32}


@dataclass
class Batch:
    """Decisions of one child asked with one `post`."""

    kind: int
    keys: list[int]
    rows: Ints
    answers: list[Any] = field(default_factory=list)


class Served:
    """One child and the matches it serves."""

    def __init__(self, child: ChildProcess, limits: Limits) -> None:
        self.child, self._limits = child, limits
        self.keys: dict[int, None] = {}  # live matches, in order
        self.history = 0  # matches it ever served
        self.fault: Fault | None = None  # convicted: all its answers are this
        self.lost: LostError | None = None  # unsettled
        self._unborn: dict[int, None] = {}
        self._ended: list[int] = []
        self._batches: deque[Batch] = deque()
        self._asked = 0  # rows of the first batch that are in flight; -1: a BEGIN is
        self._nonce = 0
        self._size = 1  # rows a frame, by what a decision was seen to cost
        self._cost_ms = 0.0
        self._has_constructor: bool | None = None  # None: not loaded yet

    def begin_loading(self, bundle: bytes) -> None:
        """Hand the bot over, once the child has shown that it is locked down. Raises: LostError."""
        start = self._limits.start_ms
        try:
            attested, _ = self._take(READY, start, START_WALL * start, cap=len(ATTESTED))
        except LostError as lost:
            # No line of the bot has run yet: whatever went wrong is ours.
            raise LostError("infra", f"lock-down failed: {lost.detail}", lost.output) from lost
        if attested != ATTESTED or not _is_filtered(self.child.pid):
            self.child.close()
            raise LostError("infra", f"the child is not locked down (attested {attested.hex()})")
        self._ask(LOAD, bundle)

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
                self._take(BEGUN, start, START_WALL * start, cap=0)
            else:
                self._take_answers(batch)
            self._asked = 0
            if self._batches:
                self._ask_next()

    def _ask_next(self) -> None:
        batch = self._batches[0]
        ended, self._ended = self._ended, []
        if self._has_constructor and self._unborn:
            unborn, self._unborn = list(self._unborn), {}
            self._ask(BEGIN, protocol.pack_question(0, ended, unborn, b"", 0))
            self._asked = -1
            return
        self._unborn.clear()
        first = len(batch.answers)
        rows = batch.rows[first : first + self._size]
        keys = batch.keys[first : first + self._size]
        width = rows.shape[1]
        question = protocol.pack_question(batch.kind, ended, keys, rows.tobytes(), width)
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
        self._cost_ms = max(used / count, 0.9 * self._cost_ms)
        room = int(SHARE * limits.decision_ms / max(self._cost_ms, 1e-6))
        self._size = max(1, min(room, 2 * self._size, MAX_ROWS))

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
        may = (kind, FAILED) if kind == LOADED else (kind,)
        if got not in may or nonce != self._nonce:
            self.child.refuse("wrote bytes that are no answer to what it was asked")
        if size > cap:
            self.child.refuse(f"an answer of {size} bytes, {cap} allowed")
        return HEADER.size + int(size)


def _is_filtered(pid: int) -> bool:
    """Whether the kernel says that a process has a seccomp filter: seen from outside."""
    try:
        with open(f"/proc/{pid}/status") as status:
            lines = set(status.read().splitlines())
    except OSError:
        return False
    return {"Seccomp:\t2", "NoNewPrivs:\t1"} <= lines


class IsolatedPlayer:
    """One bot version in one chunk, in child processes; what the driver calls a Player."""

    def __init__(
        self,
        game: str,
        bundle: Bundle,
        *,
        nurseries: Nurseries,
        tier: str = "sandbox",
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits if limits is not None else Limits()
        self.tier, self.lanes = tier, LANES[tier]
        self.output = Output(self.limits.output_kb << 10)
        self._bundle = protocol.pack_bundle(game, bundle)
        uses_numpy = any(b"numpy" in content for _, content in bundle.files)
        self._preload = ("numpy",) if uses_numpy else ()
        self._nursery: Nursery = nurseries.get(strict=tier == "strict", preload=self._preload)
        self._served: dict[int, Served] = {}  # by slot
        self._slots: dict[int, int] = {}  # of each live key
        self._asks: deque[tuple[list[int], list[tuple[Served | Fault, Sequence[int], Batch]]]] = (
            deque()
        )
        self._unloadable: Fault | None = None

    @property
    def walls(self) -> str:
        """What stands around the children, in one word for the row of a run."""
        return self._nursery.walls

    def start(self, keys: Sequence[int]) -> None:
        """New matches begin for these keys; all keys of one match come in one call.

        Matches played before in the same lanes are over. Raises: InfraError.
        """
        self.finish(keys)
        if self._unloadable is not None:
            return
        lanes: dict[int, int] = {}
        for key in keys:
            if self.tier == "strict":
                self._slots[key] = key
            else:
                lane = key >> SEAT_BITS
                self._slots[key] = lanes[lane] = lanes.get(lane, -1) + 1
        slots = [self._slots[key] for key in keys]
        self._open([slot for slot in dict.fromkeys(slots) if slot not in self._served])
        for key, slot in zip(keys, slots, strict=True):
            self._served[slot].start(key)

    def finish(self, keys: Sequence[int]) -> None:
        """The matches of these keys ended: forget their bot objects; in `strict`, end children."""
        live = self._slots
        for lane in dict.fromkeys([key >> SEAT_BITS for key in keys]):
            for key in range(lane << SEAT_BITS, (lane + 1) << SEAT_BITS):
                if key in live:
                    self._finish(key, live.pop(key))

    def _finish(self, key: int, slot: int) -> None:
        served = self._served.get(slot)
        if served is not None:
            served.finish(key)
            if self.tier == "strict":
                del self._served[slot]
                self._nursery.dismiss(served.child)

    def _open(self, slots: list[int]) -> None:
        """Fork a child for each slot, and let them load side by side."""
        if not slots:
            return
        children = self._nursery.spawn(len(slots), self.limits.memory_mb, self.output)
        for slot, child in zip(slots, children, strict=True):
            self._served[slot] = Served(child, self.limits)
        for slot in slots:
            served = self._served[slot]
            if self.tier != "strict":
                served.child.widen()
            try:
                served.begin_loading(self._bundle)
            except LostError as lost:
                raise InfraError(_told(lost)) from lost

    def post(self, kind: int, keys: Sequence[int], rows: Ints) -> None:
        """Ask for a decision of `kind` for every key; `rows` are the views, [keys, width]."""
        parts: list[tuple[Served | Fault, Sequence[int], Batch]] = []
        for slot, places in self._by_slot(keys):
            whole = len(places) == len(keys)
            asked = list(keys) if whole else [keys[place] for place in places]
            batch = Batch(kind, asked, rows if whole else rows[places])
            served = None if slot is None else self._served.get(slot)
            if served is None:
                fault = self._unloadable
                if fault is None:
                    raise InfraError(f"decisions asked of matches that never began: {asked[:5]}")
                parts.append((fault, places, batch))
                continue
            parts.append((served, places, batch))
            if served.fault is None and served.lost is None:
                self._guarded(served, served.post, batch)
        self._asks.append((list(keys), parts))

    def _by_slot(self, keys: Sequence[int]) -> Iterable[tuple[int | None, Sequence[int]]]:
        """The places in `keys` that each child serves."""
        slots = [self._slots.get(key) for key in keys]
        if len(set(slots)) == 1:
            return [(slots[0], range(len(keys)))]
        places: dict[int | None, list[int]] = {}
        for place, slot in enumerate(slots):
            places.setdefault(slot, []).append(place)
        return places.items()

    def _guarded(self, served: Served, step: Any, batch: Batch) -> None:
        """Take a step with a child, and settle who is to blame where it is lost."""
        try:
            step(batch)
        except LostError as lost:
            self._nursery.dismiss(served.child)
            if lost.cause == "infra":
                raise InfraError(_told(lost)) from lost
            if served._has_constructor is None or lost.cause == "init_failed":
                self._unloadable = served.fault = Fault(
                    "init_failed", f"while loading: {lost.detail}", lost.output
                )
            elif served.history == 1:
                cause, detail = lost.cause, lost.detail
                if served._asked < 0:
                    cause, detail = "init_failed", f"while its object was made: {detail}"
                served.fault = Fault(cause, detail, lost.output)
            else:
                served.lost = lost

    def collect(self) -> list[Any]:
        """The answers to the earliest `post` not yet collected: ints, or Faults.

        Raises: Unsettled, InfraError.
        """
        keys, parts = self._asks.popleft()
        answers: list[Any] = [None] * len(keys)
        unsettled: dict[int, None] = {}
        reason = ""
        for served, places, batch in parts:
            if isinstance(served, Served):
                if served.fault is None and served.lost is None:
                    self._guarded(served, served.complete, batch)
                found: list[Any] = batch.answers
                if served.fault is not None:
                    found = found + [served.fault] * (len(batch.keys) - len(found))
                elif served.lost is not None:
                    unsettled.update(dict.fromkeys((*served.keys, *batch.keys)))
                    reason = f"{served.lost.cause}: {served.lost.detail}"
                    self._forget(served)
                    continue
            else:
                found = [served] * len(batch.keys)
            for place, answer in zip(places, found, strict=True):
                answers[place] = answer
        if unsettled:
            raise Unsettled(list(unsettled), answers, reason)
        return answers

    def _forget(self, served: Served) -> None:
        for slot, other in tuple(self._served.items()):
            if other is served:
                del self._served[slot]
        for key in served.keys:
            self._slots.pop(key, None)

    def close(self) -> None:
        """The chunk is over: end all children."""
        for served in self._served.values():
            self._nursery.dismiss(served.child)
        self._served.clear()
        self._slots.clear()
        self._asks.clear()


def _told(lost: LostError) -> str:
    said = f"; it printed: {lost.output[-500:]}" if lost.output else ""
    return f"sandboxed child: {lost.detail}{said}"
