"""How the matches of runs finished, and what they were rated, out of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from ladder import ledger, seeds
from ladder.plan import Pairing, Plan
from ladder.record import Ints
from ladder.store.file import StoreFile


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


class ResultStore(StoreFile):
    """Finishes, faults and ratings."""

    def results(self, run: str, seats: int) -> Results:
        """How a run's matches finished; all of it from one state of the store."""
        with self._reading() as db:
            entrants = entrants_of(db, run)
            faults = _fault_counts(db, run, len(entrants))
            return Results(entrants, *_finishes(db, run, seats), faults)

    def results_of(self, plan: Plan) -> Results:
        """How the matches of a plan finished, whatever else its run has: for rounds so far."""
        with self._reading() as db:
            db.register("asked", wanted_pairings(plan, list(plan)))
            asked = "(SELECT ''::TEXT AS run, * FROM asked)"
            entrants = tuple(zip(plan.names, plan.versions, strict=True))
            faults = _fault_counts(db, "", len(entrants), asked)
            return Results(entrants, *_finishes(db, "", plan.table.seats, asked), faults)

    def matches_of(self, plan: Plan) -> tuple[Ints, Ints]:
        """(line-ups, places) of every match of a plan, in canonical order."""
        with self._reading() as db:
            db.register("asked", wanted_pairings(plan, list(plan)))
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


_WANTED = "r.run = ? AND l.first + l.count <= r.repetitions"


def wanted_pairings(plan: Plan, pairings: Sequence[Pairing]) -> pa.Table:
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


def entrants_of(db: Any, run: str) -> tuple[tuple[str, str], ...]:
    """(name, version) of a run's entrants, in the spec's order."""
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
