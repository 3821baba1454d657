"""The table of a run: what each entrant won, with intervals, and its rating."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ladder.stats import share_interval
from ladder.store import Results


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
class Row:
    """A line of the table."""

    rank: int
    bot: str
    version: str
    mu: float
    sigma: float
    tally: Tally
    expected: float | None
    above_next: float | None = None  # probability that the bot is better than the next one

    @property
    def conservative(self) -> float:
        """mu - 3 sigma."""
        return self.mu - 3 * self.sigma


def tally(results: Results) -> list[Tally]:
    """Each entrant's tally from the finishes of a run."""
    entrants, (rows, seats) = len(results.entrants), results.lineups.shape
    lineups, counts = results.lineups, results.counts.astype(np.float64)
    is_first = results.places == 1
    won = is_first / np.maximum(is_first.sum(axis=1, keepdims=True), 1)
    # An entrant may have several seats in a match: what it did there counts as one observation.
    same = lineups[:, :, None] == lineups[:, None, :]
    seats_of = same.sum(axis=2).astype(np.float64)
    won_of = (same * won[:, None, :]).sum(axis=2)
    leads = ~np.tril(same, -1).any(axis=2)  # the first of its seats stands for all
    weight = counts[:, None] * leads

    def total(values: Any) -> Any:
        flat = np.broadcast_to(values, (rows, seats)).ravel()
        return np.bincount(lineups.ravel(), weights=flat, minlength=entrants)

    matches = total(weight)
    num_seats, num_won = total(weight * seats_of), total(weight * won_of)
    spread = (
        total(weight * won_of**2),
        total(weight * won_of * seats_of),
        total(weight * seats_of**2),
    )
    draws = total(weight * (won_of > 0) * (is_first.sum(axis=1) > 1)[:, None])
    scores = [0] * entrants
    for seat in range(seats):  # exact: sums of scores may pass 2**53
        for entrant in np.unique(lineups[:, seat]):
            scores[entrant] += sum(results.scores[lineups[:, seat] == entrant, seat].tolist())
    by_seat = [_by_seat(lineups[:, s], won[:, s], counts, entrants) for s in range(seats)]
    return [
        Tally(
            share=_share(num_won[i], num_seats[i], [part[i] for part in spread], matches[i]),
            by_seat=tuple(of_seat[i] for of_seat in by_seat),
            draw_share=draws[i] / max(1.0, matches[i]),
            mean_score=scores[i] / num_seats[i] if num_seats[i] else math.nan,
            faults=int(results.faults[i]),
        )
        for i in range(entrants)
    ]


def _by_seat(bots: Any, won: Any, counts: Any, entrants: int) -> list[Share]:
    seats = np.bincount(bots, weights=counts, minlength=entrants)
    first = np.bincount(bots, weights=counts * won, minlength=entrants)
    squared = np.bincount(bots, weights=counts * won**2, minlength=entrants)
    return [
        _share(first[i], seats[i], [squared[i], first[i], seats[i]], seats[i])
        for i in range(entrants)
    ]


def _share(won: float, seats: float, spread: Sequence[float], matches: float) -> Share:
    """The share of a seat, a ratio of sums over matches, with its interval.

    `spread` holds the sums of won squared, won times seats, and seats squared.
    """
    if seats == 0:
        return Share(math.nan, math.nan, math.nan, 0)
    mean = won / seats
    around = spread[0] - 2 * mean * spread[1] + mean * mean * spread[2]
    low, high = share_interval(mean, max(around, 0.0) / seats**2, int(matches))
    return Share(float(mean), low, high, int(matches))


def rank(
    names: Sequence[tuple[str, str]],
    mu: Sequence[float],
    sigma: Sequence[float],
    tallies: Sequence[Tally],
    expected: dict[str, float],
) -> list[Row]:
    """The table, best conservative rating first; names break what is left of ties."""
    order = sorted(range(len(names)), key=lambda i: (-(mu[i] - 3 * sigma[i]), -mu[i], names[i]))
    return [
        Row(position + 1, *names[i], mu[i], sigma[i], tallies[i], expected.get(names[i][0]))
        for position, i in enumerate(order)
    ]
