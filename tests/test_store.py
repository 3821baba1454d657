"""The store: plan minus store, nothing twice, views as promised, messages that say what is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ladder.bots import load_word
from ladder.errors import StoreError
from ladder.games import get_game
from ladder.ledger import pattern_of
from ladder.record import Fault, FaultRow
from ladder.store import Store
from ladder.store import file as store_module
from tests.plain_play import play_plainly
from tests.running import SMALL, planned, rows_of, run_text

# What others may query: DESIGN's contract.
VIEWS = {
    "runs": {"run", "name", "game", "spec", "key_id", "started_at", "finished_at", "digest"},
    "bots": {"name", "version", "source_hash", "author", "submitted_at"},
    "matches": {
        "run", "match", "game", "seed", "seats", "throws_or_rolls", "decisions", "termination",
        "digest",
    },
    "results": {
        "run", "match", "seat", "bot", "version", "score", "place", "win_share", "faults",
    },
    "ratings": {"run", "bot", "version", "mu", "sigma", "matches", "win_share"},
    "rating_history": {"run", "bot", "version", "mu", "sigma", "matches", "win_share"},
    "faults": {"run", "match", "seat", "bot", "version", "cause", "detail"},
}  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "störe with blanks" / "ladder.duckdb"


# --- what is in it


def test_every_view_has_the_columns_of_the_contract(db: Path) -> None:
    run_text(SMALL, db)
    for view, wanted in VIEWS.items():
        rows = Store(db).query(f"SELECT column_name FROM (DESCRIBE {view})")
        assert wanted <= {name for (name,) in rows}, view


def test_results_are_the_matches_of_the_plan_and_replay_one_by_one(db: Path) -> None:
    outcome = run_text(SMALL, db)
    spec, plan = planned(SMALL)
    rows = Store(db).query(
        "SELECT match, bot, score, place, win_share FROM results ORDER BY match, seat"
    )
    assert len(rows) == plan.num_matches * 3 == outcome.matches * 3
    game = get_game("pasa")
    by_match: dict[str, list[Any]] = {}
    for match, *rest in rows:
        by_match.setdefault(match, []).append(rest)
    wanted = []
    for pairing in plan:
        bots = [spec.entrants[i].loaded for i in pairing.lineup]
        names = [plan.names[i] for i in pairing.lineup]
        for repetition in range(0, pairing.repetitions, 7):
            key = plan.deal_key(pairing.digest)
            match = play_plainly(game, plan.table, bots, key, repetition)
            wanted.append((tuple(names), tuple(match.scores), tuple(match.places)))
    stored = {
        (tuple(r[0] for r in seats), tuple(r[1] for r in seats), tuple(r[2] for r in seats))
        for seats in by_match.values()
    }
    assert set(wanted) <= stored
    for seats in by_match.values():
        assert sum(row[3] for row in seats) == pytest.approx(1)
        assert sum(row[1] for row in seats) == 300


def test_a_seed_of_a_match_replays_it(db: Path) -> None:
    """The seed column is the deal's key and the repetition: enough for the throws."""
    run_text(SMALL, db)
    (seed, throws, digest) = Store(db).query(
        "SELECT seed, throws_or_rolls, digest FROM matches ORDER BY match LIMIT 1"
    )[0]
    key, _, repetition = seed.partition(":")
    names = Store(db).query(
        "SELECT bot FROM results JOIN matches USING (run, match) WHERE seed = ? ORDER BY seat",
        [seed],
    )
    bots = [load_word(name, "pasa") for (name,) in names]
    _, plan = planned(SMALL)
    match = play_plainly(plan.game, plan.table, bots, bytes.fromhex(key), int(repetition))
    assert len(match.chances) == throws
    assert f"{match.digest:016x}" == digest


