"""The store's third room: tables out of it into files, and files into it.

`Store` inherits these methods. What leaves is in plain columns: bytes as hex, lists as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ladder.errors import StoreError
from ladder.games import get_game
from ladder.record import Fault, FaultRow, Record, Segment
from ladder.store.archive import LEDGER_COLUMNS
from ladder.store.file import StoreFile

COPY = {
    "parquet": ("parquet", "FORMAT parquet, COMPRESSION zstd"),
    "csv": ("csv", "FORMAT csv, HEADER"),
    "jsonl": ("jsonl", "FORMAT json"),
}
PARTITIONED = ("matches", "results")
READERS = {
    "parquet": "read_parquet({path}{hive})",
    "csv": "read_csv({path}, all_varchar = true, header = true, delim = ',', quote = '\"',"
    " escape = '\"', max_line_size = 16777216{hive})",
    "jsonl": "read_json({path}, format = 'newline_delimited', maximum_object_size = 16777216,"
    " sample_size = -1{hive})",
}
BATCH = 500  # ledger rows taken in at once

# What an export holds, beside the views, by file.
QUERIES = {
    "matches": "SELECT * FROM matches",
    "results": "SELECT v.*, m.game FROM results v JOIN matches m USING (run, match)",
    "faults": "SELECT run, match, seat, bot, version, decision, cause, detail, traceback"
    " FROM faults",
    "ratings": "SELECT * FROM ratings",
    "rating_history": "SELECT * FROM rating_history",
    "bots": """SELECT DISTINCT e.run, b.version, b.game, b.name, b.reference, b.class_name,
                      b.params, b.source_hash, b.author, b.submitted_at
               FROM t_bots b JOIN t_entrants e USING (version)""",
    "sources": """SELECT DISTINCT e.run, s.source_hash, s.position, s.path,
                         hex(s.content) AS content
                  FROM t_sources s JOIN t_bots b USING (source_hash)
                  JOIN t_entrants e USING (version)""",
    "pairings": """SELECT r.run, p.pairing_id, hex(p.pairing) AS pairing, p.key_id, p.game,
                          p.game_version,
                          p.table_json, p.on_fault, hex(p.deal_key) AS deal_key,
                          to_json(p.versions)::TEXT AS versions, r.repetitions,
                          to_json(r.lineup)::TEXT AS lineup
                   FROM t_pairings p JOIN t_run_pairings r USING (pairing_id)""",
    "ledger": """SELECT r.run, l.pairing_id, l.first, l.count, l.is_kept, {columns}
                 FROM t_ledger l JOIN t_run_pairings r USING (pairing_id)
                 WHERE l.first + l.count <= r.repetitions""",
}
_LISTS = ("faults", "products", "patterns", "pattern_counts", "pattern_scores")


def _query(name: str) -> str:
    columns = ", ".join(
        f"to_json(l.{n})::TEXT AS {n}" if n in _LISTS else f"l.{n}" for n in LEDGER_COLUMNS
    )
    return QUERIES[name].format(columns=columns)


class Freight(StoreFile):
    """Tables into files, and files into the store."""

    def append(
        self, key_id: str, record: Record, segments: Sequence[Segment], *, keep: str = "results"
    ) -> int:
        """As the store's own."""
        raise NotImplementedError

    def export_files(self, runs: Sequence[str], folder: Path, kind: str) -> None:
        """Write what there is of these runs, the big ones in partitions by game and run."""
        ending, options = COPY[kind]
        with self._reading() as db:
            db.execute("SET TimeZone = 'UTC'")
            for name in QUERIES:
                rows = f"SELECT * FROM ({_query(name)}) WHERE run IN ({_list(runs)})"
                if name in PARTITIONED:
                    target = folder / name
                    more = ", PARTITION_BY (game, run), FILENAME_PATTERN 'part_{i}'"
                    if kind == "jsonl":
                        more += ", FILE_EXTENSION 'jsonl'"
                else:
                    target, more = folder / f"{name}.{ending}", ""
                try:
                    db.execute(f"COPY ({rows}) TO {_text(str(target))} ({options}{more})")
                except duckdb.IOException as error:
                    reason = str(error).splitlines()[0]
                    raise StoreError(f"{target}: cannot be written: {reason}") from None

    def import_files(self, run: dict[str, Any], folder: Path, kind: str) -> int:
        """Take in one run of an export; gives the number of matches added. Raises: StoreError."""
        with self._write() as db:
            _attach(db, folder, kind)
            _import_run(db, run)
            rows = db.execute(
                """SELECT pairing_id::BIGINT, first::BIGINT, count::BIGINT, is_kept::BOOLEAN
                    FROM x_ledger WHERE run = ? ORDER BY 1, 2""",
                [run["run"]],
            ).fetchall()
        added = 0
        for start in range(0, len(rows), BATCH):
            with self._write() as db:
                _attach(db, folder, kind)
                added += _import_summaries(db, run["run"], rows[start : start + BATCH])
                parts = _missing_parts(db, [row for row in rows[start : start + BATCH] if row[3]])
                batch = _read_batch(db, run, parts) if parts else None
            if batch is not None:
                added += self.append(run["key_id"], *batch)
        return added


