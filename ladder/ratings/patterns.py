"""Results as arrays: checking, grouping equal finishes, and what can be counted from them.

A result is a row of `lineups` (bot by seat, EMPTY for no seat) and a row of `places` (1 first,
ties sharing a place). A pattern is a result with the number of matches that ended so; seats have
no order in it, because TrueSkill knows none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ladder.errors import SpecError
from ladder.ratings.settings import RankBy, RatingSettings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EMPTY = -1
MAX_SEATS = 8

# The margin grows without bound as the probability nears 1; all draws tell nothing at any margin.
MAX_DRAW_PROBABILITY = 0.95


@dataclass(frozen=True)
class Ratings:
    """A rating of every bot, by index.

    `covariance` (batch only) is the joint posterior covariance of the skills, for questions about
    differences; `sigma` is the TrueSkill one, each bot for itself.
    """

    mu: Floats
    sigma: Floats
    matches: Ints
    draw_probability: float
    covariance: Floats | None = None
    sweeps: int = 1
    is_converged: bool = True

    @property
    def conservative(self) -> Floats:
        """mu - 3 sigma."""
        return self.mu - 3 * self.sigma

    def anchored(self, anchor: tuple[int, float] | None) -> Ratings:
        """All mu shifted so that bot `anchor[0]` has mu `anchor[1]`; None leaves them alone.

        Only differences of mu mean anything, so a shift changes no probability.
        Raises: SpecError for a bot that is not there.
        """
        if anchor is None:
            return self
        bot, value = anchor
        if not 0 <= bot < len(self.mu):
            raise SpecError(f"rating.anchor: no such bot, there are {len(self.mu)} (got {bot})")
        return replace(self, mu=self.mu + (value - self.mu[bot]))


@dataclass(frozen=True)
class Patterns:
    """Distinct finishes and how often each happened; rows sorted, seats sorted by place, bot."""

    lineups: Ints
    places: Ints
    counts: Ints


def check_results(lineups: Ints, places: Ints, num_bots: int) -> tuple[Ints, Ints]:
    """The two arrays as int64, or a refusal. Raises: SpecError with one line a problem."""
    lineups = np.ascontiguousarray(lineups, dtype=np.int64)
    places = np.ascontiguousarray(places, dtype=np.int64)
    problems = []
    if num_bots < 1:
        problems.append("results: no bots to rate")
    if lineups.ndim != 2 or lineups.shape != places.shape:
        problems.append(
            f"results: line-ups and places must be tables of one shape "
            f"(got {lineups.shape} and {places.shape})"
        )
        raise SpecError(*problems)
    if lineups.shape[1] > MAX_SEATS:
        problems.append(f"results: at most {MAX_SEATS} seats are rated (got {lineups.shape[1]})")
    if lineups.size and (lineups.max() >= num_bots or lineups.min() < EMPTY):
        problems.append(f"results: a bot index must be below {num_bots} (got {lineups.max()})")
    if np.any((lineups != EMPTY) & (places < 1)):
        problems.append("results: every seated bot needs a place, 1 or more")
    if problems:
        raise SpecError(*problems)
    return lineups, places


def pad_results(groups: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Tables of different seat numbers as one, empty seats on the right."""
    width = max((lineups.shape[1] for lineups, _ in groups), default=2)
    lineups, places = [np.zeros((0, width), np.int64)], [np.zeros((0, width), np.int64)]
    for lineup, place in groups:
        pad = ((0, 0), (0, width - lineup.shape[1]))
        lineups.append(np.pad(np.asarray(lineup, np.int64), pad, constant_values=EMPTY))
        places.append(np.pad(np.asarray(place, np.int64), pad))
    return np.concatenate(lineups), np.concatenate(places)


def group_results(
    lineups: Ints, places: Ints, counts: Ints, *, num_bots: int, rank_by: RankBy
) -> Patterns:
    """Distinct finishes with their counts, in an order that the order of rows does not show in.

    With rank_by "winner" the places become 1 (first) and 2 (the rest).
    """
    num_ranks = MAX_SEATS + 2
    ranks = dense_places(lineups, places, rank_by)
    bots = np.where(lineups == EMPTY, num_bots, lineups)
    keys = np.sort(ranks * (num_bots + 1) + bots, axis=1)  # an empty seat sorts last
    radix = num_ranks * (num_bots + 1)
    if radix ** keys.shape[1] < 2**63:
        packed = np.zeros(len(keys), np.int64)
        for column in range(keys.shape[1]):
            packed = packed * radix + keys[:, column]
        order = np.argsort(packed, kind="stable")
        packed = packed[order]
        is_new = np.diff(packed, prepend=-1) != 0
    else:
        order = np.lexsort(keys.T[::-1])
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = np.any(keys[order[1:]] != keys[order[:-1]], axis=1)
    keys = keys[order][is_new]
    starts = np.flatnonzero(is_new)
    summed = (
        np.add.reduceat(np.asarray(counts, np.int64)[order], starts)
        if len(starts)
        else np.zeros(0, np.int64)
    )
    found_places = keys // (num_bots + 1)
    found_lineups = keys % (num_bots + 1)
    is_empty = found_places == num_ranks - 1
    return Patterns(
        np.where(is_empty, EMPTY, found_lineups), np.where(is_empty, 0, found_places), summed
    )


