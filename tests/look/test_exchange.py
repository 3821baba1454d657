"""An exported run comes into another store with the same digest, twice without double counting."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import ladder as package
from ladder.errors import SpecError, StoreError
from ladder.exchange import export_runs, read_manifest
from ladder.store import Store
from tests.conftest import Command
from tests.running import SMALL, rows_of, run_text


def imported(ladder: Command, folder: Path, db: Path) -> list[dict[str, Any]]:
    ended = ladder("import", folder, "--db", db, "--json")
    assert ended.code == 0, ended.err
    value: list[dict[str, Any]] = json.loads(ended.out)
    return value


def faults_of(db: Path) -> list[tuple[Any, ...]]:
    return sorted(Store(db).query("SELECT match, seat, decision, cause, detail FROM faults"))


@pytest.mark.parametrize(
    "kind",
    [
        "parquet",
        pytest.param("csv", marks=pytest.mark.slow),
        pytest.param("jsonl", marks=pytest.mark.slow),
    ],
)
def test_round_trip(ladder: Command, played: Path, tmp_path: Path, kind: str) -> None:
    folder, db = tmp_path / "an 'out'", tmp_path / "other.duckdb"
    ended = ladder("export", folder, "--all", "--format", kind, "--db", played, "--json")
    assert ended.code == 0, ended.err
    first, again = imported(ladder, folder, db), imported(ladder, folder, db)
    assert [run["added"] for run in again] == [0, 0]
    assert all(run["added"] == run["matches"] for run in first)
    for view in ("results", "matches"):
        assert rows_of(db, view) == rows_of(played, view)
    assert faults_of(db) == faults_of(played)
    words = ("standings", "--run", "seen", "--json")
    assert ladder(*words, "--db", db).out == ladder(*words, "--db", played).out
    for run in ("seen", "board"):
        assert ladder("verify", "--db", db, "--run", run, "--sample", 20).code == 0
    tables = list((folder / "matches").rglob("part_*"))
    assert {path.parent.parent.name for path in tables} == {"game=pasa", "game=pasha"}


def test_a_part_that_is_there_is_filled_up(ladder: Command, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.duckdb", tmp_path / "part.duckdb"
    run_text(SMALL, whole, chunk=25)
    run_text(SMALL.replace("matches: 60", "matches: 21"), part, chunk=17)
    folder = tmp_path / "out"
    assert ladder("export", folder, "--db", whole).code == 0
    taken = imported(ladder, folder, part)
    assert taken[0]["matches"] == 240
    assert taken[0]["added"] == 240 - 4 * 21
    assert rows_of(part, "results")[-1] in rows_of(whole, "results")
    assert run_text(SMALL, part).played == 0


def test_a_summary_goes_too(ladder: Command, tmp_path: Path) -> None:
    one, two = tmp_path / "one.duckdb", tmp_path / "two.duckdb"
    outcome = run_text(SMALL + "record: summary\n", one)
    assert ladder("export", tmp_path / "out", "--db", one).code == 0
    assert imported(ladder, tmp_path / "out", two)[0]["digest"] == outcome.digest
    assert imported(ladder, tmp_path / "out", two)[0]["added"] == 0


def test_an_export_that_was_changed_is_refused(ladder: Command, tmp_path: Path) -> None:
    db, folder = tmp_path / "one.duckdb", tmp_path / "out"
    run_text(SMALL, db)
    assert ladder("export", folder, "--format", "csv", "--db", db).code == 0
    table = next((folder / "results").rglob("*.csv"))
    lines = table.read_text().splitlines()
    score = lines[0].split(",").index("score")
    cells = lines[1].split(",")
    cells[score] = str(int(cells[score]) + 1)
    table.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    ended = ladder("import", folder, "--db", tmp_path / "two.duckdb")
    assert ended.code == 3
    assert "its manifest says" in ended.err


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda folder: None, "has no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is not the manifest"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "is not the manifest"),
        (
            lambda folder: (folder / "manifest.json").write_text(
                '{"format": 9, "kind": "parquet", "runs": []}'
            ),
            "an export of format 9",
        ),
    ],
)
def test_what_is_no_export(ladder: Command, tmp_path: Path, make: Any, told: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    make(folder)
    ended = ladder("import", folder, "--db", tmp_path / "x.duckdb")
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err


def test_export_overwrites_nothing(ladder: Command, played: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    ended = ladder("export", tmp_path, "--db", played)
    assert ended.code == 2
    assert "wants a new or empty folder" in ended.err


def test_missing_files_are_said(ladder: Command, played: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    ladder("export", folder, "--all", "--db", played)
    shutil.rmtree(folder / "results")
    ended = ladder("import", folder, "--db", tmp_path / "x.duckdb")
    assert ended.code == 3
    assert "lacks matches" in ended.err


def test_open_in_python(played: Path, tmp_path: Path) -> None:
    with package.open(played) as store:
        assert store.results.count("*").fetchall() == [(4 * 30 * 3 + 6 * 2,)]
        assert store.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
        assert store.arrow("SELECT bot, score FROM results").num_rows == 372
        with pytest.raises(AttributeError, match="a store has the views"):
            _ = store.nothing
        for library, method in (("polars", "polars"), ("pandas", "pandas")):
            pytest.importorskip(library)
            assert len(getattr(store, method)("matches")) == 126
    with pytest.raises(StoreError, match="no such store"):
        package.open(tmp_path / "none.duckdb")


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_run_without_faults_comes_in_too(ladder: Command, tmp_path: Path, kind: str) -> None:
    db, folder = tmp_path / "x.duckdb", tmp_path / "out"
    run_text(SMALL, db)
    assert ladder("export", folder, "--format", kind, "--db", db).code == 0
    [run] = imported(ladder, folder, tmp_path / "other.duckdb")
    assert run["added"] == run["matches"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, None) for field in ("name", "game", "spec", "key_id", "started_at", "entrants")),
        ("started_at", "yesterday"), ("finished_at", 5), ("entrants", ["a"]), ("spec", "x"),
        ("matches", "60"), ("name", 5),
    ],
)  # fmt: skip
def test_a_manifest_of_something_else(tmp_path: Path, field: str, value: object) -> None:
    run = {
        "run": "x", "name": "x", "game": "pasa", "spec": {}, "key_id": "x", "digest": "",
        "started_at": "2026-01-01", "finished_at": None, "entrants": [["a", "b"]], "matches": 1,
    }  # fmt: skip
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({"format": 1, "kind": "csv", "runs": [run]}))
    assert read_manifest(tmp_path)["runs"] == [run]
    for changed in ({**run, field: value}, {k: v for k, v in run.items() if k != field}):
        path.write_text(json.dumps({"format": 1, "kind": "csv", "runs": [changed]}))
        with pytest.raises(SpecError, match="is not the manifest of an export"):
            read_manifest(tmp_path)


def test_an_export_that_was_killed_is_done_anew(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, folder = tmp_path / "x.duckdb", tmp_path / "out"
    run_text(SMALL, db)
    with monkeypatch.context() as patch:
        patch.setattr("ladder.exchange.write_whole", killed)
        with pytest.raises(KeyboardInterrupt):
            export_runs(Store(db), Store(db).runs(), folder, "csv")
    assert ladder("import", folder, "--db", tmp_path / "y.duckdb").code == 2
    assert ladder("export", folder, "--format", "csv", "--db", db).code == 0
    assert not (folder / "unfinished").exists()
    imported(ladder, folder, tmp_path / "y.duckdb")


def killed(*_: object) -> None:
    raise KeyboardInterrupt
