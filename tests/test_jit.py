"""Compiled code from the cache is never taken for other code of the same name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from ladder.games import get_game
from ladder.games.pasa import PasaView
from ladder.games.view import seen
from ladder.stepper import loop_of

PLAY = """
import sys
from ladder.bots import load
from ladder.games import get_game
from ladder.playout import compile_bots, play_compiled
from ladder.record import Segment

game = get_game("pasa")
for name in sys.argv[1:]:
    bots = [load(name, {}, "pasa"), load("Uniform", {}, "pasa")]
    segments = [Segment((0, 1), b"", 0, 200)]
    record = play_compiled(game, game.table(seats=2), bots, compile_bots(game, bots), segments,
                           [bytes(32)])
    print(name, record.scores[:, 0].sum(), record.digest.sum())
"""


def test_functions_made_at_run_time_have_names_of_their_own() -> None:
    views = [seen(PasaView, ("lead",)), seen(PasaView, ("pile",)), seen(PasaView)]
    assert len({view.__qualname__ for view in views}) == 3
    runs = {loop_of(name).run.__qualname__ for name in ("pasa", "pasha")}
    assert len(runs) == 2
    assert get_game("pasa").advance.__qualname__ == "advance"


def test_policies_compiled_in_separate_processes_play_in_one(tmp_path: Path) -> None:
    """Each process numbers its functions from one; a third reads the code of both."""
    checked = {**os.environ, "LADDER_CACHE_DIR": str(tmp_path), "LADDER_CHECKED": "1"}

    def play(*names: str) -> list[str]:
        command = [sys.executable, "-c", PLAY, *names]
        done = subprocess.run(command, env=checked, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    apart = [line for name in ("Hard", "CopyTheLeader", "Least") for line in play(name)]
    assert play("Hard", "CopyTheLeader", "Least") == apart


def test_a_checked_row_is_not_indexed_from_its_end() -> None:
    """Unchecked it would read what stands before it; so the parity suites play with checks."""
    from ladder import rows

    @numba.njit(boundscheck=True)
    def get(array: Any, index: int) -> int:
        return rows.row(array)[index]  # type: ignore[no-any-return]

    @numba.njit(boundscheck=True)
    def put(array: Any, index: int) -> None:
        rows.row(array)[index] = 7

    array = np.arange(3)
    assert [get(array, index) for index in range(3)] == [0, 1, 2]
    for index in (-1, 3):
        with pytest.raises(IndexError):
            get(array, index)
        with pytest.raises(IndexError):
            put(array, index)
    put(array, 1)
    assert array.tolist() == [0, 7, 2]


def test_a_slice_of_a_row_is_an_array_like_any() -> None:
    from ladder import rows

    @numba.njit(boundscheck=True)
    def last_of_two(array: Any) -> int:
        return rows.row(array)[0:2][-1]  # type: ignore[no-any-return]

    assert last_of_two(np.arange(5, 9)) == 6


def test_a_read_only_row_cannot_be_written_to() -> None:
    from ladder import rows

    @numba.njit
    def put(array: Any) -> None:
        rows.read_only(array)[0] = 7

    with pytest.raises(numba.core.errors.TypingError):
        put(np.arange(3))