def dense_places(lineups: Ints, places: Ints, rank_by: RankBy) -> Ints:
    """Places without gaps, from 1; empty seats get MAX_SEATS + 1. "winner": 1 and 2 only."""
    is_empty = lineups == EMPTY
    far = np.iinfo(np.int64).max
    rest = np.where(is_empty, far, places)
    best = rest.min(axis=1, keepdims=True, initial=far)
    if rank_by == "winner":
        ranks = np.where(rest == best, 1, 2)
    else:
        ranks = np.ones_like(rest)
        for column in range(rest.shape[1]):
            # A place counts once: by the first seat that has it.
            seen = np.any(rest[:, :column] == rest[:, column : column + 1], axis=1)
            ranks += (~seen[:, None]) & (rest[:, column : column + 1] < rest)
    return np.where(is_empty, MAX_SEATS + 1, ranks).astype(np.int64)


def tied_pairs(lineups: Ints, places: Ints, counts: Ints, *, rank_by: RankBy) -> tuple[int, int]:
    """(pairs of seats that tied, pairs of seats), over all matches.

    With rank_by "winner" only pairs that hold a winner count: nothing is known of the others.
    """
    ranks = dense_places(lineups, places, rank_by)
    tied = total = 0
    for a in range(lineups.shape[1]):
        for b in range(a):
            is_pair = (lineups[:, a] != EMPTY) & (lineups[:, b] != EMPTY)
            if rank_by == "winner":
                is_pair &= (ranks[:, a] == 1) | (ranks[:, b] == 1)
            total += int(counts[is_pair].sum())
            tied += int(counts[is_pair & (ranks[:, a] == ranks[:, b])].sum())
    return tied, total


def estimate_draw_probability(
    lineups: Ints, places: Ints, counts: Ints, *, rank_by: RankBy
) -> float:
    """The share of pairs that tied, at most 0.95; 0 where nothing tied or nothing was played.

    For rank_by "winner" of the pairs that hold a winner.
    """
    tied, total = tied_pairs(lineups, places, counts, rank_by=rank_by)
    return min(tied / total, MAX_DRAW_PROBABILITY) if total else 0.0


def settle_draws(
    lineups: Ints, places: Ints, counts: Ints, settings: RatingSettings
) -> tuple[RatingSettings, float]:
    """The settings with a draw probability that fits the results, and that probability.

    Raises: SpecError for draw_probability 0 with ties among the results.
    """
    if settings.draw_probability == "auto":
        estimate = estimate_draw_probability(lineups, places, counts, rank_by=settings.rank_by)
        return settings.with_draw_probability(estimate), estimate
    if settings.draw_probability == 0:
        tied, _ = tied_pairs(lineups, places, counts, rank_by=settings.rank_by)
        if tied:
            raise SpecError(
                f"rating.draw_probability: must be above 0 or auto, the results hold {tied} "
                "tied pairs (got 0)"
            )
    return settings, settings.draw_probability


def count_matches(lineups: Ints, counts: Ints, num_bots: int) -> Ints:
    """Matches each bot sat in, once a match however many seats it had."""
    matches = np.zeros(num_bots, np.int64)
    for column in range(lineups.shape[1]):
        bots = lineups[:, column]
        is_first = (bots != EMPTY) & ~np.any(lineups[:, :column] == bots[:, None], axis=1)
        matches += np.bincount(bots[is_first], weights=counts[is_first], minlength=num_bots).astype(
            np.int64
        )
    return matches


def linked_groups(lineups: Ints, num_bots: int) -> Ints:
    """A group number for each bot; bots of different groups never met, even through others.

    Their order comes from the prior alone and should not be shown as a result.
    """
    group = np.arange(num_bots)
    first = np.where(lineups == EMPTY, lineups.max(axis=1, keepdims=True, initial=EMPTY), lineups)
    pairs = [np.zeros((0, 2), np.int64)]
    pairs += [first[:, (0, column)] for column in range(1, first.shape[1])]
    edges = np.unique(np.concatenate(pairs), axis=0)
    edges = edges[edges[:, 0] != EMPTY]
    while True:
        least = np.minimum(group[edges[:, 0]], group[edges[:, 1]])
        new = group.copy()
        np.minimum.at(new, edges[:, 0], least)
        np.minimum.at(new, edges[:, 1], least)
        if np.array_equal(new, group):
            return group
        group = new
