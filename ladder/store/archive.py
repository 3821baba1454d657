"""The store's second room: single matches, what bots are made of, and runs as a whole.

`Store` inherits these methods; like its own they open the file, do one thing, and close it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ladder.bots import LoadedBot, PortableBot, load
from ladder.errors import BotLoadError, SpecError, StoreError
from ladder.record import Record
from ladder.sources import Source, module_of
from ladder.store.file import StoreFile

WINDOW = 500  # ledger rows read at once
MATCH_ID = re.compile(r"([0-9a-fA-F]{16}):([0-9]{1,18})")


@dataclass(frozen=True)
class StoredPairing:
    """A line-up in its seats as it is kept: all that a replay needs, but for the bots."""

    pairing_id: int
    pairing: bytes
    game: str
    game_version: int
    table: dict[str, Any]
    on_fault: str
    deal_key: bytes
    versions: tuple[str, ...]  # by seat
    names: tuple[str, ...]  # by seat, as the run calls them
    lineup: tuple[int, ...]  # by seat, positions in the run's entrants
    repetitions: int  # wanted by the run


@dataclass(frozen=True)
class StoredMatch:
    """A match as it is kept; without digest and results where the run kept counts alone."""

    run: str
    pairing: StoredPairing
    repetition: int
    digest: int | None
    scores: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]

    @property
    def match(self) -> str:
        """The match's id, as in the views."""
        return match_id(self.pairing.pairing_id, self.repetition)


@dataclass(frozen=True)
class LedgerRow:
    """What is kept of a segment beside its matches, list columns as lists."""

    pairing_id: int
    first: int
    count: int
    is_kept: bool
    values: dict[str, Any]  # digest, chances, decisions, faults, products, patterns, ...


def match_id(pairing: int, repetition: int) -> str:
    """A match's id, as in the views.

    >>> match_id(255, 3)
    '00000000000000ff:3'
    """
    return f"{pairing:016x}:{repetition}"


def parse_match_id(text: str) -> tuple[int, int]:
    """Undo `match_id`. Raises: SpecError."""
    found = MATCH_ID.fullmatch(text)
    if not found:
        raise SpecError(
            f"a match is 16 hex digits, a colon and its repetition, as in the view `matches`"
            f" (got {text!r})"
        )
    return int(found[1], 16), int(found[2])


_PAIRINGS = """SELECT r.pairing_id, p.pairing, p.game, p.game_version, p.table_json, p.on_fault,
       p.deal_key, p.versions, r.lineup, r.repetitions
FROM t_run_pairings r JOIN t_pairings p USING (pairing_id)"""
_LEDGER_LISTS = ("faults", "products", "patterns", "pattern_counts", "pattern_scores")
LEDGER_COLUMNS = ("digest", "chances", "decisions", *_LEDGER_LISTS)


