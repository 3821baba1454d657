"""Tournament specs: the shape of `configs/*.yaml`, and the spec ready to run.

`load_spec` works in two passes, the shape of the file and then what it refers to (bots, table,
names), and reports all problems of both at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
)

from ladder.bots import LoadedBot, load, load_program, load_word
from ladder.documents import Document, Place, place_text, read_document
from ladder.errors import BotLoadError, SpecError
from ladder.games import GAMES, Game, Table, get_game
from ladder.isolate.verdict import Limits
from ladder.parts import (
    FORMATS,
    KINDS,
    Budget,
    Compare,
    Format,
    FormatPart,
    Gauntlet,
    Knockout,
    Ladder,
    Lineup,
    Part,
)


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


_PROGRAM = "(program)"  # in place of a bot's word where there is a command


def _entrant(value: Any) -> Any:
    if isinstance(value, dict) and "command" in value and "bot" not in value:
        return {**value, "bot": _PROGRAM}
    return {"bot": value} if isinstance(value, str) else value


Entrant = Annotated[EntrantPart, BeforeValidator(_entrant)]


class RatingPart(Part):
    """How the results are rated."""

    method: Literal["batch", "online"] = Field(
        "batch", description="all matches at once, or one after another (for bots that change)"
    )
    rank_by: Literal["winner", "placing"] = Field(
        "winner", description="what a finish states: who won, or the whole order"
    )
    mu: float = Field(25.0, description="prior mean")
    sigma: float = Field(25.0 / 3, gt=0, description="prior standard deviation")
    beta: float = Field(25.0 / 6, gt=0, description="spread of one performance")
    tau: float = Field(0.0, ge=0, description="drift between matches")
    draw_probability: Literal["auto"] | Annotated[float, Field(gt=0, lt=1)] = Field(
        "auto", description="of two equals; auto: estimated from the results"
    )
    anchor: dict[str, float] = Field(
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


# Fields and values of the contract that this version does not serve yet.
UNSERVED: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NamedBot:
    """An entrant of a run."""

    name: str
    loaded: LoadedBot
    author: str = ""


@dataclass(frozen=True)
class Spec:
    """A spec whose bots are loaded and whose table is legal."""

    name: str
    path: str
    game: Game
    table: Table
    seed: int | Literal["secret"]
    entrants: tuple[NamedBot, ...]
    format: FormatPart
    rating: RatingPart
    limits: LimitsPart
    expect: dict[str, float]
    compile: str
    record: str
    db: str | None
    rated: bool
    source: dict[str, Any] = field(repr=False)  # the file's values, as they are kept in the store
    tier: str = "sandbox"  # of bots that are not trusted

    @property
    def strangers(self) -> tuple[str, ...]:
        """The names of entrants that are not trusted."""
        return tuple(each.name for each in self.entrants if not each.loaded.is_trusted)

    def entrant_index(self, name: str) -> int:
        """The position of an entrant by name."""
        return [entrant.name for entrant in self.entrants].index(name)


def load_spec(path: Path, *, trusts_all: bool = False) -> Spec:
    """Read, check and resolve a spec file.

    Raises: SpecError, one problem a line as `path:LINE field: message (got value)`.
    """
    return make_spec(read_document(path), trusts_all=trusts_all)


def make_spec(document: Document, *, trusts_all: bool = False) -> Spec:
    """Check and resolve a spec; `trusts_all`: every bot's code may run in this process.

    Raises: SpecError.
    """
    if not isinstance(document.value, dict):
        raise SpecError(
            document.problem(
                (), f"a spec is a mapping (name: value) (got {_shown(document.value)})"
            )
        )
    problems: dict[Place, list[str]] = {}
    part = _shape(document, problems)
    bad = {place[0] for place in problems if place}
    resolved = _resolve(document, part, bad, problems, trusts_all=trusts_all)
    if problems:
        lines = sorted(
            (document.line(place), document.problem(place, message))
            for place, messages in problems.items()
            for message in messages
        )
        raise SpecError(*(text for _, text in lines))
    assert part is not None
    assert resolved is not None
    game, table, entrants = resolved
    return Spec(
        part.name, document.path, game, table, part.seed, entrants, part.format,
        _rating(part, document.value), part.limits, part.expect, part.compile, part.record,
        part.db, part.rated, document.value, _tier(part.tier, part.format.kind),
    )  # fmt: skip


def _tier(tier: str, kind: str) -> str:
    """Where matches are mirrored on the same dice, a bot that remembers one knows the next."""
    if tier == "auto":
        return "strict" if kind == "compare" else "sandbox"
    return tier


def tier_and_limits(source: dict[str, Any]) -> tuple[str, Limits]:
    """How the bots of a run were kept, from its spec's values as they are stored."""
    limits = LimitsPart.model_validate(source.get("limits", {})).of_children
    return _tier(source.get("tier", "auto"), source.get("format", {}).get("kind", "")), limits


