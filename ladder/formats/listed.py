"""Line-ups as a list: of rounds that are worked out one after another."""

from __future__ import annotations

from collections.abc import Mapping

from ladder.formats import Lineup, matches_of_each


class ListedLineups:
    """These line-ups with their matches, in a fixed order."""

    def __init__(self, matches: Mapping[Lineup, int], entrants: int) -> None:
        self._rows = sorted(matches.items())
        self._entrants = entrants

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        return self._rows[index]

    def matches_of_each(self) -> list[int]:
        """How many matches each entrant plays, by position."""
        return matches_of_each(self, self._entrants)
