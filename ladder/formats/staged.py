"""Formats whose rounds depend on results so far.

Such a format is a pure function from the stages played to the next stage's pods; so a run that was
cut short works out the same stages again and plays what of them is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ladder.formats import Lineup, matches_of_each


@dataclass(frozen=True)
class PodResult:
    """What a pod did in one stage: win shares and scores added up, by place in the line-up."""

    lineup: Lineup
    points: tuple[float, ...]
    scores: tuple[int, ...]


Stage = Sequence[PodResult]


@dataclass(frozen=True)
class Line:
    """A line of the final ranking; `path` has a line for each round."""

    rank: int
    entrant: int
    points: float
    tie_breaks: tuple[float, ...]
    path: tuple[str, ...]


class Staged(Protocol):
    """A format in stages."""

    @property
    def most_matches(self) -> int:
        """Matches of all stages, at most."""

    @property
    def tie_break_names(self) -> tuple[str, ...]:
        """What decides between equals, in this order."""

    def next_pods(self, stages: Sequence[Stage]) -> list[Lineup]:
        """The pods of the next stage; none when it is over."""

    def ranking(self, stages: Sequence[Stage], names: Sequence[str]) -> list[Line]:
        """Everybody, the best first."""


class FirstLineups:
    """The first stage of a staged format: all that is known before anything is played."""

    def __init__(self, format_: Staged, matches: int, entrants: int) -> None:
        self._pods = sorted(format_.next_pods([]))
        self._matches, self._entrants = matches, entrants

    def __len__(self) -> int:
        return len(self._pods)

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        return self._pods[index], self._matches

    def matches_of_each(self) -> list[int]:
        """How many matches each entrant plays in the first stage, by position."""
        return matches_of_each(self, self._entrants)


def shown_result(pod: PodResult, entrant: int, matches: int, names: Sequence[str]) -> str:
    """
    What an entrant won in a pod, against whom.

    >>> shown_result(PodResult((0, 1), (5.0, 3.0), (0, 0)), 0, 8, ["a", "b"])
    '5.0 of 8 with b'
    """
    won = pod.points[pod.lineup.index(entrant)]
    others = ", ".join(names[other] for other in pod.lineup if other != entrant)
    return f"{won:.1f} of {matches:,} with {others}"
