"""Compiled play is the driver's play, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.bots import available, load
from ladder.driver import LocalPlayer, play
from ladder.games import GAMES, get_game
from ladder.playout import compile_bots, play_compiled
from ladder.record import COLUMNS, Segment
from ladder.seeds import deal_key, run_key

KEY = deal_key(run_key(11), b"parity")
COMPILED = {
    game: [
        listing.name
        for listing in available(game)[0]
        if not compile_bots(get_game(game), [load(listing.name, {}, game)]).refused
    ]
    for game in GAMES
}


def assert_parity(
    game_name: str, options: dict, names: list[str], matches: int, first: int
) -> None:
    """Play a line-up both ways and compare every column and fault."""
    game = get_game(game_name)
    table = game.table(seats=len(names), **options)
    bots = [load(name, {}, game_name) for name in names]
    code = compile_bots(game, bots)
    segments = [Segment(tuple(range(len(names))), b"x", first, matches)]
    fast = play_compiled(game, table, bots, code, segments, [KEY])
    players = [LocalPlayer(game, bot.bot, dict(bot.params)) for bot in bots]
    plain = play(game, table, players, segments, [KEY])
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name), err_msg=name)
    assert not fast.fault_rows
    assert not plain.fault_rows


def test_every_shipped_pasa_bot_compiles() -> None:
    shipped = {listing.name for listing in available("pasa")[0]}
    python_only = {"Perfect"}  # reads a table from disk
    assert shipped - python_only == set(COMPILED["pasa"])


@pytest.mark.parametrize("name", COMPILED["pasa"])
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_parity_of_every_bot_at_every_number_of_seats(name: str, seats: int) -> None:
    others = ["Uniform", "Easy", "Most", "Least", "Hard"]
    assert_parity("pasa", {}, [name, *others[: seats - 1]], 500, 0)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_parity_at_any_table(data: st.DataObject) -> None:
    seats = data.draw(st.integers(2, 6))
    least = data.draw(st.integers(1, 20))
    most = data.draw(st.integers(least, 60))
    options = {
        "chips": data.draw(st.integers(1, 300)),
        "rounds": data.draw(st.integers(1, 4)),
        "least": least,
        "most": most,
        "first_thrower": data.draw(st.integers(0, seats - 1)),
        "fifteen_cut_percent": data.draw(st.integers(0, 100)),
    }
    names = data.draw(st.lists(st.sampled_from(COMPILED["pasa"]), min_size=seats, max_size=seats))
    assert_parity("pasa", options, names, 80, data.draw(st.integers(0, 2**40)))


@pytest.mark.slow
def test_parity_with_every_index_checked() -> None:
    """The same suite with numba's bounds checks in every rule: no rule reads past a row."""
    checked = {**os.environ, "LADDER_CHECKED": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
