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

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from ladder.bots import LoadedBot, load, load_word
from ladder.documents import Document, Place, place_text, read_document
from ladder.errors import BotLoadError, SpecError
from ladder.games import GAMES, Game, Table, get_game

MAX_MATCHES = 10**12


class Part(BaseModel):
    """Base of the parts of a spec: no unknown fields, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class EntrantPart(Part):
    """One entrant: a bot, its params, the name it goes by."""

    bot: str = Field(description="NAME, module:Class or file.py:Class")
    name: str | None = Field(None, min_length=1, max_length=64)
    params: dict[str, Any] = Field(default_factory=dict)


def _entrant(value: Any) -> Any:
    return {"bot": value} if isinstance(value, str) else value


Entrant = Annotated[EntrantPart, BeforeValidator(_entrant)]
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


FormatPart = RoundRobin | Gauntlet | RandomPods | Lineup
Format = Annotated[FormatPart, Field(discriminator="kind")]
FORMATS: dict[str, type[Part]] = {
    "round_robin": RoundRobin,
    "gauntlet": Gauntlet,
    "random": RandomPods,
    "lineup": Lineup,
}
KINDS = tuple(FORMATS)


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


class SpecPart(Part):
    """The file as a whole."""

    name: str = Field(min_length=1, max_length=80)
    game: str
    table: dict[str, Any] = Field(default_factory=dict)
    seed: int = Field(ge=0, lt=2**64)
    entrants: list[Entrant] = Field(min_length=1)
    format: Format
    rating: RatingPart = RatingPart()
    limits: LimitsPart = LimitsPart()
    expect: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="published win shares, printed beside ours"
    )
    compile: Literal["auto", "never", "require"] = Field(
        "auto", description="compiled play: where it can be, nowhere, or everywhere"
    )
    record: Literal["results", "summary"] = Field(
        "results", description="every match, or only what tables, ratings and digests need"
    )
    db: str | None = Field(None, min_length=1, description="the store, unless --db says otherwise")


# Fields and values of the contract that this version does not serve yet.
UNSERVED = {
    "rated", "decision_ms", "wall_ms", "start_ms", "memory_mb", "output_kb",
    "tier", "secret", "swiss", "knockout", "ladder",
    "budget", "retention", "inbox", "command",
}  # fmt: skip


@dataclass(frozen=True)
class NamedBot:
    """An entrant of a run."""

    name: str
    loaded: LoadedBot


@dataclass(frozen=True)
class Spec:
    """A spec whose bots are loaded and whose table is legal."""

    name: str
    path: str
    game: Game
    table: Table
    seed: int
    entrants: tuple[NamedBot, ...]
    format: FormatPart
    rating: RatingPart
    limits: LimitsPart
    expect: dict[str, float]
    compile: str
    record: str
    db: str | None
    source: dict[str, Any] = field(repr=False)  # the file's values, as they are kept in the store

    def entrant_index(self, name: str) -> int:
        """The position of an entrant by name."""
        return [entrant.name for entrant in self.entrants].index(name)


def load_spec(path: Path) -> Spec:
    """Read, check and resolve a spec file.

    Raises: SpecError, one problem a line as `path:LINE field: message (got value)`.
    """
    return make_spec(read_document(path))


def make_spec(document: Document) -> Spec:
    """Check and resolve a spec. Raises: SpecError."""
    if not isinstance(document.value, dict):
        raise SpecError(document.problem((), f"a spec is a mapping (got {_shown(document.value)})"))
    problems: dict[Place, list[str]] = {}
    part = _shape(document, problems)
    bad = {place[0] for place in problems if place}
    resolved = _resolve(document, part, bad, problems)
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
        part.name, document.path, game, table, part.seed, entrants, part.format, part.rating,
        part.limits, part.expect, part.compile, part.record, part.db, document.value,
    )  # fmt: skip


def _shape(document: Document, problems: dict[Place, list[str]]) -> SpecPart | None:
    try:
        return SpecPart.model_validate(document.value)
    except ValidationError as error:
        for each in error.errors():
            place = _real_place(each["loc"], document.value)
            problems.setdefault(place, []).append(_message(dict(each), place, document.value))
        return None


def _real_place(location: tuple[str | int, ...], value: Any) -> Place:
    """A pydantic location without the tags of unions that it mixes in."""
    place: list[str | int] = []
    for part in location:
        if part in KINDS and isinstance(value, dict) and part not in value:
            continue
        place.append(part)
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
    return tuple(place)


def _message(error: dict[str, Any], place: Place, value: Any) -> str:
    kind, got = error["type"], _shown(error["input"])
    last = str(place[-1]) if place else ""
    if kind == "extra_forbidden":
        if last in UNSERVED:
            return f"is not served by this version of Ladder (got {got})"
        return f"unknown field{_suggest(last, _fields_at(place[:-1], value))} (got {got})"
    if kind == "missing":
        return "is missing"
    if place == ("seed",) and error["input"] == "secret":
        return "secret seeds are not served by this version of Ladder; give a whole number"
    if kind == "union_tag_invalid":
        given = error["input"].get("kind")
        if given in UNSERVED:
            return f"kind {given!r} is not served by this version of Ladder, yet"
        return f"unknown kind{_suggest(str(given), list(KINDS))} (got {_shown(given)})"
    if kind == "union_tag_not_found":
        return f"kind is missing; there are {', '.join(KINDS)}"
    message = str(error["msg"]).removeprefix("Value error, ")
    message = message.removeprefix("Input should be ")
    if message != error["msg"]:
        message = f"should be {message}"
    return f"{message[:1].lower()}{message[1:]} (got {got})"


def _fields_at(place: Place, value: Any) -> list[str]:
    parts: dict[Place, type[Part]] = {
        (): SpecPart,
        ("rating",): RatingPart,
        ("limits",): LimitsPart,
    }
    if place == ("format",):
        return list(FORMATS[value["format"]["kind"]].model_fields)
    if place[:1] == ("entrants",):
        return list(EntrantPart.model_fields)
    return list(parts[place].model_fields) if place in parts else []


def _suggest(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, 1, 0.6)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; there are {', '.join(names)}" if names else ""


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "..."


Resolved = tuple[Game, Table, tuple[NamedBot, ...]]


def _resolve(
    document: Document,
    part: SpecPart | None,
    bad: set[str | int],
    problems: dict[Place, list[str]],
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
    if "entrants" not in bad and "entrants" in value:
        parts = TypeAdapter(list[Entrant]).validate_python(value["entrants"])
        entrants = _load_entrants(parts, game, problems)
    if entrants is not None and "format" not in bad and "format" in value:
        chosen: Any = TypeAdapter(Format).validate_python(value["format"])
        _check_format(chosen, table, entrants, problems)
    if entrants is not None and "expect" not in bad:
        names = [entrant.name for entrant in entrants]
        for name in value.get("expect", {}):
            if name not in names:
                problems[("expect", name)] = [f"no entrant of that name{_suggest(name, names)}"]
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


def _load_entrants(
    parts: list[EntrantPart], game: Game, problems: dict[Place, list[str]]
) -> tuple[NamedBot, ...] | None:
    entrants: list[NamedBot] = []
    seen: dict[str, int] = {}
    versions: dict[str, int] = {}
    failed = False
    for position, part in enumerate(parts):
        place: Place = ("entrants", position)
        try:
            if part.params and "=" not in part.bot:
                loaded = load(part.bot, part.params, game.name)
            else:
                loaded = load_word(part.bot, game.name)
        except BotLoadError as error:
            problems[place] = [f"{p} (got {_shown(part.bot)})" for p in error.problems]
            failed = True
            continue
        name = part.name or _default_name(part, loaded)
        if not name.isprintable() or name != name.strip():
            problems[place] = [f"name: should be printable, without blanks around ({name!r})"]
        elif name in seen:
            problems[place] = [f"name {name!r} is taken by entrants[{seen[name]}]"]
        elif loaded.version in versions:
            first = versions[loaded.version]
            problems[place] = [
                f"{name} is the same bot as entrants[{first}]: same source, class and params"
            ]
        seen.setdefault(name, position)
        versions.setdefault(loaded.version, position)
        entrants.append(NamedBot(name, loaded))
    return None if failed else tuple(entrants)


def _default_name(part: EntrantPart, loaded: LoadedBot) -> str:
    given = part.params or {}
    if "=" in part.bot:
        return f"{loaded.class_name}:{part.bot.rpartition(':')[2]}"
    shown = ",".join(f"{name}={value}" for name, value in given.items())
    return f"{loaded.class_name}:{shown}" if shown else loaded.class_name


def _check_format(
    chosen: Any,
    table: Table | None,
    entrants: tuple[NamedBot, ...],
    problems: dict[Place, list[str]],
) -> None:
    names = [entrant.name for entrant in entrants]
    if table is not None:
        seats = table.seats
        if chosen.matches % seats:
            following = chosen.matches + seats - chosen.matches % seats
            problems[("format", "matches")] = [
                f"must be a multiple of the {seats} seats, next is {following}"
                f" (got {chosen.matches})"
            ]
        enough = isinstance(chosen, Gauntlet | Lineup) or getattr(chosen, "self_play", False)
        if not enough and len(entrants) < seats:
            problems[("entrants",)] = [
                f"{chosen.kind} at {seats} seats needs at least {seats} entrants"
                f" (got {len(entrants)})"
            ]
    if isinstance(chosen, Lineup):
        for position, name in enumerate(chosen.bots):
            if name not in names:
                text = f"no entrant of that name{_suggest(name, names)} (got {name!r})"
                problems[("format", "bots", position)] = [text]
        if table is not None and len(chosen.bots) != table.seats:
            text = f"needs one name a seat, {table.seats} (got {len(chosen.bots)})"
            problems[("format", "bots")] = [text]
    if isinstance(chosen, Gauntlet):
        for place, message in _gauntlet_problems(chosen, names):
            problems[place] = [message]


def _gauntlet_problems(chosen: Gauntlet, names: list[str]) -> Iterator[tuple[Place, str]]:
    for key, listed in (("challengers", chosen.challengers), ("field", chosen.field or [])):
        for position, name in enumerate(listed):
            place: Place = ("format", key, position)
            if name not in names:
                yield place, f"no entrant of that name{_suggest(name, names)} (got {name!r})"
            elif name in listed[:position]:
                yield place, f"is listed twice (got {name!r})"
    if chosen.field is None and set(names) <= set(chosen.challengers):
        yield ("format", "challengers"), "leaves nobody for the field; give field or more entrants"
