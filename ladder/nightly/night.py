"""One start of the nightly job: begin a night or go on with one, play, rate, put away."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ladder import seeds
from ladder.check import Verdict, check_contained, check_word
from ladder.errors import SpecError
from ladder.execute import Progress, Workers
from ladder.formats.listed import ListedLineups
from ladder.inbox import take_inbox
from ladder.matchmaking import Choice, explain
from ladder.nightly.field import enter_spec, entrants_of, load_field, load_rows
from ladder.nightly.lock import NightLock
from ladder.nightly.rounds import Played, Rounds
from ladder.plan import Plan
from ladder.spec import LimitsPart, Spec, ladder_rating, make_table
from ladder.spec.formats import Ladder
from ladder.standings import tally
from ladder.store import NightEntrant, NightRow, NightStore, RunRow
from ladder.submissions import Clock, utc_now


@dataclass
class Outcome:
    """What a start came to. `rows` are in rank order; nothing was done if `is_repeat`."""

    night: NightRow
    rows: list[NightEntrant]
    before: NightRow | None = None  # the night before, with its rows
    rows_before: list[NightEntrant] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    kinds_of_faults: list[dict[str, Any]] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    folded: int = 0
    backup: Path | None = None
    page: Path | None = None
    is_repeat: bool = False
    is_continued: bool = False

    @property
    def faults(self) -> int:
        """Faults of all bots in this night."""
        return sum(row.faults for row in self.rows)


def run_nightly(
    spec: Spec,
    store: NightStore,
    workers: Workers,
    report: Callable[[Progress], None],
    *,
    clock: Clock = utc_now,
    date: str | None = None,
    is_again: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    trusts_all: bool = False,
    check: Callable[..., Verdict] | None = None,
) -> Outcome:
    """Play the night of a date (default: today's, UTC), or go on with one that was cut short.

    A night of the date that is done is not played again unless `is_again`. `tell` gets a line for
    every line-up that is chosen, and why. `trusts_all`: every bot's code may run in this process.

    Raises: SpecError, StoreError, InfraError (a night is being played), KeyboardInterrupt.
    """
    if not isinstance(spec.format, Ladder):
        raise SpecError(
            f"{spec.path}: format.kind: `ladder nightly` plays a ladder, `ladder run` the others"
            f" (got {spec.format.kind!r})"
        )
    store.create()
    check = check or (check_word if trusts_all else check_contained)
    with NightLock(store.path, clock) as lock:
        night = store.last_night(spec.name)
        if night is not None and night.game != spec.game.name:
            raise SpecError(
                f"{spec.path}: game: the ladder {spec.name!r} in {store.path} plays {night.game}"
                f" (got {spec.game.name!r})"
            )
        if night is not None and night.closed_at is None:
            if lock.left_by:
                tell(f"{lock.left_by} ended before its night did: going on with it")
            job = _Night(spec, store, clock, night, trusts_all)
            job.outcome.is_continued = True
        else:
            label = date or f"{clock():%Y-%m-%d}"
            played = [n for n in store.nights(spec.name) if n.label.partition(".")[0] == label]
            if played and not is_again:
                return _outcome_of(store, played[-1])
            job = _Night.begun(spec, store, clock, label, len(played), check, trusts_all)
        return job.run(workers, report, tell)


class _Night:
    """A night that is begun, with the settings it was begun with."""

    def __init__(
        self, spec: Spec, store: NightStore, clock: Clock, night: NightRow, trusts_all: bool
    ) -> None:
        self._spec = _as_begun(spec, night)
        self._trusted = _trusted(spec, trusts_all)
        self._store, self._clock, self._night = store, clock, night
        assert isinstance(self._spec.format, Ladder)
        self._format = self._spec.format
        self.outcome = _outcome_of(store, night)
        self.outcome.is_repeat = False

    @classmethod
    def begun(
        cls,
        spec: Spec,
        store: NightStore,
        clock: Clock,
        label: str,
        already: int,
        check: Callable[..., Verdict],
        trusts_all: bool,
    ) -> _Night:
        """Take submissions, decide who plays, and note it."""
        assert isinstance(spec.format, Ladder)
        refused: list[str] = []
        if spec.format.inbox is not None:
            inbox = Path(spec.format.inbox).expanduser()
            refused = take_inbox(store, inbox, spec.game.name, clock=clock, check=check)
        notes = enter_spec(store, spec, clock())
        rows, bots, unloadable = load_field(store, spec.game.name, _trusted(spec, trusts_all))
        if len(rows) < spec.table.seats:
            raise SpecError(
                f"{spec.path}: entrants: a table of {spec.table.seats} needs as many bots that may"
                f" play (got {len(rows)})"
            )
        last = store.last_night(spec.name)
        number = last.night + 1 if last else 1
        entrants = entrants_of(
            rows, store.submissions(spec.game.name), store.standing_of_versions(spec.name),
            spec.format, spec.rating,
        )  # fmt: skip
        plan = _plan(spec, number, entrants)
        night = NightRow(
            spec.name, number, f"{label}.{already + 1}" if already else label, spec.game.name,
            _run_id(spec, number, plan), spec.source, clock(),
            notes=(*notes, *unloadable, *_refusals(refused)),
        )  # fmt: skip
        run = RunRow(
            night.run, f"{spec.name} {night.label}", night.game, spec.source,
            seeds.run_key_id(plan.key), night.started_at, None, None,
            tuple((row.name, row.version) for row in entrants),
        )  # fmt: skip
        store.begin_night(night, entrants, plan, run, bots)
        job = cls(spec, store, clock, night, trusts_all)
        job.outcome.refused = refused
        return job

    def run(
        self,
        workers: Workers,
        report: Callable[[Progress], None],
        tell: Callable[[str], None],
    ) -> Outcome:
        """Play and rate what is not yet, then put the night away."""
        if self._night.finished_at is None:
            entrants = self._store.night_entrants(self._night.ladder, self._night.night)
            self._finish(entrants, self._play(entrants, workers, report, tell))
        self._close()
        out = self.outcome
        out.night = self._night
        out.rows = _ranked(self._store.night_entrants(self._night.ladder, self._night.night))
        out.kinds_of_faults = self._store.fault_kinds(self._night.run) if out.faults else []
        out.withdrawn = _withdrawn(self._store, self._night, out.rows_before)
        return out

    def _play(
        self,
        entrants: list[NightEntrant],
        workers: Workers,
        report: Callable[[Progress], None],
        tell: Callable[[str], None],
    ) -> Played:
        versions = {row.version: row for row in self._store.submissions(self._night.game)}
        rows = [versions[row.version] for row in entrants]
        _, bots, unloadable = load_rows(rows, self._store.portable(rows), self._trusted)
        if unloadable:  # they could when the night began
            raise SpecError(*unloadable)
        names = [row.name for row in entrants]

        def say(choice: Choice) -> None:
            tell(explain(choice, names))

        rounds = Rounds(
            self._store, self._night, _plan(self._spec, self._night.night, entrants), entrants,
            self._format, self._spec.rating,
        )  # fmt: skip
        return rounds.play(bots, workers, report, say)

    def _finish(self, entrants: list[NightEntrant], played: Played) -> None:
        """Note what the night came to."""
        matches, digest = self._store.progress(self._night.run)
        mu, sigma = played.ratings.mu.tolist(), played.ratings.sigma.tolist()
        tallies = tally(played.results) if played.results else None
        order = sorted(
            range(len(entrants)), key=lambda i: (3 * sigma[i] - mu[i], -mu[i], entrants[i].name)
        )
        rank = {position: number for number, position in enumerate(order, 1)}
        reasons = self._reasons(entrants, played)
        rows = [
            replace(
                row, mu=mu[i], sigma=sigma[i], rank=rank[i],
                matches=tallies[i].share.matches if tallies else 0,
                win_share=tallies[i].share.mean if tallies and tallies[i].share.matches else None,
                faults=tallies[i].faults if tallies else 0,
                quarantine=reasons.get(i, ""),
            )
            for i, row in enumerate(entrants)
        ]  # fmt: skip
        self._night = replace(
            self._night, finished_at=self._clock(), seconds=played.seconds or self._night.seconds,
            rounds=played.rounds, matches=matches, digest=digest,
            notes=(*self._night.notes, *played.notes),
        )  # fmt: skip
        self._store.finish_night(self._night, rows, rank_by=self._spec.rating.rank_by)

    def _reasons(self, entrants: list[NightEntrant], played: Played) -> dict[int, str]:
        """Why each quarantined entrant is taken out, for its author."""
        if not played.quarantined or played.results is None:
            return {}
        kinds = self._store.fault_kinds(self._night.run)
        reasons = {}
        for i in sorted(played.quarantined):
            worst = next(kind for kind in kinds if kind["bot"] == entrants[i].name)
            reasons[i] = (
                f"{int(played.results.faults[i]):,} faults in the night of {self._night.label},"
                f" most of them {worst['cause']}: {' '.join(worst['detail'].split())[:200]}"
            )
        return reasons

    def _close(self) -> None:
        """Fold old nights, back the store up, and call the night closed."""
        old = [
            night.run
            for night in self._store.nights(self._night.ladder)
            if night.night <= self._night.night - self._format.keep_nights
        ]
        if old:
            self.outcome.folded = self._store.fold(old)
        closed = replace(self._night, closed_at=self._clock())
        if self._format.backups:
            self.outcome.backup = self._back_up()
        assert closed.closed_at is not None
        self._store.close_night(closed, closed.closed_at)
        self._night = closed

    def _back_up(self) -> Path:
        path = self._store.path
        folder = Path(self._format.backup_folder or path.parent / "backups").expanduser()
        ladder = re.sub(r"[^\w]+", "_", self._night.ladder)
        prefix = f"{path.stem}-{ladder}-"
        backup = folder / f"{prefix}{self._night.night:06}{path.suffix}"
        self._store.back_up(backup)
        kept = sorted(folder.glob(f"{prefix}[0-9]*{path.suffix}"))
        for old in kept[: -self._format.backups]:
            old.unlink(missing_ok=True)
        return backup


def _outcome_of(store: NightStore, night: NightRow) -> Outcome:
    """A stored night, with the one before it."""
    earlier = [n for n in store.nights(night.ladder) if n.night < night.night and n.finished_at]
    before = earlier[-1] if earlier else None
    return Outcome(
        night,
        _ranked(store.night_entrants(night.ladder, night.night)),
        before,
        _ranked(store.night_entrants(night.ladder, before.night)) if before else [],
        is_repeat=True,
    )


def _ranked(rows: list[NightEntrant]) -> list[NightEntrant]:
    return sorted(rows, key=lambda row: (row.rank or 0, row.name))


def _withdrawn(store: NightStore, night: NightRow, before: list[NightEntrant]) -> list[str]:
    """Names that played the night before and were withdrawn since."""
    gone = {row.version for row in store.submissions(night.game) if row.withdrawn_at}
    return [row.name for row in before if row.version in gone]


def _trusted(spec: Spec, trusts_all: bool) -> frozenset[str] | None:
    """The versions whose code may run in this process; None: all."""
    if trusts_all:
        return None
    return frozenset(e.loaded.version for e in spec.entrants if e.loaded.is_trusted)


def _refusals(refused: list[str]) -> list[str]:
    return [f"refused {line}" for line in refused]


def _plan(spec: Spec, number: int, entrants: list[NightEntrant]) -> Plan:
    if spec.seed == "secret":
        raise SpecError(f"{spec.path}: seed: ladders do not serve secret yet; give a whole number")
    return Plan(
        game=spec.game,
        table=spec.table,
        on_fault=spec.limits.on_fault,
        key=seeds.night_key(seeds.run_key(spec.seed), spec.name, number),
        versions=tuple(row.version for row in entrants),
        names=tuple(row.name for row in entrants),
        lineups=ListedLineups({}, len(entrants)),
        limits=spec.limits.of_children,
        tier=spec.tier,
    )


def _run_id(spec: Spec, number: int, plan: Plan) -> str:
    parts = [
        spec.name, number, seeds.run_key_id(plan.key),
        [plan.game.name, plan.game.version, plan.table.canonical(), plan.on_fault],
        list(plan.versions),
    ]  # fmt: skip
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()


def _as_begun(spec: Spec, night: NightRow) -> Spec:
    """The spec as it was when the night began: a change counts from the next night."""
    source = night.spec
    if source == spec.source:
        return spec
    return replace(
        spec,
        table=make_table(spec.game, source.get("table", {})),
        seed=source["seed"],
        format=Ladder.model_validate(source["format"]),
        rating=ladder_rating(source.get("rating", {})),
        limits=LimitsPart.model_validate(source.get("limits", {})),
        source=source,
    )
