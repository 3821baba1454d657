"""Play and exact solution agree; a solved table plays as it promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

SPEC = """
name: check
game: pasa
table: {seats: 2, chips: 100, rounds: 1}
seed: 5
entrants: [Most, Least]
format: {kind: lineup, bots: [Most, Least], matches: 20000}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_verify_exact_plays_and_solves_every_rotation(ladder: Command, tmp_path: Path) -> None:
    (tmp_path / "check.yaml").write_text(SPEC)
    ended = ladder("verify", "--exact", "check.yaml", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["is_ok"]
    assert len(found["seats"]) == 4
    assert all(abs(seat["errors"]) < 4 for seat in found["seats"])


def test_verify_exact_takes_a_line_up_only(ladder: Command, tmp_path: Path) -> None:
    (tmp_path / "check.yaml").write_text(
        SPEC.replace("{kind: lineup, bots: [Most, Least], matches: 20000}",
                     "{kind: round_robin, matches: 20}")
    )  # fmt: skip
    ended = ladder("verify", "--exact", "check.yaml")
    assert ended.code == 2
    assert "should be lineup" in ended.err


def test_perfect_plays_the_table_that_was_saved(ladder: Command, tmp_path: Path) -> None:
    """What the solver promises the best reply to `Least` at each seat, it wins."""
    table = ("--table", "chips=100,rounds=1")
    for seat, words in enumerate((("best", "Least"), ("Least", "best"))):
        assert ladder("exact", *words, *table, "--save", f"t-{seat}.table").code == 0
    exact = [
        json.loads(ladder("exact", *words, *table, "--json").out)["win_share"][seat]
        for seat, words in enumerate((("best", "Least"), ("Least", "best")))
    ]
    bot = "bots.pasa.perfect:Perfect:file=t-{seat}.table"
    ended = ladder("match", bot, "Least", *table, "--matches", "2000", "--by-seat", "--json")
    assert ended.code == 0, ended.err
    standings = json.loads(ended.out)["standings"]
    [perfect] = [row for row in standings if row["bot"].startswith("Perfect")]
    assert perfect["faults"] == 0
    for played, promised in zip(perfect["win_share_by_seat"], exact, strict=True):
        assert abs(played - promised) < 4 * (promised * (1 - promised) / 1000) ** 0.5
    assert ladder("exact", "Most", "Least", *table, "--save", "x.table").code == 2
