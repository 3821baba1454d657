"""The pipeline: spec -> plan -> execute -> record -> rate -> table."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ladder import seeds
from ladder.bots import LoadedBot
from ladder.errors import SpecError
from ladder.execute import Progress, Workers, execute
from ladder.isolate.verdict import DEFAULT_LIMITS
from ladder.plan import Plan, key_of_seed, make_plan
from ladder.rated import rate_selection, select, write_rated
from ladder.spec import Spec
from ladder.spec.formats import Knockout
from ladder.staged import Staged, play_stages
from ladder.standings import Row
from ladder.store import RunRow, Store


@dataclass(frozen=True)
class RankLine:
    """A line of the final ranking of a format in stages."""

    rank: int
    bot: str
    version: str
    points: float
    tie_breaks: tuple[float, ...]
    path: tuple[str, ...]


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
    ranking: tuple[RankLine, ...] = ()  # of formats in stages

    @property
    def faults(self) -> int:
        """Faults of all bots."""
        return sum(row.tally.faults for row in self.rows)


def run_id(spec: Spec, plan: Plan) -> str:
    """A run's name in the store: the same for the same name, seed, table, entrants and format."""
    parts: list[Any] = [
        spec.name,
        seeds.run_key_id(plan.key),
        [plan.game.name, plan.game.version, plan.table.canonical(), plan.on_fault],
        list(zip(plan.names, plan.versions, strict=True)),
        spec.format.model_dump(mode="json"),
    ]
    if plan.strangers and plan.limits != DEFAULT_LIMITS:  # as in a pairing's identity
        parts.append(asdict(plan.limits))
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()


def asked_of(spec: Spec) -> str:
    """A spec's name for itself, whatever the run key."""
    entrants = [[each.name, each.loaded.version] for each in spec.entrants]
    parts = [
        spec.name, spec.game.name, spec.game.version, spec.table.canonical(),
        spec.limits.model_dump(), entrants, spec.format.model_dump(mode="json"),
    ]  # fmt: skip
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


def run_key_for(spec: Spec, store: Store, given: str | None = None) -> bytes:
    """The run key: as given (hex), from the seed, or that of a secret run which is not finished.

    Raises: SpecError, StoreError.
    """
    if given is not None:
        try:
            key = bytes.fromhex(given)
        except ValueError:
            key = b""
        if len(key) != seeds.KEY_BYTES:
            raise SpecError(
                f"--key: should be {2 * seeds.KEY_BYTES} hex digits (got {given[:80]!r})"
            )
        return key
    if spec.seed == "secret" and store.path.exists():
        store.create()
        found = store.secret_key(asked_of(spec))
        if found is not None:
            return found
    return key_of_seed(spec.seed)


def walls_of(plan: Plan) -> tuple[str, str, str]:
    """(tier, kernel, walls) that a plan's bots are kept in on this machine."""
    if not plan.strangers:
        return "trusted", platform.release(), "none"
    from ladder.isolate.nursery import shared_nurseries

    walls = shared_nurseries().offer.walls
    return (
        plan.tier,
        platform.release(),
        walls if plan.tier == "strict" else walls.split("+bwrap")[0],
    )


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
    store.keep_key(run, asked_of(spec), plan.key, is_secret=spec.seed == "secret")
    store.note_walls(run, *walls_of(plan))
    ranking: tuple[RankLine, ...] = ()
    played: Staged | Progress
    if plan.stages is not None:
        plan = _seeded(spec, plan, store, row)
        played = play_stages(plan, bots, store, run, workers, report)
        ranking = tuple(
            RankLine(
                line.rank, plan.names[line.entrant], plan.versions[line.entrant], line.points,
                line.tie_breaks, line.path,
            )
            for line in played.ranking
        )  # fmt: skip
    else:
        played = Progress(report, plan.num_matches)
        execute(plan, bots, store, run, workers, played)
    matches, digest = store.progress(run)
    store.finish_run(run, digest)
    rating_begun = time.monotonic()
    rated = rate_selection(store, select(store, [run]), spec.rating, spec.expect)
    if spec.rated:
        write_rated(store, rated)
    end = time.monotonic()
    notes = list(rated.notes)
    if spec.seed == "secret":
        notes.append(
            f"the run's key, secret until now: {plan.key.hex()}; anyone can check the run with"
            f" `ladder run {spec.path} --key {plan.key.hex()}`"
        )
    return Outcome(
        run, spec.name, matches, played.played, end - begun, played.play_s, played.store_s,
        end - rating_begun, digest, rated.rows, notes, ranking,
    )  # fmt: skip


def _seeded(spec: Spec, plan: Plan, store: Store, row: RunRow) -> Plan:
    """The plan with its seeds; ratings move, so the run's first start says how they stood."""
    if not (isinstance(spec.format, Knockout) and spec.format.seeding == "rating"):
        return plan
    order = store.seeding(row.run)
    if order is None:
        rated = store.latest_ratings(plan.versions)
        order = sorted(
            plan.versions,
            key=lambda version: (-rated.get(version, -math.inf), plan.versions.index(version)),
        )
        store.set_seeding(row.run, order)
    seeded = [plan.versions.index(version) for version in order]
    return make_plan(spec, plan.key, seeded=seeded)
