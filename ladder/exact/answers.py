"""The questions asked of the solver: a line-up's value, how far a policy is from unbeatable."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ladder.exact.policies import BEST, Seat, line_up
from ladder.exact.solver import Exact, Progress, solve
from ladder.games.pasa.table import PasaTable
from ladder.games.pasa.view import PasaBot
from ladder.jit import cache_root, source_digest
from ladder.policy.source import read_policy


@dataclass(frozen=True)
class Exploit:
    """What one best replier wins against a table of a policy; lists are by its seat."""

    best_reply: list[float]
    fair: list[float]  # what the policy itself wins there
    mean_best_reply: float
    exploitable: float  # mean of the differences: 0 for a policy that no one can beat


def question_digest(table: PasaTable, seats: Sequence[Seat]) -> str:
    """The identity of an answer: rules, solver, table, policies and params."""
    players = line_up(table, seats)
    parts = [source_digest("games/", "exact/", "policy/"), table.canonical()]
    for player in players:
        if player is None:
            parts.append(BEST)
            continue
        parts.append(repr((player.name, player.params._asdict())))
        functions = [player.stake, *([player.luck_ways] if player.luck_ways else [])]
        parts += [read_policy(function).text() for function in functions]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def answer(
    table: PasaTable,
    seats: Sequence[Seat],
    *,
    memory_mb: int = 2048,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Exact:
    """`solve`, or the answer kept from an earlier time. Raises: SpecError."""
    path = cache_root() / "exact" / f"{question_digest(table, seats)}.json"
    try:
        return Exact(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        found = solve(table, seats, memory_mb=memory_mb, threads=threads, progress=progress)
    _keep(path, asdict(found))
    return found


def _keep(path: Path, found: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(found))
        part.replace(path)
    except OSError:
        return  # the answer is right all the same


def all_first_seats(table: PasaTable, seats: Sequence[Seat], **options: Any) -> list[Exact]:
    """The answer for each seat that may throw first, seat 0 first. Raises: SpecError."""
    return [
        answer(table.model_copy(update={"first_thrower": first}), seats, **options)
        for first in range(table.seats)
    ]


def exploit(table: PasaTable, policy: type[PasaBot], **options: Any) -> Exploit:
    """What a best reply wins at each seat against a policy at all the others. Raises: SpecError."""
    fair = answer(table, [policy] * table.seats, **options).win_share
    best = []
    for seat in range(table.seats):
        seats: list[Seat] = [policy] * table.seats
        seats[seat] = BEST
        best.append(answer(table, seats, **options).win_share[seat])
    mean = sum(best) / table.seats
    return Exploit(best, fair, mean, mean - sum(fair) / table.seats)
