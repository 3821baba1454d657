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
from ladder.errors import StoreError
from ladder.execute import Progress, Workers, execute
from ladder.games import get_game
from ladder.plan import Plan
from ladder.rate import rate
from ladder.spec import RatingPart, Spec
from ladder.standings import Row, rank, tally
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
    rows = rate_run(store, run, spec.rating, spec.table.seats, spec.expect)
    end = time.monotonic()
    return Outcome(
        run, spec.name, matches, progress.played, end - begun,
        progress.play_s, progress.store_s, end - rating_begun, digest, rows,
    )  # fmt: skip


def rate_run(
    store: Store, run: str, part: RatingPart, seats: int, expected: dict[str, float]
) -> list[Row]:
    """Rate a stored run, write its ratings, and give its table."""
    rows = table_of(store, run, part, seats, expected)
    if rows:
        store.write_ratings(
            run,
            [
                (row.bot, row.version, row.rating.mu, row.rating.sigma,
                 row.tally.share.matches, row.tally.share.mean)
                for row in rows
            ],
            rank_by=part.rank_by,
        )  # fmt: skip
    return rows


def table_of(
    store: Store, run: str, part: RatingPart, seats: int, expected: dict[str, float]
) -> list[Row]:
    """The table of a stored run, all of its numbers from one state of the store."""
    entrants, patterns, faults = store.results(run)
    tallies = tally(patterns, len(entrants), faults, seats)
    ratings = rate(patterns, [version for _, version in entrants], part)
    return rank(entrants, ratings, tallies, expected)


def spec_rating(run: RunRow) -> tuple[RatingPart, dict[str, float], int]:
    """What a stored run's spec says of rating, published shares, and the seats of its table."""
    part = RatingPart.model_validate(run.spec.get("rating", {}))
    table = get_game(run.game).table.model_validate(run.spec.get("table", {}))
    return part, run.spec.get("expect", {}), table.seats


def find_run(store: Store, word: str | None) -> RunRow:
    """The run of an id, its beginning, or a name (its latest); None: the latest of all."""
    runs = store.runs()
    if not runs:
        raise StoreError(f"{store.path}: holds no runs")
    if word is None:
        return runs[-1]
    found = [run for run in runs if word in (run.run, run.name)]
    found = found or [run for run in runs if run.run.startswith(word)]
    if not found:
        names = ", ".join(f"{run.run} {run.name}" for run in runs[-5:])
        raise StoreError(f"{store.path}: has no run {word!r}; the latest are {names}")
    return found[-1]
