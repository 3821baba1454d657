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
from typing import Any, NamedTuple

import numpy as np

from ladder.ratings.compiled import jitted
from ladder.ratings.gaussian import draw_terms, win_terms
from ladder.ratings.patterns import MAX_SEATS, Floats, Ints

MAX_SITES = MAX_SEATS * (MAX_SEATS - 1) // 2

TOLERANCE = 1e-8  # largest last step of any comparison, in its own standard deviations
MAX_SWEEPS = 200

# Rounding may leave a difference of two nearly equal performances without any variance.
_LEAST_SHARE = 1e-14


class Board(NamedTuple):
    """Working arrays of one match of up to MAX_SEATS seats, indexed by seat in order of place.

    `winner`, `loser` and `tied` hold the comparisons, `precision` and `pull` their Gaussian
    approximations (natural parameters of the gap winner - loser).
    """

    bot: Ints
    place: Ints
    prior: Floats  # mean of the seat's skill
    variance: Floats  # of the seat's skill
    mean: Floats  # posterior mean of the performance
    cov: Floats  # posterior covariance of the performances
    winner: Ints
    loser: Ints
    tied: Ints
    precision: Floats
    pull: Floats
    column: Floats  # spare


def new_board() -> Board:
    """An empty board."""
    seats, sites = MAX_SEATS, MAX_SITES
    return Board(
        bot=np.zeros(seats, np.int64),
        place=np.zeros(seats, np.int64),
        prior=np.zeros(seats),
        variance=np.zeros(seats),
        mean=np.zeros(seats),
        cov=np.zeros((seats, seats)),
        winner=np.zeros(sites, np.int64),
        loser=np.zeros(sites, np.int64),
        tied=np.zeros(sites, np.int64),
        precision=np.zeros(sites),
        pull=np.zeros(sites),
        column=np.zeros(seats),
    )


@jitted
def state_comparisons(board: Any, seats: int, only_winner: bool) -> int:
    """Write what the places (ascending) state into the board; returns how many comparisons.

    Every pair inside a tied group drew and every pair between neighbouring groups was won; with
    `only_winner` there are two groups, first and the rest, and the rest state nothing.
    """
    num_sites = 0
    start = 0
    while start < seats:
        end = start + 1
        while end < seats and board.place[end] == board.place[start]:
            end += 1
        for a in range(start, end):
            for b in range(a + 1, end):
                board.winner[num_sites] = a
                board.loser[num_sites] = b
                board.tied[num_sites] = 1
                num_sites += 1
        stop = end
        if only_winner:
            stop = seats
        else:
            while stop < seats and board.place[stop] == board.place[end]:
                stop += 1
        for a in range(start, end):
            for b in range(end, stop):
                board.winner[num_sites] = a
                board.loser[num_sites] = b
                board.tied[num_sites] = 0
                num_sites += 1
        if only_winner:
            break
        start = end
    for site in range(num_sites):
        board.precision[site] = 0.0
        board.pull[site] = 0.0
    return num_sites


@jitted
def set_performances(board: Any, seats: int, noise: float) -> None:
    """Set mean and covariance to the prior: skill plus `noise` (beta squared) for each seat.

    Seats of one bot share its skill, so their performances are correlated.
    """
    for i in range(seats):
        board.mean[i] = board.prior[i]
        for j in range(seats):
            board.cov[i, j] = board.variance[i] if board.bot[i] == board.bot[j] else 0.0
        board.cov[i, i] += noise


@jitted
def apply_sites(board: Any, seats: int, num_sites: int) -> None:
    """Bring the stored approximations of all comparisons into mean and covariance."""
    mean, cov, column = board.mean, board.cov, board.column
    for site in range(num_sites):
        precision = board.precision[site]
        if precision > 0:
            a = board.winner[site]
            b = board.loser[site]
            _move(mean, cov, column, seats, a, b, precision, board.pull[site])


