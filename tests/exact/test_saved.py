"""Solved tables: the stored values are those of the rules stepped one staking further."""

import random

import numpy as np
import pytest

from ladder.errors import StoreError
from ladder.exact import BEST
from ladder.exact.saved import load_values, save_values, solve_values
from ladder.games.nodes import CHANCE, END, NODE
from ladder.games.pasa import PasaTable, rules
from ladder.games.pasa.table import new_state
from tests.exact.exact_bots import Uniform

TABLE = PasaTable(seats=3, chips=120, rounds=2)
SEATS = {"best": BEST, "uniform": Uniform}
NAMES = ["uniform", "best", "uniform"]


@pytest.fixture(scope="module")
def values():
    return solve_values(TABLE, [SEATS[name] for name in NAMES])


def openings(values, matches):
    """Rows in which a staking opens, from matches of stakes and throws drawn at random."""
    draws = random.Random(1)
    for _ in range(matches):
        row = new_state(TABLE)
        rules.start(row)
        while row[NODE] != END:
            if sum(row[rules.STAKES : rules.STAKES + 3]) == 0:
                yield list(row)
            if row[NODE] == CHANCE:
                rules.advance(row, draws.choice([0, 63]))
            else:
                rules.advance(row, draws.choice([5, values.best_stake(row)]) if row[1] == 1 else 5)


def test_a_stored_value_is_that_of_the_next_staking(values):
    seen = list(openings(values, 20))
    assert len(seen) > 100
    for row in seen:
        assert values.shares(row) == pytest.approx(values._at_turn(row), abs=1e-12)


def test_a_file_gives_the_same_stakes(values, tmp_path):
    path = tmp_path / "table.values"
    save_values(path, values, NAMES)
    loaded = load_values(path, SEATS.__getitem__)
    assert isinstance(loaded._values, np.memmap)
    for row in openings(values, 5):
        assert loaded.shares(row) == pytest.approx(values.shares(row), abs=0)


def test_a_file_in_the_order_of_an_older_version_is_refused(values, tmp_path):
    path = tmp_path / "old.values"
    save_values(path, values, NAMES)
    header, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(header.replace(b'"order": 2', b'"order": 1') + b"\n" + rest)
    with pytest.raises(StoreError, match="older version"):
        load_values(path, SEATS.__getitem__)


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other"
    path.write_text("nothing\n")
    with pytest.raises(StoreError, match="not a table of exact values"):
        load_values(path, SEATS.__getitem__)
