"""What is wrong with the shape of a spec, in words and by place."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from ladder.spec.documents import Document, Place
from ladder.spec.file import MOST_DRAWS, EntrantPart, LimitsPart, RatingPart, SpecPart
from ladder.spec.formats import FORMATS, KINDS, Budget, Part


def shape(document: Document, problems: dict[Place, list[str]]) -> SpecPart | None:
    """The first pass: the file as models, or None with its problems by place."""
    try:
        return SpecPart.model_validate(document.value)
    except ValidationError as error:
        for each in error.errors():
            place = _real_place(each["loc"], document.value)
            if place == ("seed",) and each["type"] == "literal_error":
                continue  # what is wrong with it as a number says enough
            message = message_of(dict(each), place, document.value)
            if message not in problems.setdefault(place, []):
                problems[place].append(message)
        return None


def _real_place(location: tuple[str | int, ...], value: Any) -> Place:
    """A pydantic location without the tags of unions that it mixes in."""
    place: list[str | int] = []
    for part in location:
        if not isinstance(value, dict | list) or (
            part in KINDS and isinstance(value, dict) and part not in value
        ):
            continue
        place.append(part)
        try:
            value = value[part]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            value = None
    return tuple(place)


# What a value should be, by pydantic's name of the problem; {ge} and the like are the limits.
_SHOULD_BE = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping (name: value)",
    "model_type": "a mapping (name: value)",
    "model_attributes_type": "a mapping (name: value)",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "string_too_long": "at most {max_length} characters long",
    "too_long": "a list of at most {max_length}",
}
_NOT_EMPTY = ("string_too_short", "too_short")
_ENTRANT = "a bot in one word or a mapping with bot, name, params"


def message_of(error: dict[str, Any], place: Place, value: Any) -> str:
    """What one problem that pydantic found is to us."""
    kind, given, got = error["type"], error["input"], shown(error["input"])
    last = str(place[-1]) if place else ""
    if kind == "extra_forbidden":
        return f"unknown field{suggest(last, _fields_at(place[:-1], value))} (got {got})"
    if kind == "missing":
        return "is missing"
    if place == ("seed",) and kind == "int_type":
        return f"should be a whole number, or secret (got {got})"
    if kind == "union_tag_invalid":
        return _kindmessage(given.get("kind"))
    if kind == "union_tag_not_found":
        return f"kind is missing; there are {', '.join(KINDS)}"
    if place == ("rating", "draw_probability"):
        return f"should be auto or a number above 0 and at most {MOST_DRAWS} (got {got})"
    if kind in _NOT_EMPTY:
        return "must not be empty"
    if kind in _SHOULD_BE:
        limits = {name: _number(value) for name, value in error.get("ctx", {}).items()}
        wanted = _SHOULD_BE[kind].format(**limits)
        if place[:-1] == ("entrants",) and kind.startswith("model"):
            wanted = _ENTRANT
        return f"should be {wanted} (got {got})"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]} (got {got})"


def _number(limit: Any) -> str:
    return str(int(limit)) if isinstance(limit, float) and limit.is_integer() else str(limit)


def _kindmessage(kind: Any) -> str:
    return f"unknown kind{suggest(str(kind), list(KINDS))} (got {shown(kind)})"


def _fields_at(place: Place, value: Any) -> list[str]:
    parts: dict[Place, type[Part]] = {
        (): SpecPart,
        ("rating",): RatingPart,
        ("limits",): LimitsPart,
    }
    if place == ("format",):
        return list(FORMATS[value["format"]["kind"]].model_fields)
    if place == ("format", "budget"):
        return list(Budget.model_fields)
    if place[:1] == ("entrants",):
        return list(EntrantPart.model_fields)
    return list(parts[place].model_fields) if place in parts else []


def suggest(name: str, names: list[str]) -> str:
    """What was meant by a name that is none, as the rest of a message."""
    close = get_close_matches(name, names, 1, 0.6)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; there are {', '.join(names)}" if names else ""


def shown(value: Any) -> str:
    """A value of the file, short enough for a line."""
    if value is None:
        return "nothing"
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "..."
