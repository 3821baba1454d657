"""Comparisons asked from the command line: by words, or by a spec that may hold a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ladder.errors import SpecError
from ladder.games import get_game
from ladder.lab.compare import Question, check_question
from ladder.lab.grid import grid_specs
from ladder.lineup import names_of, table_options
from ladder.spec import Spec, make_spec
from ladder.spec.documents import Document, read_document
from ladder.spec.formats import Compare


def questions_of_spec(
    path: Path, *, trusts_all: bool = False
) -> Iterator[tuple[str, Question, Spec]]:
    """(what sets the table apart, the question, its spec) of each table of a spec."""
    specs = list(grid_specs(read_document(path), trusts_all=trusts_all))
    for told, spec in specs:
        if not isinstance(spec.format, Compare):
            raise SpecError(
                f"{path}: format.kind: should be compare for `ladder compare`"
                f" (got {spec.format.kind!r})"
            )
        question = _question(spec, spec.format, f"{spec.name} {told}".strip())
        check_question(question)
        yield told, question, spec


def question_of_words(
    candidates: Sequence[str],
    against: Sequence[str],
    game: str,
    table: str,
    seed: int,
    asked: dict[str, Any],
    *,
    trusts_all: bool = False,
) -> tuple[Question, Spec]:
    """The question of `ladder compare A B --against C ...`. Raises: SpecError."""
    get_game(game)
    options = table_options(table)
    words = list(dict.fromkeys([*candidates, *against]))
    if len(set(candidates)) < len(candidates):
        raise SpecError(
            "a candidate is given twice: the difference of a bot to itself is exactly 0"
        )
    if not against:
        raise SpecError("--against: name the field, e.g. --against Easy (it repeats to fill seats)")
    names = names_of(words)
    value = {
        "name": "compare",
        "game": game,
        "table": options,
        "seed": seed,
        "entrants": [{"bot": word, "name": names[word]} for word in words],
        "format": {
            "kind": "compare",
            "candidates": [names[word] for word in candidates],
            "field": [names[word] for word in against],
            **{name: given for name, given in asked.items() if given is not None},
        },
    }
    spec = make_spec(Document("", value, {}), trusts_all=trusts_all)
    assert isinstance(spec.format, Compare)
    question = _question(spec, spec.format, spec.name)
    check_question(question)
    return question, spec


def _question(spec: Spec, asked: Compare, name: str) -> Question:
    """Candidates first, then the field, which repeats to fill the seats."""
    candidates = [spec.entrant_index(each) for each in asked.candidates]
    field = [spec.entrant_index(each) for each in asked.field]
    rest = [i for i in dict.fromkeys(field) if i not in candidates]
    order = [*candidates, *rest]
    filled = [field[i % len(field)] for i in range(spec.table.seats - 1)]
    return Question(
        name=name,
        game=spec.game,
        table=spec.table,
        seed=spec.seed,
        names=tuple(spec.entrants[i].name for i in order),
        bots=tuple(spec.entrants[i].loaded for i in order),
        candidates=len(candidates),
        rivals=tuple(order.index(i) for i in filled),
        budget=asked.matches,
        margin=asked.margin,
        precision=asked.precision,
        confidence=asked.confidence,
        on_fault=spec.limits.on_fault,
        source=spec.source,
        limits=spec.limits.of_children,
        tier=spec.tier,
    )
