"""What a rating is told to assume: the constants of TrueSkill and what a finish states."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from ladder.errors import SpecError

RankBy = Literal["winner", "placing"]

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
TAU = SIGMA / 100
DRAW_PROBABILITY = 0.1


@dataclass(frozen=True)
class RatingSettings:
    """The model's constants. The defaults are those of Herbrich, Minka & Graepel (NIPS 2007).

    `rank_by` says what a finish states: "placing" the whole order (every pair inside a tied group
    drew, every pair between neighbouring groups was won), "winner" only that each winner beat
    each loser (winners drew with each other; nothing is said among losers).
    `draw_probability` is the chance of a draw between two equals, or "auto": estimated from the
    ties among the results. `tau` is used by the online estimator only.

    Raises: SpecError naming every constant that cannot be used.
    """

    mu: float = MU
    sigma: float = SIGMA
    beta: float = BETA
    tau: float = TAU
    draw_probability: float | Literal["auto"] = DRAW_PROBABILITY
    rank_by: RankBy = "placing"

    def __post_init__(self) -> None:
        problems = []
        if not math.isfinite(self.mu):
            problems.append(f"rating.mu: must be finite (got {self.mu})")
        for name in ("sigma", "beta"):
            value = getattr(self, name)
            if not (0 < value < math.inf):
                problems.append(f"rating.{name}: must be above 0 (got {value})")
        if not 0 <= self.tau < math.inf:
            problems.append(f"rating.tau: must be 0 or more (got {self.tau})")
        if self.draw_probability != "auto" and not (
            isinstance(self.draw_probability, float | int) and 0 <= self.draw_probability < 1
        ):
            problems.append(
                f"rating.draw_probability: must be auto or 0 <= p < 1 "
                f"(got {self.draw_probability!r})"
            )
        if self.rank_by not in ("winner", "placing"):
            problems.append(f"rating.rank_by: must be winner or placing (got {self.rank_by!r})")
        if problems:
            raise SpecError(*problems)

    def with_draw_probability(self, probability: float) -> RatingSettings:
        """The same settings with a fixed draw probability."""
        return replace(self, draw_probability=probability)


def draw_margin(draw_probability: float, beta: float) -> float:
    """The gap of two performances below which two seats draw.

    Herbrich, Minka & Graepel (2007), section 3: the margin at which two equal bots, one a side,
    draw with this probability; inv_cdf((p + 1) / 2) * sqrt(2) * beta.
    """
    return NormalDist().inv_cdf((draw_probability + 1) / 2) * math.sqrt(2) * beta