def _shape(document: Document, problems: dict[Place, list[str]]) -> SpecPart | None:
    try:
        return SpecPart.model_validate(document.value)
    except ValidationError as error:
        for each in error.errors():
            place = _real_place(each["loc"], document.value)
            if place == ("seed",) and each["type"] == "literal_error":
                continue  # what is wrong with it as a number says enough
            message = _message(dict(each), place, document.value)
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


def _message(error: dict[str, Any], place: Place, value: Any) -> str:
    kind, given, got = error["type"], error["input"], _shown(error["input"])
    last = str(place[-1]) if place else ""
    if kind == "extra_forbidden":
        if last in UNSERVED:
            return f"is not served by this version of Ladder (got {got})"
        return f"unknown field{_suggest(last, _fields_at(place[:-1], value))} (got {got})"
    if kind == "missing":
        return "is missing"
    if place == ("seed",) and kind == "int_type":
        return f"should be a whole number, or secret (got {got})"
    if kind == "union_tag_invalid":
        return _kind_message(given.get("kind"))
    if kind == "union_tag_not_found":
        return f"kind is missing; there are {', '.join(KINDS)}"
    if place == ("rating", "draw_probability"):
        return f"should be auto or a number between 0 and 1, both excluded (got {got})"
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


def _kind_message(kind: Any) -> str:
    if isinstance(kind, str) and kind in UNSERVED:
        return f"kind {kind!r} is not served by this version of Ladder"
    return f"unknown kind{_suggest(str(kind), list(KINDS))} (got {_shown(kind)})"


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


def _suggest(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, 1, 0.6)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; there are {', '.join(names)}" if names else ""


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "..."


Resolved = tuple[Game, Table, tuple[NamedBot, ...]]


def _resolve(
    document: Document,
    part: SpecPart | None,
    bad: set[str | int],
    problems: dict[Place, list[str]],
    *,
    trusts_all: bool,
) -> Resolved | None:
    """The second pass, over whatever of the file has its shape."""
    value = document.value
    if "game" in bad or "game" not in value:
        return None
    if value["game"] not in GAMES:
        problems[("game",)] = [f"unknown game{_suggest(str(value['game']), list(GAMES))}"
                               f" (got {_shown(value['game'])})"]  # fmt: skip
        return None
    game = get_game(value["game"])
    table = None
    if "table" not in bad:
        table = _table(game, value.get("table", {}), problems)
    entrants: tuple[NamedBot, ...] | None = None
    listed = value.get("entrants")
    if isinstance(listed, list) and listed:
        parts = [_entrant_part(each) for each in listed]
        entrants = _load_entrants(parts, game, problems, trusts_all=trusts_all)
    if "format" not in bad and "format" in value:
        chosen: Any = TypeAdapter(Format).validate_python(value["format"])
        problems |= {place: [text] for place, text in _kind_problems(chosen, value)}
        if table is not None and isinstance(listed, list):
            _check_counts(chosen, table.seats, len(listed), problems)
        if entrants is not None:
            names = [entrant.name for entrant in entrants]
            problems |= {place: [text] for place, text in _name_problems(chosen, names)}
    if entrants is not None and "expect" not in bad:
        names = [entrant.name for entrant in entrants]
        for name in value.get("expect", {}):
            if name not in names:
                problems[("expect", name)] = [
                    f"no entrant of that name{_suggest(name, names)} (got {_shown(name)})"
                ]
    if table is None or entrants is None or part is None:
        return None
    return game, table, entrants


def make_table(game: Game, options: dict[str, Any]) -> Table:
    """A game's table from its options. Raises: SpecError, lines as `table.field: message`."""
    problems: dict[Place, list[str]] = {}
    table = _table(game, options, problems)
    if table is None:
        raise SpecError(*(place_text(p) + m for p, messages in problems.items() for m in messages))
    return table