class Archive(StoreFile):
    """Single matches, what bots are made of, and runs as a whole."""

    def match(self, word: str, run: str | None = None) -> StoredMatch:
        """The match of an id, in the run given or in the latest that has it. Raises: StoreError."""
        number, repetition = parse_match_id(word)
        found = self._read(
            """SELECT r.run FROM t_run_pairings r JOIN t_runs USING (run)
               WHERE pairing_id = ? AND repetitions > ? AND (?::TEXT IS NULL OR run = ?)
               ORDER BY started_at DESC LIMIT 1""",
            [number, repetition, run, run],
        )
        if not found:
            raise StoreError(f"{self.path}: has no match {word}{self._such_as(run)}")
        of_run = found[0][0]
        pairing = self.pairings(of_run, [number])[0]
        rows = self._read(
            "SELECT digest FROM t_matches WHERE pairing_id = ? AND repetition = ?",
            [number, repetition],
        )
        seats = self._read(
            """SELECT score, place, faults FROM t_seats
               WHERE pairing_id = ? AND repetition = ? ORDER BY seat""",
            [number, repetition],
        )
        columns = [tuple(row[i] for row in seats) for i in range(3)]
        return StoredMatch(of_run, pairing, repetition, rows[0][0] if rows else None, *columns)

    def _such_as(self, run: str | None) -> str:
        rows = self._read(
            "SELECT match FROM matches WHERE ?::TEXT IS NULL OR run = ? LIMIT 2", [run, run]
        )
        return "; it has " + ", ".join(row[0] for row in rows) if rows else ""

    def pairings(self, run: str, only: Sequence[int] = ()) -> list[StoredPairing]:
        """A run's pairings in the order of their ids; all, or only these."""
        names = self._read("SELECT name FROM t_entrants WHERE run = ? ORDER BY position", [run])
        chosen = list(only)
        where = "WHERE run = ? AND (len(?::BIGINT[]) = 0 OR list_contains(?, r.pairing_id))"
        rows = self._read(f"{_PAIRINGS} {where} ORDER BY r.pairing_id", [run, chosen, chosen])
        return [
            StoredPairing(
                number, bytes(pairing), game, version, json.loads(table), on_fault, bytes(key),
                tuple(versions), tuple(names[bot][0] for bot in lineup), tuple(lineup), repetitions,
            )
            for number, pairing, game, version, table, on_fault, key, versions, lineup, repetitions
            in rows
        ]  # fmt: skip

    def ledger(self, run: str) -> list[LedgerRow]:
        """The ledger rows inside what a run wants, by pairing and first repetition."""
        columns = ", ".join(f"l.{name}" for name in LEDGER_COLUMNS)
        rows = self._read(
            f"""SELECT l.pairing_id, l.first, l.count, l.is_kept, {columns}
                FROM t_run_pairings r JOIN t_ledger l USING (pairing_id)
                WHERE r.run = ? AND l.first + l.count <= r.repetitions
                ORDER BY l.pairing_id, l.first""",
            [run],
        )
        return [
            LedgerRow(number, first, count, kept, dict(zip(LEDGER_COLUMNS, values, strict=True)))
            for number, first, count, kept, *values in rows
        ]

    def stored_records(
        self, rows: Sequence[LedgerRow], seats: int
    ) -> Iterator[tuple[list[LedgerRow], list[Record | None]]]:
        """The kept matches of ledger rows, a window at a time; None for rows that lack some.

        The rows stand in the order of `ledger`; faults' texts are not read.
        """
        with self._reading() as db:
            for start in range(0, len(rows), WINDOW):
                window = list(rows[start : start + WINDOW])
                yield window, _read_window(db, window, seats)

    def uneven_matches(self, run: str, total: int) -> list[tuple[str, int]]:
        """Up to ten matches whose scores do not add up to `total`, with what they add up to."""
        return self._read(
            """SELECT match, sum(score)::BIGINT FROM results WHERE run = ? GROUP BY match
               HAVING sum(score) <> ? ORDER BY match LIMIT 10""",
            [run, total],
        )

    def score_moments(self, run: str) -> list[tuple[str, str, int, float, float]]:
        """(bot, version, seats, mean score, standard deviation) of a run's kept matches."""
        return self._read(
            """SELECT bot, version, count(*), avg(score), coalesce(stddev_samp(score), 0)
               FROM results WHERE run = ? GROUP BY bot, version ORDER BY bot, version""",
            [run],
        )

    def stored_ratings(self, run: str) -> list[tuple[str, str, int, float]]:
        """(bot, version, matches, win share) as they were written with a run's ratings."""
        return self._read(
            "SELECT bot, version, matches, win_share FROM t_ratings WHERE run = ? ORDER BY bot",
            [run],
        )

    def rating_history(self, labels: Sequence[str]) -> list[tuple[Any, str, float, float]]:
        """(time, bot, mu, sigma) of every rating written under these labels, oldest first."""
        return self._read(
            """SELECT rated_at, bot, mu, sigma FROM t_rating_history
               WHERE list_contains(?, run) ORDER BY rated_at, bot""",
            [list(labels)],
        )

    def win_moments(
        self, run: str
    ) -> dict[tuple[str, str], tuple[int, float, float, float, float, float]]:
        """By (bot, version) of a run's kept matches: seats; mean and variance of win share; mean
        and variance of score; their covariance.
        """
        rows = self._read(
            """SELECT bot, version, count(*), avg(win_share), coalesce(var_samp(win_share), 0),
                      avg(score), coalesce(var_samp(score), 0),
                      coalesce(covar_samp(win_share, score), 0)
               FROM results WHERE run = ? GROUP BY bot, version""",
            [run],
        )
        return {(bot, version): tuple(moments) for bot, version, *moments in rows}

    def stored_bot(self, version: str) -> PortableBot:
        """A bot of the store, from its kept sources. Raises: StoreError.

        A store older than kept sources has the bot's word alone: it will do while what it names is
        still the same version.
        """
        rows = self._read(
            "SELECT reference, class_name, params, source_hash, game FROM t_bots WHERE version = ?",
            [version],
        )
        if not rows:
            raise StoreError(f"{self.path}: knows no version {version}")
        reference, class_name, params, source_hash, game = rows[0]
        pairs = tuple(json.loads(params).items())
        source = self.source(source_hash)
        if source is not None:
            return PortableBot(reference, class_name, pairs, source)
        try:
            found = load(reference, dict(pairs), game)
        except BotLoadError as error:
            raise StoreError(
                f"{self.path}: keeps no source of {reference}, and it is gone: {error}"
            ) from None
        if found.version != version:
            raise StoreError(
                f"{self.path}: keeps no source of {reference}, and it has changed since"
            )
        return found.portable()

    def source(self, source_hash: str) -> Source | None:
        """A kept source, checked against its hash; None where there is none."""
        rows = self._read(
            "SELECT path, content FROM t_sources WHERE source_hash = ? ORDER BY position",
            [source_hash],
        )
        files = [(path, bytes(content)) for path, content in rows]
        for own in files:  # which file is the bot's own is told by the hash
            rest = [file for file in files if file is not own]
            source = Source(module_of(own[0]), (own, *rest))  # of a program: its own file's name
            if source.digest == source_hash:
                return source
        if files:
            raise StoreError(f"{self.path}: the source {source_hash} is damaged")
        return None


