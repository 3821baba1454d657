"""The pipeline: spec -> plan -> execute -> record -> rate -> table."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ladder import seeds
from ladder.bots import LoadedBot
from ladder.execute import Progress, Workers, execute
from ladder.plan import Plan
from ladder.rated import rate_selection, select, write_rated
from ladder.spec import Spec
from ladder.standings import Row
from ladder.store import RunRow, Store


@dataclass(frozen=True)
class Outcome:
    """A finished run, its table and what it took."""

    run: str
    name: str
    matches: int
    played: int  # of them, in this call
    seconds: float
    play_s: float
    store_s: float
    rate_s: float
    digest: str
    rows: list[Row]
    notes: list[str]

    @property
    def faults(self) -> int:
        """Faults of all bots."""
        return sum(row.tally.faults for row in self.rows)


def run_id(spec: Spec, plan: Plan) -> str:
    """A run's name in the store: the same for the same name, seed, table, entrants and format."""
    parts = [
        spec.name,
        seeds.run_key_id(plan.key),
        [plan.game.name, plan.game.version, plan.table.canonical(), plan.on_fault],
        list(zip(plan.names, plan.versions, strict=True)),
        spec.format.model_dump(mode="json"),
    ]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()


def run_spec(
    spec: Spec,
    plan: Plan,
    store: Store,
    workers: Workers,
    report: Callable[[Progress], None],
) -> Outcome:
    """Play what the store lacks of a spec, rate all of it, and give the table.

    Raises: StoreError, InfraError, LadderError (on_fault: abort), KeyboardInterrupt.
    """
    begun = time.monotonic()
    run = run_id(spec, plan)
    bots: Sequence[LoadedBot] = [entrant.loaded for entrant in spec.entrants]
    entrants = tuple(zip(plan.names, plan.versions, strict=True))
    now = datetime.now(UTC)
    key_id = seeds.run_key_id(plan.key)
    store.create()
    row = RunRow(run, spec.name, spec.game.name, spec.source, key_id, now, None, None, entrants)
    store.begin_run(plan, row, bots)
    progress = Progress(report, plan.num_matches)
    execute(plan, bots, store, run, workers, progress)
    matches, digest = store.progress(run)
    store.finish_run(run, digest)
    rating_begun = time.monotonic()
    rated = rate_selection(store, select(store, [run]), spec.rating, spec.expect)
    write_rated(store, rated)
    end = time.monotonic()
    return Outcome(
        run, spec.name, matches, progress.played, end - begun,
        progress.play_s, progress.store_s, end - rating_begun, digest, rated.rows, rated.notes,
    )  # fmt: skip
