"""The shape of a spec file: one model a mapping of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ladder.isolate.verdict import Limits
from ladder.spec.formats import Format, Part


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("should be printable, without blanks around")
    return text


Name = Annotated[str, AfterValidator(_printable)]


class EntrantPart(Part):
    """One entrant: a bot, its params, the name it goes by."""

    bot: str = Field(min_length=1, description="NAME, module:Class or file.py:Class")
    command: list[str] = Field(
        default_factory=list, min_length=1, description="instead of bot: a program and its words"
    )
    files: list[str] = Field(
        default_factory=list, description="files of a program that its command does not name"
    )
    name: Name | None = Field(None, min_length=1, max_length=64)
    params: dict[str, Any] = Field(default_factory=dict)
    trusted: bool = Field(False, description="run its code in Ladder's own process")
    author: Name | None = Field(None, min_length=1, max_length=64, description="for ladders")


PROGRAM = "(program)"  # in place of a bot's word where there is a command


def _entrant(value: Any) -> Any:
    if isinstance(value, dict) and "command" in value and "bot" not in value:
        return {**value, "bot": PROGRAM}
    return {"bot": value} if isinstance(value, str) else value


Entrant = Annotated[EntrantPart, BeforeValidator(_entrant)]


# Beyond these the rating's sums lose their digits, or overflow.
MOST_MU, LEAST_SPREAD, MOST_SPREAD = 1e6, 1e-3, 1e4
MOST_DRAWS = 0.999999

Mu = Annotated[float, Field(ge=-MOST_MU, le=MOST_MU)]


class RatingPart(Part):
    """How the results are rated."""

    method: Literal["batch", "online"] = Field(
        "batch", description="all matches at once, or one after another (for bots that change)"
    )
    rank_by: Literal["winner", "placing"] = Field(
        "winner", description="what a finish states: who won, or the whole order"
    )
    mu: Mu = Field(25.0, description="prior mean")
    sigma: float = Field(
        25.0 / 3, ge=LEAST_SPREAD, le=MOST_SPREAD, description="prior standard deviation"
    )
    beta: float = Field(
        25.0 / 6, ge=LEAST_SPREAD, le=MOST_SPREAD, description="spread of one performance"
    )
    tau: float = Field(0.0, ge=0, le=MOST_SPREAD, description="drift between matches")
    draw_probability: Literal["auto"] | Annotated[float, Field(gt=0, le=MOST_DRAWS)] = Field(
        "auto", description="of two equals; auto: estimated from the results"
    )
    anchor: dict[str, Mu] = Field(
        default_factory=dict, max_length=1, description="one bot and the mu it shall have"
    )


class LimitsPart(Part):
    """What a bot may do, and what happens when it does not."""

    on_fault: Literal["forfeit", "default", "abort"] = "forfeit"
    decision_ms: int = Field(
        Limits.decision_ms, ge=1, le=600_000, description="CPU time of one decision"
    )
    wall_ms: int = Field(
        Limits.wall_ms, ge=1, le=3_600_000, description="time of one decision, waiting included"
    )
    start_ms: int = Field(
        Limits.start_ms, ge=1, le=600_000, description="CPU time to load, and to begin a match"
    )
    memory_mb: int = Field(
        Limits.memory_mb, ge=64, le=1 << 20, description="address space (of a program: resident)"
    )
    output_kb: int = Field(Limits.output_kb, ge=0, le=1 << 20, description="output kept of a bot")

    @property
    def of_children(self) -> Limits:
        """The limits of a bot in a child process."""
        values = self.model_dump()
        del values["on_fault"]
        return Limits(**values)


class SpecPart(Part):
    """The file as a whole."""

    name: Name = Field(min_length=1, max_length=80)
    game: str
    table: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0, lt=2**64)] | Literal["secret"] = Field(
        description="what all dice come from; secret: drawn for the run, published at its end"
    )
    entrants: list[Entrant] = Field(min_length=1)
    format: Format
    rating: RatingPart = RatingPart()
    limits: LimitsPart = LimitsPart()
    tier: Literal["auto", "sandbox", "strict"] = Field(
        "auto", description="how bots that are not trusted are kept; strict: a process a match"
    )
    expect: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="published win shares, printed beside ours"
    )
    compile: Literal["auto", "never", "require"] = Field(
        "auto", description="compiled play: where it can be, nowhere, or everywhere"
    )
    record: Literal["results", "summary"] = Field(
        "results", description="every match, or only what tables, ratings and digests need"
    )
    rated: bool = Field(True, description="false: a challenge that leaves stored ratings alone")
    db: str | None = Field(None, min_length=1, description="the store, unless --db says otherwise")


LADDER_TAU = 0.0002  # drift a match: a rating looks back some 30,000 matches (6.6 / tau)
DEFAULT_A_SEAT = 5  # matches of a ladder's line-up


def tier(tier: str, kind: str) -> str:
    """Where matches are mirrored on the same dice, a bot that remembers one knows the next."""
    if tier == "auto":
        return "strict" if kind == "compare" else "sandbox"
    return tier


def tier_and_limits(source: dict[str, Any]) -> tuple[str, Limits]:
    """How the bots of a run were kept, from its spec's values as they are stored."""
    limits = LimitsPart.model_validate(source.get("limits", {})).of_children
    return tier(source.get("tier", "auto"), source.get("format", {}).get("kind", "")), limits


def ladder_rating(value: dict[str, Any]) -> RatingPart:
    """How a ladder rates, from the values of the spec's `rating`."""
    part = RatingPart.model_validate(value)
    tau = part.tau if "tau" in value else LADDER_TAU
    return part.model_copy(update={"method": "online", "tau": tau})
