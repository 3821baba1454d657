"""Gauntlet: each challenger alone at tables filled from a field.

The other seats are taken by field entrants, as different ones as can be: with a field of one it
fills them all; with more than there are seats every choice of them is a line-up.
"""

from __future__ import annotations

from collections.abc import Sequence

from ladder.formats import Lineup, as_different, matches_of_each, num_as_different


class GauntletLineups:
    """Line-ups of one challenger and `seats - 1` of the field."""

    def __init__(
        self, challengers: Sequence[int], field: Sequence[int], seats: int, matches: int
    ) -> None:
        self._seats, self._matches = seats, matches
        self._entrants = 1 + max((*challengers, *field))
        # A challenger that is in the field as well does not meet itself.
        self._fields = [(c, [f for f in field if f != c]) for c in challengers]
        self._fields = [(c, f) for c, f in self._fields if f]
        lineups: dict[Lineup, None] = {}
        for challenger, rest in self._fields:
            for index in range(num_as_different(len(rest), seats - 1)):
                chosen = as_different(index, len(rest), seats - 1)
                lineups[tuple(sorted((challenger, *(rest[i] for i in chosen))))] = None
        self._lineups: list[Lineup] = list(lineups)

    def __len__(self) -> int:
        return len(self._lineups)

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        return self._lineups[index], self._matches

    def matches_of_each(self) -> list[int]:
        """How many matches each entrant plays, by position."""
        return matches_of_each(self, self._entrants)
