"""Sound runs pass; hidden randomness, memory and changed bytes are found and named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ladder.proof.audit import chi_square_above, fairness
from tests.conftest import Command
from tests.running import run_text

SUSPICIOUS = "tests/look/suspicious_bots.py:"


@pytest.fixture(autouse=True)
def _less_of_what_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cause that is looked for costs some processes, and dice are counted throw by throw."""
    monkeypatch.setattr("ladder.proof.verify.MOST_BLAMED", 1)
    monkeypatch.setattr("ladder.proof.verify.DICE_MATCHES", {"pasa": 40, "pasha": 4})


def verified(ladder: Command, db: Path, *words: object) -> tuple[int, dict[str, Any]]:
    ended = ladder("verify", "--db", db, "--json", *words)
    return ended.code, json.loads(ended.out)


def checks_of(value: dict[str, Any]) -> dict[str, bool]:
    return {check["name"]: check["is_ok"] for check in value["checks"]}


@pytest.mark.parametrize("run", ["seen", "board"])
def test_a_sound_run_passes(ladder: Command, played: Path, run: str) -> None:
    code, value = verified(ladder, played, "--run", run, "--all")
    assert code == 0, value
    assert value["replayed"] == value["matches"]
    assert value["blames"] == []
    assert {"sums", "digest", "seats", "ratings", "replays", "conserved", "faces"} <= set(
        checks_of(value)
    )
    assert ("kinds" in checks_of(value)) == (run == "seen")


@pytest.mark.slow
def test_on_ray_as_in_this_process(ladder: Command, played: Path, tmp_path: Path) -> None:
    """Workers find what we find: nothing where all is sound, and who does not replay."""
    words = ("--run", "seen", "--all", "--workers")
    here, there = (verified(ladder, played, *words, count) for count in (0, 2))
    assert there == here
    assert (there[0], there[1]["replayed"]) == (0, 120)
    db = suspicious_store(tmp_path, "HiddenRandom", 40)
    code, value = verified(ladder, db, "--all", "--workers", 2)
    assert code == 1
    assert value["different"] > 0
    assert (value["blames"][0]["bot"], value["blames"][0]["cause"]) == (
        "HiddenRandom", "nondeterministic",
    )  # fmt: skip


SLOW_START = """\
read -r line
i=0; while ((i < 200000)); do i=$((i + 1)); done
echo '{"protocol":1}'
while read -r line; do
  case $line in '{"decide":'*) legal=${line#*'"legal":['}; echo "${legal%%[],]*}" ;; esac
done
"""


def test_with_the_limits_it_was_played_with(ladder: Command, tmp_path: Path) -> None:
    """A bot that needs more than the default would be another one under the default."""
    (tmp_path / "slow.sh").write_text(SLOW_START)
    db = tmp_path / "x.duckdb"
    spec = (
        "name: s\ngame: pasa\ntable: {{seats: 2, rounds: 1, chips: 60}}\nseed: 1\n"
        "limits: {{start_ms: {0}}}\nentrants: [{{command: [bash, {1}/slow.sh]}}, Easy]\n"
        "format: {{kind: round_robin, matches: 2}}\n"
    )
    run_text(spec.format(1, tmp_path), db)
    (found,) = duckdb.connect(str(db)).execute("SELECT DISTINCT cause FROM faults").fetchall()
    assert found == ("init_failed",)
    code, value = verified(ladder, db, "--all")
    assert code == 0, value
    assert value["replayed"] == 2


def test_a_sample_is_a_sample(ladder: Command, played: Path) -> None:
    code, value = verified(ladder, played, "--run", "seen", "--sample", 17)
    assert (code, value["replayed"]) == (0, 17)


def suspicious_store(tmp_path: Path, bot: str, matches: int) -> Path:
    db = tmp_path / "s.duckdb"
    run_text(
        "name: s\ngame: pasa\ntable: {seats: 2, rounds: 1, chips: 60}\nseed: 1\n"
        f'entrants: ["{SUSPICIOUS}{bot}", Easy]\n'
        f"format: {{kind: round_robin, matches: {matches}}}\n",
        db,
    )
    return db


