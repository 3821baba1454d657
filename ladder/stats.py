"""Intervals for shares, and confidence sequences for differences that are watched as they grow.

A *confidence sequence* is an interval after every batch of matches such that all of them together
hold the truth with the stated probability: one may look after every batch, stop when one likes, and
the last interval still holds. An *e-value* against a hypothesis is what a fair bet on it would have
multiplied its stake by: at least 20 with probability at most 1/20 if the hypothesis is true,
whenever one stops.

The sequence is the empirical Bernstein one of Howard, Ramdas, McAuliffe, Sekhon (Annals of
Statistics 49(2), 2021, theorem 4), mixed over a grid of bets. For an outcome Z of mean m, a guess g
made before it, |Z - g| <= c and 0 <= bet < 1/c, Fan, Grama, Liu (2015) give

    E exp(bet (Z - m) - psi(bet) (Z - g)^2) <= 1,    psi(bet) = (-log(1 - c bet) - c bet) / c^2,

so the product over outcomes is a bet that no true m makes grow. It holds for every number of
matches, not only in the limit, and needs four sums a batch. The packages looked at (`confseq`,
`ville`, `expectation`) take neither sums nor covariates.

Covariates. A seat's chip change at Pasa has mean exactly 0, whatever anyone does, so the
difference D may be replaced by Z = D - b X with X the difference of the chip changes: the same
mean, for any b that is fixed before the outcome, and less spread. Here b and the guess g are worked
out from earlier batches only (the first batch has b = 0), so nothing about the outcome itself leaks
into them and the estimate, the mean of all Z, has no bias at any n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
FEW = 2000  # matches that say nothing yet of a ratio of variances
Floats = NDArray[np.float64]


def share_interval(
    mean: float, variance: float, matches: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Wilson's interval (JASA 22, 1927) at one look, finite for all wins and all losses too.

    `variance` is that of the mean. The interval is made for the number of plain wins and losses
    that would vary as much.
    """
    if matches == 0:
        return 0.0, 1.0
    binomial = mean * (1 - mean)
    effective = binomial / variance if variance > 0 and binomial > 0 else float(matches)
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    centre = (mean + z2 / (2 * effective)) / (1 + z2 / effective)
    half = math.sqrt(z2 * (binomial / effective + z2 / (4 * effective**2))) / (1 + z2 / effective)
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True)
class Moments:
    """Sums over a batch of paired matches: difference d and zero-mean covariate x of each."""

    n: int = 0
    d: float = 0.0
    x: float = 0.0
    dd: float = 0.0
    dx: float = 0.0
    xx: float = 0.0

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.n + other.n,
            self.d + other.d,
            self.x + other.x,
            self.dd + other.dd,
            self.dx + other.dx,
            self.xx + other.xx,
        )


def moments(differences: ArrayLike, covariates: ArrayLike | None = None) -> Moments:
    """The sums of a batch; without covariates these count as 0."""
    d = np.asarray(differences, float)
    x = np.zeros_like(d) if covariates is None else np.asarray(covariates, float)
    return Moments(len(d), *map(float, (d.sum(), x.sum(), d @ d, d @ x, x @ x)))


def widest(slope: float) -> float:
    """How far Z = D - slope X can lie from 0 for |D| <= 1 and |X| <= 1."""
    return 1.0 + abs(slope)


def pasa_widest(seats: int) -> Callable[[float], float]:
    """`widest` at Pasa without a cut, X being the difference of two piles, all chips = 1.

    A win share minus slope times the pile lies in a shorter range, for a loser holds at most half
    the chips and a winner at least 1/seats of them; Z is the difference of two such numbers.
    """

    def bound(slope: float) -> float:
        ends = [0.0, -slope / 2, 1 - slope / seats, 1 - slope]
        return max(ends) - min(ends)

    return bound


