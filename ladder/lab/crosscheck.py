"""A line-up played and worked out: one proof of engine, seeds, driver and store together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ladder.errors import SpecError
from ladder.exact.answers import answer
from ladder.exact.policies import Seat
from ladder.execute import Workers
from ladder.games.bot import bind
from ladder.games.pasa.table import PasaTable
from ladder.plan import make_plan
from ladder.spec import load_spec
from ladder.spec.formats import Lineup
from ladder.store import Store
from ladder.tournament import run_spec

MOST_ERRORS = 4.0  # standard errors that a share may be off


@dataclass(frozen=True)
class SeatCheck:
    """One seat of one rotation of the line-up."""

    rotation: tuple[str, ...]
    seat: int
    exact: float
    played: float
    matches: int

    @property
    def errors(self) -> float:
        """How many standard errors the played share is off."""
        spread = math.sqrt(max(self.exact * (1 - self.exact), 1e-12) / self.matches)
        return (self.played - self.exact) / spread


@dataclass(frozen=True)
class CrossCheck:
    """All seats of all rotations."""

    seats: list[SeatCheck]

    @property
    def is_ok(self) -> bool:
        """Whether every share is within four standard errors."""
        return all(abs(check.errors) <= MOST_ERRORS for check in self.seats)


def cross_check(path: Path, db: Path, *, progress: Any = None) -> CrossCheck:
    """Play a spec of format `lineup` and solve every rotation of it. Raises: SpecError."""
    spec = load_spec(path)
    if not isinstance(spec.format, Lineup):
        raise SpecError(f"{path}: format.kind: should be lineup for --exact"
                        f" (got {spec.format.kind!r})")  # fmt: skip
    if not isinstance(spec.table, PasaTable):
        raise SpecError(f"{path}: game: exact values are there for pasa (got {spec.game.name!r})")
    plan = make_plan(spec)
    classes = [cast(Seat, bind(e.loaded.bot, dict(e.loaded.params))) for e in spec.entrants]
    store = Store(db)
    workers = Workers(0, compile=spec.compile, record=spec.record)
    outcome = run_spec(spec, plan, store, workers, lambda progress: None)
    results = store.results(outcome.run, spec.table.seats)
    names = [name for name, _ in results.entrants]
    checks = []
    for pairing in plan.pairings(0):
        rows = (results.lineups == np.array(pairing.lineup)).all(axis=1)
        counts, places = results.counts[rows], results.places[rows]
        first = places == 1
        won = (first / first.sum(axis=1, keepdims=True) * counts[:, None]).sum(axis=0)
        seated = [classes[i] for i in pairing.lineup]
        exact = answer(spec.table, seated, progress=progress).win_share
        rotation = tuple(names[i] for i in pairing.lineup)
        matches = int(counts.sum())
        checks += [
            SeatCheck(rotation, seat, exact[seat], float(won[seat] / matches), matches)
            for seat in range(spec.table.seats)
        ]
    return CrossCheck(checks)
