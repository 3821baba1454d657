"""TrueSkill over all matches at once, in no order: for bots that do not change.

The skills' posterior is the fixed point of expectation propagation over every match (TrueSkill
Through Time with gamma 0; Dangauthier, Herbrich, Minka & Graepel, NIPS 2007). Matches with one
line-up and one finish send one and the same message, so the cost is that of the distinct
finishes.

Passing messages until they settle takes thousands of rounds where the bots form long chains, and
never ends where a million matches answer each other. So the means are moved by Newton's method:
a pass over the finishes gives each match's force on the skills and its joint precision (the
comparisons' approximations with the performances integrated out); the step solves the linear
system of all of them. Its fixed point is the same.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ladder.ratings.compiled import jitted
from ladder.ratings.match import (
    BOT,
    MEAN,
    PLACE,
    PRECISION,
    PRIOR,
    PULL,
    VARIANCE,
    apply_sites,
    new_board,
    set_performances,
    settle,
    skill_update,
    state_comparisons,
)
from ladder.ratings.patterns import (
    EMPTY,
    Floats,
    Ints,
    Patterns,
    Ratings,
    check_results,
    count_matches,
    group_results,
    settle_draws,
)
from ladder.ratings.settings import RatingSettings, draw_margin

TOLERANCE = 1e-8  # largest last change: of mu in betas, of sigma relative to itself
MAX_PASSES = 500

# A pass need not settle a match: the next pass goes on from where it stopped.
_FIRST_SWEEPS = 3
_LATER_SWEEPS = 1
_SETTLED = 1e-9

# The first passes over many finishes are made on a sample, to start close to the end.
_SAMPLE = 20_000
_SAMPLE_TOLERANCE = 1e-3
_MANY_TOLERANCE = 1e-6  # a thousandth of the least sigma that so many finishes leave, and less

# Far from the end, steps that turn back overshoot and are shortened; steps that go on grow again.
# (A bot that never won swings for ever at full steps: its mean and its variance answer each
# other.) Closer to it, the last few passes are combined.
_SHORTER, _LONGER = 0.6, 1.4
_SHORTEST = 1 / 32
_CLOSE = 0.3
_REMEMBERED = 6

# Many finishes are passed over in parts, on all cores; each part has sums of its own to hold.
_PARTS = 16
_PART_SIZE = 10_000  # finishes that are worth a part
_PART_BOTS = 500

_LONGEST_STEP = 4.0  # of a mean in one pass, in deviations of a new bot's performance


def rate_batch(
    lineups: Ints,
    places: Ints,
    counts: Ints,
    num_bots: int,
    *,
    settings: RatingSettings,
    anchor: tuple[int, float] | None = None,
) -> Ratings:
    """Rate all matches together; `counts[p]` matches had line-up and places of row p.

    `lineups[p, s]` is the bot in seat s (EMPTY: no such seat), `places[p, s]` its place, 1 the
    first, ties sharing a place. Rows may repeat and come in any order: equal results bit for bit.
    Runs until no mu moves by more than 1e-8 beta and no sigma by 1e-8 of itself (1e-6 with more
    than 40,000 distinct finishes). A bot that never
    played keeps the prior; groups of bots that never met are held together by the prior alone.
    The settings' tau is not used.

    Raises: SpecError for arrays that make no sense, or ties with draw_probability 0.
    """
    lineups, places = check_results(lineups, places, num_bots)
    counts = np.asarray(counts, np.int64)
    settings, probability = settle_draws(lineups, places, counts, settings)
    patterns = group_results(lineups, places, counts, num_bots=num_bots, rank_by=settings.rank_by)
    margin = draw_margin(probability, settings.beta)
    start = (
        np.full(num_bots, settings.mu, np.float64),
        np.full(num_bots, settings.sigma**2, np.float64),
    )
    tolerance = TOLERANCE
    if len(patterns.counts) > 2 * _SAMPLE:
        sample = _sample(patterns)
        mu, variance, *_ = _rate(
            sample, *start, settings=settings, margin=margin, tolerance=_SAMPLE_TOLERANCE
        )
        start, tolerance = (mu, variance), _MANY_TOLERANCE
    mu, variance, covariance, passes, is_converged = _rate(
        patterns, *start, settings=settings, margin=margin, tolerance=tolerance
    )
    return Ratings(
        mu=mu,
        sigma=np.sqrt(variance),
        matches=count_matches(patterns.lineups, patterns.counts, num_bots),
        draw_probability=probability,
        covariance=covariance,
        sweeps=passes,
        is_converged=is_converged,
    ).anchored(anchor)


def _sample(patterns: Patterns) -> Patterns:
    """A part of the finishes, each counting for as many more; chosen by row number alone."""
    rows = np.arange(len(patterns.counts), dtype=np.uint64)
    mixed = (rows * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    share = len(rows) / _SAMPLE
    chosen = mixed < np.uint64(int(2**32 / share))
    weights = np.maximum(np.rint(patterns.counts[chosen] * share), 1).astype(np.int64)
    return Patterns(patterns.lineups[chosen], patterns.places[chosen], weights)


def _rate(
    patterns: Patterns,
    mu: Floats,
    variance: Floats,
    *,
    settings: RatingSettings,
    margin: float,
    tolerance: float,
) -> tuple[Floats, Floats, Floats, int, bool]:
    """(mu, variance, joint covariance, passes, whether it converged), from a start."""
    num_bots = len(mu)
    num_patterns, seats = patterns.lineups.shape
    num_sites = max(seats * (seats - 1) // 2, 1)
    prior_precision = settings.sigma**-2
    only_winner = settings.rank_by == "winner"
    sites = np.zeros((num_patterns, _sites_needed(patterns, num_sites, only_winner), 2))
    told = np.zeros((num_patterns, seats))
    diagonal = np.diag(np.full(num_bots, prior_precision))
    longest = _LONGEST_STEP * np.sqrt(settings.sigma**2 + settings.beta**2)
    passes, is_converged = 0, False
    inverse = np.diag(variance)
    pace = _Pace(np.zeros(2 * num_bots))
    while passes < MAX_PASSES and not is_converged:
        force, precision, joint = _gather(
            patterns,
            mu,
            variance,
            settings.beta**2,
            margin,
            only_winner,
            _LATER_SWEEPS if passes else _FIRST_SWEEPS,
            sites,
            told,
        )
        passes += 1
        inverse = np.asarray(np.linalg.inv(joint + diagonal), np.float64)
        step = inverse @ (prior_precision * (settings.mu - mu) + force)
        largest = np.abs(step).max(initial=0.0)
        if largest > longest:
            step *= longest / largest
        new_variance = 1 / (prior_precision + precision)
        way = np.concatenate((step / settings.beta, np.log(new_variance / variance) / 2))
        change = np.abs(way).max(initial=0.0)
        moved = pace.next_step(np.concatenate((mu / settings.beta, np.log(variance) / 2)), way)
        mu = mu + settings.beta * moved[:num_bots]
        variance = variance * np.exp(2 * moved[num_bots:])
        is_converged = bool(change <= tolerance)
    return mu, variance, (inverse + inverse.T) / 2, passes, is_converged


def _gather(
    patterns: Patterns,
    mu: Floats,
    variance: Floats,
    noise: float,
    margin: float,
    only_winner: bool,
    max_sweeps: int,
    sites: Floats,
    told: Floats,
) -> tuple[Floats, Floats, Floats]:
    """(force, precision, joint): `gather_messages` over all finishes, on all cores.

    The finishes are cut by their number alone and the parts' sums added in order: the same bits
    on any number of cores.
    """
    num_bots, num_patterns = len(mu), len(patterns.counts)
    parts = min(_PARTS, 1 + num_patterns // _PART_SIZE) if num_bots <= _PART_BOTS else 1
    edges = [num_patterns * part // parts for part in range(parts + 1)]

    def gather(part: int) -> tuple[Floats, Floats, Floats]:
        own = slice(edges[part], edges[part + 1])
        sums = np.empty(num_bots), np.empty(num_bots), np.empty((num_bots, num_bots))
        gather_messages(
            patterns.lineups[own], patterns.places[own], patterns.counts[own], mu, variance, noise,
            margin, only_winner, max_sweeps, sites[own], told[own], *sums, *new_board(),
        )  # fmt: skip
        return sums

    if parts == 1:
        return gather(0)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        force, precision, joint = zip(*threads.map(gather, range(parts)), strict=True)
    return sum(force[1:], force[0]), sum(precision[1:], precision[0]), sum(joint[1:], joint[0])


class _Pace:
    """Chooses how far to go along the proposed ways, having seen the ones before."""

    def __init__(self, way: Floats) -> None:
        self.last_way = way
        self.damping = 1.0
        self.places: list[Floats] = []
        self.ways: list[Floats] = []

    def next_step(self, place: Floats, way: Floats) -> Floats:
        """The step to take from `place`, where a full one would go `way`."""
        if way @ self.last_way < 0:
            self.damping = max(self.damping * _SHORTER, _SHORTEST)
        else:
            self.damping = min(self.damping * _LONGER, 1.0)
        grown = np.abs(way).max() > 2 * np.abs(self.last_way).max()
        self.last_way = way
        if np.abs(way).max() > _CLOSE or grown:
            self.places.clear()
            self.ways.clear()
            return self.damping * way
        self.places = [*self.places[-_REMEMBERED:], place]
        self.ways = [*self.ways[-_REMEMBERED:], way]
        if len(self.ways) == 1:
            return self.damping * way
        # Anderson's method (J. ACM 12, 1965): the mix of past passes whose ways cancel best.
        ways = np.diff(np.array(self.ways), axis=0).T
        places = np.diff(np.array(self.places), axis=0).T
        mix = np.linalg.lstsq(ways, way, rcond=1e-8)[0]
        step: Floats = way - (places + ways) @ mix
        return step if np.abs(step).max() <= 1.0 else self.damping * way


def _sites_needed(patterns: Patterns, most: int, only_winner: bool) -> int:
    """The most comparisons that any of the finishes states."""
    needed = np.zeros(len(patterns.counts), np.int64)
    places = patterns.places
    for a in range(places.shape[1]):
        for b in range(a):
            gap = np.abs(places[:, a] - places[:, b])
            states = (places[:, a] > 0) & (places[:, b] > 0) & (gap <= 1)
            if only_winner:
                states &= (places[:, a] == 1) | (places[:, b] == 1)
            needed += states
    return min(int(needed.max(initial=1)), most)


@jitted
def gather_messages(
    lineups: Ints,
    places: Ints,
    counts: Ints,
    mu: Floats,
    variance: Floats,
    noise: float,
    margin: float,
    only_winner: bool,
    max_sweeps: int,
    sites: Floats,
    told: Floats,
    force: Floats,
    precision: Floats,
    joint: Floats,
    ints: Ints,
    floats: Floats,
    cov: Floats,
) -> None:
    """One pass over the finishes: sum what their matches say of the skills mu, variance.

    `sites[p]` (precision, pull of each comparison) and `told[p]` (precision of the message to
    each seat's bot) are kept from pass to pass. `force`, `precision`, `joint` are overwritten with
    the sums over all matches.
    """
    num_bots = len(mu)
    force[:] = 0.0
    precision[:] = 0.0
    joint[:] = 0.0
    flat = joint.reshape(num_bots * num_bots)
    forces = np.empty(len(cov))
    for p in range(len(lineups)):
        seats = 0
        while seats < lineups.shape[1] and lineups[p, seats] != EMPTY:
            ints[BOT, seats] = lineups[p, seats]
            ints[PLACE, seats] = places[p, seats]
            seats += 1
        if seats < 2:
            continue
        num_sites = state_comparisons(ints, floats, cov, seats, only_winner)
        for site in range(num_sites):
            floats[PRECISION, site] = sites[p, site, 0]
            floats[PULL, site] = sites[p, site, 1]
        # What each bot is without this match: the posterior is mu, variance.
        find_forces(ints, floats, cov, seats, num_sites, mu, noise, forces)
        for seat in range(seats):
            bot = ints[BOT, seat]
            rest = 1 / max(1 / variance[bot] - told[p, seat], 1e-12 / variance[bot])
            floats[VARIANCE, seat] = rest
            floats[PRIOR, seat] = mu[bot] - rest * forces[seat]
        set_performances(ints, floats, cov, seats, noise)
        apply_sites(ints, floats, cov, seats, num_sites)
        settle(ints, floats, cov, seats, num_sites, margin, _SETTLED, max_sweeps)
        count = float(counts[p])
        for seat in range(seats):
            _, information, share = skill_update(ints, floats, cov, seats, seat, noise)
            told[p, seat] = information / share
            if is_first_seat(ints, seat):
                precision[ints[BOT, seat]] += count * told[p, seat]
        for site in range(num_sites):
            sites[p, site, 0] = floats[PRECISION, site]
            sites[p, site, 1] = floats[PULL, site]
        find_forces(ints, floats, cov, seats, num_sites, mu, noise, forces)
        for seat in range(seats):
            if is_first_seat(ints, seat):
                force[ints[BOT, seat]] += count * forces[seat]
        add_joint_precision(ints, floats, cov, seats, noise, count, flat, num_bots)


@jitted
def is_first_seat(ints: Ints, seat: int) -> bool:
    """Whether no earlier seat has the same bot."""
    earlier = 0
    for other in range(seat):
        earlier += ints[BOT, other] == ints[BOT, seat]
    return earlier == 0


@jitted
def find_forces(
    ints: Ints,
    floats: Floats,
    cov: Floats,
    seats: int,
    num_sites: int,
    mu: Floats,
    noise: float,
    forces: Floats,
) -> None:
    """What the comparisons' approximations pull each seat's bot with, were the skills mu.

    Leaves the performances' covariance given the skills on the board.
    """
    for i in range(seats):
        floats[MEAN, i] = mu[ints[BOT, i]]
        for j in range(seats):
            cov[i, j] = 0.0
        cov[i, i] = noise
    apply_sites(ints, floats, cov, seats, num_sites)
    for i in range(seats):
        forces[i] = 0.0
        for j in range(seats):
            if ints[BOT, j] == ints[BOT, i]:
                forces[i] += (floats[MEAN, j] - mu[ints[BOT, j]]) / noise


@jitted
def add_joint_precision(
    ints: Ints,
    floats: Floats,
    cov: Floats,
    seats: int,
    noise: float,
    count: float,
    joint: Floats,
    num_bots: int,
) -> None:
    """Add count times the match's joint precision of its bots' skills to the flat matrix.

    With the comparisons' joint precision M of the performances, whose covariance given the skills
    is C = (M + 1/noise)^-1: M - M C M = (1 - C / noise) / noise. C is on the board.
    """
    scale = count / (noise * noise)
    for i in range(seats):
        row = ints[BOT, i] * num_bots
        for j in range(seats):
            own = noise if i == j else 0.0
            joint[row + ints[BOT, j]] += scale * (own - cov[i, j])
