"""The page of a ladder has its nights."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder.page.gather import gather
from ladder.store import Store
from tests.conftest import Command
from tests.look.test_page import browse, needs_browser
from tests.nightly.season import SIZES, play_season, truth

SPEC = """\
name: nights
game: pasa
table: {seats: 2, rounds: 1, chips: 60}
seed: 3
entrants: [Easy, Hard, Least, Most]
format: {kind: ladder, budget: {matches: 60}, rounds: 2, floor: 4}
"""


def test_history_by_night(ladder: Command, tmp_path: Path) -> None:
    spec, db = tmp_path / "nights.yaml", tmp_path / "nights.duckdb"
    spec.write_text(SPEC)
    words = ("nightly", spec, "--db", db, "--workers", 0)
    for more in ((), ("--again",)):
        ended = ladder(*words, *more)
        assert ended.code == 0, ended.err
    facts = gather(Store(db), None, "nights")
    assert len({row["at"] for row in facts.history}) == 2
    assert len(facts.history) == 8
    now = {row["bot"]: row["mu"] for row in facts.history[4:]}
    assert {row.bot: row.mu for row in facts.rated.rows} == now
    out = tmp_path / "r.html"
    assert ladder("report", "--ladder", "nights", "--db", db, "--out", out).code == 0
    assert "Rating history" in out.read_text()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@needs_browser
def test_a_season_of_thirty_nights_with_forty_bots(ladder: Command, tmp_path: Path) -> None:
    db, out = tmp_path / "x.duckdb", tmp_path / "r.html"
    play_season(db, SIZES["forty"])
    assert len(truth(SIZES["forty"])) == 40
    assert ladder("report", "--ladder", "season", "--db", db, "--out", out).code == 0
    assert out.stat().st_size < 3 * 2**20
    dom, console = browse(out, tmp_path)
    assert console == ""
    assert "1 to 25 of 41 bots" in dom  # the forty, and the bot of the spec
    assert "from 2026-01-01 to 2026-01-30" in dom
