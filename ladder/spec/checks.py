"""What a format asks of the rest of its spec."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ladder.spec.documents import Place
from ladder.spec.file import DEFAULT_A_SEAT
from ladder.spec.formats import Compare, Gauntlet, Knockout, Ladder, Lineup
from ladder.spec.messages import shown, suggest


def check_counts(chosen: Any, seats: int, entrants: int, problems: dict[Place, list[str]]) -> None:
    """Whether its numbers go with the seats and the entrants."""
    if isinstance(chosen, Knockout) and (chosen.advance or 1) >= seats:
        problems[("format", "advance")] = [
            f"must be less than the {seats} seats (got {chosen.advance})"
        ]
    if isinstance(chosen, Ladder) and chosen.budget.matches is not None:
        least = chosen.matches or DEFAULT_A_SEAT * seats
        if chosen.budget.matches < least:
            problems[("format", "budget", "matches")] = [
                f"must be at least the {least} of one line-up (got {chosen.budget.matches})"
            ]
    if (chosen.matches or 0) % seats and not isinstance(chosen, Compare):
        following = chosen.matches + seats - chosen.matches % seats
        problems[("format", "matches")] = [
            f"must be a multiple of the {seats} seats, next is {following} (got {chosen.matches})"
        ]
    fills = isinstance(chosen, Gauntlet | Lineup | Ladder | Compare)
    enough = fills or getattr(chosen, "self_play", False)
    if not enough and entrants < seats:
        problems[("entrants",)] = [
            f"{chosen.kind} at {seats} seats needs at least {seats} entrants (got {entrants})"
        ]
    if isinstance(chosen, Lineup) and len(chosen.bots) != seats:
        problems[("format", "bots")] = [f"needs one name a seat, {seats} (got {len(chosen.bots)})"]


def kind_problems(chosen: Any, value: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Fields of the spec that go with some kinds of format only."""
    if not isinstance(chosen, Ladder):
        for position, entrant in enumerate(value.get("entrants") or []):
            if isinstance(entrant, dict) and "author" in entrant:
                place: Place = ("entrants", position, "author")
                yield place, f"is for ladders (got {shown(entrant['author'])})"
        return
    budget = chosen.budget
    if (budget.matches is None) == (budget.minutes is None):
        yield ("format", "budget"), "give matches or minutes, one of them"
    rating = value.get("rating")
    wanted = {
        ("rating", "method"): (rating, "method", "online", "a ladder is rated match by match"),
        ("rating", "anchor"): (rating, "anchor", {}, "a ladder has no anchor"),
        ("record",): (value, "record", "results", "a ladder rates every match"),
        ("expect",): (value, "expect", {}, "is not for ladders"),
        ("rated",): (value, "rated", True, "a night is rated; for challenges use ladder run"),
    }
    for field_place, (part, name, only, why) in wanted.items():
        if isinstance(part, dict) and part.get(name, only) != only:
            yield field_place, f"{why} (got {shown(part[name])})"


def name_problems(chosen: Any, names: list[str]) -> Iterator[tuple[Place, str]]:
    """What is wrong with the names of entrants that a format lists."""
    if isinstance(chosen, Lineup):
        listings: dict[str, list[str]] = {"bots": chosen.bots}
    elif isinstance(chosen, Gauntlet):
        listings = {"challengers": chosen.challengers, "field": chosen.field or []}
    elif isinstance(chosen, Compare):
        listings = {"candidates": chosen.candidates, "field": chosen.field}
    else:
        return
    for key, listed in listings.items():
        for position, name in enumerate(listed):
            place: Place = ("format", key, position)
            if name not in names:
                yield place, f"no entrant of that name{suggest(name, names)} (got {name!r})"
            elif name in listed[:position] and key in ("challengers", "candidates"):
                yield place, f"is listed twice (got {name!r})"
            elif key == "challengers" and chosen.field == [name]:
                yield place, f"meets nobody but itself: the field is {name} (got {name!r})"
    everyone = isinstance(chosen, Gauntlet) and set(names) <= set(chosen.challengers)
    if everyone and chosen.field is None:
        yield (
            ("format", "challengers"),
            "leaves nobody for the field; give field or more entrants",
        )
