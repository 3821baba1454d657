"""Runs, matches and ratings in the store.

A match belongs to its run key, pairing and repetition, not to a run: two runs under one seed share
the matches they have in common. The ledger row of a segment is the only key, and is written in the
transaction of its matches; nothing else is unique, so that inserts stay columnar and fast.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from ladder import ledger, seeds
from ladder.bots import LoadedBot
from ladder.columns import chunk_tables, ledger_table, part_of
from ladder.plan import Pairing, Plan
from ladder.record import Record, Segment
from ladder.store.archive import Archive, insert_sources, read_record
from ladder.store.file import StoreFile
from ladder.store.freight import Freight
from ladder.store.results import ResultStore, pairing_id, wanted_pairings


@dataclass(frozen=True)
class RunRow:
    """A run as it is kept."""

    run: str
    name: str
    game: str
    spec: dict[str, Any]
    key_id: str
    started_at: datetime
    finished_at: datetime | None
    digest: str | None
    entrants: tuple[tuple[str, str], ...]  # (name, version) in the spec's order


class Store(Archive, Freight, ResultStore, StoreFile):
    """A store file. Every method opens it, does one thing, and closes it."""

    def begin_run(self, plan: Plan, row: RunRow, bots: Sequence[LoadedBot]) -> None:
        """Note a run and its bots; a run that is known keeps its first start."""
        with self._write() as db:
            insert_run(db, plan, row, bots)

    def keep_key(self, run: str, asked: str, key: bytes, *, is_secret: bool) -> None:
        """Keep the run key; the view `runs` shows it when the run has finished."""
        with self._write() as db:
            if not db.execute("SELECT 1 FROM t_keys WHERE run = ?", [run]).fetchone():
                db.execute("INSERT INTO t_keys VALUES (?, ?, ?, ?)", [run, asked, key, is_secret])

    def secret_key(self, asked: str) -> bytes | None:
        """The secret key of the latest run of this question, if that is not finished."""
        rows = self._read(
            """SELECT key FROM t_keys JOIN t_runs USING (run)
               WHERE asked = ? AND is_secret AND finished_at IS NULL
               ORDER BY started_at DESC, run LIMIT 1""",
            [asked],
        )
        return bytes(rows[0][0]) if rows else None

    def note_walls(self, run: str, tier: str, kernel: str, walls: str) -> None:
        """Note how a run's bots are kept; a run that goes on in another way has several."""
        with self._write() as db:
            rows = db.execute("SELECT tier, kernel, walls FROM t_walls WHERE run = ?", [run])
            before = rows.fetchone() or ("", "", "")
            now = [
                _joined(old, new) for old, new in zip(before, (tier, kernel, walls), strict=True)
            ]
            db.execute("DELETE FROM t_walls WHERE run = ?", [run])
            db.execute("INSERT INTO t_walls VALUES (?, ?, ?, ?)", [run, *now])

    def finish_run(self, run: str, digest: str) -> None:
        """Note that a run has all its matches, and their digest."""
        with self._write() as db:
            db.execute(
                "UPDATE t_runs SET finished_at = ?, digest = ? WHERE run = ?",
                [datetime.now(UTC), digest, run],
            )

    def want(
        self, run: str, plan: Plan, pairings: Sequence[Pairing], *, keep: str = "results"
    ) -> list[list[Segment]]:
        """Say that a run wants these pairings; the segments of each that are still missing.

        A summary is no answer to a run that keeps results, nor one that reaches across the end of
        what is wanted: it is dropped, and its matches are played again.
        """
        wanted = wanted_pairings(plan, pairings)
        ids = wanted["pairing_id"].to_pylist()
        key_id = seeds.run_key_id(plan.key)
        with self._write() as db:
            db.register("wanted", wanted)
            db.execute(
                """INSERT INTO t_pairings
                   SELECT pairing_id, pairing, ?, ?, ?, ?, ?, deal_key, versions FROM wanted
                   WHERE pairing_id NOT IN (SELECT pairing_id FROM t_pairings)""",
                [key_id, plan.game.name, plan.game.version, plan.table.canonical(), plan.on_fault],
            )
            db.execute(
                """UPDATE t_run_pairings r SET repetitions = w.repetitions FROM wanted w
                   WHERE r.run = ? AND r.pairing_id = w.pairing_id
                   AND r.repetitions < w.repetitions""",
                [run],
            )
            db.execute(
                """INSERT INTO t_run_pairings
                   SELECT ?, pairing_id, repetitions, lineup FROM wanted WHERE pairing_id NOT IN
                   (SELECT pairing_id FROM t_run_pairings WHERE run = ?)""",
                [run, run],
            )
            db.execute(  # a run whose plan grows wants more of what it had
                """UPDATE t_run_pairings SET repetitions = wanted.repetitions FROM wanted
                   WHERE run = ? AND t_run_pairings.pairing_id = wanted.pairing_id
                   AND t_run_pairings.repetitions < wanted.repetitions""",
                [run],
            )
            db.execute(
                """DELETE FROM t_ledger l USING wanted w WHERE l.pairing_id = w.pairing_id
                   AND NOT l.is_kept AND (? OR (l.first < w.repetitions
                   AND l.first + l.count > w.repetitions))""",
                [keep == "results"],
            )
            _split_rows(db)
            found = db.execute(
                """SELECT pairing_id, first, count FROM t_ledger
                   SEMI JOIN wanted USING (pairing_id) ORDER BY pairing_id, first"""
            ).fetchall()
        covered: dict[int, list[tuple[int, int]]] = {}
        for number, first, count in found:
            covered.setdefault(number, []).append((first, count))
        return [
            _missing(pairing, covered.get(number, []))
            for pairing, number in zip(pairings, ids, strict=True)
        ]

    def append(
        self, key_id: str, record: Record, segments: Sequence[Segment], *, keep: str = "results"
    ) -> int:
        """Write a chunk in one transaction: ledger rows and faults, with "results" its matches.

        Segments that another run has written meanwhile, in part or whole, are left out. Gives the
        number of matches added.
        """
        ids = np.array([pairing_id(key_id, segment.pairing) for segment in segments], np.int64)
        tables = chunk_tables(ids, record, segments, keep)
        with self._write() as db:
            written = _overlapping(db, tables["t_ledger"])
            if written:
                rest = [i for i in range(len(segments)) if i not in written]
                if not rest:
                    return 0
                part = part_of(record, segments, rest)
                tables = chunk_tables(ids[rest], part, [segments[i] for i in rest], keep)
                record = part
            for name, table in tables.items():
                if len(table):
                    db.register("chunk", table)
                    db.execute(f"INSERT INTO {name} SELECT * FROM chunk")
                    db.unregister("chunk")
        return len(record)

    def progress(self, run: str) -> tuple[int, str]:
        """Matches a run has in the store, and the digest of their results."""
        rows = self._read(
            """SELECT p.pairing, l.count, l.digest FROM t_run_pairings r
               JOIN t_pairings p USING (pairing_id) JOIN t_ledger l USING (pairing_id)
               WHERE r.run = ? AND l.first + l.count <= r.repetitions""",
            [run],
        )
        return sum(row[1] for row in rows), ledger.total_digest(rows)

    def runs(self) -> list[RunRow]:
        """All runs, the latest last."""
        rows = self._read(
            """SELECT run, any_value(t_runs.name), any_value(game), any_value(spec),
                      any_value(key_id), any_value(started_at), any_value(finished_at),
                      any_value(digest), list(e.name ORDER BY position),
                      list(version ORDER BY position)
               FROM t_runs JOIN t_entrants e USING (run) GROUP BY run
               ORDER BY any_value(started_at), run"""
        )
        return [
            RunRow(
                run,
                name,
                game,
                json.loads(spec),
                key_id,
                started,
                finished,
                digest,
                tuple(zip(names, versions, strict=True)),
            )
            for run, name, game, spec, key_id, started, finished, digest, names, versions in rows
        ]

    def seeding(self, run: str) -> list[str] | None:
        """The versions of a run in the order of their seeds, once that is noted."""
        ((spec,),) = self._read("SELECT spec FROM t_runs WHERE run = ?", [run])
        noted: list[str] | None = json.loads(spec).get("seeding")
        return noted

    def set_seeding(self, run: str, versions: Sequence[str]) -> None:
        """Note the seeds of a run, in what is kept of its spec."""
        with self._write() as db:
            ((spec,),) = db.execute("SELECT spec FROM t_runs WHERE run = ?", [run]).fetchall()
            text = json.dumps({**json.loads(spec), "seeding": list(versions)})
            db.execute("UPDATE t_runs SET spec = ? WHERE run = ?", [text, run])


