"""Formats: which entrants meet. A format is a lazily indexed sequence of unordered line-ups.

A line-up is a sorted tuple of entrant positions, one a seat, with the number of its matches; it
says nothing about seats: the plan turns every line-up through all its seat rotations.
"""

from __future__ import annotations

from math import comb
from typing import Protocol

Lineup = tuple[int, ...]


class Lineups(Protocol):
    """The line-ups of a format, distinct, in a fixed order."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Lineup, int]:
        """A line-up and its number of matches."""

    def matches_of_each(self) -> list[int]:
        """How many matches each entrant plays, by position."""


def combination(index: int, of: int, size: int) -> Lineup:
    """The index-th of the sorted `size`-subsets of range(of), in lexical order.

    >>> [combination(i, 4, 2) for i in range(comb(4, 2))]
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    chosen: list[int] = []
    candidate = 0
    while len(chosen) < size:
        after = comb(of - candidate - 1, size - len(chosen) - 1)
        if index < after:
            chosen.append(candidate)
        else:
            index -= after
        candidate += 1
    return tuple(chosen)


def multiset(index: int, of: int, size: int) -> Lineup:
    """The index-th of the sorted multisets of `size` out of range(of), in lexical order.

    >>> [multiset(i, 2, 2) for i in range(3)]
    [(0, 0), (0, 1), (1, 1)]
    """
    spread = combination(index, of + size - 1, size)
    return tuple(chosen - position for position, chosen in enumerate(spread))


def as_different(index: int, of: int, size: int) -> Lineup:
    """The index-th way to take `size` out of range(of), repeating as evenly as can be.

    >>> [as_different(i, 2, 3) for i in range(2)]
    [(0, 0, 1), (0, 1, 1)]
    """
    everyone, rest = divmod(size, of)
    return tuple(sorted((*combination(index, of, rest), *(list(range(of)) * everyone))))


def num_as_different(of: int, size: int) -> int:
    """How many there are."""
    return comb(of, size % of)


def matches_of_each(lineups: Lineups, entrants: int) -> list[int]:
    """How many matches each entrant plays; a match with two of its seats counts once."""
    counts = [0] * entrants
    for index in range(len(lineups)):
        lineup, matches = lineups[index]
        for entrant in set(lineup):
            counts[entrant] += matches
    return counts
