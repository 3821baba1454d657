"""Tournament specs: the shape of `configs/*.yaml`, and the spec ready to run."""

from ladder.spec.entrants import NamedBot
from ladder.spec.file import (
    DEFAULT_A_SEAT,
    LimitsPart,
    RatingPart,
    SpecPart,
    ladder_rating,
    tier_and_limits,
)
from ladder.spec.resolve import Spec, load_spec, make_spec, make_table

__all__ = [
    "DEFAULT_A_SEAT",
    "LimitsPart",
    "NamedBot",
    "RatingPart",
    "Spec",
    "SpecPart",
    "ladder_rating",
    "load_spec",
    "make_spec",
    "make_table",
    "tier_and_limits",
]
