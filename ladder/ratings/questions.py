"""What a rating answers: is this order real, who beats whom, does the order of matches matter, and
does the model predict matches it has not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ladder.errors import SpecError
from ladder.ratings.compiled import jitted
from ladder.ratings.gaussian import cdf, density
from ladder.ratings.online import rate_online
from ladder.ratings.patterns import EMPTY, Floats, Ints, Ratings, check_results, dense_places
from ladder.ratings.settings import RatingSettings

_NODES = 64  # of the quadrature over one performance
_REACH = 8.0  # standard deviations it covers
_LEAST = 1e-12  # a probability counts as no less in a log loss


@dataclass(frozen=True)
class Spread:
    """How far mu, less the mean of all, moves when the matches come in other orders, by bot."""

    low: Floats
    high: Floats
    deviation: Floats


@dataclass(frozen=True)
class PredictiveCheck:
    """Log loss (nats a match, less is better) of three forecasts of who wins, on unseen matches.

    `rating` uses the ratings, `win_share` each bot's share of wins so far, `even` one chance a
    seat. A rating that does worse than the win share misfits, whatever its sigmas say.
    """

    rating: float
    win_share: float
    even: float
    matches: int

    @property
    def is_misfit(self) -> bool:
        """Whether plain win shares foretell the matches better."""
        return self.matches > 0 and self.rating > self.win_share


def order_probabilities(ratings: Ratings, order: Ints) -> Floats:
    """The probability that each bot of `order` is truly better than the next one.

    One number fewer than bots; 1/2 means nothing is known. With a joint covariance (batch) the
    deviation of a difference is the joint one: sigmas alone leave out that bots which met share
    their luck.
    """
    matrix = better_matrix(ratings)
    found: Floats = matrix[order[:-1], order[1:]]
    return found


def better_matrix(ratings: Ratings) -> Floats:
    """P(skill of a > skill of b), by bot and bot; 1/2 on the diagonal."""
    if ratings.covariance is None:
        variance = ratings.sigma[:, None] ** 2 + ratings.sigma[None, :] ** 2
    else:
        own = np.diag(ratings.covariance)
        variance = own[:, None] + own[None, :] - 2 * ratings.covariance
    return _gap_probabilities(ratings.mu, variance)


def win_matrix(ratings: Ratings, *, beta: float) -> Floats:
    """P(a finishes before b) in one match, by bot and bot; a tie counts as half to each."""
    variance = ratings.sigma[:, None] ** 2 + ratings.sigma[None, :] ** 2 + 2 * beta**2
    return _gap_probabilities(ratings.mu, variance)


def _gap_probabilities(mu: Floats, variance: Floats) -> Floats:
    deviation = np.sqrt(np.maximum(variance, 1e-300))
    matrix = cdf_of((mu[:, None] - mu[None, :]) / deviation)
    np.fill_diagonal(matrix, 0.5)
    return matrix


def pair_counts(lineups: Ints, places: Ints, counts: Ints, num_bots: int) -> tuple[Ints, Ints]:
    """(wins, ties) by bot and bot: pairs of seats where row finished before, or level with, column.

    Two seats of one bot are no pair.
    """
    lineups, places = check_results(lineups, places, num_bots)
    counts = np.asarray(counts, np.int64)
    wins = np.zeros((num_bots, num_bots), np.int64)
    ties = np.zeros((num_bots, num_bots), np.int64)
    for a in range(lineups.shape[1]):
        for b in range(lineups.shape[1]):
            is_pair = (lineups[:, a] != EMPTY) & (lineups[:, b] != EMPTY)
            is_pair &= (lineups[:, a] != lineups[:, b]) & (a != b)
            won = is_pair & (places[:, a] < places[:, b])
            tied = is_pair & (places[:, a] == places[:, b])
            np.add.at(wins, (lineups[won, a], lineups[won, b]), counts[won])
            np.add.at(ties, (lineups[tied, a], lineups[tied, b]), counts[tied])
    return wins, ties


def order_spread(
    lineups: Ints,
    places: Ints,
    num_bots: int,
    *,
    settings: RatingSettings,
    shuffles: int = 20,
    seed: int = 0,
) -> Spread:
    """Rate the matches online in `shuffles` random orders and see how mu spreads.

    Raises: SpecError for fewer than two shuffles, and whatever `rate_online` refuses.
    """
    if shuffles < 2:
        raise SpecError(f"shuffles: must be 2 or more (got {shuffles})")
    lineups, places = check_results(lineups, places, num_bots)
    generator = np.random.default_rng(seed)
    found = np.empty((shuffles, num_bots))
    for shuffle in range(shuffles):
        rows = generator.permutation(len(lineups))
        mu = rate_online(lineups[rows], places[rows], num_bots, settings=settings).mu
        found[shuffle] = mu - mu.mean()  # a shift of all means nothing
    found += settings.mu
    return Spread(found.min(axis=0), found.max(axis=0), found.std(axis=0, ddof=1))


def win_probabilities(lineups: Ints, ratings: Ratings, *, beta: float) -> Floats:
    """P(seat finishes first) for each seat of each line-up; rows sum to 1, empty seats have 0.

    The integral over the seat's performance of the chance that all others fall below it; seats
    are taken as independent given the ratings.
    """
    lineups = np.ascontiguousarray(lineups, dtype=np.int64)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    found = np.zeros(lineups.shape)
    deviation = np.sqrt(ratings.sigma**2 + beta**2)
    _fill_win_probabilities(lineups, ratings.mu, deviation, nodes * _REACH, weights * _REACH, found)
    scaled: Floats = found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300)
    return scaled


@jitted
def _fill_win_probabilities(
    lineups: Ints, mu: Floats, deviation: Floats, nodes: Floats, weights: Floats, found: Floats
) -> None:
    seats = lineups.shape[1]
    for match in range(len(lineups)):
        for seat in range(seats):
            bot = lineups[match, seat]
            if bot == EMPTY:
                continue
            for k in range(len(nodes)):
                chance = weights[k] * density(nodes[k])
                reached = mu[bot] + deviation[bot] * nodes[k]
                for other in range(seats):
                    rival = lineups[match, other]
                    if rival != EMPTY and other != seat:
                        chance *= cdf((reached - mu[rival]) / deviation[rival])
                found[match, seat] += chance


@jitted
def _fill_cdf(values: Floats, found: Floats) -> None:
    for i in range(len(values)):
        found[i] = cdf(values[i])


def cdf_of(values: Floats) -> Floats:
    """The unit normal's distribution function of each value."""
    found = np.empty(values.size)
    _fill_cdf(np.ascontiguousarray(values, np.float64).reshape(-1), found)
    return found.reshape(values.shape)


