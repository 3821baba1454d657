"""Seasons: the true order comes out, and how a season was interrupted does not show."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ladder.store import NightStore
from tests.conftest import ROOT
from tests.nightly.season import SIZES, everything, play_night, play_season, tau_of, truth


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small season in one go."""
    path = tmp_path_factory.mktemp("season") / "x.duckdb"
    play_season(path, SIZES["small"])
    return path


def test_the_true_order_comes_out(season: Path) -> None:
    assert tau_of(season, SIZES["small"]) >= 0.9


def test_everybody_has_its_floor_every_night(season: Path) -> None:
    size, store = SIZES["small"], NightStore(season)
    for night in range(1, size.nights + 1):
        rows = store.night_entrants("season", night)
        assert min(row.matches for row in rows) >= size.floor, night
        assert sum(row.matches for row in rows) == 4 * size.budget


def test_a_bots_line_is_its_newest_version_and_who_left_is_gone(season: Path) -> None:
    store = NightStore(season)
    rows = store.night_entrants("season", SIZES["small"].nights)
    assert {row.name for row in rows} == {*truth(SIZES["small"]), "Easy"}
    newest = {row.name: row.version for row in store.submissions("pasa")}
    assert all(newest[row.name] == row.version for row in rows)


def test_old_nights_are_folded_and_still_counted(season: Path) -> None:
    size, store = SIZES["small"], NightStore(season)
    kept = dict(
        store.query(
            "SELECT n.night, count(m.match) FROM nights n LEFT JOIN matches m USING (run)"
            " GROUP BY n.night"
        )
    )
    for night in range(1, size.nights + 1):
        is_folded = night <= size.nights - size.keep
        assert kept[night] == (0 if is_folded else size.budget)
        (row,) = [each for each in store.nights("season") if each.night == night]
        assert store.progress(row.run) == (size.budget, row.digest)


def test_backups_are_complete_stores_and_the_oldest_go(season: Path) -> None:
    backups = sorted((season.parent / "backups").iterdir())
    assert [path.name for path in backups] == [
        "x-season-000003.duckdb", "x-season-000004.duckdb"
    ]  # fmt: skip
    last = NightStore(backups[-1]).last_night("season")
    assert last is not None
    assert (last.night, last.closed_at) == (4, None)


def killed_season(path: Path, size: str, kills: int, luck: random.Random, wait_s: float) -> int:
    """Play a season in a process that is killed again and again; how many kills hit."""
    words = [sys.executable, "-m", "tests.nightly.season", size, str(path)]
    hits = 0
    for _ in range(kills):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        with process:
            process.stdout.readline()  # a night is done or was before: the bots are compiled
            time.sleep(luck.random() * wait_s)
            process.kill()
        hits += process.returncode == -9
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return hits


def test_killed_and_continued_the_table_is_the_same(season: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    # Some kills fall into the first night too, before anything is rated.
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.nightly.season", "small", str(path)], cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    while not path.exists():
        time.sleep(0.05)
    time.sleep(0.5)
    process.kill()
    process.wait()
    assert killed_season(path, "small", 2, random.Random(3), 2.0) >= 1
    assert everything(path) == everything(season)


@pytest.mark.slow
def test_interrupted_after_every_round_the_table_is_the_same(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, store = SIZES["small"], NightStore(tmp_path / "x.duckdb")
    note_round = NightStore.note_round

    def interrupted(self: NightStore, *words: object, **options: object) -> None:
        note_round(self, *words, **options)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    for night in range(size.nights):
        monkeypatch.setattr(NightStore, "note_round", interrupted)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                play_night(store, size, night)
        monkeypatch.setattr(NightStore, "note_round", note_round)
        assert play_night(store, size, night).is_continued
    assert everything(store.path) == everything(season)


@pytest.mark.slow
@pytest.mark.full_size
@pytest.mark.timeout(3600)
def test_a_full_season_and_one_killed_twenty_times(tmp_path: Path) -> None:
    size = SIZES["full"]
    one, other = tmp_path / "one.duckdb", tmp_path / "other.duckdb"
    play_season(one, size)
    assert tau_of(one, size) >= 0.9
    store = NightStore(one)
    for night in range(1, size.nights + 1):
        assert min(row.matches for row in store.night_entrants("season", night)) >= size.floor
    assert killed_season(other, "full", 20, random.Random(5), 12.0) >= 18
    assert everything(one) == everything(other)
