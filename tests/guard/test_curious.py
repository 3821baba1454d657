"""Bots that remember and bots that compute: what each tier and a secret key leave them."""

import json

import pytest

from ladder.bots import load_word
from ladder.execute import Workers
from ladder.games import get_game
from ladder.lab.compare import compare
from ladder.lab.questions import question_of_words
from ladder.store import Store
from tests.conftest import ROOT
from tests.running import run_text

BOTS = f"{ROOT}/tests/guard/curious_bots.py"
PASA = get_game("pasa")
TABLE = {"seats": 2, "rounds": 1, "chips": 60}
SPEC = """\
name: curious
game: pasa
table: {table}
seed: {seed}
tier: {tier}
entrants: [Easy, {bot}]
format: {{kind: round_robin, matches: {matches}}}
"""


def found(db):
    """What the bot said that it found out."""
    return [row[0] for row in Store(db).query("SELECT detail FROM faults WHERE cause = 'illegal'")]


def spec_of(bot, *, seed=5, tier="sandbox", matches=2):
    entrant = json.dumps(bot)
    return SPEC.format(table=json.dumps(TABLE), seed=seed, tier=tier, bot=entrant, matches=matches)


@pytest.mark.parametrize(("tier", "remembers"), [("sandbox", True), ("strict", False)])
def test_memory_in_a_tournament(tier, remembers, tmp_path):
    """Kept from match to match in `sandbox`, as is said; a fresh child a match in `strict`."""
    run_text(spec_of({"bot": f"{BOTS}:Learner"}, tier=tier, matches=20), tmp_path / "x.duckdb")
    told = found(tmp_path / "x.duckdb")
    assert bool(told) is remembers
    assert all("REMEMBERS" in each for each in told)


@pytest.mark.parametrize(("tier", "remembers"), [(None, False), ("sandbox", True)])
def test_memory_where_matches_are_mirrored(tier, remembers):
    """The twin of a match would tell its dice: strangers forget unless the asker says otherwise."""
    asked = {"matches": 500}
    question, _ = question_of_words(
        [f"{BOTS}:Learner", "Easy"], ["Least"], "pasa", "seats=2,rounds=1,chips=60", 5, asked
    )
    assert question.tier == "strict"
    if tier is not None:
        object.__setattr__(question, "tier", tier)
    answer = compare(question, Workers(0))
    assert bool(answer.figures["Learner"].faults) is remembers
    assert answer.figures["Easy"].faults == 0


def cracker(**more):
    params = {
        "rival": load_word("Easy", "pasa").version,
        "table": PASA.table.model_validate(TABLE).canonical(),
        "rules": PASA.version,
    }
    return {"bot": f"{BOTS}:Cracker", "params": params, **more}


@pytest.mark.parametrize("is_trusted", [True, False])
@pytest.mark.parametrize(("seed", "is_cracked"), [(77, True), ("secret", False)])
def test_a_small_seed_is_found_out_and_a_secret_key_is_not(seed, is_cracked, is_trusted, tmp_path):
    """No wall helps where the seed is public and small: the key has to be secret."""
    run_text(spec_of(cracker(trusted=is_trusted), seed=seed), tmp_path / "x.duckdb")
    told = found(tmp_path / "x.duckdb")
    assert len(told) == (2 if is_cracked else 0)  # a match at each seat
    assert all("CRACKED 77" in each for each in told)
