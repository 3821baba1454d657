"""What an author is told of a fault in a contained run, and that honest matches do not notice."""

import json
import shlex

from ladder.store import Store
from tests.conftest import ROOT
from tests.running import rows_of, run_text

HOSTILE = f"{ROOT}/tests/isolate/faulty_bots.py"
SPEC = """\
name: mixed company
game: pasa
table: {seats: 2, rounds: 1, chips: 60}
seed: 5
limits: {decision_ms: 60, wall_ms: 400}
entrants: [Easy, Hard, BOTS]
format: {kind: round_robin, matches: 2}
"""


def honest(db):
    """The matches of the two that came with Ladder."""
    return [
        row
        for row in Store(db).query("SELECT match, digest FROM matches ORDER BY match")
        if row[0] in {r[0] for r in rows_of(db) if r[2] == "Easy"}
        and row[0] in {r[0] for r in rows_of(db) if r[2] == "Hard"}
    ]


def test_hostile_bots_in_a_run(tmp_path, ladder):
    alone, mixed = tmp_path / "alone.duckdb", tmp_path / "mixed.duckdb"
    run_text(SPEC.replace(", BOTS", ""), alone)
    bots = ", ".join(f"'{HOSTILE}:{name}'" for name in ("OsExit", "Loop", "Raises"))
    outcome = run_text(SPEC.replace("BOTS", bots), mixed)
    assert honest(alone) == honest(mixed) != []
    faults = {row.bot: row.tally.faults for row in outcome.rows}
    assert faults["Easy"] == faults["Hard"] == 0
    ended = ladder("standings", "--faults", "--db", mixed, "--json")
    told = {each["bot"]: each for each in json.loads(ended.out)}
    assert {bot: each["cause"] for bot, each in told.items()} == {
        "OsExit": "crash", "Loop": "timeout_cpu", "Raises": "exception",
    }  # fmt: skip
    assert "60 allowed" in told["Loop"]["detail"]
    assert "KeyError" in told["Raises"]["detail"]
    for each in told.values():
        assert each["version"]
        words = shlex.split(each["replay"])
        assert words[:3] == ["ladder", "replay", each["match"]]
        assert ladder(*words[1:]).code == 0
    shown = ladder("standings", "--faults", "--db", mixed).out
    assert "to replay it: ladder replay " in shown
