"""Random pods: rounds in which the field is shuffled and cut into tables.

A shuffled field of E entrants is a ring cut into E / gcd(E, seats) pods of consecutive ones, so
that every entrant sits in seats / gcd(E, seats) pods a round, whatever E is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np

from ladder.formats import Lineup
from ladder.seeds import draw, new_source


class RandomLineups:
    """The pods of all rounds; a line-up drawn more than once gets its matches added up."""

    def __init__(
        self, order: Sequence[int], seats: int, matches: int, rounds: int, key: bytes
    ) -> None:
        """`order` is the entrants' positions in the order that is shuffled."""
        entrants = len(order)
        self._entrants, self._matches = entrants, matches
        self._each = rounds * seats // gcd(entrants, seats)
        pods = np.empty((rounds, entrants // gcd(entrants, seats), seats), np.int32)
        ring = np.arange(pods.shape[1] * seats).reshape(-1, seats) % entrants
        for number in range(rounds):
            pods[number] = np.array(order)[shuffled(entrants, key, number)][ring]
        flat = np.sort(pods.reshape(-1, seats), axis=1)
        self._lineups, self._counts = np.unique(flat, axis=0, return_counts=True)

    def __len__(self) -> int:
        return len(self._lineups)

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        lineup = tuple(self._lineups[index].tolist())
        return lineup, int(self._counts[index]) * self._matches

    def matches_of_each(self) -> list[int]:
        """The same for every entrant."""
        return [self._each * self._matches] * self._entrants


def shuffled(count: int, key: bytes, number: int) -> list[int]:
    """Fisher and Yates' shuffle of range(count) by the run's own random numbers."""
    source = new_source(key, number, 0)
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = draw(source, last + 1)
        order[last], order[other] = order[other], order[last]
    return order
