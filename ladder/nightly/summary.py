"""What a night came to, in lines for a mail: the table, what changed, who faulted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from ladder.nightly.night import Outcome
from ladder.store import NightEntrant

MOST_LINES = 40
TABLE, MOVES, FAULTS, REMARKS = 14, 8, 5, 6
WIDTH = 100


@dataclass(frozen=True)
class Move:
    """A bot whose rank among those of both nights changed."""

    name: str
    before: int
    after: int
    is_real: float  # probability that it is truly better (or worse) than all it passed


def moves_of(before: Sequence[NightEntrant], rows: Sequence[NightEntrant]) -> list[Move]:
    """Rank moves among the names of both nights, the longest first."""
    there = {row.name for row in before} & {row.name for row in rows}
    old = [row.name for row in before if row.name in there]
    new = [row for row in rows if row.name in there]
    place = {name: position for position, name in enumerate(old)}
    moves = []
    for position, row in enumerate(new):
        was = place[row.name]
        if was == position:
            continue
        rises = position < was
        passed = [
            other
            for at, other in enumerate(new)
            if (at > position and place[other.name] < was if rises
                else at < position and place[other.name] > was)
        ]  # fmt: skip
        surest = min(
            (_is_better(row, other) if rises else _is_better(other, row) for other in passed),
            default=0.5,
        )
        moves.append(Move(row.name, was + 1, position + 1, surest))
    return sorted(moves, key=lambda move: (-abs(move.before - move.after), move.after))


def _is_better(a: NightEntrant, b: NightEntrant) -> float:
    """The probability that a is truly better than b."""
    spread = math.hypot(a.sigma or 0.0, b.sigma or 0.0)
    gap = (a.mu or 0.0) - (b.mu or 0.0)
    return NormalDist().cdf(gap / spread) if spread else 0.5


def diff_values(outcome: Outcome) -> dict[str, Any]:
    """What changed since the night before, as plain values."""
    before = {row.name: row.version for row in outcome.rows_before}
    known = {row.name for row in outcome.rows if row.nights}
    return {
        "new": [
            row.name for row in outcome.rows if row.name not in before and row.name not in known
        ],
        "changed": [
            row.name
            for row in outcome.rows
            if row.name in before and before[row.name] != row.version
        ],
        "withdrawn": outcome.withdrawn,
        "quarantined": [
            {"bot": row.name, "author": row.author, "reason": row.quarantine}
            for row in outcome.rows
            if row.quarantine
        ],
        "refused": outcome.refused,
        "moves": [vars(move) for move in moves_of(outcome.rows_before, outcome.rows)],
        "faults": {row.name: row.faults for row in outcome.rows if row.faults},
    }


def summary_lines(outcome: Outcome) -> list[str]:
    """The summary, at most 40 lines."""
    lines = [line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in _lines(outcome)]
    if len(lines) <= MOST_LINES:
        return lines
    left_out = len(lines) - MOST_LINES + 1
    return [*lines[: MOST_LINES - 1], f"and {left_out} lines more: ladder standings"]


def _lines(outcome: Outcome) -> Iterator[str]:
    night = outcome.night
    title = f"{night.ladder}, night {night.night} ({night.label})"
    if outcome.is_repeat:
        yield f"{title} is done already: {night.matches:,} matches; nothing played"
        return
    yield (
        f"{title}{', gone on with' if outcome.is_continued else ''}: {night.matches:,} matches in"
        f" {night.rounds} rounds, {night.seconds:.0f} s"
    )
    least = min((row.matches for row in outcome.rows), default=0)
    yield (
        f"{len(outcome.rows)} bots, each in at least {least:,} matches; results digest"
        f" {night.digest}"
    )
    diff = diff_values(outcome)
    for kind in ("new", "changed", "withdrawn"):
        if diff[kind]:
            yield f"{kind}: {_listed(diff[kind])}"
    for each in diff["quarantined"][:FAULTS]:
        yield f"quarantined: {each['bot']} of {each['author'] or 'the spec'}: {each['reason']}"
    yield from _some([f"refused: {line}" for line in outcome.refused], REMARKS)
    yield "  #  bot                        mu  sigma   win %  matches  faults"
    yield from _some([_row_line(row) for row in outcome.rows], TABLE)
    moves = [
        f"  {move.name}: {move.before} -> {move.after} ({100 * move.is_real:.0f} % sure to be real)"
        for move in moves_of(outcome.rows_before, outcome.rows)
    ]
    if moves:
        yield "rank moves:"
        yield from _some(moves, MOVES)
    yield from _some(
        [
            f"faults: {kind['bot']}: {kind['faults']:,} x {kind['cause']}:"
            f" {(kind['detail'].splitlines() or [''])[0]}"
            for kind in outcome.kinds_of_faults
        ],
        FAULTS,
    )
    said = {f"refused {line}" for line in outcome.refused}
    yield from _some([f"note: {note}" for note in night.notes if note not in said], REMARKS)
    if outcome.folded:
        yield f"folded into counts: {outcome.folded:,} matches of old nights"
    if outcome.backup is not None:
        yield f"backup: {outcome.backup}"
    if outcome.page is not None:
        yield f"report: {outcome.page}"


def _row_line(row: NightEntrant) -> str:
    share = "    -" if row.win_share is None else f"{100 * row.win_share:5.1f}"
    return (
        f"{row.rank:>3}  {row.name[:24]:24} {row.mu or 0:5.2f} {row.sigma or 0:6.2f}   {share}"
        f" {row.matches:8,} {row.faults:7,}"
    )


def _some(lines: Sequence[str], most: int) -> list[str]:
    if len(lines) <= most:
        return list(lines)
    return [*lines[:most], f"     and {len(lines) - most} more"]


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
