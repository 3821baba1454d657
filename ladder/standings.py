"""The table of a run: what each entrant won, with intervals, and its rating."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ladder.store import Pattern

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """A win share with its interval, from so many matches."""

    mean: float
    low: float
    high: float
    matches: int


@dataclass(frozen=True)
class Tally:
    """What an entrant did, ratings apart."""

    share: Share
    by_seat: tuple[Share, ...]  # of those seats it sat in
    draw_share: float  # part of its matches in which it shared first place
    mean_score: float
    faults: int


@dataclass(frozen=True)
class Rating:
    """An entrant's rating."""

    mu: float
    sigma: float

    @property
    def conservative(self) -> float:
        """mu - 3 sigma."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    rank: int
    bot: str
    version: str
    rating: Rating
    tally: Tally
    expected: float | None


class _Sums:
    """Sums over matches of an entrant's seats n and win share won in them."""

    def __init__(self) -> None:
        self.matches = self.seats = 0
        self.won = self.won_squared = self.won_seats = self.seats_squared = 0.0

    def add(self, seats: int, won: float, times: int) -> None:
        self.matches += times
        self.seats += seats * times
        self.won += won * times
        self.won_squared += won * won * times
        self.won_seats += won * seats * times
        self.seats_squared += seats * seats * times

    def share(self) -> Share:
        """The share of a seat, a ratio of sums, with its interval over matches."""
        if self.seats == 0:
            return Share(math.nan, math.nan, math.nan, 0)
        mean = self.won / self.seats
        spread = self.won_squared - 2 * mean * self.won_seats + mean * mean * self.seats_squared
        variance = max(spread, 0.0) / self.seats**2
        low, high = share_interval(mean, variance, self.matches)
        return Share(mean, low, high, self.matches)


def share_interval(mean: float, variance: float, matches: int) -> tuple[float, float]:
    """Wilson's interval (JASA 22, 1927) at 95 %, finite for all wins and all losses too.

    Made for the number of plain wins and losses that would vary as much.
    """
    binomial = mean * (1 - mean)
    effective = binomial / variance if variance > 0 and binomial > 0 else float(matches)
    z2 = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
    centre = (mean + z2 / (2 * effective)) / (1 + z2 / effective)
    half = math.sqrt(z2 * (binomial / effective + z2 / (4 * effective**2))) / (1 + z2 / effective)
    return max(0.0, centre - half), min(1.0, centre + half)


def tally(
    patterns: Sequence[Pattern], entrants: int, faults: dict[int, int], seats: int
) -> list[Tally]:
    """Each entrant's tally from the finishing patterns of a run."""
    whole = [_Sums() for _ in range(entrants)]
    by_seat = [[_Sums() for _ in range(seats)] for _ in range(entrants)]
    scores = [0] * entrants
    draws = [0] * entrants
    for pattern in patterns:
        first = [place == 1 for place in pattern.places]
        each = 1 / sum(first)
        for entrant in set(pattern.lineup):
            mine = [seat for seat, who in enumerate(pattern.lineup) if who == entrant]
            won = each * sum(first[seat] for seat in mine)
            whole[entrant].add(len(mine), won, pattern.matches)
            scores[entrant] += sum(pattern.scores[seat] for seat in mine)
            if sum(first) > 1 and won > 0:
                draws[entrant] += pattern.matches
            for seat in mine:
                by_seat[entrant][seat].add(1, each * first[seat], pattern.matches)
    return [
        Tally(
            share=whole[entrant].share(),
            by_seat=tuple(sums.share() for sums in by_seat[entrant]),
            draw_share=draws[entrant] / max(1, whole[entrant].matches),
            mean_score=scores[entrant] / whole[entrant].seats if whole[entrant].seats else math.nan,
            faults=faults.get(entrant, 0),
        )
        for entrant in range(entrants)
    ]


def rank(
    names: Sequence[tuple[str, str]],
    ratings: Sequence[Rating],
    tallies: Sequence[Tally],
    expected: dict[str, float],
) -> list[Row]:
    """The table, best conservative rating first; names break what is left of ties."""
    order = sorted(
        range(len(names)),
        key=lambda i: (-ratings[i].conservative, -ratings[i].mu, names[i]),
    )
    return [
        Row(position + 1, *names[i], ratings[i], tallies[i], expected.get(names[i][0]))
        for position, i in enumerate(order)
    ]
