"""One line-up: the same bots at every table, over all seat rotations."""

from __future__ import annotations

from collections.abc import Sequence

from ladder.formats import Lineup, matches_of_each


class OneLineup:
    """A single line-up; an entrant may sit in several seats."""

    def __init__(self, lineup: Sequence[int], matches: int) -> None:
        self._lineup, self._matches = tuple(sorted(lineup)), matches

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        if index:
            raise IndexError(index)
        return self._lineup, self._matches

    def matches_of_each(self) -> list[int]:
        """How many matches each entrant plays, by position."""
        return matches_of_each(self, 1 + max(self._lineup))
