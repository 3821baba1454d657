"""Proving a stored run: its matches played again, its invariants, its sums."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ladder.bots import LoadedBot, PortableBot
from ladder.errors import StoreError
from ladder.execute import Chunk, Setup, Workers, play_chunks
from ladder.proof import audit
from ladder.proof.audit import Check, DiceCount
from ladder.proof.blame import Blame, find_blame
from ladder.proof.replays import game_and_table, seated_players
from ladder.rated import rate_selection, rating_of_run, select
from ladder.record import Record, Segment
from ladder.spec import tier_and_limits
from ladder.store import RunRow, Store
from ladder.store.archive import LedgerRow, StoredPairing, match_id
from ladder.walk import Walk, walk_through

SAMPLE = 1000
CHUNK = 2000  # matches played again at once
DICE_MATCHES = {"pasa": 300, "pasha": 40}  # of them looked at throw by throw
MOST_BLAMED = 3  # matches whose cause is looked for; each costs some fresh processes
PARALLEL_FROM = 50_000  # matches from which workers are started unasked

COMPARED = ("chances", "decisions", "termination", "digest", "scores", "places", "faults")


@dataclass
class Verdict:
    """What was found."""

    run: RunRow
    matches: int  # in the store
    replayed: int = 0
    different: int = 0  # of those replayed
    checks: list[Check] = field(default_factory=list)
    blames: list[Blame] = field(default_factory=list)

    @property
    def is_ok(self) -> bool:
        """Whether nothing is wrong."""
        return all(check.is_ok for check in self.checks)


class _Run:
    """A stored run, read."""

    def __init__(self, store: Store, run: RunRow, *, trusts_all: bool) -> None:
        self.store, self.run = store, run
        self.pairings = {p.pairing_id: p for p in store.pairings(run.run)}
        self.rows = store.ledger(run.run)
        if not self.pairings or not self.rows:
            raise StoreError(f"{store.path}: run {run.run} ({run.name}) has no matches")
        some = next(iter(self.pairings.values()))
        self.game, self.table = game_and_table(some)
        self.on_fault = some.on_fault
        self.tier, self.limits = tier_and_limits(run.spec)
        self.bots: list[PortableBot] = [
            replace(store.stored_bot(version), is_trusted=trusts_all) for _, version in run.entrants
        ]
        self._loaded: dict[str, LoadedBot] = {}

    @property
    def seats(self) -> int:
        return self.table.seats

    def setup(self) -> Setup:
        """What playing its chunks again takes."""
        keys = tuple((p.pairing, p.deal_key) for p in self.pairings.values())
        return Setup(
            self.game.name, self.table, tuple(self.bots), b"", self.on_fault,
            is_compiled=True, limits=self.limits, tier=self.tier, deal_keys=keys,
        )  # fmt: skip

    def loaded(self) -> dict[str, LoadedBot]:
        """The bots by version."""
        if not self._loaded:
            pairs = zip(self.run.entrants, self.bots, strict=True)
            self._loaded = {version: bot.load() for (_, version), bot in pairs}
        return self._loaded

    def walk(self, pairing: StoredPairing, repetition: int) -> Walk:
        """One match, to be looked at move by move."""
        players = seated_players(self.game, self.loaded(), pairing.versions, self.tier, self.limits)
        return Walk(self.game, self.table, players, pairing.deal_key, repetition, pairing.on_fault)

    def portables(self, pairing: StoredPairing) -> list[PortableBot]:
        """The bots of a pairing by seat."""
        return [self.bots[entrant] for entrant in pairing.lineup]

    def suspects(self, pairing: StoredPairing) -> list[int]:
        """The seats of bots that are more than functions of their view."""
        bots, decisions = self.loaded(), set(self.game.decisions.values())
        return [
            seat
            for seat, version in enumerate(pairing.versions)
            if decisions - set(bots[version].looks.policies)
        ]


def verify(
    store: Store,
    run: RunRow,
    *,
    sample: int | None = SAMPLE,
    workers: int | None = None,
    trusts_all: bool = False,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Verdict:
    """Play a sample of a run again, or with None all of it, and audit what is stored.

    Raises: StoreError, InfraError.
    """
    stored = _Run(store, run, trusts_all=trusts_all)
    verdict = Verdict(run, sum(row.count for row in stored.rows))
    kept = [row for row in stored.rows if row.is_kept]
    verdict.checks += _sums_checks(stored)
    verdict.checks += _score_checks(stored, kept)
    chosen = _sampled(stored, kept, sample)
    different = _replayed(stored, chosen, verdict, workers, report)
    verdict.checks.append(_replay_check(verdict, has_matches=bool(kept)))
    for pairing, repetition, digest, row in different[:MOST_BLAMED]:
        verdict.blames.append(_blame(stored, pairing, repetition, digest, row))
    verdict.checks += _dice_checks(stored)
    return verdict


def _sampled(stored: _Run, rows: Sequence[LedgerRow], sample: int | None) -> list[LedgerRow]:
    """The rows themselves, or some of their matches as rows of one; drawn by the run's id."""
    total = sum(row.count for row in rows)
    if sample is None or sample >= total:
        return list(rows)
    drawn = random.Random(stored.run.run).sample(range(total), sample)
    ends = np.cumsum([row.count for row in rows])
    picked = []
    for number in sorted(drawn):
        at = int(np.searchsorted(ends, number, side="right"))
        row = rows[at]
        repetition = row.first + number - int(ends[at] - row.count)
        picked.append(LedgerRow(row.pairing_id, repetition, 1, row.is_kept, {}))
    return picked


