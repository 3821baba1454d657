"""PettingZoo's own tests, and a policy made with the environment at a table of the ladder."""

from __future__ import annotations

import contextlib
import io
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, performance_benchmark, seed_test

from ladder.errors import SpecError
from ladder.rl import DiceGameEnv, aec_env
from ladder.store import Store
from tests.running import run_text

TABLES = [
    ("pasa", {}), ("pasa", {"seats": 2, "chips": 60, "rounds": 5}),
    ("pasa", {"seats": 6, "sizes": [5, 7, 50]}), ("pasha", {"seats": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("game", "options"), TABLES, ids=str)
def test_api(game: str, options: dict[str, object]) -> None:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore", UserWarning)
        api_test(aec_env(game, **options), num_cycles=60)


@pytest.mark.parametrize("game", ["pasa", "pasha"])
def test_seed(game: str) -> None:
    seed_test(partial(aec_env, game), num_cycles=40)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["pasa", "pasha"])
def test_performance(game: str) -> None:
    performance_benchmark(aec_env(game))


def played(env: DiceGameEnv, seed: int) -> dict[str, float]:
    """One match of random legal actions; the rewards it ends with."""
    env.reset(seed=seed)
    draws = np.random.default_rng(seed)
    ends: dict[str, float] = {}
    for name in env.agent_iter():
        seen, reward, is_over, _, _ = env.last()
        if is_over:
            ends[name] = reward
            env.step(None)
            continue
        assert seen is not None
        legal = np.flatnonzero(seen["action_mask"])
        assert len(legal) >= 2
        env.step(int(draws.choice(legal)))
    return ends


@pytest.mark.parametrize("game", ["pasa", "pasha"])
def test_rewards_add_up_to_nought(game: str) -> None:
    env = aec_env(game, seats=3)
    for seed in range(5):
        rewards = played(env, seed)
        assert set(rewards) == {"seat_0", "seat_1", "seat_2"}
        assert sum(rewards.values()) == pytest.approx(0)
        assert max(rewards.values()) > 0
    assert played(env, 3) == played(env, 3)


def test_an_illegal_action_is_refused() -> None:
    env = aec_env("pasa")
    env.reset(seed=1)
    for action in (None, -1, 99):
        with pytest.raises(ValueError, match="is not legal"):
            env.step(action)
    with pytest.raises(SpecError, match="seats"):
        aec_env("pasa", seats=9)


TRAINED = """\
import numpy as np
from ladder.games.pasa import PasaBot
from ladder.rl import Callback

def greedy(observation):
    return int(np.flatnonzero(observation["action_mask"])[-1])

class Trained(Callback, PasaBot):
    act = staticmethod(greedy)
"""


def test_a_policy_enters_a_ladder(tmp_path: Path) -> None:
    (tmp_path / "trained.py").write_text(TRAINED)
    db = tmp_path / "x.duckdb"
    run_text(
        "name: rl\ngame: pasa\ntable: {seats: 2, rounds: 1}\nseed: 1\n"
        f'entrants: ["{tmp_path}/trained.py:Trained", Most]\n'
        "format: {kind: round_robin, matches: 20}\n",
        db,
    )
    store = Store(db)
    assert store.query("SELECT sum(faults) FROM results") == [(0,)]
    # It is Most in all but name: seats swapped on other dice, both win about half.
    assert store.query("SELECT count(*) FROM results WHERE bot = 'Trained'") == [(20,)]
