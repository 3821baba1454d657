"""Golden playthroughs: whole matches as text, which no change may move unnoticed.

`LADDER_UPDATE_GOLDEN=1 pytest tests/games/pasha/test_golden.py` writes them anew; a change of
behaviour also raises the game's `version`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladder import seeds
from ladder.games.nodes import CHANCE, END, LEGAL_AT, NODE, NUM_LEGAL, SEAT, WAYS
from ladder.games.pasha import GAME, text

HERE = Path(__file__).parent / "golden"
MATCHES = {
    "two_seats": {"seats": 2},
    "five_seats": {"seats": 5},
    "all_options": {
        "seats": 3, "first_player": 2, "special_cards": {-1: "lamp", 7: "extra_throw"},
        "cube_reroll": "one", "cubes_between_rolls": True,
    },
}  # fmt: skip


def playthrough(options: dict[str, object]) -> str:
    """A uniform match from its seed: every line, and the table after each mark and at the end."""
    table = GAME.table(**options)
    key = seeds.deal_key(seeds.run_key(1), table.canonical().encode())
    source = seeds.new_source(key, 0, table.seats)
    state = GAME.new_state(table)
    GAME.start(state)
    lines = [f"# {table.canonical()}"]
    seat = state[SEAT]
    while state[NODE] != END:
        if state[NODE] == CHANCE:
            action = seeds.draw(source, state[WAYS])
        else:
            luck = seeds.draw_luck(source, state[SEAT])
            action = state[state[LEGAL_AT] + (luck * state[NUM_LEGAL] >> seeds.LUCK_BITS)]
        lines.append(text.action_text(state, action))
        GAME.advance(state, action)
        if state[SEAT] != seat or state[NODE] == END:
            seat = state[SEAT]
            lines.append(f"# {text.state_text(state)}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", MATCHES)
def test_golden(name: str) -> None:
    path = HERE / f"{name}.txt"
    shown = playthrough(MATCHES[name])
    if os.environ.get("LADDER_UPDATE_GOLDEN"):
        path.write_text(shown)
    assert shown == path.read_text()
