"""Invariants of a stored run: what must hold whoever played, and sums that must agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from ladder import ledger
from ladder.games import Game, Table
from ladder.games.nodes import CHANCE
from ladder.record import Record, Segment
from ladder.store.archive import LEDGER_COLUMNS, LedgerRow, StoredPairing, match_id
from ladder.walk import Step

LEAST_CHANCE = 1e-6  # of a fair thing looking so odd: below it, it is called a fault

LEAST_SEATS = 30  # of a bot, before its mean is judged


@dataclass(frozen=True)
class Check:
    """One invariant and whether it holds."""

    name: str
    is_ok: bool
    detail: str


@dataclass
class DiceCount:
    """What the chance nodes of some matches brought."""

    game: Game
    kinds: Counter[str] = field(default_factory=Counter)
    faces: Counter[int] = field(default_factory=Counter)
    matches: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, name: str, steps: Iterable[Step], last: Sequence[int]) -> None:
        """Count one match; `last` is the state at its end."""
        proof = self.game.proof
        self.matches += 1
        for step in steps:
            if step.node == CHANCE:
                self.kinds[proof.kind(step.before, step.action)] += 1
                self.faces.update(proof.thrown(step.before, step.action))
            self._look_at(name, step.number, step.before)
        self._look_at(name, 0, last)

    def _look_at(self, name: str, move: int, state: Sequence[int]) -> None:
        problem = self.game.proof.problem(state)
        if problem:
            where = f"before move {move}" if move else "at the end"
            self.problems.append(f"match {name}, {where}: {problem}")

    def checks(self) -> list[Check]:
        """Conserved things, and dice by chi-square."""
        proof = self.game.proof
        what = f"{self.matches:,} matches played again"
        checks = [
            Check("conserved", not self.problems, "; ".join(self.problems[:3]) or f"in {what}")
        ]
        faces = [self.faces[face] for face in proof.FACES]
        checks.append(fairness("faces", [str(f) for f in proof.FACES], faces, [1] * len(faces)))
        if proof.KIND_WAYS:
            kinds = list(proof.KIND_WAYS)
            counts = [self.kinds[kind] for kind in kinds]
            checks.append(fairness("kinds", kinds, counts, list(proof.KIND_WAYS.values())))
        return checks


def fairness(name: str, labels: list[str], counts: list[int], ways: list[int]) -> Check:
    """Whether counts are as `ways` says, by Pearson's chi-square."""
    total = sum(counts)
    if total < 5 * len(counts) * max(1, sum(ways) // min(ways) // len(ways)):
        return Check(name, is_ok=True, detail=f"too few dice to say ({total})")
    expected = [total * way / sum(ways) for way in ways]
    statistic = sum((n - e) ** 2 / e for n, e in zip(counts, expected, strict=True))
    chance = chi_square_above(statistic, len(counts) - 1)
    shown = ", ".join(f"{label} {n:,}" for label, n in zip(labels, counts, strict=True))
    return Check(
        name, chance > LEAST_CHANCE, f"{shown}: chi-square {statistic:.2f}, p = {chance:.3g}"
    )


def chi_square_above(statistic: float, freedom: int) -> float:
    """The chance of a larger chi-square (Wilson and Hilferty, PNAS 17, 1931).

    >>> abs(chi_square_above(5.991, 2) - 0.05) < 0.002
    True
    """
    if statistic <= 0:
        return 1.0
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return NormalDist().cdf(-z)


def mean_score_check(moments: Sequence[tuple[str, str, int, float, float]], fair: int) -> Check:
    """Whether every bot's mean score is the fair one within its error."""
    worst, detail = 0.0, "too few matches to say"
    for bot, _, seats, mean, deviation in moments:
        if seats < LEAST_SEATS:
            continue
        error = deviation / math.sqrt(seats)
        z = (mean - fair) / error if error else math.inf * (mean != fair)
        if abs(z) >= worst:
            worst = abs(z)
            detail = f"furthest off: {bot}, {mean - fair:+.2f} a seat, {z:+.1f} standard errors"
    limit = -NormalDist().inv_cdf(LEAST_CHANCE / 2 / max(1, len(moments)))
    return Check("mean_change", worst <= limit, detail)


def seats_check(pairings: Sequence[StoredPairing], rows: Sequence[LedgerRow], seats: int) -> Check:
    """Whether every bot had every seat equally often."""
    played: Counter[int] = Counter()
    for row in rows:
        played[row.pairing_id] += row.count
    counts: dict[str, list[int]] = {}
    for pairing in pairings:
        for seat, bot in enumerate(pairing.names):
            counts.setdefault(bot, [0] * seats)[seat] += played[pairing.pairing_id]
    uneven = {bot: n for bot, n in counts.items() if len(set(n)) > 1}
    if uneven:
        bot, had = next(iter(uneven.items()))
        shown = ", ".join(f"{n:,}" for n in had)
        return Check("seats", is_ok=False, detail=f"{bot} by seat: {shown}")
    return Check("seats", is_ok=True, detail=f"{len(counts):,} bots, each in every seat alike")


def ledger_problems(
    rows: Sequence[LedgerRow], records: Sequence[Record | None]
) -> list[tuple[LedgerRow, str]]:
    """Ledger rows whose sums are not those of their matches, and what differs."""
    problems = []
    for row, record in zip(rows, records, strict=True):
        if not row.is_kept:
            continue
        if record is None:
            problems.append((row, "matches are missing or there twice"))
            continue
        wrong = differing_sums(row, record)
        if wrong:
            problems.append((row, f"{', '.join(wrong)} of its matches come to something else"))
    return problems


def differing_sums(row: LedgerRow, record: Record) -> list[str]:
    """The ledger columns in which a row is not what its matches come to."""
    sums = sums_of(record, row.first)
    return [name for name in LEDGER_COLUMNS if _plain(sums, name) != _plain(row.values, name)]


def sums_of(record: Record, first: int) -> dict[str, Any]:
    """The ledger columns of a record that begins at repetition `first`."""
    seats = record.places.shape[1]
    segment = Segment(tuple(range(seats)), b"", first, len(record))
    rows = ledger.summarise(record, [segment])
    return {
        "digest": int(rows.digest[0]), "chances": int(rows.chances[0]),
        "decisions": int(rows.decisions[0]), "faults": rows.faults[0].tolist(),
        "products": rows.products[0].tolist(), "patterns": rows.patterns.tolist(),
        "pattern_counts": rows.pattern_counts.tolist(),
        "pattern_scores": np.ascontiguousarray(rows.pattern_scores).ravel().tolist(),
    }  # fmt: skip


def _plain(values: dict[str, Any], name: str) -> Any:
    """A column's value, whatever the order in which the patterns came."""
    if name not in ("patterns", "pattern_counts", "pattern_scores"):
        return values[name]
    patterns, counts = values["patterns"], values["pattern_counts"]
    if name == "patterns":
        return sorted(patterns)
    if name == "pattern_counts":
        return sorted(zip(patterns, counts, strict=True))
    seats = len(values["pattern_scores"]) // max(1, len(patterns))
    scores = [tuple(values[name][i * seats : (i + 1) * seats]) for i in range(len(patterns))]
    return sorted(zip(patterns, scores, strict=True))


def problem_text(row: LedgerRow, problem: str) -> str:
    """A ledger row's problem with the matches it is about."""
    first = match_id(row.pairing_id, row.first)
    return f"matches {first} to {row.first + row.count - 1}: {problem}"


def fair_score(game: Game, table: Table) -> int | None:
    """The mean score of any bot at a table, where there is such a number."""
    return game.proof.fair_score(game.new_state(table))


def total_score(game: Game, table: Table) -> int | None:
    """What the scores of a match add up to at a table, where that is fixed."""
    return game.proof.total_score(game.new_state(table))