def read_record(db: Any, number: int, first: int, count: int, seats: int) -> Record | None:
    """The kept matches of a segment; None where some of them lack."""
    bounds = [number, first, first + count]
    where = "WHERE pairing_id = ? AND repetition >= ? AND repetition < ?"
    matches = db.execute(
        f"SELECT chances, decisions, termination, digest FROM t_matches {where}"
        " ORDER BY repetition", bounds,
    ).fetchnumpy()  # fmt: skip
    seat_rows = db.execute(
        f"SELECT score, place, faults FROM t_seats {where} ORDER BY repetition, seat", bounds
    ).fetchnumpy()
    if len(matches["digest"]) != count or len(seat_rows["score"]) != count * seats:
        return None
    columns: dict[str, Any] = {n: np.asarray(matches[n], np.int64) for n in matches}
    many = [np.asarray(seat_rows[n], np.int64) for n in ("score", "place", "faults")]
    scores, places, faults = (column.reshape(-1, seats) for column in many)
    return Record(**columns, scores=scores, places=places, faults=faults)


def _read_window(db: Any, rows: Sequence[LedgerRow], seats: int) -> list[Record | None]:
    """The kept matches of some ledger rows by two queries over their range of pairings."""
    bounds = [rows[0].pairing_id, rows[-1].pairing_id]
    matches = db.execute(
        """SELECT pairing_id, repetition, chances, decisions, termination, digest FROM t_matches
           WHERE pairing_id BETWEEN ? AND ? ORDER BY pairing_id, repetition""",
        bounds,
    ).fetchnumpy()
    seat_rows = db.execute(
        """SELECT pairing_id, repetition, score, place, faults FROM t_seats
           WHERE pairing_id BETWEEN ? AND ? ORDER BY pairing_id, repetition, seat""",
        bounds,
    ).fetchnumpy()
    one = {name: np.asarray(column, np.int64) for name, column in matches.items()}
    many = {name: np.asarray(column, np.int64) for name, column in seat_rows.items()}
    return [_cut(one, many, row, seats) for row in rows]


def _cut(one: dict[str, Any], many: dict[str, Any], row: LedgerRow, seats: int) -> Record | None:
    """One ledger row's record out of a window's columns."""

    def span(columns: dict[str, Any]) -> slice:
        start, end = np.searchsorted(columns["pairing_id"], [row.pairing_id, row.pairing_id + 1])
        repetitions = columns["repetition"][start:end]
        first, last = np.searchsorted(repetitions, [row.first, row.first + row.count])
        return slice(int(start + first), int(start + last))

    of_match, of_seat = span(one), span(many)
    if of_match.stop - of_match.start != row.count:
        return None
    if of_seat.stop - of_seat.start != row.count * seats:
        return None
    columns = {n: one[n][of_match] for n in ("chances", "decisions", "termination", "digest")}
    by_seat = {n: many[n][of_seat].reshape(-1, seats) for n in ("score", "place", "faults")}
    return Record(
        **columns, scores=by_seat["score"], places=by_seat["place"], faults=by_seat["faults"]
    )


def insert_sources(db: Any, bots: Sequence[LoadedBot]) -> None:
    """Keep what the bots are made of."""
    known = {hash_ for (hash_,) in db.execute("SELECT source_hash FROM t_sources").fetchall()}
    for bot in bots:
        if bot.source.digest not in known:
            known.add(bot.source.digest)
            for position, (path, content) in enumerate(bot.source.files):
                db.execute(
                    "INSERT INTO t_sources VALUES (?, ?, ?, ?)",
                    [bot.source.digest, position, path, content],
                )
