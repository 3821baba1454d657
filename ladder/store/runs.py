"""Runs, matches and ratings in the store.

A match belongs to its run key, pairing and repetition, not to a run: two runs under one seed share
the matches they have in common. The ledger row of a segment is the only key, and is written in the
transaction of its matches; nothing else is unique, so that inserts stay columnar and fast.
"""

from __future__ import annotations

import hashlib
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
from ladder.record import Ints, Record, Segment
from ladder.store.archive import Archive, insert_sources, read_record
from ladder.store.file import StoreFile
from ladder.store.freight import Freight


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


@dataclass(frozen=True)
class Results:
    """How the matches of a run finished: a row for each way a line-up finished, in fixed order.

    `lineups` gives entrant positions by seat, `places` 1 for the first, `counts` the matches that
    finished so, `scores` their scores added up.
    """

    entrants: tuple[tuple[str, str], ...]  # (name, version)
    lineups: Ints  # [rows, seats]
    places: Ints  # [rows, seats]
    counts: Ints
    scores: Ints  # [rows, seats]
    faults: Ints  # by entrant


def pairing_id(key_id: str, pairing: bytes) -> int:
    """The store's name for a pairing under a run key: 63 bits."""
    digest = hashlib.blake2b(key_id.encode() + pairing, digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


class Store(Archive, Freight, StoreFile):
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
        wanted = _wanted(plan, pairings)
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

    def results(self, run: str, seats: int) -> Results:
        """How a run's matches finished; all of it from one state of the store."""
        with self._reading() as db:
            entrants = _entrants(db, run)
            faults = _fault_counts(db, run, len(entrants))
            return Results(entrants, *_finishes(db, run, seats), faults)

    def results_of(self, plan: Plan) -> Results:
        """How the matches of a plan finished, whatever else its run has: for rounds so far."""
        with self._reading() as db:
            db.register("asked", _wanted(plan, list(plan)))
            asked = "(SELECT ''::TEXT AS run, * FROM asked)"
            entrants = tuple(zip(plan.names, plan.versions, strict=True))
            faults = _fault_counts(db, "", len(entrants), asked)
            return Results(entrants, *_finishes(db, "", plan.table.seats, asked), faults)

    def matches_of(self, plan: Plan) -> tuple[Ints, Ints]:
        """(line-ups, places) of every match of a plan, in canonical order."""
        with self._reading() as db:
            db.register("asked", _wanted(plan, list(plan)))
            return _in_order(db, "", plan.table.seats, "(SELECT ''::TEXT AS run, * FROM asked)")

    def matches_in_order(self, run: str, seats: int) -> tuple[Ints, Ints]:
        """(line-ups, places) of every match in canonical order: by repetition, then pairing.

        Only of matches that were kept; shape [matches, seats].
        """
        with self._reading() as db:
            return _in_order(db, run, seats)

    def fault_kinds(self, run: str) -> list[dict[str, Any]]:
        """Each bot's faults by cause, the commonest first, with the first of them in full."""
        rows = self._read(
            """SELECT bot, cause, count(*), arg_min(
                 {'version': version, 'match': match, 'seat': seat, 'decision': decision,
                  'detail': detail, 'traceback': traceback}, (pairing_id, repetition, decision))
               FROM faults WHERE run = ? GROUP BY bot, cause ORDER BY count(*) DESC, bot, cause""",
            [run],
        )
        return [
            {"bot": bot, "cause": cause, "faults": number, **first}
            for bot, cause, number, first in rows
        ]

    def write_ratings(
        self, run: str, rows: Sequence[tuple[Any, ...]], *, rank_by: str, at: datetime
    ) -> None:
        """Replace a run's ratings by (bot, version, mu, sigma, matches, win_share) rows."""
        if not rows:
            return
        columns = list(zip(*rows, strict=True))
        names = ("bot", "version", "mu", "sigma", "matches", "win_share")
        table = pa.table(dict(zip(names, columns, strict=True)))
        with self._write() as db:
            db.register("rated", table)
            db.execute("DELETE FROM t_ratings WHERE run = ?", [run])
            db.execute(
                "INSERT INTO t_ratings SELECT ?, bot, version, mu, sigma, matches, win_share, ?, ?"
                " FROM rated",
                [run, rank_by, at],
            )
            db.execute(
                """INSERT INTO t_rating_history SELECT * FROM t_ratings WHERE run = ?""", [run]
            )

    def latest_ratings(self, versions: Sequence[str]) -> dict[str, float]:
        """mu of versions where they were rated last, by a run or a ladder."""
        rows = self._read(
            """SELECT version, arg_max(mu, (rated_at, run)) FROM t_ratings
               WHERE version IN (SELECT unnest(?::TEXT[])) GROUP BY version""",
            [list(versions)],
        )
        return {version: float(mu) for version, mu in rows}

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


_WANTED = "r.run = ? AND l.first + l.count <= r.repetitions"


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


def _wanted(plan: Plan, pairings: Sequence[Pairing]) -> pa.Table:
    """Pairings as rows: the store's name for each, repetitions, line-up and what identifies it."""
    key_id = seeds.run_key_id(plan.key)
    ids = [pairing_id(key_id, pairing.digest) for pairing in pairings]
    return pa.table(
        {
            "pairing_id": pa.array(ids, pa.int64()),
            "repetitions": pa.array([p.repetitions for p in pairings], pa.int64()),
            "pairing": pa.array([p.digest for p in pairings], pa.binary()),
            "deal_key": pa.array([plan.deal_key(p.digest) for p in pairings], pa.binary()),
            "versions": pa.array(
                [[plan.versions[entrant] for entrant in p.lineup] for p in pairings],
                pa.list_(pa.string()),
            ),
            "lineup": pa.array([list(p.lineup) for p in pairings], pa.list_(pa.int32())),
        }
    )


def _entrants(db: Any, run: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        db.execute(
            "SELECT name, version FROM t_entrants WHERE run = ? ORDER BY position", [run]
        ).fetchall()
    )


def _in_order(db: Any, run: str, seats: int, asked: str = "t_run_pairings") -> tuple[Ints, Ints]:
    found = db.execute(
        f"""SELECT r.lineup[s.seat + 1] AS bot, s.place
            FROM {asked} r JOIN t_pairings p USING (pairing_id)
            JOIN t_seats s ON s.pairing_id = r.pairing_id AND s.repetition < r.repetitions
            WHERE r.run = ? ORDER BY s.repetition, p.pairing, s.seat""",
        [run],
    ).fetchnumpy()
    bots, places = (np.asarray(found[name], np.int64) for name in ("bot", "place"))
    return bots.reshape(-1, seats), places.reshape(-1, seats)


def _finishes(
    db: Any, run: str, seats: int, asked: str = "t_run_pairings"
) -> tuple[Ints, Ints, Ints, Ints]:
    """(line-ups, places, counts, scores) of a run, ordered by pairing and pattern."""
    every = range(1, seats + 1)
    scores = ", ".join(
        f"sum(pattern_scores[(nth - 1) * {seats} + {seat}])::BIGINT AS score{seat}"
        for seat in every
    )
    lineup = ", ".join(f"any_value(lineup[{seat}]) AS bot{seat}" for seat in every)
    found = db.execute(
        f"""WITH flat AS (
              SELECT p.pairing, r.lineup, l.pattern_scores,
                     unnest(l.patterns) AS pattern, unnest(l.pattern_counts) AS matches,
                     generate_subscripts(l.patterns, 1) AS nth
              FROM {asked} r JOIN t_pairings p USING (pairing_id)
              JOIN t_ledger l USING (pairing_id) WHERE {_WANTED})
            SELECT pattern, sum(matches)::BIGINT AS matches, {lineup}, {scores}
            FROM flat GROUP BY pairing, pattern ORDER BY pairing, pattern""",
        [run],
    ).fetchnumpy()

    def column(name: str) -> Ints:
        return np.asarray(found[name], np.int64)

    pattern = column("pattern")
    places = [pattern >> (ledger.PLACE_BITS * seat) & 7 for seat in range(seats)]
    return (
        np.stack([column(f"bot{seat}") for seat in every], axis=1),
        np.stack(places, axis=1),
        column("matches"),
        np.stack([column(f"score{seat}") for seat in every], axis=1),
    )


def _fault_counts(db: Any, run: str, entrants: int, asked: str = "t_run_pairings") -> Ints:
    rows = db.execute(
        f"""SELECT r.lineup, l.faults FROM {asked} r JOIN t_ledger l USING (pairing_id)
            WHERE {_WANTED} AND list_sum(l.faults) > 0""",
        [run],
    ).fetchall()
    counts = np.zeros(entrants, np.int64)
    for lineup, faults in rows:
        np.add.at(counts, lineup, faults)
    return counts


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
