"""TrueSkill for free-for-all matches: right, fast, and honest about ties and order.

Arrays in, arrays out: nothing here knows of stores, specs or names. What compiles is imported when
it is first used, so that a command which rates nothing does not pay for numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ladder.ratings.patterns import (
    EMPTY,
    MAX_SEATS,
    Patterns,
    Ratings,
    estimate_draw_probability,
    group_results,
    linked_groups,
    pad_results,
)
from ladder.ratings.settings import RatingSettings, draw_margin

if TYPE_CHECKING:
    from ladder.ratings.batch import rate_batch
    from ladder.ratings.bench import bench_ratings
    from ladder.ratings.online import rate_online
    from ladder.ratings.questions import (
        order_probabilities,
        order_spread,
        pair_counts,
        predictive_check,
        win_matrix,
        win_probabilities,
    )

__all__ = [
    "EMPTY",
    "MAX_SEATS",
    "Patterns",
    "RatingSettings",
    "Ratings",
    "bench_ratings",
    "draw_margin",
    "estimate_draw_probability",
    "group_results",
    "linked_groups",
    "order_probabilities",
    "order_spread",
    "pad_results",
    "pair_counts",
    "predictive_check",
    "rate_batch",
    "rate_online",
    "win_matrix",
    "win_probabilities",
]

_ROOMS = {
    "rate_batch": "batch",
    "rate_online": "online",
    "bench_ratings": "bench",
    "order_probabilities": "questions",
    "order_spread": "questions",
    "pair_counts": "questions",
    "predictive_check": "questions",
    "win_matrix": "questions",
    "win_probabilities": "questions",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