def _table(game: Game, options: Any, problems: dict[Place, list[str]]) -> Table | None:
    try:
        return game.table.model_validate(options)
    except ValidationError as error:
        for each in error.errors():
            place = ("table", *each["loc"])
            if each["type"] == "extra_forbidden":
                names = list(game.table.model_fields)
                text = f"unknown option of {game.name}{_suggest(str(each['loc'][-1]), names)}"
                problems.setdefault(place, []).append(f"{text} (got {_shown(each['input'])})")
            elif len(each["loc"]) == 0 and each["type"] == "value_error":
                for line in str(each["ctx"]["error"]).split("; "):
                    name, _, message = line.partition(": ")
                    problems.setdefault(("table", name), []).append(message)
            else:
                text = _message(dict(each), place, None)
                problems.setdefault(place, []).append(text)
        return None


def _entrant_part(value: Any) -> EntrantPart | None:
    """An entrant that has its shape, or None: what is wrong with it is reported already."""
    try:
        return TypeAdapter(Entrant).validate_python(value)
    except ValidationError:
        return None


def _load_entrants(
    parts: list[EntrantPart | None],
    game: Game,
    problems: dict[Place, list[str]],
    *,
    trusts_all: bool,
) -> tuple[NamedBot, ...] | None:
    """The entrants, or None where one cannot be loaded; each one's problems are reported."""
    entrants: list[NamedBot] = []
    names: dict[str, int] = {}
    versions: dict[str, int] = {}
    for position, part in enumerate(parts):
        if part is None:
            continue
        place: Place = ("entrants", position)
        try:
            loaded = _load(part, game, is_trusted=trusts_all or part.trusted)
        except BotLoadError as error:
            got = f" (got {_shown(part.command or part.bot)})"
            problems[place] = [p if "(got " in p else p + got for p in error.problems]
            continue
        name = part.name or _default_name(part, loaded)
        if name in names:
            problems[place] = [f"the name {name!r} is taken by entrants[{names[name]}]"]
        elif loaded.version in versions:
            first = versions[loaded.version]
            problems[place] = [
                f"{name} is the same bot as entrants[{first}]: same source, class and params"
            ]
        names.setdefault(name, position)
        versions.setdefault(loaded.version, position)
        entrants.append(NamedBot(name, loaded, part.author or ""))
    return tuple(entrants) if len(entrants) == len(parts) else None


def _load(part: EntrantPart, game: Game, *, is_trusted: bool) -> LoadedBot:
    if (part.bot == _PROGRAM) != bool(part.command):
        raise BotLoadError("an entrant has either bot or command")
    if part.command:
        return load_program(part.command, part.files, part.params, game.name, is_trusted=is_trusted)
    if part.files:
        raise BotLoadError("files belong to a command; a Python bot's imports are found")
    if not part.params:
        return load_word(part.bot, game.name, is_trusted=is_trusted)
    if "=" in part.bot:
        raise BotLoadError("has params both in bot and in params; give them in one place")
    return load(part.bot, part.params, game.name, is_trusted=is_trusted)


def _default_name(part: EntrantPart, loaded: LoadedBot) -> str:
    if part.command:
        return Path(part.command[-1]).stem
    if "=" in part.bot:
        return f"{loaded.class_name}:{part.bot.rpartition(':')[2]}"
    shown = ",".join(f"{name}={value}" for name, value in part.params.items())
    return f"{loaded.class_name}:{shown}" if shown else loaded.class_name


def _check_counts(chosen: Any, seats: int, entrants: int, problems: dict[Place, list[str]]) -> None:
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


def _rating(part: SpecPart, value: dict[str, Any]) -> RatingPart:
    """How results are rated: a ladder's match by match, with a little drift unless it says so."""
    if not isinstance(part.format, Ladder):
        return part.rating
    return ladder_rating(value.get("rating", {}))


def ladder_rating(value: dict[str, Any]) -> RatingPart:
    """How a ladder rates, from the values of the spec's `rating`."""
    part = RatingPart.model_validate(value)
    tau = part.tau if "tau" in value else LADDER_TAU
    return part.model_copy(update={"method": "online", "tau": tau})


def _kind_problems(chosen: Any, value: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Fields of the spec that go with some kinds of format only."""
    if not isinstance(chosen, Ladder):
        for position, entrant in enumerate(value.get("entrants") or []):
            if isinstance(entrant, dict) and "author" in entrant:
                place: Place = ("entrants", position, "author")
                yield place, f"is for ladders (got {_shown(entrant['author'])})"
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
            yield field_place, f"{why} (got {_shown(part[name])})"


def _name_problems(chosen: Any, names: list[str]) -> Iterator[tuple[Place, str]]:
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
                yield place, f"no entrant of that name{_suggest(name, names)} (got {name!r})"
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
