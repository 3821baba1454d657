"""Compiled and interpreted rules agree cell by cell, indices checked (rule 8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ladder.games.nodes import CHANCE, END, LEGAL_AT, NODE, NUM_LEGAL, WAYS
from ladder.games.pasha import GAME, row, rules, scoring
from ladder.jit import register_rules
from tests.games.pasha.scripted import random_match


@pytest.fixture(scope="module")
def replay() -> Any:
    from numba import njit

    register_rules()
    start, advance, observe, standing = rules.start, rules.advance, rules.observe, scoring.standing

    @njit(boundscheck=True)
    def replay(state, out, actions, trace):  # type: ignore[no-untyped-def]
        start(state)
        for i in range(actions.size):
            if state[0] > 1:
                observe(state, out)
                trace[i] = out
            advance(state, actions[i])
        return standing(state, 0)

    return replay


OPTIONS: list[dict[str, Any]] = [
    {"seats": 2},
    {"seats": 5, "cube_reroll": "one"},
    {"seats": 3, "cubes_between_rolls": True, "special_cards": {-1: "lamp", 7: "extra_throw"}},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_parity(replay: Any, options: dict[str, Any]) -> None:
    table = GAME.table(**options)
    for seed in range(20):
        state, actions, _ = random_match(seed, **options)
        compiled = np.array(GAME.new_state(table))
        trace = np.zeros((len(actions), GAME.view_width(table)), np.int64)
        spare = np.zeros(GAME.view_width(table), np.int64)
        standing = replay(compiled, spare, np.array(actions), trace)
        assert compiled.tolist() == state
        assert standing == scoring.standing(state, 0)
        again, out = GAME.new_state(table), spare.tolist()
        GAME.start(again)
        for action, seen in zip(actions, trace.tolist(), strict=True):
            if again[NODE] > 1:
                assert GAME.observe(again, out) == seen
            GAME.advance(again, action)


def test_every_option_reaches_every_kind_of_decision() -> None:
    kinds = set()
    table = GAME.table(**OPTIONS[2])
    _, actions, _ = random_match(1, **OPTIONS[2])
    state = GAME.new_state(table)
    GAME.start(state)
    for action in actions:
        kinds.add(state[NODE])
        if state[NODE] == CHANCE:
            assert action < state[WAYS]
        else:
            assert action in state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]]
        GAME.advance(state, action)
    assert state[NODE] == END
    assert kinds >= {CHANCE, row.CARD, row.REROLL, row.LAMP, row.CUBE}
