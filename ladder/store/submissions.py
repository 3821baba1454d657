"""Submitted bots in the store: every version with its source, so that it plays without its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import pyarrow as pa

from ladder.bots import PortableBot
from ladder.sources import Source
from ladder.store.runs import Store

COLUMNS = (
    "number, game, name, version, author, reference, module, class_name, params, source_hash,"
    " about, submitted_at, withdrawn_at, quarantine"
)


@dataclass(frozen=True)
class Submission:
    """A version as it was submitted. `quarantine` says why it may not play, '' where it may."""

    number: int  # in the order of submission
    game: str
    name: str
    version: str
    author: str
    reference: str
    module: str
    class_name: str
    params: tuple[tuple[str, Any], ...]
    source_hash: str
    about: str
    submitted_at: datetime
    withdrawn_at: datetime | None = None
    quarantine: str = ""

    @property
    def state(self) -> str:
        """active, withdrawn or quarantined."""
        if self.withdrawn_at is not None:
            return "withdrawn"
        return "quarantined" if self.quarantine else "active"


class SubmissionStore(Store):
    """A store with its submissions."""

    def submissions(self, game: str | None = None, name: str | None = None) -> list[Submission]:
        """All of them, or of a game, or of a name, in the order of submission."""
        rows = self._read(
            f"""SELECT {COLUMNS} FROM t_submissions
                WHERE (?::TEXT IS NULL OR game = ?) AND (?::TEXT IS NULL OR name = ?)
                ORDER BY number""",
            [game, game, name, name],
        )
        return [_submission(row) for row in rows]

    def add_submission(self, row: Submission, source: Source) -> None:
        """Keep a new version and its source, in one transaction; it gets the next number."""
        with self._write() as db:
            known = "SELECT 1 FROM t_sources WHERE source_hash = ?"
            if not db.execute(known, [row.source_hash]).fetchall():
                for position, (path, content) in enumerate(source.files):
                    db.execute("INSERT INTO t_sources VALUES (?, ?, ?, ?)",
                               [row.source_hash, position, path, content])  # fmt: skip
            db.execute(
                f"""INSERT INTO t_submissions ({COLUMNS})
                    SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ''
                    FROM t_submissions""",
                [row.game, row.name, row.version, row.author, row.reference, row.module,
                 row.class_name, json.dumps(row.params), row.source_hash, row.about,
                 row.submitted_at],
            )  # fmt: skip

    def add_submissions(self, rows: Sequence[Submission]) -> None:
        """Keep many versions whose source is there already, in one transaction."""
        with self._write() as db:
            ((last,),) = db.execute("SELECT coalesce(max(number), 0) FROM t_submissions").fetchall()
            columns: dict[str, Any] = {
                field.name: [getattr(row, field.name) for row in rows]
                for field in fields(Submission)
            }
            columns["number"] = list(range(last + 1, last + 1 + len(rows)))
            columns["params"] = [json.dumps(row.params) for row in rows]
            columns["withdrawn_at"] = pa.array(columns["withdrawn_at"], pa.timestamp("us", "UTC"))
            db.register("many", pa.table(columns))
            db.execute("INSERT INTO t_submissions BY NAME SELECT * FROM many")

    def set_withdrawn(self, game: str, name: str, at: datetime | None) -> None:
        """Withdraw every version of a name, or (None) let it play again."""
        with self._write() as db:
            db.execute(
                "UPDATE t_submissions SET withdrawn_at = ? WHERE game = ? AND name = ?",
                [at, game, name],
            )

    def set_name(self, game: str, old: str, new: str) -> None:
        """Rename a bot; its versions keep their results."""
        with self._write() as db:
            db.execute(
                "UPDATE t_submissions SET name = ? WHERE game = ? AND name = ?", [new, game, old]
            )

    def sources(self, hashes: Sequence[str]) -> dict[str, tuple[tuple[str, bytes], ...]]:
        """The files of some sources, by hash."""
        with self._reading() as db:
            db.register("wanted", pa.table({"source_hash": pa.array(list(hashes), pa.string())}))
            rows = db.execute(
                """SELECT source_hash, path, content FROM t_sources SEMI JOIN wanted
                   USING (source_hash) ORDER BY source_hash, position"""
            ).fetchall()
        found: dict[str, tuple[tuple[str, bytes], ...]] = {}
        for source_hash, path, content in rows:
            found[source_hash] = (*found.get(source_hash, ()), (path, bytes(content)))
        return found

    def portable(self, rows: Sequence[Submission]) -> list[PortableBot]:
        """Submitted bots as they travel, from what is stored of them."""
        files = self.sources(sorted({row.source_hash for row in rows}))
        return [
            PortableBot(
                row.reference,
                row.class_name,
                row.params,
                Source(row.module, files[row.source_hash]),
            )
            for row in rows
        ]

    def record_of(self, version: str) -> dict[str, Any]:
        """What a version has done in all runs: runs, matches, win share, faults."""
        ((runs, matches, share),) = self._read(
            """SELECT count(DISTINCT run), count(DISTINCT match), avg(win_share)
               FROM results WHERE version = ?""",
            [version],
        )
        faults = self._read(
            """SELECT cause, count(*), arg_min({'match': match, 'seat': seat, 'decision': decision,
                      'detail': detail, 'traceback': traceback},
                      (pairing_id, repetition, decision))
               FROM faults WHERE version = ? GROUP BY cause ORDER BY count(*) DESC, cause""",
            [version],
        )
        return {
            "runs": runs,
            "matches": matches,
            "win_share": share,
            "faults": [{"cause": c, "faults": n, **first} for c, n, first in faults],
        }


def _submission(row: Sequence[Any]) -> Submission:
    values = list(row)
    values[8] = tuple((name, value) for name, value in json.loads(values[8]))
    return Submission(*values)
