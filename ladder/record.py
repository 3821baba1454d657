"""What play leaves behind: columns of matches, and faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Segment:
    """Consecutive repetitions of one pairing: repetitions first .. first + count - 1."""

    lineup: tuple[int, ...]  # by seat, an index into the run's entrants
    pairing: bytes  # the pairing's digest
    first: int
    count: int
    deal: bytes = b""  # what the dice depend on; empty: the pairing


@dataclass(frozen=True)
class Fault:
    """Something a bot did wrong at one decision."""

    cause: str  # illegal, exception, init_failed, ...
    detail: str
    traceback: str = ""


@dataclass(frozen=True)
class FaultRow:
    """A fault with its place: a row of a record, a seat, the number of the match's decision."""

    row: int
    seat: int
    decision: int
    fault: Fault


# What a chunk of a quarter million matches weighs is what travels from a worker: 61 bytes a match
# of four seats, and not 128.
DTYPES: dict[str, type[np.signedinteger[Any]]] = {
    "chances": np.int32,
    "decisions": np.int32,
    "termination": np.int8,
    "digest": np.int64,
    "scores": np.int64,
    "places": np.int8,
    "faults": np.int16,
}
COLUMNS = tuple(DTYPES)


@dataclass
class Record:
    """The matches of a chunk, one row each, in the order of its segments.

    Arrays have shape [matches] or [matches, seats].
    """

    chances: Ints  # throws or rolls
    decisions: Ints  # decisions asked
    termination: Ints  # index into the game's terminations
    digest: Ints  # of the list of actions
    scores: Ints
    places: Ints  # 1 is first; equal seats share a place
    faults: Ints  # faults of a seat
    fault_rows: list[FaultRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            setattr(self, name, np.asarray(getattr(self, name), dtype))

    @classmethod
    def empty(cls, matches: int, seats: int) -> Record:
        """Room for that many matches."""
        by_seat = ("scores", "places", "faults")
        columns: dict[str, Any] = {
            name: np.zeros((matches, seats) if name in by_seat else matches, dtype)
            for name, dtype in DTYPES.items()
        }
        return cls(**columns)

    def take(self, rows: Ints) -> Record:
        """The record of some of the matches; `rows` ascends."""
        place = {int(row): position for position, row in enumerate(rows)}
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        faults = [
            FaultRow(place[f.row], f.seat, f.decision, f.fault)
            for f in self.fault_rows
            if f.row in place
        ]
        return Record(**columns, fault_rows=faults)

    def put(self, rows: Ints, part: Record) -> None:
        """Put the matches of another record into these rows of this one."""
        for name in COLUMNS:
            getattr(self, name)[rows] = getattr(part, name)
        self.fault_rows += [
            FaultRow(int(rows[f.row]), f.seat, f.decision, f.fault) for f in part.fault_rows
        ]

    def __len__(self) -> int:
        return len(self.digest)

    @property
    def win_shares(self) -> NDArray[np.float64]:
        """Each first place's part of the win, shape [matches, seats]."""
        first = self.places == 1
        shares: NDArray[np.float64] = first / first.sum(axis=1, keepdims=True)
        return shares