def predictive_check(
    seen: tuple[Ints, Ints, Ints],
    held_out: tuple[Ints, Ints, Ints],
    ratings: Ratings,
    *,
    settings: RatingSettings,
) -> PredictiveCheck:
    """How well ratings made from `seen` foretell who wins the matches in `held_out`.

    Both are (lineups, places, counts). The baseline gives each seat its bot's win share in `seen`
    (with one win in as many seats as a match has added), scaled to sum to 1 in the line-up.
    A shared first place is shared evenly.
    """
    lineups, places, counts = held_out
    lineups, places = check_results(lineups, places, len(ratings.mu))
    matches = int(np.sum(counts))
    if matches == 0:
        return PredictiveCheck(math.nan, math.nan, math.nan, 0)
    is_seated = lineups != EMPTY
    shares = _win_shares(lineups, places)
    even = is_seated / np.maximum(is_seated.sum(axis=1, keepdims=True), 1)
    by_bot = _baseline(seen, len(ratings.mu))
    baseline = np.where(is_seated, by_bot[np.maximum(lineups, 0)], 0.0)
    baseline /= np.maximum(baseline.sum(axis=1, keepdims=True), 1e-300)
    rated = win_probabilities(lineups, ratings, beta=settings.beta)

    def loss(forecast: Floats) -> float:
        logs = np.log(np.maximum(forecast, _LEAST))
        return float(-(np.asarray(counts) * (shares * logs).sum(axis=1)).sum() / matches)

    return PredictiveCheck(loss(rated), loss(baseline), loss(even), matches)


def _win_shares(lineups: Ints, places: Ints) -> Floats:
    is_first = dense_places(lineups, places, "winner") == 1
    shares: Floats = is_first / np.maximum(is_first.sum(axis=1, keepdims=True), 1)
    return shares


def _baseline(seen: tuple[Ints, Ints, Ints], num_bots: int) -> Floats:
    lineups, places = check_results(seen[0], seen[1], num_bots)
    counts = np.asarray(seen[2])
    shares = _win_shares(lineups, places)
    seats = max(lineups.shape[1], 1)
    won = np.ones(num_bots)
    sat = np.full(num_bots, float(seats))
    for column in range(lineups.shape[1]):
        is_seated = lineups[:, column] != EMPTY
        bots = lineups[is_seated, column]
        won += np.bincount(
            bots, weights=shares[is_seated, column] * counts[is_seated], minlength=num_bots
        )
        sat += np.bincount(bots, weights=counts[is_seated], minlength=num_bots)
    baseline: Floats = won / sat
    return baseline
