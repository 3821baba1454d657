"""Which of several candidates is better, all pairs at once, with as few matches as that takes.

Every candidate plays the same seat against the same field on the same dice, so each pair of them
has a confidence sequence of its difference (`stats.Sequence`). The error is shared out equally over
the pairs (Bonferroni): with probability 1 - alpha every interval of every pair holds at every time,
hence no decision of the race is wrong, whichever candidates are dropped on the way and whenever it
ends. (Successive elimination: Even-Dar, Mannor, Mansour, JMLR 7, 2006.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from ladder.stats import CONFIDENCE, Sequence, moments, share_interval, widest


class Decision(StrEnum):
    """What is known of a pair."""

    A_BETTER = "a_better"
    B_BETTER = "b_better"
    EQUAL = "equal"  # within the margin of practical equality
    UNDECIDED = "undecided"


def decide(interval: tuple[float, float], margin: float = 0.0) -> Decision:
    """What the interval of `a - b` says: one is better, or they differ by at most the margin."""
    low, high = interval
    if low > 0:
        return Decision.A_BETTER
    if high < 0:
        return Decision.B_BETTER
    if margin > 0 and -margin <= low and high <= margin:
        return Decision.EQUAL
    return Decision.UNDECIDED


@dataclass(frozen=True)
class Pair:
    """Two candidates compared; `difference` is a's win share minus b's."""

    a: str
    b: str
    difference: float
    low: float
    high: float
    e_value: float
    decision: Decision
    matches: int
    plain_difference: float
    gain: float | None  # times fewer matches thanks to the covariate; None: too few to tell


@dataclass(frozen=True)
class Candidate:
    """A candidate's win share, with its interval at one look."""

    name: str
    win_share: float
    low: float
    high: float
    matches: int
    is_out: bool  # another one is better


class Race:
    """Candidates compared pair by pair; feed it batches of `active` ones until `is_over`."""

    def __init__(
        self,
        names: list[str],
        *,
        alpha: float = 1 - CONFIDENCE,
        margin: float = 0.0,
        bound: Callable[[float], float] = widest,
    ) -> None:
        self.names = names
        self.margin = margin
        pairs = list(itertools.combinations(names, 2))
        self._sequences = {pair: Sequence(alpha / len(pairs), bound=bound) for pair in pairs}
        self._sums = {name: np.zeros(3) for name in names}  # matches, won, won squared

    def add(
        self, won: Mapping[str, ArrayLike], scores: Mapping[str, ArrayLike] | None = None
    ) -> None:
        """Count a batch: win shares by candidate, match by match on the same dice.

        `scores` are zero-mean after subtraction of any constant and scaled so that their
        differences lie in [-1, 1] (at Pasa: pile / all chips); left out, nothing is adjusted.
        """
        arrays = {name: np.asarray(values, float) for name, values in won.items()}
        for name, values in arrays.items():
            self._sums[name] += (len(values), values.sum(), values @ values)
        for (a, b), sequence in self._sequences.items():
            if a in arrays and b in arrays:
                covariates = None
                if scores is not None:
                    covariates = np.asarray(scores[a], float) - np.asarray(scores[b], float)
                sequence.add(moments(arrays[a] - arrays[b], covariates))

    def pairs(self) -> list[Pair]:
        """Every pair as it stands."""
        return [
            Pair(
                a,
                b,
                sequence.estimate,
                *sequence.interval,
                sequence.e_value(),
                decide(sequence.interval, self.margin),
                sequence.n,
                sequence.plain_estimate,
                sequence.gain,
            )
            for (a, b), sequence in self._sequences.items()
        ]

    def _beaten(self) -> set[str]:
        beaten = set()
        for (a, b), sequence in self._sequences.items():
            decision = decide(sequence.interval, self.margin)
            if decision is Decision.A_BETTER:
                beaten.add(b)
            elif decision is Decision.B_BETTER:
                beaten.add(a)
        return beaten

    def active(self) -> list[str]:
        """The candidates that more matches should be given to: those nobody is better than."""
        beaten = self._beaten()
        return [name for name in self.names if name not in beaten]

    @property
    def is_over(self) -> bool:
        """Whether one candidate is left, or all left are practically equal."""
        left = self.active()
        return all(
            decide(self._sequences[pair].interval, self.margin) is not Decision.UNDECIDED
            for pair in itertools.combinations(left, 2)
        )

    def candidates(self) -> list[Candidate]:
        """Every candidate's win share."""
        beaten = self._beaten()
        rows = []
        for name in self.names:
            n, won, squares = (float(value) for value in self._sums[name])
            mean = won / n if n else 0.0
            variance = max(0.0, squares / n - mean**2) / n if n else 0.0
            low, high = share_interval(mean, variance, int(n))
            rows.append(Candidate(name, mean, low, high, int(n), name in beaten))
        return rows

    def needed(self, half_width: float) -> int:
        """About how many matches a candidate more bring the pairs still open to +- half_width."""
        left = self.active()
        return max(
            (
                max(0, sequence.matches_for(half_width) - sequence.n)
                for pair, sequence in self._sequences.items()
                if pair[0] in left and pair[1] in left
            ),
            default=0,
        )