Different = tuple[StoredPairing, int, int, LedgerRow]


def _replayed(
    stored: _Run,
    rows: Sequence[LedgerRow],
    verdict: Verdict,
    workers: int | None,
    report: Callable[[int, int], None],
) -> list[Different]:
    """Play these rows' matches again; those that came out otherwise."""
    total = sum(row.count for row in rows)
    if workers is None:
        workers = (os.cpu_count() or 1) if total >= PARALLEL_FROM else 0
    waiting: dict[tuple[Segment, ...], list[Record]] = {}
    different: list[Different] = []

    def chunks() -> Iterator[Chunk]:
        for window, records in stored.store.stored_records(rows, stored.seats):
            for row, record in zip(window, records, strict=True):
                if record is None:
                    continue  # the sums' check says so
                pairing = stored.pairings[row.pairing_id]
                for start in range(0, row.count, CHUNK):
                    part = np.arange(start, min(start + CHUNK, row.count))
                    segment = Segment(pairing.lineup, pairing.pairing, row.first + start, len(part))
                    waiting[(segment,)] = [record.take(part)]
                    yield [segment]

    by_digest = {p.pairing: p for p in stored.pairings.values()}
    for chunk, record, _ in play_chunks(
        stored.setup(), _joined(chunks(), waiting), Workers(workers)
    ):
        records = waiting.pop(tuple(chunk))
        if not isinstance(record, Record):  # on_fault: abort stopped the chunk
            record = Record.empty(sum(s.count for s in chunk), stored.seats)
        start = 0
        for segment, expected in zip(chunk, records, strict=True):
            part = record.take(np.arange(start, start + segment.count))
            start += segment.count
            for at in _differing(part, expected):
                pairing = by_digest[segment.pairing]
                row = LedgerRow(pairing.pairing_id, segment.first + at, 1, True, {})
                different.append((pairing, segment.first + at, int(expected.digest[at]), row))
        verdict.replayed += len(record)
        report(verdict.replayed, total)
    verdict.different = len(different)
    return sorted(different, key=lambda found: (found[0].pairing_id, found[1]))


def _joined(
    chunks: Iterator[Chunk], waiting: dict[tuple[Segment, ...], list[Record]]
) -> Iterator[Chunk]:
    """Small chunks put together, so that many line-ups of few matches play side by side."""
    joined: Chunk = []
    records: list[Record] = []
    for chunk in chunks:
        records += waiting.pop(tuple(chunk))
        joined += chunk
        if sum(segment.count for segment in joined) >= CHUNK:
            waiting[tuple(joined)] = records
            yield joined
            joined, records = [], []
    if joined:
        waiting[tuple(joined)] = records
        yield joined


def _differing(one: Record, two: Record) -> list[int]:
    """The rows in which two records differ."""
    wrong = np.zeros(len(one), bool)
    for name in COMPARED:
        unequal = getattr(one, name) != getattr(two, name)
        wrong |= unequal if unequal.ndim == 1 else unequal.any(axis=1)
    return [int(at) for at in np.flatnonzero(wrong)]


def _replay_check(verdict: Verdict, *, has_matches: bool) -> Check:
    if not has_matches:
        return Check("replays", is_ok=True, detail="the run keeps counts alone: nothing to replay")
    said = f"{verdict.replayed:,} of {verdict.matches:,} matches played again"
    if verdict.different:
        return Check("replays", is_ok=False, detail=f"{said}, {verdict.different:,} differ")
    return Check("replays", is_ok=True, detail=f"{said}, all as stored")