def _list(words: Sequence[str]) -> str:
    return ", ".join(map(_text, words))


def _text(text: str) -> str:
    """A string of SQL; COPY and the readers of files take no parameters in views."""
    return "'" + text.replace("'", "''") + "'"


def _attach(db: Any, folder: Path, kind: str) -> None:
    """The files of an export as temporary views `x_NAME`, all columns as text or as they are."""
    db.execute("SET TimeZone = 'UTC'")
    ending = COPY[kind][0]
    for name in QUERIES:
        is_split = name in PARTITIONED
        found = sorted((folder / name).rglob(f"*.{ending}")) if is_split else []
        path = (
            folder / name / "*" / "*" / f"*.{ending}" if is_split else folder / f"{name}.{ending}"
        )
        if is_split and not found:
            db.execute(f"CREATE OR REPLACE TEMP VIEW x_{name} AS FROM {name} WHERE false")
            continue
        if kind == "jsonl" and path.is_file() and not path.stat().st_size:  # no columns either
            empty = f"SELECT * FROM ({_query(name)}) WHERE false"
            db.execute(f"CREATE OR REPLACE TEMP VIEW x_{name} AS {empty}")
            continue
        hive = ", hive_partitioning = true, hive_types_autocast = false" if is_split else ""
        reader = READERS[kind].format(path=_text(str(path)), hive=hive)
        db.execute(f"CREATE OR REPLACE TEMP VIEW x_{name} AS FROM {reader}")


def _import_run(db: Any, run: dict[str, Any]) -> None:
    """The rows of a run that are few: bots, sources, pairings, ratings, the run itself."""
    of_run = [run["run"]]
    for sql in _SMALL:
        db.execute(sql, of_run)
    game = get_game(run["game"])
    known = db.execute("SELECT count(*) FROM t_terminations WHERE game = ?", [game.name])
    if known.fetchone() == (0,):
        for number, name in enumerate(game.terminations):
            db.execute("INSERT INTO t_terminations VALUES (?, ?, ?)", [game.name, number, name])
    if db.execute("SELECT 1 FROM t_runs WHERE run = ?", of_run).fetchone():
        return
    db.execute(
        "INSERT INTO t_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [run["run"], run["name"], run["game"], json.dumps(run["spec"]), run["key_id"],
         datetime.fromisoformat(run["started_at"]),
         datetime.fromisoformat(run["finished_at"]) if run["finished_at"] else None,
         run["digest"] if run["finished_at"] else None],
    )  # fmt: skip
    for position, (name, version) in enumerate(run["entrants"]):
        db.execute(
            "INSERT INTO t_entrants VALUES (?, ?, ?, ?)", [run["run"], position, name, version]
        )


_SMALL = (
    """INSERT INTO t_bots
       SELECT version, game, name, reference, class_name, params, source_hash, author,
              submitted_at::TIMESTAMPTZ FROM x_bots
       WHERE run = ? AND version NOT IN (SELECT version FROM t_bots)""",
    """INSERT INTO t_sources
       SELECT source_hash, position::INTEGER, path, from_hex(content) FROM x_sources
       WHERE run = ? AND source_hash NOT IN (SELECT source_hash FROM t_sources)""",
    """INSERT INTO t_pairings
       SELECT pairing_id::BIGINT, from_hex(pairing), key_id, game, game_version::INTEGER,
              table_json, on_fault, from_hex(deal_key), versions::JSON::TEXT[]
       FROM x_pairings
       WHERE run = ? AND pairing_id::BIGINT NOT IN (SELECT pairing_id FROM t_pairings)""",
    """INSERT INTO t_run_pairings
       SELECT run, pairing_id::BIGINT, repetitions::BIGINT, lineup::JSON::INTEGER[]
       FROM x_pairings x WHERE run = ? AND NOT EXISTS
         (SELECT 1 FROM t_run_pairings r
          WHERE r.run = x.run AND r.pairing_id = x.pairing_id::BIGINT)""",
    """INSERT INTO t_ratings
       SELECT run, bot, version, mu::DOUBLE, sigma::DOUBLE, matches::BIGINT, win_share::DOUBLE,
              rank_by, rated_at::TIMESTAMPTZ
       FROM x_ratings WHERE run = ? AND run NOT IN (SELECT run FROM t_ratings)""",
    """INSERT INTO t_rating_history
       SELECT run, bot, version, mu::DOUBLE, sigma::DOUBLE, matches::BIGINT, win_share::DOUBLE,
              rank_by, rated_at::TIMESTAMPTZ
       FROM x_rating_history x WHERE run = ? AND NOT EXISTS
         (SELECT 1 FROM t_rating_history h
          WHERE h.run = x.run AND h.bot = x.bot AND h.rated_at = x.rated_at::TIMESTAMPTZ)""",
)


