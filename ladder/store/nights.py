"""Nights of ladders in the store: begun, played round by round, rated, put away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import pyarrow as pa

from ladder.bots import LoadedBot
from ladder.plan import Plan
from ladder.store.runs import RunRow, insert_run
from ladder.store.submissions import SubmissionStore


@dataclass(frozen=True)
class NightRow:
    """A night: begun it has `started_at`, rated `finished_at`, put away `closed_at`."""

    ladder: str
    night: int  # 1, 2, 3 ... whatever the calendar says
    label: str  # its date; with ".2" the second of that date
    game: str
    run: str
    spec: dict[str, Any]
    started_at: datetime
    finished_at: datetime | None = None
    closed_at: datetime | None = None
    seconds: float = 0.0  # of play, kept so that a budget of minutes survives a kill
    rounds: int = 0
    matches: int = 0
    digest: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class NightEntrant:
    """A version in a night: as it stood when the night began, and when it was rated."""

    name: str
    version: str
    author: str
    nights: int  # nights it had played before
    mu_before: float
    sigma_before: float
    matches_before: int
    mu: float | None = None
    sigma: float | None = None
    rank: int | None = None
    matches: int = 0  # of this night
    win_share: float | None = None  # in this night
    faults: int = 0
    quarantine: str = ""  # why it was taken out in this night


NIGHT = ", ".join(field.name for field in fields(NightRow))
ENTRANT = ", ".join(field.name for field in fields(NightEntrant))
ENTRANT_TYPES = {
    "position": pa.int32(), "nights": pa.int32(), "mu_before": pa.float64(),
    "sigma_before": pa.float64(), "matches_before": pa.int64(), "mu": pa.float64(),
    "sigma": pa.float64(), "rank": pa.int32(), "matches": pa.int64(), "win_share": pa.float64(),
    "faults": pa.int64(),
}  # fmt: skip


class NightStore(SubmissionStore):
    """A store with its ladders."""

    def nights(self, ladder: str) -> list[NightRow]:
        """The nights of a ladder, the first first."""
        rows = self._read(f"SELECT {NIGHT} FROM t_nights WHERE ladder = ? ORDER BY night", [ladder])
        return [_night(row) for row in rows]

    def last_night(self, ladder: str) -> NightRow | None:
        """The latest night of a ladder, begun or done."""
        rows = self._read(
            f"SELECT {NIGHT} FROM t_nights WHERE ladder = ? ORDER BY night DESC LIMIT 1", [ladder]
        )
        return _night(rows[0]) if rows else None

    def ladders(self) -> list[str]:
        """The names of all ladders, the one that played last at the end."""
        return [
            name
            for (name,) in self._read(
                "SELECT ladder FROM t_nights GROUP BY ladder ORDER BY max(started_at), ladder"
            )
        ]

    def night_entrants(self, ladder: str, night: int) -> list[NightEntrant]:
        """Who plays a night, in the order of the run's entrants."""
        rows = self._read(
            f"""SELECT {ENTRANT} FROM t_night_entrants WHERE ladder = ? AND night = ?
                ORDER BY position""",
            [ladder, night],
        )
        return [NightEntrant(*row) for row in rows]

    def standing_of_versions(self, ladder: str) -> dict[str, NightEntrant]:
        """The last rated row of every version of a ladder, matches of that night included."""
        rows = self._read(
            f"""SELECT {ENTRANT} FROM t_night_entrants e SEMI JOIN
                (SELECT ladder, night FROM t_nights WHERE finished_at IS NOT NULL) n
                USING (ladder, night) WHERE ladder = ?
                QUALIFY row_number() OVER (PARTITION BY version ORDER BY night DESC) = 1""",
            [ladder],
        )
        found = [NightEntrant(*row) for row in rows]
        return {row.version: row for row in found}

    def history(self, ladder: str, versions: Sequence[str]) -> list[tuple[NightRow, NightEntrant]]:
        """What these versions came to, night by night; of all versions if none is given."""
        nights = {row.night: row for row in self.nights(ladder) if row.finished_at is not None}
        rows = self._read(
            f"""SELECT night, {ENTRANT} FROM t_night_entrants
                WHERE ladder = ? AND (len(?::TEXT[]) = 0 OR version IN (SELECT unnest(?::TEXT[])))
                ORDER BY night, rank, position""",
            [ladder, list(versions), list(versions)],
        )
        return [(nights[row[0]], NightEntrant(*row[1:])) for row in rows if row[0] in nights]

    def begin_night(
        self,
        night: NightRow,
        entrants: Sequence[NightEntrant],
        plan: Plan,
        run: RunRow,
        bots: Sequence[LoadedBot],
    ) -> None:
        """Note a night, its run and who plays it, in one transaction."""
        with self._write() as db:
            insert_run(db, plan, run, bots)
            values = [getattr(night, field.name) for field in fields(NightRow)]
            values[5], values[-1] = json.dumps(night.spec), json.dumps(night.notes)
            db.execute(
                f"INSERT INTO t_nights ({NIGHT}) VALUES ({', '.join('?' * len(values))})", values
            )
            _insert_entrants(db, night, entrants)

    def note_round(self, night: NightRow, *, rounds: int, seconds: float) -> None:
        """Note that a night has played so many rounds, and for how long."""
        with self._write() as db:
            db.execute(
                "UPDATE t_nights SET rounds = ?, seconds = ? WHERE ladder = ? AND night = ?",
                [rounds, seconds, night.ladder, night.night],
            )

    def finish_night(
        self, night: NightRow, entrants: Sequence[NightEntrant], *, rank_by: str
    ) -> None:
        """Note what a night came to: its ratings, quarantines and totals, in one transaction."""
        at = night.finished_at
        with self._write() as db:
            db.execute(
                """UPDATE t_nights SET finished_at = ?, seconds = ?, rounds = ?, matches = ?,
                   digest = ?, notes = ? WHERE ladder = ? AND night = ?""",
                [at, night.seconds, night.rounds, night.matches, night.digest,
                 json.dumps(night.notes), night.ladder, night.night],
            )  # fmt: skip
            db.execute(
                "DELETE FROM t_night_entrants WHERE ladder = ? AND night = ?",
                [night.ladder, night.night],
            )
            _insert_entrants(db, night, entrants)
            for row in entrants:
                if row.quarantine:
                    db.execute(
                        "UPDATE t_submissions SET quarantine = ? WHERE game = ? AND version = ?",
                        [row.quarantine, night.game, row.version],
                    )
            db.execute(
                "UPDATE t_runs SET finished_at = ?, digest = ? WHERE run = ?",
                [at, night.digest, night.run],
            )
            db.execute("DELETE FROM t_ratings WHERE run = ?", [night.ladder])
            db.execute(
                """INSERT INTO t_ratings SELECT ladder, name, version, mu, sigma,
                   matches_before + matches, win_share, ?, ? FROM t_night_entrants
                   WHERE ladder = ? AND night = ? ORDER BY rank""",
                [rank_by, at, night.ladder, night.night],
            )
            db.execute(
                "INSERT INTO t_rating_history SELECT * FROM t_ratings WHERE run = ?",
                [night.ladder],
            )

    def close_night(self, night: NightRow, at: datetime) -> None:
        """Note that a night is backed up and put away."""
        with self._write() as db:
            db.execute(
                "UPDATE t_nights SET closed_at = ? WHERE ladder = ? AND night = ?",
                [at, night.ladder, night.night],
            )

    def meetings(self, runs: Sequence[str]) -> list[tuple[list[str], int]]:
        """(versions by seat, matches) of every pairing of these runs."""
        return [
            (versions, matches)
            for versions, matches in self._read(
                """SELECT p.versions, sum(r.repetitions)::BIGINT FROM t_run_pairings r
                   JOIN t_pairings p USING (pairing_id)
                   WHERE r.run IN (SELECT unnest(?::TEXT[])) GROUP BY p.versions""",
                [list(runs)],
            )
        ]

    def fold(self, runs: Sequence[str]) -> int:
        """Let go of the matches of old runs, their ledger rows kept; how many there were."""
        with self._write() as db:
            db.execute(
                """CREATE TEMP TABLE folded AS SELECT DISTINCT pairing_id FROM t_run_pairings r
                   JOIN t_ledger l USING (pairing_id)
                   WHERE l.is_kept AND r.run IN (SELECT unnest(?::TEXT[]))
                   AND pairing_id NOT IN (SELECT pairing_id FROM t_run_pairings
                                          WHERE run NOT IN (SELECT unnest(?::TEXT[])))""",
                [list(runs), list(runs)],
            )
            ((matches,),) = db.execute(
                "SELECT count(*) FROM t_matches SEMI JOIN folded USING (pairing_id)"
            ).fetchall()
            if matches:
                for table in ("t_matches", "t_seats"):
                    db.execute(
                        f"DELETE FROM {table} WHERE pairing_id IN (SELECT pairing_id FROM folded)"
                    )
                db.execute(
                    """UPDATE t_ledger SET is_kept = FALSE
                       WHERE pairing_id IN (SELECT pairing_id FROM folded)"""
                )
        return int(matches)


def _insert_entrants(db: Any, night: NightRow, entrants: Sequence[NightEntrant]) -> None:
    count = len(entrants)
    columns: dict[str, Any] = {
        "ladder": [night.ladder] * count,
        "night": pa.array([night.night] * count, pa.int32()),
        "position": list(range(count)),
    }
    for field in fields(NightEntrant):
        columns[field.name] = [getattr(row, field.name) for row in entrants]
    table = pa.table(
        {
            name: pa.array(values, ENTRANT_TYPES.get(name, pa.string()))
            if name != "night"
            else values
            for name, values in columns.items()
        }
    )
    db.register("night_entrants", table)
    db.execute("INSERT INTO t_night_entrants BY NAME SELECT * FROM night_entrants")
    db.unregister("night_entrants")


def _night(row: Sequence[Any]) -> NightRow:
    values = list(row)
    values[5], values[-1] = json.loads(values[5]), tuple(json.loads(values[-1]))
    return NightRow(*values)
