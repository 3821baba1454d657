"""One match: what its finish states, and the posterior of the seats' performances.

Expectation propagation (Minka 2001) on the factor graph of Herbrich, Minka & Graepel (2007), with
one difference: the performances of all seats are kept as one joint Gaussian rather than as a
message each. On an untied order, which is a tree, both have the same fixed point; where
comparisons close a loop (ties) the joint form does not count evidence twice, and two seats of one
bot are simply correlated.

A match lives in small arrays made once a run (`new_board`); seats come sorted by place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ladder.ratings.compiled import jitted
from ladder.ratings.gaussian import draw_terms, win_terms
from ladder.ratings.patterns import MAX_SEATS, Floats, Ints

MAX_SITES = MAX_SEATS * (MAX_SEATS - 1) // 2

TOLERANCE = 1e-8  # largest last step of any comparison, in its own standard deviations
MAX_SWEEPS = 200

# Rounding may leave a difference of two nearly equal performances without any variance.
_LEAST_SHARE = 1e-14


# The rows of a board: by seat, in order of place ...
BOT, PLACE = 0, 1  # of ints
PRIOR, VARIANCE, MEAN, COLUMN = 0, 1, 2, 3  # of floats: the skill's; the performance's mean; spare
# ... and by comparison: its seats, and its approximation (natural parameters of winner - loser).
WINNER, LOSER, TIED = 2, 3, 4  # of ints
PRECISION, PULL = 4, 5  # of floats


class Board(NamedTuple):
    """Working arrays of one match of up to MAX_SEATS seats; `cov` is of the performances.

    Compiled functions take the three arrays: in a tuple each access would count references.
    """

    ints: Ints
    floats: Floats
    cov: Floats


def new_board() -> Board:
    """An empty board."""
    return Board(
        np.zeros((5, MAX_SITES), np.int64),
        np.zeros((6, MAX_SITES)),
        np.zeros((MAX_SEATS, MAX_SEATS)),
    )


@jitted
def state_comparisons(
    ints: Ints, floats: Floats, cov: Floats, seats: int, only_winner: bool
) -> int:
    """Write what the places (ascending) state into the board; returns how many comparisons.

    Every pair inside a tied group drew and every pair between neighbouring groups was won; with
    `only_winner` there are two groups, first and the rest, and the rest state nothing.
    """
    num_sites = 0
    start = 0
    while start < seats:
        end = start + 1
        while end < seats and ints[PLACE, end] == ints[PLACE, start]:
            end += 1
        for a in range(start, end):
            for b in range(a + 1, end):
                ints[WINNER, num_sites] = a
                ints[LOSER, num_sites] = b
                ints[TIED, num_sites] = 1
                num_sites += 1
        stop = end
        if only_winner:
            stop = seats
        else:
            while stop < seats and ints[PLACE, stop] == ints[PLACE, end]:
                stop += 1
        for a in range(start, end):
            for b in range(end, stop):
                ints[WINNER, num_sites] = a
                ints[LOSER, num_sites] = b
                ints[TIED, num_sites] = 0
                num_sites += 1
        if only_winner:
            break
        start = end
    for site in range(num_sites):
        floats[PRECISION, site] = 0.0
        floats[PULL, site] = 0.0
    return num_sites


@jitted
def set_performances(ints: Ints, floats: Floats, cov: Floats, seats: int, noise: float) -> None:
    """Set mean and covariance to the prior: skill plus `noise` (beta squared) for each seat.

    Seats of one bot share its skill, so their performances are correlated.
    """
    for i in range(seats):
        floats[MEAN, i] = floats[PRIOR, i]
        for j in range(seats):
            cov[i, j] = floats[VARIANCE, i] if ints[BOT, i] == ints[BOT, j] else 0.0
        cov[i, i] += noise


@jitted
def apply_sites(ints: Ints, floats: Floats, cov: Floats, seats: int, num_sites: int) -> None:
    """Bring the stored approximations of all comparisons into mean and covariance."""
    for site in range(num_sites):
        precision = floats[PRECISION, site]
        if precision > 0:
            a = ints[WINNER, site]
            b = ints[LOSER, site]
            _move(floats, cov, seats, a, b, precision, floats[PULL, site])


@jitted
def _move(
    floats: Floats,
    cov: Floats,
    seats: int,
    a: int,
    b: int,
    precision: float,
    pull: float,
) -> float:
    # Add to the natural parameters of the gap a - b; returns the step in standard deviations.
    variance = cov[a, a] + cov[b, b] - 2 * cov[a, b]
    force = pull - precision * (floats[MEAN, a] - floats[MEAN, b])
    scale = 1 / (1 + precision * variance)
    for i in range(seats):
        floats[COLUMN, i] = cov[i, a] - cov[i, b]
    force_scaled = force * scale
    precision_scaled = precision * scale
    for i in range(seats):
        floats[MEAN, i] += force_scaled * floats[COLUMN, i]
        share = precision_scaled * floats[COLUMN, i]
        for j in range(seats):
            cov[i, j] -= share * floats[COLUMN, j]
    step: float = max(abs(precision) * variance, abs(force) * math.sqrt(max(variance, 0.0)))
    return step


@jitted
def _approximate(
    variance: float, gap: float, precision: float, pull: float, is_tied: int, margin: float
) -> tuple[float, float]:
    # The comparison's new natural parameters, from the gap's moments and the old parameters.
    share = max(1 - precision * variance, _LEAST_SHARE)
    rest_variance = variance / share
    rest_gap = (gap - pull * variance) / share
    deviation = math.sqrt(rest_variance)
    if is_tied == 1:
        v, w, left = draw_terms(rest_gap / deviation, margin / deviation)
    else:
        v, w, left = win_terms((rest_gap - margin) / deviation)
    scale = 1 / (rest_variance * max(left, _LEAST_SHARE))
    new_precision = max(w, 0.0) * scale
    return new_precision, rest_gap * new_precision + v * deviation * scale


@jitted
def settle(
    ints: Ints,
    floats: Floats,
    cov: Floats,
    seats: int,
    num_sites: int,
    margin: float,
    tolerance: float,
    max_sweeps: int,
) -> int:
    """Visit the comparisons forth and back until no step exceeds the tolerance; returns sweeps.

    A visit matches the moments of one comparison against all the rest.
    """
    for sweep in range(max_sweeps):
        step = 0.0
        for visit in range(max(2 * num_sites - 2, 1)):
            if visit == num_sites and step <= tolerance:
                return sweep + 1
            site = visit if visit < num_sites else 2 * num_sites - 2 - visit
            a = ints[WINNER, site]
            b = ints[LOSER, site]
            total = cov[a, a] + cov[b, b]
            variance = max(total - 2 * cov[a, b], _LEAST_SHARE * total)
            precision, pull = _approximate(
                variance,
                floats[MEAN, a] - floats[MEAN, b],
                floats[PRECISION, site],
                floats[PULL, site],
                ints[TIED, site],
                margin,
            )
            moved = _move(
                floats, cov, seats, a, b,
                precision - floats[PRECISION, site], pull - floats[PULL, site],
            )  # fmt: skip
            step = max(step, moved)
            floats[PRECISION, site] = precision
            floats[PULL, site] = pull
        if num_sites <= 1 or step <= tolerance:
            return sweep + 1
    return max_sweeps


@jitted
def even_out(ints: Ints, floats: Floats, cov: Floats, seats: int) -> None:
    """Give seats that nothing tells apart one and the same result.

    At the fixed point they have it; short of it by the tolerance, the order of visits shows.
    Only bots with one seat are compared, so that a seat means a bot.
    """
    start = 0
    while start < seats:
        end = start + 1
        while (
            end < seats
            and ints[PLACE, end] == ints[PLACE, start]
            and floats[PRIOR, end] == floats[PRIOR, start]
            and floats[VARIANCE, end] == floats[VARIANCE, start]
        ):
            end += 1
        if end - start > 1 and not _has_repeat(ints, seats):
            mean = 0.0
            variance = 0.0
            for i in range(start, end):
                mean += floats[MEAN, i]
                variance += cov[i, i]
            for i in range(start, end):
                floats[MEAN, i] = mean / (end - start)
                cov[i, i] = variance / (end - start)
        start = end


@jitted
def _has_repeat(ints: Ints, seats: int) -> bool:
    repeats = 0
    for i in range(seats):
        for j in range(i):
            repeats += ints[BOT, i] == ints[BOT, j]
    return repeats > 0


@jitted
def skill_update(
    ints: Ints, floats: Floats, cov: Floats, seats: int, seat: int, noise: float
) -> tuple[float, float, float]:
    """What the match says of the bot in `seat`: (force, information, share of variance left).

    The skill's new mean is prior + variance * force, its new variance is variance * share; the
    message of the match to the skill has precision information / share. All seats of the bot
    speak together (their sum is what the skill depends on).
    """
    copies = 0
    shift = 0.0
    total = 0.0
    for i in range(seats):
        if ints[BOT, i] != ints[BOT, seat]:
            continue
        copies += 1
        shift += floats[MEAN, i] - floats[PRIOR, i]
        for j in range(seats):
            if ints[BOT, j] == ints[BOT, seat]:
                total += cov[i, j]
    variance = floats[VARIANCE, seat]
    spread = copies * variance + noise
    total = min(max(total, 0.0), copies * spread)
    information = (copies * spread - total) / (spread * spread)
    share = (noise + variance * total / spread) / spread
    return shift / spread, information, share
