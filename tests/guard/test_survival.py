"""A run that is killed, or whose files are damaged: nothing is lost in silence, nobody stays."""

import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest

from ladder.errors import InfraError, StoreError
from ladder.execute import MOST_FAILURES, pools
from ladder.store import Store, StoreFile
from ladder.store.file import _write_problem
from tests.conftest import ROOT
from tests.isolate.conftest import children_of
from tests.running import rows_of, run_text

SPEC = f"""\
name: survivors
game: pasa
table: {{seats: 3, rounds: 1, chips: 100}}
seed: 3
entrants: [Easy, Hard, '{ROOT}/tests/faulty_bots.py:Counts']
format: {{kind: round_robin, matches: 300}}
"""


def test_no_child_outlives_a_killed_run(tmp_path):
    spec, db = tmp_path / "x.yaml", tmp_path / "x.duckdb"
    spec.write_text(SPEC.replace("300", "30000"))
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.running", str(spec), str(db), "40"],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    with running:
        for _ in range(3):
            running.stdout.readline()
        left = children_of(running.pid)
        assert left  # a zygote at least
        running.send_signal(signal.SIGKILL)
    end = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{pid}") for pid in left) and time.monotonic() < end:
        time.sleep(0.05)
    assert [pid for pid in left if os.path.exists(f"/proc/{pid}")] == []


def test_a_log_with_a_flipped_bit_is_refused_and_kept(tmp_path):
    db, log = tmp_path / "x.duckdb", tmp_path / "x.duckdb.wal"
    run_text(SPEC.replace("300", "6"), db)
    code = (
        "import duckdb, os, sys\ndb = duckdb.connect(sys.argv[1])\n"
        "db.execute('PRAGMA disable_checkpoint_on_shutdown')\n"
        "db.execute('INSERT INTO t_ratings SELECT * FROM t_ratings')\nos._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(db)], check=True)
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 4
    log.write_bytes(content)
    before = db.read_bytes(), log.read_bytes()
    with pytest.raises(StoreError, match=r"is damaged .* nothing was changed.* last backup"):
        Store(db).query("SELECT 1")
    with pytest.raises(StoreError, match="is damaged"):
        run_text(SPEC.replace("300", "6"), db)
    assert (db.read_bytes(), log.read_bytes()) == before
    backup = tmp_path / "backup.duckdb"
    digest = run_text(SPEC.replace("300", "3"), backup).digest
    kept = StoreFile(db).put_back(backup)
    assert kept is not None
    assert kept.read_bytes() == before[0]
    assert digest == run_text(SPEC.replace("300", "3"), db).digest


def test_a_full_disk_is_told_as_such(tmp_path):
    told = _write_problem(tmp_path, 'IO Error: Could not write: "No space left on device"')
    assert "the disk is full; what was stored stays" in told


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of its own with little room, and how to change its size."""
    place = tmp_path / "small"
    place.mkdir()

    def resize(size, how="remount,"):
        words = ["mount", "-t", "tmpfs", "-o", f"{how}size={size}", "tmpfs", str(place)]
        return subprocess.run(words, capture_output=True).returncode == 0

    if os.geteuid() != 0 or not resize("3m", how=""):
        pytest.skip("file systems can be mounted by root alone")
    yield place, resize
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_fills_up_in_a_run(small_disk, tmp_path):
    place, resize = small_disk
    db = place / "x.duckdb"
    text = SPEC.replace("300", "30000").replace(
        f", '{ROOT}/tests/faulty_bots.py:Counts'", ", Least"
    )
    stored = []
    with pytest.raises(StoreError, match="the disk is full; what was stored stays") as ended:
        run_text(text, db, lambda progress: stored.append(progress.done), chunk=1500)
    assert ended.value.exit_code == 3
    assert 0 < stored[-1] < 30000
    assert resize("200m")
    [run] = Store(db).runs()
    assert Store(db).progress(run.run)[0] == stored[-1]
    assert run_text(text, db).digest == run_text(text, tmp_path / "y.duckdb").digest
    assert rows_of(db) == rows_of(tmp_path / "y.duckdb")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_a_library_takes_for_an_error_of_its_own(number, tmp_path):
    def report(progress):
        if progress.done:
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                raise RuntimeError("Query interrupted") from None

    with pytest.raises(KeyboardInterrupt):
        run_text(SPEC, tmp_path / "x.duckdb", report, chunk=20)


def test_a_reader_gets_through_and_a_second_writer_waits(tmp_path):
    db = tmp_path / "x.duckdb"
    seen = []

    def look(progress):
        if progress.done and not seen:
            seen.append(len(rows_of(db)) // 3)

    run_text(SPEC, db, look, chunk=20)
    assert seen == [20]
    code = (
        "import sys\nfrom pathlib import Path\nfrom ladder.store import Store\n"
        "Store(Path(sys.argv[1]), patience_s=0.2).query('SELECT 1')\n"
    )
    with duckdb.connect(str(db)):
        words = [sys.executable, "-c", code, str(db)]
        ended = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode
    assert "another process is using it" in ended.stderr


def poisoned(monkeypatch, is_poison):
    play_chunk = pools.play_chunk

    def sometimes(setup, chunk, lanes):
        if any(is_poison(s.first, s.count, s.lineup) for s in chunk):
            return InfraError("the worker died"), 0.0
        return play_chunk(setup, chunk, lanes)

    monkeypatch.setattr(pools, "play_chunk", sometimes)


def test_a_match_that_fails_is_found_and_set_aside(tmp_path, monkeypatch):
    db = tmp_path / "x.duckdb"
    poisoned(
        monkeypatch, lambda first, count, lineup: lineup[0] == 0 and first <= 17 < first + count
    )
    with pytest.raises(InfraError) as ended:
        run_text(SPEC, db, chunk=50)
    assert ended.value.exit_code == 3
    assert "1 matches could not be played, by no bot's fault (infra)" in str(ended.value)
    assert "repetition 17: the worker died" in str(ended.value)
    [run] = Store(db).runs()
    assert run.finished_at is None
    assert Store(db).progress(run.run)[0] == 299
    monkeypatch.undo()
    assert run_text(SPEC, db).digest == run_text(SPEC, tmp_path / "y.duckdb").digest


def test_where_everything_fails_the_run_ends(tmp_path, monkeypatch):
    tries = []
    poisoned(monkeypatch, lambda *_: not tries.append(1))
    with pytest.raises(InfraError, match="the worker died"):
        run_text(SPEC, tmp_path / "x.duckdb", chunk=50)
    assert len(tries) <= 4 * MOST_FAILURES
