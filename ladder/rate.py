"""TrueSkill over the stored results of a run, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ladder.ratings.batch import rate_batch
from ladder.ratings.settings import RatingSettings
from ladder.spec import RatingPart
from ladder.standings import Rating
from ladder.store import Pattern


def rate(patterns: Sequence[Pattern], versions: Sequence[str], part: RatingPart) -> list[Rating]:
    """Each entrant's rating from the finishing patterns of a run; `versions` are the entrants'.

    Rated in the order of versions, so that the order of a spec moves no last bit.
    """
    settings = RatingSettings(
        mu=part.mu,
        sigma=part.sigma,
        beta=part.beta,
        tau=part.tau,
        draw_probability=part.draw_probability,
        rank_by=part.rank_by,
    )
    if not patterns:
        return [Rating(part.mu, part.sigma)] * len(versions)
    order = np.argsort(np.array(versions), kind="stable")
    placed = np.argsort(order)  # entrant -> its place in that order
    rated = rate_batch(
        placed[np.array([pattern.lineup for pattern in patterns], np.int64)],
        np.array([pattern.places for pattern in patterns], np.int64),
        np.array([pattern.matches for pattern in patterns], np.int64),
        len(versions),
        settings=settings,
    )
    pairs = zip(rated.mu[placed].tolist(), rated.sigma[placed].tolist(), strict=True)
    return [Rating(mu, sigma) for mu, sigma in pairs]