@jitted
def _move(
    mean: Floats,
    cov: Floats,
    column: Floats,
    seats: int,
    a: int,
    b: int,
    precision: float,
    pull: float,
) -> float:
    # Add to the natural parameters of the gap a - b; returns the step in standard deviations.
    variance = cov[a, a] + cov[b, b] - 2 * cov[a, b]
    force = pull - precision * (mean[a] - mean[b])
    scale = 1 / (1 + precision * variance)
    for i in range(seats):
        column[i] = cov[i, a] - cov[i, b]
    force_scaled = force * scale
    precision_scaled = precision * scale
    for i in range(seats):
        mean[i] += force_scaled * column[i]
        share = precision_scaled * column[i]
        for j in range(seats):
            cov[i, j] -= share * column[j]
    return max(abs(precision) * variance, abs(force) * math.sqrt(max(variance, 0.0)))


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
    board: Any, seats: int, num_sites: int, margin: float, tolerance: float, max_sweeps: int
) -> int:
    """Visit the comparisons forth and back until no step exceeds the tolerance; returns sweeps.

    A visit matches the moments of one comparison against all the rest.
    """
    # Taken from the board once: each access of a field costs a count of references.
    mean, cov, column = board.mean, board.cov, board.column
    winner, loser, tied = board.winner, board.loser, board.tied
    old_precision, old_pull = board.precision, board.pull
    for sweep in range(max_sweeps):
        step = 0.0
        for visit in range(max(2 * num_sites - 2, 1)):
            if visit == num_sites and step <= tolerance:
                return sweep + 1
            site = visit if visit < num_sites else 2 * num_sites - 2 - visit
            a = winner[site]
            b = loser[site]
            total = cov[a, a] + cov[b, b]
            variance = max(total - 2 * cov[a, b], _LEAST_SHARE * total)
            precision, pull = _approximate(
                variance, mean[a] - mean[b], old_precision[site], old_pull[site], tied[site], margin
            )
            moved = _move(
                mean, cov, column, seats, a, b,
                precision - old_precision[site], pull - old_pull[site],
            )  # fmt: skip
            step = max(step, moved)
            old_precision[site] = precision
            old_pull[site] = pull
        if num_sites <= 1 or step <= tolerance:
            return sweep + 1
    return max_sweeps


@jitted
def even_out(board: Any, seats: int) -> None:
    """Give seats that nothing tells apart one and the same result.

    At the fixed point they have it; short of it by the tolerance, the order of visits shows.
    Only bots with one seat are compared, so that a seat means a bot.
    """
    start = 0
    while start < seats:
        end = start + 1
        while (
            end < seats
            and board.place[end] == board.place[start]
            and board.prior[end] == board.prior[start]
            and board.variance[end] == board.variance[start]
        ):
            end += 1
        if end - start > 1 and not _has_repeat(board, seats):
            mean = 0.0
            variance = 0.0
            for i in range(start, end):
                mean += board.mean[i]
                variance += board.cov[i, i]
            for i in range(start, end):
                board.mean[i] = mean / (end - start)
                board.cov[i, i] = variance / (end - start)
        start = end


@jitted
def _has_repeat(board: Any, seats: int) -> bool:
    for i in range(seats):
        for j in range(i):
            if board.bot[i] == board.bot[j]:
                return True
    return False


@jitted
def skill_update(board: Any, seats: int, seat: int, noise: float) -> tuple[float, float, float]:
    """What the match says of the bot in `seat`: (force, information, share of variance left).

    The skill's new mean is prior + variance * force, its new variance is variance * share; the
    message of the match to the skill has precision information / share. All seats of the bot
    speak together (their sum is what the skill depends on).
    """
    copies = 0
    shift = 0.0
    total = 0.0
    for i in range(seats):
        if board.bot[i] != board.bot[seat]:
            continue
        copies += 1
        shift += board.mean[i] - board.prior[i]
        for j in range(seats):
            if board.bot[j] == board.bot[seat]:
                total += board.cov[i, j]
    variance = board.variance[seat]
    spread = copies * variance + noise
    total = min(max(total, 0.0), copies * spread)
    information = (copies * spread - total) / (spread * spread)
    share = (noise + variance * total / spread) / spread
    return shift / spread, information, share