def test_ledger_totals_equal_those_of_the_matches(db: Path) -> None:
    run_text(SMALL, db, chunk=23)
    ledger = Store(db).query(
        """SELECT pairing_id, sum(count)::BIGINT, sum(chances)::BIGINT, sum(decisions)::BIGINT
           FROM t_ledger GROUP BY pairing_id ORDER BY pairing_id"""
    )
    matches = Store(db).query(
        """SELECT pairing_id, count(*), sum(chances)::BIGINT, sum(decisions)::BIGINT
           FROM t_matches GROUP BY pairing_id ORDER BY pairing_id"""
    )
    assert ledger == matches
    patterns = Store(db).query(
        """SELECT pairing_id, pattern, sum(n)::BIGINT FROM (
             SELECT pairing_id, unnest(patterns) AS pattern, unnest(pattern_counts) AS n
             FROM t_ledger) GROUP BY ALL"""
    )
    counted: dict[tuple[int, int], int] = {}
    for number, places in Store(db).query(
        """SELECT pairing_id, list(place ORDER BY seat) FROM t_seats
           GROUP BY pairing_id, repetition"""
    ):
        at = (number, pattern_of(places))
        counted[at] = counted.get(at, 0) + 1
    assert {(number, pattern): n for number, pattern, n in patterns} == counted


def test_no_match_is_there_twice(db: Path) -> None:
    run_text(SMALL, db, chunk=17)
    run_text(SMALL.replace("matches: 60", "matches: 90"), db, chunk=29)
    run_text(SMALL.replace("matches: 60", "matches: 30"), db, chunk=5)
    twice = Store(db).query(
        "SELECT pairing_id, repetition FROM t_matches GROUP BY ALL HAVING count(*) > 1"
    )
    assert twice == []
    overlapping = Store(db).query(
        """SELECT 1 FROM t_ledger a JOIN t_ledger b USING (pairing_id)
           WHERE a.first < b.first AND b.first < a.first + a.count"""
    )
    assert overlapping == []


# --- plan minus store


def test_the_same_spec_again_plays_nothing(db: Path) -> None:
    first = run_text(SMALL, db)
    again = run_text(SMALL, db)
    assert (first.played, again.played) == (240, 0)
    assert (again.run, again.digest) == (first.run, first.digest)
    assert _shown(again) == _shown(first)


def test_more_matches_play_only_the_new_ones(db: Path, tmp_path: Path) -> None:
    run_text(SMALL, db)
    more = run_text(SMALL.replace("matches: 60", "matches: 90"), db)
    assert more.played == 4 * 30
    fresh = run_text(SMALL.replace("matches: 60", "matches: 90"), tmp_path / "fresh.duckdb")
    assert more.digest == fresh.digest


@pytest.mark.parametrize("chunk", [50, 1000])
def test_fewer_matches_cut_the_ledger_rows_that_reach_past(
    db: Path, tmp_path: Path, chunk: int
) -> None:
    fewer = SMALL.replace("matches: 60", "matches: 33")
    whole = run_text(SMALL, db, chunk=chunk)
    part = run_text(fewer, db)
    fresh = run_text(fewer, tmp_path / "fresh.duckdb")
    assert part.played == 0
    assert part.matches == fresh.matches == 4 * 33
    assert part.digest == fresh.digest
    assert _shown(part) == _shown(fresh)
    again = run_text(SMALL, db)  # the cut rows still make up the whole
    assert (again.played, again.digest) == (0, whole.digest)
    assert _shown(again) == _shown(whole)


def _shown(outcome: Any) -> list[Any]:
    return [(row.bot, row.mu, row.sigma, row.tally) for row in outcome.rows]


def test_another_seed_is_another_run(db: Path) -> None:
    one = run_text(SMALL, db)
    other = run_text(SMALL.replace("seed: 7", "seed: 8"), db)
    assert other.run != one.run
    assert other.digest != one.digest
    assert other.played == one.played
    assert [run.run for run in Store(db).runs()] == [one.run, other.run]


def test_an_entrant_more_leaves_the_other_matches_as_they_are(db: Path) -> None:
    run_text(SMALL, db)
    before = rows_of(db)
    run = run_text(SMALL.replace("[Easy, Hard,", "[Most, Easy, Hard,"), db)
    assert run.played == 6 * 60  # the line-ups with Most
    after = Store(db).query(
        """SELECT match, seat, bot, version, score, place, win_share, faults FROM results
           WHERE run = ? AND match NOT IN (SELECT match FROM results WHERE bot = 'Most')""",
        [run.run],
    )
    assert sorted(after) == before


def test_the_order_of_entrants_changes_no_match(db: Path, tmp_path: Path) -> None:
    one = run_text(SMALL, db)
    other = run_text(
        SMALL.replace("[Easy, Hard, Uniform, Least]", "[Least, Uniform, Hard, Easy]"),
        tmp_path / "other.duckdb",
    )
    assert one.digest == other.digest
    assert _shown(one) == _shown(other)