def _blame(
    stored: _Run, pairing: StoredPairing, repetition: int, digest: int, match: LedgerRow
) -> Blame:
    """Look for the cause of one difference."""
    row = next(
        row
        for row in stored.rows
        if row.pairing_id == pairing.pairing_id and row.first <= repetition < row.first + row.count
    )
    (_, records), *_ = stored.store.stored_records([row], stored.seats)
    is_sound = records[0] is not None and not audit.differing_sums(row, records[0])
    return find_blame(
        stored.portables(pairing), pairing, repetition, digest,
        is_row_sound=is_sound, suspects=stored.suspects(pairing),
    )  # fmt: skip


def _sums_checks(stored: _Run) -> list[Check]:
    """Ledger against matches, digest against ledger, ratings against results, seats."""
    run, store = stored.run, stored.store
    problems: list[str] = []
    for rows, records in store.stored_records(stored.rows, stored.seats):
        found = audit.ledger_problems(rows, records)
        problems += [audit.problem_text(row, problem) for row, problem in found]
    sums = Check(
        "sums", not problems,
        "; ".join(problems[:3]) or f"{len(stored.rows):,} ledger rows as their matches come to",
    )  # fmt: skip
    checks = [sums]
    if run.digest is not None:
        digest = store.progress(run.run)[1]
        said = (
            f"{digest}, as the run says"
            if digest == run.digest
            else (f"{digest}, the run says {run.digest}")
        )
        checks.append(Check("digest", digest == run.digest, said))
        if run.spec.get("rated", True):  # people sit down as they like
            pairings = list(stored.pairings.values())
            checks.append(audit.seats_check(pairings, stored.rows, stored.seats))
    checks.append(_ratings_check(stored))
    return checks


def _ratings_check(stored: _Run) -> Check:
    """Whether the ratings that are stored speak of the results that are stored."""
    store, run = stored.store, stored.run
    rated = rate_selection(store, select(store, [run.run]), rating_of_run(run), {})
    now = {(row.bot, row.version): row.tally.share for row in rated.rows}
    for bot, version, matches, win_share in store.stored_ratings(run.run):
        share = now.get((bot, version))
        if run.digest is None or share is None:
            continue
        if share.matches != matches or abs(share.mean - win_share) > 1e-9:
            said = f"{bot} is rated on {matches:,} matches and a win share of {win_share:.4f},"
            detail = f"{said} the results give {share.matches:,} and {share.mean:.4f}"
            return Check("ratings", is_ok=False, detail=detail)
    return Check("ratings", is_ok=True, detail="rated on the results that are stored")


def _score_checks(stored: _Run, kept: Sequence[LedgerRow]) -> list[Check]:
    """Score totals and mean scores, where the game fixes them."""
    checks = []
    total = audit.total_score(stored.game, stored.table)
    name = stored.game.score_name
    if total is not None and kept:
        uneven = stored.store.uneven_matches(stored.run.run, total)
        shown = ", ".join(f"match {match} ends with {found}" for match, found in uneven[:3])
        checks.append(
            Check(name, not uneven, shown or f"every match ends with {total:,} {name} in all")
        )
    fair = audit.fair_score(stored.game, stored.table)
    if fair is not None and kept:
        checks.append(audit.mean_score_check(stored.store.score_moments(stored.run.run), fair))
    return checks


def _dice_checks(stored: _Run) -> list[Check]:
    """Some matches played throw by throw."""
    count = DiceCount(stored.game)
    picked = _sampled(stored, stored.rows, DICE_MATCHES.get(stored.game.name, 40))
    for row in _singles(picked)[: DICE_MATCHES.get(stored.game.name, 40)]:
        walk = stored.walk(stored.pairings[row.pairing_id], row.first)
        count.add(match_id(row.pairing_id, row.first), walk_through(walk), walk.state)
    return count.checks()


def _singles(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """Rows of one match each."""
    return [
        LedgerRow(row.pairing_id, row.first + at, 1, row.is_kept, {})
        for row in rows
        for at in range(row.count)
    ]


def as_values(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values."""
    return {
        "run": verdict.run.run,
        "name": verdict.run.name,
        "matches": verdict.matches,
        "replayed": verdict.replayed,
        "different": verdict.different,
        "is_ok": verdict.is_ok,
        "checks": [vars(check) for check in verdict.checks],
        "blames": [vars(blame) for blame in verdict.blames],
    }
