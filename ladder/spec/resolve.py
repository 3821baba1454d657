"""A spec file read, checked and made ready to run.

`load_spec` works in two passes, the shape of the file and then what it refers to (bots, table,
names), and reports all problems of both at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from ladder.errors import SpecError
from ladder.games import GAMES, Game, Table, get_game
from ladder.spec.checks import check_counts, kind_problems, name_problems
from ladder.spec.documents import Document, Place, place_text, read_document
from ladder.spec.entrants import NamedBot, entrant_part, load_entrants
from ladder.spec.file import LimitsPart, RatingPart, SpecPart, ladder_rating, tier
from ladder.spec.formats import Format, FormatPart, Ladder
from ladder.spec.messages import message_of, shape, shown, suggest

MOST_PROBLEMS = 50  # told at once


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
            document.problem((), f"a spec is a mapping (name: value) (got {shown(document.value)})")
        )
    problems: dict[Place, list[str]] = {}
    part = shape(document, problems)
    bad = {place[0] for place in problems if place}
    resolved = _resolve(document, part, bad, problems, trusts_all=trusts_all)
    if problems:
        lines = sorted(
            (document.line(place), document.problem(place, message))
            for place, messages in problems.items()
            for message in messages
        )
        told = [text for _, text in lines[:MOST_PROBLEMS]]
        if len(lines) > len(told):
            told.append(f"{document.path}: and {len(lines) - len(told):,} problems more")
        raise SpecError(*told)
    assert part is not None
    assert resolved is not None
    game, table, entrants = resolved
    return Spec(
        part.name, document.path, game, table, part.seed, entrants, part.format,
        _rating(part, document.value), part.limits, part.expect, part.compile, part.record,
        part.db, part.rated, document.value, tier(part.tier, part.format.kind),
    )  # fmt: skip


def _rating(part: SpecPart, value: dict[str, Any]) -> RatingPart:
    """How results are rated: a ladder's match by match, with a little drift unless it says so."""
    if not isinstance(part.format, Ladder):
        return part.rating
    return ladder_rating(value.get("rating", {}))


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
        problems[("game",)] = [f"unknown game{suggest(str(value['game']), list(GAMES))}"
                               f" (got {shown(value['game'])})"]  # fmt: skip
        return None
    game = get_game(value["game"])
    table = None
    if "table" not in bad:
        table = _table(game, value.get("table", {}), problems)
    entrants: tuple[NamedBot, ...] | None = None
    listed = value.get("entrants")
    if isinstance(listed, list) and listed:
        parts = [entrant_part(each) for each in listed]
        entrants = load_entrants(parts, game, problems, trusts_all=trusts_all)
    if "format" not in bad and "format" in value:
        chosen: Any = TypeAdapter(Format).validate_python(value["format"])
        problems |= {place: [text] for place, text in kind_problems(chosen, value)}
        if table is not None and isinstance(listed, list):
            check_counts(chosen, table.seats, len(listed), problems)
        if entrants is not None:
            names = [entrant.name for entrant in entrants]
            problems |= {place: [text] for place, text in name_problems(chosen, names)}
    if entrants is not None:
        names = [entrant.name for entrant in entrants]
        named: list[Place] = []
        if "expect" not in bad:
            named += [("expect", name) for name in value.get("expect", {})]
        if "rating" not in bad and ("rating", "anchor") not in problems:
            anchor = value.get("rating", {}).get("anchor", {})
            named += [("rating", "anchor", name) for name in anchor]
        for place in named:
            name = str(place[-1])
            if name not in names:
                problems[place] = [
                    f"no entrant of that name{suggest(name, names)} (got {shown(name)})"
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
                text = f"unknown option of {game.name}{suggest(str(each['loc'][-1]), names)}"
                problems.setdefault(place, []).append(f"{text} (got {shown(each['input'])})")
            elif len(each["loc"]) == 0 and each["type"] == "value_error":
                for line in str(each["ctx"]["error"]).split("; "):
                    name, _, message = line.partition(": ")
                    problems.setdefault(("table", name), []).append(message)
            else:
                text = message_of(dict(each), place, None)
                problems.setdefault(place, []).append(text)
        return None