def _import_summaries(db: Any, run: str, rows: Sequence[tuple[Any, ...]]) -> int:
    """Ledger rows without matches; those that the store has some part of are left out."""
    added = 0
    lists = ", ".join(
        f"x.{name}::JSON::BIGINT[]" if name in _LISTS else f"x.{name}::BIGINT"
        for name in LEDGER_COLUMNS
    )
    for number, first, count, is_kept in rows:
        if is_kept or _covered(db, number, first, count):
            continue
        db.execute(
            f"""INSERT INTO t_ledger
                SELECT x.pairing_id::BIGINT, x.first::BIGINT, x.count::BIGINT, false, {lists}
                FROM x_ledger x
                WHERE run = ? AND pairing_id::BIGINT = ? AND first::BIGINT = ?""",
            [run, number, first],
        )
        added += count
    return added


def _covered(db: Any, number: int, first: int, count: int) -> list[tuple[int, int]]:
    """(first, end) of what the store has of some repetitions of a pairing, in order."""
    found: list[tuple[int, int]] = db.execute(
        """SELECT first, first + count FROM t_ledger
           WHERE pairing_id = ? AND first < ? AND first + count > ? ORDER BY first""",
        [number, first + count, first],
    ).fetchall()
    return found


Part = tuple[int, int, int]  # pairing id, first repetition, number of them


def _missing_parts(db: Any, rows: Sequence[tuple[Any, ...]]) -> list[Part]:
    """What the store lacks of these ledger rows."""
    parts = []
    for number, first, count, _ in rows:
        at = first
        for begin, end in [*_covered(db, number, first, count), (first + count, first + count)]:
            if begin > at:
                parts.append((number, at, begin - at))
            at = max(at, end)
    return parts


def _read_batch(
    db: Any, run: dict[str, Any], parts: Sequence[Part]
) -> tuple[Record, list[Segment]]:
    """The matches of some parts out of the files, as a chunk."""
    numbers = [part[0] for part in parts]
    about = dict(
        db.execute(
            """SELECT pairing_id::BIGINT, from_hex(pairing) FROM x_pairings
               WHERE run = ? AND list_contains(?, pairing_id::BIGINT)""",
            [run["run"], numbers],
        ).fetchall()
    )
    ids, firsts, counts = (np.array(column, np.int64) for column in zip(*parts, strict=True))
    asked = {"id": ids, "first": firsts, "n": counts, "nth": np.arange(len(parts))}
    db.register("parts", pa.table(asked))
    db.execute(
        """CREATE OR REPLACE TEMP TABLE wanted AS
           SELECT printf('%016x:%d', id, first + i) AS match, nth, first + i AS repetition
           FROM parts, unnest(range(n)) AS r(i)"""
    )
    game = get_game(run["game"])
    matches = db.execute(
        """SELECT w.nth, w.repetition, x.throws_or_rolls::BIGINT AS chances,
                  x.decisions::BIGINT AS decisions, x.termination, x.digest, x.seats::BIGINT AS n
           FROM wanted w JOIN x_matches x USING (match) WHERE x.run = ?
           ORDER BY w.nth, w.repetition""",
        [run["run"]],
    ).fetchall()
    seats = matches[0][6] if matches else 1
    rows = db.execute(
        """SELECT x.score::BIGINT, x.place::BIGINT, x.faults::BIGINT
           FROM wanted w JOIN x_results x USING (match) WHERE x.run = ?
           ORDER BY w.nth, w.repetition, x.seat::BIGINT""",
        [run["run"]],
    ).fetchall()
    total = sum(count for _, _, count in parts)
    if len(matches) != total or len(rows) != total * seats:
        raise StoreError(
            f"run {run['run']}: the export lacks matches: {len(matches):,} of {total:,}"
        )
    by_seat = np.array(rows, np.int64).reshape(total, seats, 3)
    record = Record(
        chances=np.array([m[2] for m in matches], np.int64),
        decisions=np.array([m[3] for m in matches], np.int64),
        termination=np.array([game.terminations.index(m[4]) for m in matches], np.int64),
        digest=np.array([int(m[5], 16) for m in matches], np.int64),
        scores=by_seat[:, :, 0], places=by_seat[:, :, 1], faults=by_seat[:, :, 2],
        fault_rows=_fault_rows(db, run["run"]),
    )  # fmt: skip
    segments = [
        Segment(tuple(range(seats)), bytes(about[number]), first, count)
        for number, first, count in parts
    ]
    return record, segments


def _fault_rows(db: Any, run: str) -> list[FaultRow]:
    rows = db.execute(
        """SELECT w.number, x.seat::INTEGER, x.decision::INTEGER, x.cause, coalesce(x.detail, ''),
                  coalesce(x.traceback, '')
           FROM (SELECT match, row_number() OVER (ORDER BY nth, repetition) - 1 AS number
                 FROM wanted) w JOIN x_faults x USING (match)
           WHERE x.run = ? ORDER BY w.number, x.decision::INTEGER""",
        [run],
    ).fetchall()
    return [
        FaultRow(row, seat, decision, Fault(cause, detail, trace))
        for row, seat, decision, cause, detail, trace in rows
    ]
