"""Bots in child processes as the driver sees them: one frame of many decisions, one frame back.

`sandbox`: one child for all matches of the chunk, with a new bot object every match; where the
bot sits at several seats of one match, a child for each of them, so that no child sees two hands.
`strict`: a fresh child for every seat of every match.

A child that dies, overruns or lies is blamed only where it never served but one match. Otherwise
its matches are Unsettled: the driver replays them one by one, in fresh children, and convicts
there; so a verdict does not depend on which matches happened to be played side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ladder.errors import InfraError
from ladder.isolate import protocol
from ladder.isolate.nursery import Nurseries, Nursery
from ladder.isolate.process import Output
from ladder.isolate.served import Batch, Served
from ladder.isolate.verdict import Bundle, Limits, LostError, Unsettled
from ladder.isolate.warm import needs
from ladder.record import Fault

Ints = NDArray[np.int64]

SEAT_BITS = 3  # key: lane << 3 | seat
# How many matches side by side suit a tier: many fill the frames, but in `strict` each match
# takes a process a seat.
LANES = {"sandbox": 1024, "strict": 32}


class Serves(Protocol):
    """One child and the matches it serves. Raises: LostError from every method that asks it."""

    keys: dict[int, None]  # live matches, in order
    history: int  # matches it ever served
    fault: Fault | None  # convicted: all its answers are this
    lost: LostError | None  # unsettled

    @property
    def is_loaded(self) -> bool:
        """Whether the bot was loaded."""

    @property
    def is_beginning(self) -> bool:
        """Whether it makes bot objects, rather than decide."""

    def begin_loading(self) -> None:
        """Hand the bot over, once the child is known to be locked down."""

    def start(self, key: int) -> None:
        """A new match for this key."""

    def finish(self, key: int) -> None:
        """This match ended."""

    def post(self, batch: Batch) -> None:
        """Ask; at once where the child has nothing else to do."""

    def complete(self, batch: Batch) -> None:
        """Wait for the rest of a batch, which is the first one."""


Part = tuple[Serves | Fault, Sequence[int], Batch]  # who answers, places in the post, what


class ChildrenPlayer:
    """One bot version in one chunk, in child processes; what the driver calls a Player.

    Subclasses say how children are made (`spawn`) and let go of (`dismiss`).
    """

    def __init__(self, tier: str, lanes: int, limits: Limits) -> None:
        self.tier, self.lanes, self.limits = tier, lanes, limits
        self.output = Output(limits.output_kb << 10)
        self._served: dict[int, Serves] = {}  # by slot
        self._slots: dict[int, int] = {}  # of each live key
        self._asks: deque[tuple[list[int], list[Part]]] = deque()
        self._unloadable: Fault | None = None

    def spawn(self, count: int) -> Sequence[Serves]:
        """So many new children."""
        raise NotImplementedError

    def dismiss(self, served: Any) -> None:
        """End a child that `spawn` gave."""
        raise NotImplementedError

    def fresh(self) -> Self:
        """The same bot with no child yet: what an unsettled match is replayed with."""
        other = copy(self)
        other._served, other._slots, other._asks = {}, {}, deque()
        return other

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
        self._open([slot for slot in dict.fromkeys(slots) if not self._is_served(slot)])
        for key, slot in zip(keys, slots, strict=True):
            self._served[slot].start(key)

    def _is_served(self, slot: int) -> bool:
        served = self._served.get(slot)
        return served is not None and served.fault is None and served.lost is None

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
                self.dismiss(served)

    def _open(self, slots: list[int]) -> None:
        """Fork a child for each slot, and let them load side by side."""
        if not slots:
            return
        self._served.update(zip(slots, self.spawn(len(slots)), strict=True))
        for slot in slots:
            try:
                self._served[slot].begin_loading()
            except LostError as lost:
                raise InfraError(_told(lost)) from lost

    def post(self, kind: int, keys: Sequence[int], rows: Ints) -> None:
        """Ask for a decision of `kind` for every key; `rows` are the views, [keys, width]."""
        parts: list[Part] = []
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
        if self.tier != "strict" and len(self._served) == 1:
            return [(next(iter(self._served)), range(len(keys)))]
        slots = [self._slots.get(key) for key in keys]
        if len(set(slots)) == 1:
            return [(slots[0], range(len(keys)))]
        places: dict[int | None, list[int]] = {}
        for place, slot in enumerate(slots):
            places.setdefault(slot, []).append(place)
        return places.items()

    def _guarded(self, served: Serves, step: Any, batch: Batch) -> None:
        """Take a step with a child, and settle who is to blame where it is lost."""
        try:
            step(batch)
        except LostError as lost:
            self.dismiss(served)
            if lost.cause == "infra":
                raise InfraError(_told(lost)) from lost
            if not served.is_loaded or lost.cause == "init_failed":
                self._unloadable = served.fault = Fault(
                    "init_failed", f"while loading: {lost.detail}", lost.output
                )
            elif served.history == 1:
                cause, detail = lost.cause, lost.detail
                if served.is_beginning:
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
            if not isinstance(served, Fault):
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
            if len(parts) == 1:
                return found
            for place, answer in zip(places, found, strict=True):
                answers[place] = answer
        if unsettled:
            raise Unsettled(list(unsettled), answers, reason)
        return answers

    def _forget(self, served: Serves) -> None:
        for slot, other in tuple(self._served.items()):
            if other is served:
                del self._served[slot]
        for key in served.keys:
            self._slots.pop(key, None)

    def close(self) -> None:
        """The chunk is over: end all children."""
        for served in self._served.values():
            self.dismiss(served)
        self._served.clear()
        self._slots.clear()
        self._asks.clear()


class IsolatedPlayer(ChildrenPlayer):
    """A Python bot in children that its zygote forks."""

    def __init__(
        self,
        game: str,
        bundle: Bundle,
        *,
        nurseries: Nurseries,
        tier: str = "sandbox",
        limits: Limits | None = None,
    ) -> None:
        super().__init__(tier, LANES[tier], limits if limits is not None else Limits())
        self._bundle = protocol.pack_bundle(game, bundle)
        self._nursery: Nursery = nurseries.get(strict=tier == "strict", preload=needs(bundle))

    @property
    def walls(self) -> str:
        """What stands around the children, in one word for the row of a run."""
        return self._nursery.walls

    def spawn(self, count: int) -> list[Served]:
        """So many new children, which load side by side."""
        children = self._nursery.spawn(count, self.limits.memory_mb, self.output)
        if self.tier != "strict":
            for child in children:
                child.widen()
        return [Served(child, self.limits, self._bundle) for child in children]

    def dismiss(self, served: Served) -> None:
        """Kill a child and have it waited for."""
        self._nursery.dismiss(served.child)


def _told(lost: LostError) -> str:
    said = f"; it printed: {lost.output[-500:]}" if lost.output else ""
    return f"sandboxed child: {lost.detail}{said}"