def _joined(before: str, now: str) -> str:
    """Both values, each once."""
    return ", ".join(dict.fromkeys([*before.split(", "), now]) if before else [now])


def insert_run(db: Any, plan: Plan, row: RunRow, bots: Sequence[LoadedBot]) -> None:
    """Note a run and its bots, where they are not there yet."""
    _insert_new_bots(db, plan.game.name, row, bots)
    _insert_terminations(db, plan)
    insert_sources(db, bots)
    if db.execute("SELECT 1 FROM t_runs WHERE run = ?", [row.run]).fetchall():
        return
    db.execute(
        "INSERT INTO t_runs VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
        [row.run, row.name, row.game, json.dumps(row.spec), row.key_id, row.started_at],
    )
    names, versions = zip(*row.entrants, strict=True)
    entrants = pa.table(
        {
            "run": [row.run] * len(names),
            "position": pa.array(range(len(names)), pa.int32()),
            "name": names,
            "version": versions,
        }
    )
    db.register("new_entrants", entrants)
    db.execute("INSERT INTO t_entrants SELECT * FROM new_entrants")
    db.unregister("new_entrants")


def _insert_new_bots(db: Any, game: str, row: RunRow, bots: Sequence[LoadedBot]) -> None:
    known = {version for (version,) in db.execute("SELECT version FROM t_bots").fetchall()}
    new = [
        (name, version, bot)
        for (name, version), bot in zip(row.entrants, bots, strict=True)
        if version not in known
    ]
    if not new:
        return
    table = pa.table(
        {
            "version": [version for _, version, _ in new],
            "game": [game] * len(new),
            "name": [name for name, _, _ in new],
            "reference": [bot.reference for _, _, bot in new],
            "class_name": [bot.class_name for _, _, bot in new],
            "params": [json.dumps(dict(bot.params)) for _, _, bot in new],
            "source_hash": [bot.source.digest for _, _, bot in new],
            "submitted_at": [datetime.now(UTC)] * len(new),
        }
    )
    db.register("new_bots", table)
    db.execute("INSERT INTO t_bots BY NAME SELECT * FROM new_bots")
    db.unregister("new_bots")


