"""The page of a ladder has its nights."""

from __future__ import annotations

from pathlib import Path

from ladder.page.gather import gather
from ladder.store import Store
from tests.conftest import Command

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