def test_a_summary_gives_the_same_table_and_keeps_no_match(db: Path, tmp_path: Path) -> None:
    kept = run_text(SMALL, tmp_path / "kept.duckdb")
    summary = run_text(SMALL + "record: summary\n", db, chunk=31)
    assert summary.digest == kept.digest
    assert _shown(summary) == _shown(kept)
    assert Store(db).query("SELECT count(*) FROM results") == [(0,)]


# --- what bots say


def test_a_fault_of_any_text_can_be_kept(db: Path, tmp_path: Path) -> None:
    bot = tmp_path / "odd.py"
    bot.write_text(
        "from ladder.games.pasa import PasaBot\n"
        "class Odd(PasaBot):\n"
        "    '''Raises odd text.'''\n"
        "    def stake(self, view):\n"
        "        raise ValueError('\\ud800 \\0 \\n \\x1b[31m पासा ' + 'x' * 10**5)\n"
    )
    run = run_text(SMALL.replace("Least]", f"'{bot}:Odd']"), db)
    ((bot_name, cause, detail, faults),) = Store(db).query(
        """SELECT bot, cause, any_value(detail), count(*) FROM faults GROUP BY bot, cause"""
    )
    assert (bot_name, cause) == ("Odd", "exception")
    assert 0 < faults == run.faults <= 3 * 60
    assert "पासा" in detail
    assert len(detail) <= 500


def test_fault_rows_say_where(db: Path) -> None:
    row = FaultRow(3, 1, 2, Fault("illegal", "returned 7"))
    assert (row.row, row.seat, row.decision) == (3, 1, 2)


# --- messages


def test_not_a_store(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, whatever it is called\n" * 20)
    with pytest.raises(StoreError, match=r"notes\.txt: .*not a valid DuckDB database file"):
        run_text(SMALL, path)
    assert path.read_text().startswith("no database")


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE t (x INTEGER)")
    with pytest.raises(StoreError, match=r"other\.duckdb: is a DuckDB file of something else"):
        run_text(SMALL, path)
    with pytest.raises(StoreError, match=r"other\.duckdb: is not a Ladder store"):
        Store(path).runs()


def test_a_store_of_another_schema(db: Path) -> None:
    run_text(SMALL, db)
    with duckdb.connect(str(db)) as other:
        other.execute("UPDATE t_store SET schema = 99")
    with pytest.raises(StoreError, match="has schema 99, this Ladder"):
        run_text(SMALL, db)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as error:
        run_text(SMALL, tmp_path)
    assert str(error.value) == f"{tmp_path}: is a directory, not a store"
    with pytest.raises(StoreError) as error:
        Store(tmp_path).runs()
    assert str(error.value) == f"{tmp_path}: is a directory, not a store"


def test_a_name_that_means_more_to_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "md:x"):
        Store(Path(name)).create()
        assert Path(name).is_file()
        assert Store(Path(name)).runs() == []


def test_a_file_for_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make its folder"):
        run_text(SMALL, tmp_path / "file" / "ladder.duckdb")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match=r"ladder\.duckdb: cannot be opened"):
        run_text(SMALL, tmp_path / "ladder.duckdb")


def test_no_store_yet(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such store; `ladder run SPEC` makes one"):
        Store(tmp_path / "none.duckdb").runs()
    assert not (tmp_path / "none.duckdb").exists()


@contextmanager
def held(db: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the store open for writing."""
    code = (
        "import duckdb, sys; db = duckdb.connect(sys.argv[1]); print('open', flush=True);"
        " sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        yield holder
        assert holder.stdin is not None
        holder.stdin.close()


@pytest.mark.parametrize("writing", [True, False])
def test_a_second_writer_is_told_who_holds_the_store(
    db: Path, monkeypatch: pytest.MonkeyPatch, writing: bool
) -> None:
    run_text(SMALL, db)
    monkeypatch.setattr(store_module, "LOCK_PATIENCE_S", 0.0)
    use = (lambda: run_text(SMALL, db)) if writing else Store(db).runs
    with held(db) as holder, pytest.raises(StoreError) as error:
        use()
    assert f"{db}: another process is using it" in str(error.value)
    assert f"PID {holder.pid}" in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert run_text(SMALL, db).played == 0  # let go of, it opens