class Sequence:
    """The confidence sequence of a mean difference in [-1, 1], adjusted by one covariate."""

    def __init__(
        self,
        alpha: float = 1 - CONFIDENCE,
        *,
        bound: Callable[[float], float] = widest,
        most_slope: float = 4.0,
    ) -> None:
        self.alpha = alpha
        self.seen = Moments()
        self._bound = bound
        self._most_slope = most_slope
        self._sum = self._squares = 0.0  # of Z, and of Z minus its guess
        # Bets for all sizes of sample: the best one is about 1 / sqrt(sum of squares). Each is
        # below 1 / c for the largest c that can come up.
        most_bet = 0.9 / (2 * max(bound(most_slope), bound(-most_slope), bound(0.0)))
        self._bets = most_bet * 0.7 ** np.arange(24)
        self._costs = np.zeros(24)  # sum of psi(bet) (Z - g)^2, by bet
        self._low, self._high = -1.0, 1.0

    @property
    def n(self) -> int:
        """Matches counted, one for each pair played on the same dice."""
        return self.seen.n

    @property
    def slope(self) -> float:
        """The covariate's coefficient for the next batch, least squares over those before."""
        if self.seen.n < 2 or self.seen.xx <= 0:
            return 0.0
        mean = self.seen.d / self.seen.n
        # The mean of x is known to be 0, so only d is centred; one more square shrinks early fits.
        slope = (self.seen.dx - mean * self.seen.x) / (self.seen.xx * (1 + 10 / self.seen.n))
        return float(np.clip(slope, -self._most_slope, self._most_slope))

    @property
    def estimate(self) -> float:
        """The adjusted mean difference, without bias at any n; 0 before the first match."""
        return self._sum / self.n if self.n else 0.0

    @property
    def plain_estimate(self) -> float:
        """The mean difference as counted."""
        return self.seen.d / self.n if self.n else 0.0

    @property
    def variance(self) -> float:
        """The adjusted variance of one match's difference."""
        return self._squares / self.n if self.n else 1.0

    @property
    def gain(self) -> float | None:
        """How many times fewer matches the covariate makes enough, 1 without one.

        None while there are too few matches to tell.
        """
        if self.seen.xx == 0:
            return 1.0
        if self.n < FEW or self._squares <= 0:
            return None
        return (self.seen.dd - self.seen.d**2 / self.n) / self._squares

    def add(self, batch: Moments) -> None:
        """Count one more batch, with the slope and the guess that the earlier ones gave."""
        if batch.n == 0:
            return
        slope, guess = self.slope, self.estimate
        c = self._bound(slope) + abs(guess)
        z = batch.d - slope * batch.x
        zz = batch.dd - 2 * slope * batch.dx + slope**2 * batch.xx
        squares = max(0.0, zz - 2 * guess * z + batch.n * guess**2)
        reduced = c * self._bets
        self._costs += (-np.log1p(-reduced) - reduced) / c**2 * squares
        self._sum += z
        self._squares += squares
        self.seen += batch
        low, high = self._solve(1.0), self._solve(-1.0)
        # The truth is in all of the intervals or (rarely) not, so it is in what they share.
        if max(low, self._low) <= min(high, self._high):
            low, high = max(low, self._low), min(high, self._high)
        self._low, self._high = low, high

    @property
    def interval(self) -> tuple[float, float]:
        """The interval now; (-1, 1) before the first match, never empty."""
        return self._low, self._high

    def log_bet(self, mean: float, side: float) -> float:
        """Log of what the bet that the truth lies above (side 1) or below (-1) `mean` has made."""
        return float(_log_mean_exp(side * self._bets * (self._sum - self.n * mean) - self._costs))

    def e_value(self, mean: float = 0.0) -> float:
        """What a bet against "the true difference is `mean`" has made, half of it on each side."""
        log_value = np.logaddexp(self.log_bet(mean, 1.0), self.log_bet(mean, -1.0)) - math.log(2)
        return math.exp(min(float(log_value), 700.0))

    def _solve(self, side: float) -> float:
        """The end of the interval on one side: where that side's bet has made 2 / alpha."""
        goal = math.log(2 / self.alpha)
        end = -side
        # Newton from outside: the log of the bet is convex and monotone in the mean, so every step
        # stays outside the exact end, and stopping early makes the interval wider, never narrower.
        for _ in range(40):
            logs = side * self._bets * (self._sum - self.n * end) - self._costs
            excess = _log_mean_exp(logs) - goal
            if excess < 1e-6:
                break
            weights = np.exp(logs - logs.max())
            steepness = self.n * float(weights @ self._bets / weights.sum())
            end += side * excess / steepness
        return end

    def matches_for(self, half_width: float) -> int:
        """About how many matches in all make the interval +- half_width, as the spread is now."""
        needed = 1
        bets = self._bets
        costs = self._costs / max(1, self.n)
        while needed < 10**12:
            log_bet = _log_mean_exp(needed * (bets * half_width - costs))
            if log_bet >= math.log(2 / self.alpha):
                return needed
            needed = needed * 5 // 4 + 1
        return needed


def _log_mean_exp(values: Floats) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).mean()))
