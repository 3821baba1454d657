"""Specs with lists of values: a candidate for each value of a param, a table for each option."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from ladder.errors import SpecError
from ladder.spec import Spec, make_spec
from ladder.spec.documents import Document, Place
from ladder.spec.formats import Compare

LISTS = frozenset({"sizes", "tiles"})  # table options that are lists themselves
MAX_CANDIDATES, MAX_TABLES = 200, 200


def grid_specs(document: Document, *, trusts_all: bool = False) -> Iterator[tuple[str, Spec]]:
    """(what sets this table apart, its spec) for each table of a grid. Raises: SpecError."""
    value = document.value
    if not isinstance(value, dict) or not isinstance(value.get("entrants"), list):
        yield "", make_spec(document, trusts_all=trusts_all)
        return
    entrants, lines, names = _entrants(document)
    chosen = value.get("format")
    if isinstance(chosen, dict):
        for key in ("candidates", "field"):
            if isinstance(chosen.get(key), list):
                listed = [new for name in chosen[key] for new in names.get(name, [name])]
                chosen = {**chosen, key: listed}
    for told, table in _tables(document):
        changed = {**value, "entrants": entrants, "format": chosen, "table": table}
        yield told, make_spec(Document(document.path, changed, lines), trusts_all=trusts_all)


def _entrants(document: Document) -> tuple[list[Any], dict[Place, int], dict[str, list[str]]]:
    """The entrants with a list param made several, their lines, and the new names by old one."""
    entrants: list[Any] = []
    names: dict[str, list[str]] = {}
    lines = {p: line for p, line in document.lines.items() if p[:1] != ("entrants",)}
    for position, entrant in enumerate(document.value["entrants"]):
        variants = [entrant]
        params = entrant.get("params") if isinstance(entrant, dict) else None
        if isinstance(params, dict) and any(isinstance(v, list) for v in params.values()):
            base = str(entrant.get("name") or str(entrant.get("bot", "")).rpartition(":")[2])
            variants = [
                {**entrant, "params": chosen, "name": f"{base}:{told}"}
                for told, chosen in _choices(
                    document, ("entrants", position, "params"), params, MAX_CANDIDATES
                )
            ]
            names[base] = [variant["name"] for variant in variants]
        for variant in variants:
            for place, line in document.lines.items():
                if place[:2] == ("entrants", position):
                    lines[("entrants", len(entrants), *place[2:])] = line
            entrants.append(variant)
    return entrants, lines, names


def _tables(document: Document) -> Iterator[tuple[str, Any]]:
    table = document.value.get("table", {})
    if not isinstance(table, dict):
        yield "", table
        return
    yield from _choices(document, ("table",), table, MAX_TABLES, LISTS)


def _choices(
    document: Document,
    place: Place,
    options: dict[str, Any],
    most: int,
    lists: frozenset[str] = frozenset(),
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every choice of one value for each option that is a list; told by the options that vary.

    Raises: SpecError where there is no choice, or too many.
    """
    varied = {k: v for k, v in options.items() if isinstance(v, list) and k not in lists}
    empty = [document.problem((*place, k), "must not be empty") for k, v in varied.items() if not v]
    if empty:
        raise SpecError(*empty)
    count = math.prod(len(v) for v in varied.values())
    if count > most:
        raise SpecError(document.problem(place, f"makes a grid of {count:,}, at most {most}"))
    for values in itertools.product(*varied.values()):
        chosen = dict(zip(varied, values, strict=True))
        yield ",".join(f"{k}={v}" for k, v in chosen.items()), {**options, **chosen}


def is_comparison(spec: Spec) -> bool:
    """Whether a spec asks for a comparison."""
    return isinstance(spec.format, Compare)
