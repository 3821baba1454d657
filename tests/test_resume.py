"""Whatever ends a run, finished chunks stay; the results do not depend on how they came about."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ladder.execute import Progress
from ladder.store import Store
from tests.conftest import ROOT
from tests.running import SMALL, rows_of, run_text

# A bot that faults and one that remembers are among them: their matches too must come out alike.
MIXED = f"""\
name: mixed
game: pasa
table: {{seats: 3, rounds: 1, chips: 200}}
seed: 11
entrants:
  - Easy
  - Hard
  - {ROOT}/tests/faulty_bots.py:RaisesOnce
  - {ROOT}/tests/faulty_bots.py:Counts
format: {{kind: round_robin, matches: 120}}
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The mixed run in one go: what every other way must equal."""
    return _everything(tmp_path_factory.mktemp("expected") / "x.duckdb", run_in_one_go=True)


def _everything(db: Path, *, run_in_one_go: bool = False) -> dict[str, Any]:
    if run_in_one_go:
        run_text(MIXED, db)
    again = run_text(MIXED, db)
    assert again.played == 0
    return {
        "digest": again.digest,
        "table": [(row.bot, row.mu, row.sigma, row.tally) for row in again.rows],
        "results": rows_of(db),
        "matches": rows_of(db, "matches"),
    }


@pytest.mark.parametrize(
    "workers",
    [
        {"chunk": 1000, "lanes": 1},
        {"chunk": 29, "lanes": 1000},
        {"chunk": 64},
        {"chunk": 1},
        {"compile": "never"},
    ],
    ids=str,
)
def test_chunks_lanes_and_compilation_change_nothing(
    workers: dict[str, Any], tmp_path: Path, expected: dict[str, Any]
) -> None:
    text = MIXED + f"compile: {workers.pop('compile', 'auto')}\n"
    if workers.get("chunk") == 1:
        text = SMALL.replace("matches: 60", "matches: 3")
        one = run_text(text, tmp_path / "one.duckdb", chunk=1)
        assert one.digest == run_text(text, tmp_path / "all.duckdb").digest
        return
    run_text(text, tmp_path / "x.duckdb", **workers)
    assert _everything(tmp_path / "x.duckdb") == expected


@pytest.mark.parametrize("first_stop", [0, 3])
def test_an_interrupted_run_keeps_its_chunks_and_goes_on(
    first_stop: int, tmp_path: Path, expected: dict[str, Any]
) -> None:
    db = tmp_path / "x.duckdb"
    for stop in (first_stop, 2, 5):
        stored: list[int] = []

        def report(progress: Progress, stop: int = stop, stored: list[int] = stored) -> None:
            stored.append(progress.done)
            if len(stored) > stop + 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_text(MIXED, db, report, chunk=20)
        (row,) = Store(db).runs()
        assert row.finished_at is None
        assert Store(db).progress(row.run)[0] == stored[-1]
    assert 0 < Store(db).progress(row.run)[0] < 480
    last = run_text(MIXED, db, chunk=33)
    assert last.played == 480 - stored[-1]
    assert _everything(db) == expected


def killed_and_resumed(db: Path, spec: Path, kills: int, luck: random.Random) -> int:
    """Play in a process that is killed again and again; how many kills hit a run."""
    hits = 0
    while kills:
        chunk = luck.choice([5, 13, 40])
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.running", str(spec), str(db), str(chunk)],
            stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        assert process.stdout is not None
        with process:
            # After so many chunks, and then wherever it is: playing, storing, between two.
            for _ in range(luck.randrange(8)):
                if not process.stdout.readline():
                    break
            process.kill()
        hits += process.returncode == -9
        kills -= 1
    return hits


def test_killed_three_times_and_resumed(tmp_path: Path, expected: dict[str, Any]) -> None:
    db, spec = tmp_path / "x.duckdb", tmp_path / "x.yaml"
    spec.write_text(MIXED)
    assert killed_and_resumed(db, spec, 3, random.Random(1)) >= 2
    run_text(MIXED, db)
    assert _everything(db) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_killed_ten_times_and_resumed(seed: int, tmp_path: Path, expected: dict[str, Any]) -> None:
    db, spec = tmp_path / "x.duckdb", tmp_path / "x.yaml"
    spec.write_text(MIXED)
    killed_and_resumed(db, spec, 10, random.Random(seed))
    run_text(MIXED, db)
    assert _everything(db) == expected


@pytest.mark.slow
def test_ray_on_this_machine_equals_play_in_process(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    for count in (1, 2):
        db = tmp_path / f"{count}.duckdb"
        outcome = run_text(MIXED, db, count=count, chunk=25)
        assert outcome.played == 480
        assert _everything(db) == expected


@pytest.mark.slow
def test_a_cluster_of_two_nodes_equals_play_in_process(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        db = tmp_path / "x.duckdb"
        outcome = run_text(MIXED, db, count=None, address=cluster.address, chunk=25)
        assert outcome.played == 480
        assert _everything(db) == expected
    finally:
        cluster.shutdown()


@pytest.mark.slow
def test_two_runs_on_one_store_at_once_come_to_the_same(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    db, spec = tmp_path / "x.duckdb", tmp_path / "x.yaml"
    spec.write_text(MIXED)
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.running", str(spec), str(db), str(chunk)],
            stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )
        for chunk in (9, 14)
    ]  # fmt: skip
    digests = [run.communicate()[0].split()[-1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert set(digests) == {expected["digest"]}
    assert _everything(db) == expected