def _insert_terminations(db: Any, plan: Plan) -> None:
    known = db.execute("SELECT count(*) FROM t_terminations WHERE game = ?", [plan.game.name])
    if known.fetchall() == [(0,)]:
        for number, name in enumerate(plan.game.terminations):
            db.execute("INSERT INTO t_terminations VALUES (?, ?, ?)",
                       [plan.game.name, number, name])  # fmt: skip


def _missing(pairing: Pairing, covered: Sequence[tuple[int, int]]) -> list[Segment]:
    """The repetitions of a pairing that no ledger row covers: plan minus store."""
    segments = []
    at = 0
    for first, count in [*covered, (pairing.repetitions, 0)]:
        end = min(first, pairing.repetitions)
        if end > at:
            segments.append(Segment(pairing.lineup, pairing.digest, at, end - at))
        at = max(at, first + count)
    return segments


def _split_rows(db: Any) -> None:
    """Cut ledger rows that reach past what is wanted, so that rows are inside or outside."""
    cut = db.execute(
        """SELECT l.pairing_id, l.first, l.count, w.repetitions, len(w.lineup)
           FROM t_ledger l JOIN wanted w USING (pairing_id)
           WHERE l.first < w.repetitions AND l.first + l.count > w.repetitions"""
    ).fetchall()
    for number, first, count, at, seats in cut:
        record = read_record(db, number, first, count, seats)
        assert record is not None
        segments = [
            Segment(tuple(range(seats)), b"", first, at - first),
            Segment(tuple(range(seats)), b"", at, first + count - at),
        ]
        rows = ledger_table(np.array([number, number]), record, segments, is_kept=True)
        db.execute("DELETE FROM t_ledger WHERE pairing_id = ? AND first = ?", [number, first])
        db.register("chunk", rows)
        db.execute("INSERT INTO t_ledger SELECT * FROM chunk")
        db.unregister("chunk")


def _overlapping(db: Any, rows: pa.Table) -> set[int]:
    """The positions of ledger rows some repetition of which is in the store."""
    db.register("chunk", rows.append_column("at", pa.array(range(len(rows)), pa.int64())))
    found = db.execute(
        """SELECT DISTINCT c.at FROM chunk c JOIN t_ledger l USING (pairing_id)
           WHERE l.first < c.first + c.count AND c.first < l.first + l.count"""
    ).fetchall()
    db.unregister("chunk")
    return {at for (at,) in found}
