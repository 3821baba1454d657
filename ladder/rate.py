"""TrueSkill over the stored results of a run, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ladder.ratings.batch import rate_batch
from ladder.ratings.settings import RatingSettings
from ladder.spec import RatingPart
from ladder.standings import Rating
from ladder.store import Pattern


def rate(patterns: Sequence[Pattern], entrants: int, part: RatingPart) -> list[Rating]:
    """Each entrant's rating from the finishing patterns of a run."""
    settings = RatingSettings(
        mu=part.mu,
        sigma=part.sigma,
        beta=part.beta,
        tau=part.tau,
        draw_probability=part.draw_probability,
        rank_by=part.rank_by,
    )
    if not patterns:
        return [Rating(part.mu, part.sigma)] * entrants
    rated = rate_batch(
        np.array([pattern.lineup for pattern in patterns], np.int64),
        np.array([pattern.places for pattern in patterns], np.int64),
        np.array([pattern.matches for pattern in patterns], np.int64),
        entrants,
        settings=settings,
    )
    pairs = zip(rated.mu.tolist(), rated.sigma.tolist(), strict=True)
    return [Rating(mu, sigma) for mu, sigma in pairs]