@pytest.mark.parametrize(
    ("bot", "cause"),
    [
        ("HiddenRandom", "nondeterministic"),
        pytest.param("Clock", "nondeterministic", marks=pytest.mark.slow),
        pytest.param("Remembers", "remembers", marks=pytest.mark.slow),
    ],
)
def test_a_bot_that_does_not_replay_is_named(
    ladder: Command, tmp_path: Path, bot: str, cause: str
) -> None:
    db = suspicious_store(tmp_path, bot, 40)
    if bot == "Remembers":
        ladder("verify", "--db", db)  # the module of this process has another count now
    code, value = verified(ladder, db, "--all")
    assert code == 1
    assert checks_of(value)["replays"] is False
    assert checks_of(value)["sums"] is True
    blame = value["blames"][0]
    assert (blame["bot"], blame["cause"]) == (bot, cause)
    if cause == "nondeterministic":
        assert "stake" in blame["detail"]
        assert blame["move"] >= 1


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("UPDATE t_matches SET digest = xor(digest, 4) WHERE {one}", "sums"),
        ("UPDATE t_seats SET score = score + 1 WHERE {one} AND seat = 0", "chips"),
        ("UPDATE t_ledger SET digest = xor(digest, 1) WHERE first = 0", "digest"),
        ("DELETE FROM t_matches WHERE {one}", "sums"),
        ("UPDATE t_ratings SET matches = matches + 1", "ratings"),
        pytest.param("UPDATE t_seats SET score = 0", "mean_change", marks=pytest.mark.slow),
    ],
)
def test_a_changed_store_is_seen(
    ladder: Command, played: Path, tmp_path: Path, change: str, check: str
) -> None:
    db = tmp_path / "flipped.duckdb"
    shutil.copy(played, db)
    with duckdb.connect(str(db)) as raw:
        found = raw.execute(
            """SELECT pairing_id FROM t_run_pairings JOIN t_runs USING (run)
               WHERE name = 'seen' LIMIT 1"""
        ).fetchone()
        assert found
        raw.execute(change.format(one=f"pairing_id = {found[0]} AND repetition = 1"))
    code, value = verified(ladder, db, "--run", "seen", "--sample", 1)
    assert code == 1
    assert checks_of(value)[check] is False


def test_a_flipped_digest_is_no_bots_fault(ladder: Command, played: Path, tmp_path: Path) -> None:
    db = tmp_path / "flipped.duckdb"
    shutil.copy(played, db)
    with duckdb.connect(str(db)) as raw:
        raw.execute("UPDATE t_matches SET digest = xor(digest, 4) WHERE repetition = 1")
    code, value = verified(ladder, db, "--run", "board", "--all")
    assert code == 1
    assert {blame["cause"] for blame in value["blames"]} == {"stored"}
    assert {blame["bot"] for blame in value["blames"]} == {None}


def test_chi_square_against_tables() -> None:
    """Abramowitz and Stegun, table 26.8: the upper 1 % and 5 % points."""
    for freedom, point, chance in ((2, 9.210, 0.01), (3, 7.815, 0.05), (5, 15.086, 0.01)):
        assert chi_square_above(point, freedom) == pytest.approx(chance, rel=0.05)
    assert not fairness("x", ["a", "b"], [600, 400], [1, 1]).is_ok
    assert fairness("x", ["a", "b"], [510, 490], [1, 1]).is_ok


def test_mistakes(ladder: Command, played: Path, tmp_path: Path) -> None:
    assert ladder("verify", "--db", played, "--all", "--sample", 3).code == 2
    assert "has no run" in ladder("verify", "--db", played, "--run", "no").err
    assert "no such store" in ladder("verify", "--db", tmp_path / "none.duckdb").err
