"""TrueSkill over stored results: by all matches at once, or one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ladder.errors import SpecError
from ladder.ratings.batch import rate_batch
from ladder.ratings.online import rate_online
from ladder.ratings.patterns import Ratings
from ladder.ratings.questions import (
    PredictiveCheck,
    Spread,
    better_matrix,
    order_spread,
    pair_counts,
    predictive_check,
    win_matrix,
)
from ladder.ratings.settings import RatingSettings
from ladder.record import Ints
from ladder.spec import RatingPart
from ladder.store import Results

Finishes = tuple[Ints, Ints, Ints]  # line-ups, places, counts

SURE = 0.95


def settings_of(part: RatingPart) -> RatingSettings:
    """The model's constants as a spec gives them."""
    return RatingSettings(
        mu=part.mu,
        sigma=part.sigma,
        beta=part.beta,
        tau=part.tau,
        draw_probability=part.draw_probability,
        rank_by=part.rank_by,
    )


def _anchor(part: RatingPart, names: Sequence[str]) -> tuple[int, float] | None:
    if not part.anchor:
        return None
    [(name, mu)] = part.anchor.items()
    if name not in names:
        raise SpecError(
            f"rating.anchor: no bot of that name, there are {', '.join(names)} (got {name!r})"
        )
    return list(names).index(name), mu


def rate_all(finishes: Finishes, names: Sequence[str], part: RatingPart) -> Ratings:
    """Every match at once, in no order: for versions that do not change. Raises: SpecError."""
    return rate_batch(
        *finishes, len(names), settings=settings_of(part), anchor=_anchor(part, names)
    )


def rate_in_sequence(
    lineups: Ints, places: Ints, names: Sequence[str], part: RatingPart
) -> Ratings:
    """One match after another, in the order given. Raises: SpecError."""
    return rate_online(
        lineups, places, len(names), settings=settings_of(part), anchor=_anchor(part, names)
    )


def spread_of_order(lineups: Ints, places: Ints, names: Sequence[str], part: RatingPart) -> Spread:
    """How far mu moves when the same matches come in other orders."""
    return order_spread(lineups, places, len(names), settings=settings_of(part))


def disagreements(
    finishes: Finishes, names: Sequence[str], part: RatingPart
) -> list[tuple[str, str]]:
    """Pairs (a, b) of which `winner` surely puts a above b, and `placing` surely b above a."""
    by_winner, by_placing = (
        better_matrix(rate_all(finishes, names, part.model_copy(update=changes)))
        for changes in (
            {"rank_by": "winner", "anchor": None},
            {"rank_by": "placing", "anchor": None},
        )
    )
    both = (by_winner > SURE) & (by_placing < 1 - SURE)
    return [(names[a], names[b]) for a, b in np.argwhere(both).tolist()]


def check_prediction(
    seen: Finishes, held_out: Finishes, names: Sequence[str], part: RatingPart
) -> PredictiveCheck:
    """Rate the matches in `seen`, and forecast who wins those in `held_out`."""
    return predictive_check(seen, held_out, rate_all(seen, names, part), settings=settings_of(part))


def pair_rows(
    results: Results, ratings: Ratings, part: RatingPart, only: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """For every two entrants, or of these: the chance that a finishes before b, and how often."""
    names = [name for name, _ in results.entrants]
    chosen = [i for i, name in enumerate(names) if not only or name in only]
    beats, better = win_matrix(ratings, beta=part.beta), better_matrix(ratings)
    wins, ties = pair_counts(results.lineups, results.places, results.counts, len(names))
    return [
        {
            "a": names[a],
            "b": names[b],
            "p_a_beats_b": float(beats[a, b]),
            "p_a_is_better": float(better[a, b]),
            "a_before_b": int(wins[a, b]),
            "ties": int(ties[a, b]),
            "b_before_a": int(wins[b, a]),
        }
        for a in chosen
        for b in chosen
        if a != b
    ]
