"""How the positions of a table are counted and ordered (see `levels`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ladder.exact.arrays import PLACES
from ladder.games.pasa import rules
from ladder.games.pasa.table import PasaTable


class Layout:
    """The positions of a table: what can be reached, and where it stands."""

    def __init__(self, table: PasaTable) -> None:
        self.table = table
        self.seats = table.seats
        self.empty = PLACES - table.seats
        self.turns = table.seats * table.rounds
        self.unit = math.gcd(table.chips, *table.sizes)
        self.chips = table.chips // self.unit
        self.total = self.chips * self.seats
        # How many ways there are to have the rest at the places after the first, by x1.
        others = min(self.seats, PLACES - 1)
        most1 = 0 if self.empty else self.total
        sizes = [math.comb(self.total - x1 + others - 1, others - 1) for x1 in range(most1 + 1)]
        self.plane = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.positions = int(self.plane[-1])

    def rank(self, units: Sequence[int]) -> int:
        """The place of a position, its piles round the table from the thrower."""
        x1, x2, x3 = [*[0] * self.empty, *units[1:]]
        return int(self.plane[x1]) + x2 * (self.total - x1 + 1) - x2 * (x2 - 1) // 2 + x3

    def most_units(self, turn: int) -> list[int]:
        """By place, the most units that a seat can hold in a turn."""
        return [self._most_units(turn, place) for place in range(PLACES)]

    def _most_units(self, turn: int, place: int) -> int:
        """A seat that has not thrown yet gains only at the tiros of those before it."""
        if 0 < place <= self.empty:
            return 0
        if place == 0 or turn + place - self.empty >= self.seats:
            return self.total
        return min(self.total, self.chips + turn * (self.table.most // self.unit))

    def touched(self, turn: int) -> int:
        """How many ranks of a turn are ever written: memory beyond is never really taken."""
        return int(self.plane[self._most_units(turn, 1) + 1])

    def levels(self, turn: int) -> range:
        """The levels of a turn that can be reached."""
        most = self.most_units(turn)
        return range(min(self.total, most[1] + most[2]) + 1)

    def level_size(self, level: int) -> int:
        """An upper bound of the positions of a level."""
        return (level + 1) * (self.total - level + 1)

    def reachable(self) -> int:
        """An upper bound of the positions that the solver visits in all turns."""
        return sum(self._reachable(turn) for turn in range(self.turns))

    def _reachable(self, turn: int) -> int:
        counts = np.ones(1)
        for most in self.most_units(turn)[1:]:
            counts = np.convolve(counts, np.ones(most + 1))[: self.total + 1]
        return round(float(counts.sum()))

    def seat_by_place(self, turn: int) -> list[int]:
        """Who sits where, seen from the thrower; an empty place is given to no seat."""
        thrower = (self.table.first_thrower + turn) % self.seats
        nobody = [rules.MAX_SEATS - 1] * self.empty
        return [thrower, *nobody, *((thrower + i) % self.seats for i in range(1, self.seats))]
