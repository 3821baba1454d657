"""The parts of a spec that say who meets whom: one model a format."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_MATCHES = 10**12


class Part(BaseModel):
    """Base of the parts of a spec: no unknown fields, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Matches = Annotated[
    int, Field(ge=1, le=MAX_MATCHES, description="matches of one line-up over its seat rotations")
]


class RoundRobin(Part):
    """Every line-up of different entrants."""

    kind: Literal["round_robin"] = "round_robin"
    matches: Matches
    self_play: bool = Field(False, description="also line-ups in which an entrant repeats")


class Gauntlet(Part):
    """Challengers, each alone against tables filled from a field."""

    kind: Literal["gauntlet"]
    challengers: list[str] = Field(min_length=1, description="names of entrants")
    field: list[str] | None = Field(None, min_length=1, description="default: the other entrants")
    matches: Matches


class RandomPods(Part):
    """Rounds of pods drawn at random, each entrant in equally many."""

    kind: Literal["random"]
    rounds: int = Field(ge=1, le=10**6, description="draws of the whole field")
    matches: Matches


class Lineup(Part):
    """One line-up; an entrant may sit in several seats."""

    kind: Literal["lineup"]
    bots: list[str] = Field(min_length=1, description="names of entrants, one a seat")
    matches: Matches


class Compare(Part):
    """Candidates in the same seats against one field on the same dice: `ladder compare`."""

    kind: Literal["compare"]
    candidates: list[str] = Field(min_length=1, description="names of entrants")
    field: list[str] = Field(min_length=1, description="names; repeat to fill the seats")
    matches: Matches = Field(400_000, description="budget of a candidate, over all seats")
    margin: float = Field(0.0, ge=0, lt=1, description="difference of practical equality")
    precision: float = Field(0.005, gt=0, lt=1, description="half width to report matches for")
    confidence: float = Field(0.95, gt=0.5, lt=1, description="of all statements together")


class Swiss(Part):
    """Rounds of pods of equals so far; nobody drops out."""

    kind: Literal["swiss"]
    rounds: int = Field(ge=1, le=1000)
    matches: Matches


class Knockout(Part):
    """Pods of which some go on, until one pod is left."""

    kind: Literal["knockout"]
    matches: Matches
    best_of: int = Field(1, ge=1, le=99, description="sets of so many matches, at most, a pod")
    advance: int | None = Field(None, ge=1, description="go on from a pod; default half the seats")
    seeding: Literal["order", "rating"] = Field(
        "order", description="as the spec lists them, or by their latest rating in the store"
    )


class Budget(Part):
    """How much a night plays; one of the two."""

    matches: Matches | None = None
    minutes: float | None = Field(None, gt=0, le=10**6)


class Ladder(Part):
    """Nights of matches where they tell most, for `ladder nightly`."""

    kind: Literal["ladder"]
    budget: Budget
    matches: Matches | None = Field(None, description="of one line-up; default 5 a seat")
    rounds: int = Field(4, ge=1, le=1000, description="times a night that line-ups are chosen")
    floor: int = Field(40, ge=0, le=MAX_MATCHES, description="matches that everybody has a night")
    keep_apart: bool = Field(True, description="never two versions of one author in a match")
    new_versions: Literal["fresh", "predecessor"] = Field(
        "fresh", description="where a new version's rating starts"
    )
    widen: float = Field(2.0, ge=0, description="what a predecessor's sigma is widened by")
    quarantine: int = Field(20, ge=1, description="faults in a night that take a version out")
    inbox: str | None = Field(None, min_length=1, description="folder of dropped submissions")
    keep_nights: int = Field(30, ge=1, description="nights whose single matches are kept")
    backups: int = Field(7, ge=0, description="backup files kept")
    report: str | None = Field(
        None, min_length=1, description="the page each night writes; default: beside the store"
    )
    backup_folder: str | None = Field(
        None, min_length=1, description="default: backups, beside the store"
    )


FormatPart = RoundRobin | Gauntlet | RandomPods | Lineup | Compare | Swiss | Knockout | Ladder
Format = Annotated[FormatPart, Field(discriminator="kind")]
FORMATS: dict[str, type[Part]] = {
    "round_robin": RoundRobin,
    "gauntlet": Gauntlet,
    "random": RandomPods,
    "lineup": Lineup,
    "compare": Compare,
    "swiss": Swiss,
    "knockout": Knockout,
    "ladder": Ladder,
}
KINDS = tuple(FORMATS)
