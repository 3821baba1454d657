"""A spec made from words of the command line: one line-up at one table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ladder.bots import split_word
from ladder.errors import SpecError
from ladder.games import get_game
from ladder.plan import Plan, make_plan
from ladder.spec import Spec, make_spec
from ladder.spec.documents import Document, parse_document

DEFAULT_MATCHES = 10_000


def match_plan(
    words: Sequence[str],
    game: str,
    table: str,
    matches: int | None,
    seed: int,
    *,
    trusts_all: bool = False,
) -> tuple[Spec, Plan]:
    """The spec and plan of `ladder match`: one bot a seat, all rotations. Raises: SpecError."""
    options = table_options(table)
    get_game(game)
    seats = options.setdefault("seats", len(words))
    if seats != len(words):
        raise SpecError(f"--table: seats={seats}, but {len(words)} bots are given, one a seat")
    if matches is None and isinstance(seats, int) and seats > 0:
        matches = -(-DEFAULT_MATCHES // seats) * seats
    names = names_of(words)
    value = {
        "name": "match",
        "game": game,
        "table": options,
        "seed": seed,
        "entrants": [{"bot": word, "name": name} for word, name in names.items()],
        "format": {"kind": "lineup", "bots": [names[word] for word in words], "matches": matches},
    }
    spec = make_spec(Document("", value, {}), trusts_all=trusts_all)
    return spec, make_plan(spec)


def names_of(words: Sequence[str]) -> dict[str, str]:
    """What each word goes by on a table: its class, with params; the word itself if that clashes.

    >>> names_of(["Easy", "my_bot.py:MyBot", "Hard:per_turn=50"])
    {'Easy': 'Easy', 'my_bot.py:MyBot': 'MyBot', 'Hard:per_turn=50': 'Hard:per_turn=50'}
    """
    names = {}
    for word in dict.fromkeys(words):
        reference, params = split_word(word)
        short = reference.rpartition(":")[2]
        names[word] = f"{short}:{word.rpartition(':')[2]}" if params else short
    taken = list(names.values())
    return {
        word: name if taken.count(name) == 1 else _short_word(word) for word, name in names.items()
    }


def _short_word(word: str) -> str:
    path, colon, rest = word.partition(".py:")
    return f"{Path(path).name}{colon}{rest}"[-64:]


def table_options(text: str) -> dict[str, Any]:
    """Table options from `name=value,name=value`; a list is written in brackets.

    >>> table_options("chips=500,sizes=[5,10]")
    {'chips': 500, 'sizes': [5, 10]}

    Raises: SpecError.
    """
    options: dict[str, Any] = {}
    for part in re.split(r",(?![^\[{]*[\]}])", text) if text else []:
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise SpecError(f"--table: options are written as chips=500,rounds=2 (got {text!r})")
        options[name.strip()] = parse_document(value, "--table").value
    return options
