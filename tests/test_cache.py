"""The cache of compiled code: shared by processes, never stale, never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ladder.errors import InfraError
from ladder.jit import cache_folder, register_rules
from tests.conftest import ROOT

PLAY = """
import time
from ladder.bots import load
from ladder.games import get_game
from ladder.playout import compile_bots, play_compiled, playout_of
from ladder.record import Segment

game = get_game("pasa")
bots = [load("Hard", {}, "pasa"), load("Uniform", {}, "pasa")]
segments = [Segment((0, 1), b"", 0, 300)]
record = play_compiled(game, game.table(seats=2), bots, compile_bots(game, bots), segments,
                       [bytes(32)])
print(record.scores[:, 0].sum(), record.digest.sum() % 10**9)
print("hits", sum(playout_of("pasa").stats.cache_hits.values()))
"""


def play(package: Path, cache: Path) -> tuple[str, str, str]:
    """(results, cache hits, standard error) of a fresh process that plays compiled."""
    surroundings = {
        **os.environ, "PYTHONPATH": str(package), "LADDER_CACHE_DIR": str(cache),
        "LADDER_CHECKED": "0", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PLAY], env=surroundings, cwd=package, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results, hits = done.stdout.splitlines()
    return results, hits, done.stderr


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the project that may be edited."""
    copy = tmp_path / "copy"
    for name in ("ladder", "bots"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.slow
def test_a_second_process_does_not_compile_and_an_edit_is_never_served_stale(
    package: Path, tmp_path: Path
) -> None:
    """Edits keep the length of the file, so that neither size nor (within a second) time tells."""
    cache = tmp_path / "cache"
    first, hits, _ = play(package, cache)
    assert hits == "hits 0"
    again, hits, _ = play(package, cache)
    assert again == first
    assert hits == "hits 1"
    seen = {first}
    for file, old, new in (
        ("ladder/games/pasa/rules.py", "(1 << 17) | (1 << 18)", "(1 << 17) | (1 << 16)"),
        ("bots/pasa/levels.py", "per_turn: int = 75", "per_turn: int = 15"),
        ("ladder/games/pasa/view.py", "- 1]", "- 2]"),
        ("ladder/seeds.py", "_ROUNDS = 8", "_ROUNDS = 6"),
    ):
        path = package / file
        text = path.read_text()
        assert text.count(old) >= 1
        times = path.stat()
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        edited, _, _ = play(package, cache)
        assert edited not in seen, f"{file}: the edit was not seen"
        seen.add(edited)
        path.write_text(text)
    assert play(package, cache)[:2] == (first, "hits 1")


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_degrades_with_one_line(tmp_path: Path) -> None:
    usable, _, _ = play(ROOT, tmp_path / "cache")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    results, hits, told = play(ROOT, blocked / "cache2")
    assert results == usable
    assert hits == "hits 0"
    assert told.count("compiling anew in every process") >= 1


def test_a_full_disk_takes_no_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(free=2**20)
    monkeypatch.setenv("LADDER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("ladder.jit.shutil.disk_usage", lambda place: full)
    with pytest.warns(UserWarning, match="cannot write"), cache_folder("on-a-full-disk") as usable:
        assert not usable


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("LADDER_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.warns(UserWarning, match="cannot write"), cache_folder("homeless") as usable:
        assert not usable


def test_no_play_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import config

    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    with pytest.raises(InfraError, match="NUMBA_DISABLE_JIT is set"):
        register_rules()
