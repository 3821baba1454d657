"""Round robin: every line-up of `seats` entrants; with self-play also those that repeat one."""

from __future__ import annotations

from math import comb

from ladder.formats import Lineup, combination, multiset


class RoundRobinLineups:
    """All line-ups of `seats` out of `entrants`."""

    def __init__(self, entrants: int, seats: int, matches: int, *, self_play: bool) -> None:
        self._entrants, self._seats, self._matches = entrants, seats, matches
        self._self_play = self_play

    def __len__(self) -> int:
        if self._self_play:
            return comb(self._entrants + self._seats - 1, self._seats)
        return comb(self._entrants, self._seats)

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        unrank = multiset if self._self_play else combination
        return unrank(index, self._entrants, self._seats), self._matches

    def matches_of_each(self) -> list[int]:
        """By symmetry the same for every entrant: the line-ups less those without it."""
        others = RoundRobinLineups(
            self._entrants - 1, self._seats, self._matches, self_play=self._self_play
        )
        without = len(others) if self._entrants > 1 else 0
        return [(len(self) - without) * self._matches] * self._entrants
