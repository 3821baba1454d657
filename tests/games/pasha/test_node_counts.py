"""How many nodes of each kind lie behind a position, counted once and pinned.

The two smallest trees are worked out by hand.
"""

from __future__ import annotations

from collections import Counter

from ladder.games.nodes import CHANCE, END, LEGAL_AT, NODE, NUM_LEGAL, SEAT, WAYS
from ladder.games.pasha import GAME
from tests.games.pasha.scripted import Script


def nodes_of_turn(script: Script) -> Counter[str]:
    """The nodes of the rest of this seat's turn, by kind; chance is walked only for one die."""
    counts: Counter[str] = Counter()
    seat = script.seat

    def walk(state: list[int]) -> None:
        if state[NODE] == END or state[SEAT] != seat:
            counts["over"] += 1
            return
        if state[NODE] == CHANCE:
            counts["roll"] += 1
            outcomes = range(state[WAYS]) if state[WAYS] <= 6 else ()
        else:
            counts[GAME.decisions[state[NODE]]] += 1
            outcomes = state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]]
        for action in outcomes:
            after = list(state)
            GAME.advance(after, action)
            walk(after)

    walk(list(script.state))
    return counts


def test_one_cube_and_one_die_by_hand() -> None:
    """Five sixes, one cube, `one`: stop; 6-1; or reroll a six with six ends. Rule 4.B.3."""
    script = Script(cube_reroll="one").do("play 7", "roll 1 6 6 6 6", "stop")
    script.do("cube 1+1", "cube 2+1", "cube 3+1", "cube 4+1")
    # dice 5 6 6 6 6, one cube: stop, 5+1, 5-1, 6-1, reroll 5, reroll 6
    # ends: stop 1; 5+1 1; 5-1 1; 6-1 one full house (5 5 6 6 6) 1; rerolls 12, of which
    # none shows two pairs (6 6 6 6 x or 5 6 6 6 x): 16 in all
    assert nodes_of_turn(script) == {"cube": 1, "roll": 2, "over": 16}


def test_two_pairs_by_hand() -> None:
    """No cubes, last roll over: one decision, two ends. Rule 2."""
    script = Script().do("play 7", "roll 1 1 2 2 6", "stop")
    script.do("cube 6-1", "cube 5-1", "cube 4+1", "cube 5+1")
    script.do("cube 6-1")
    assert script.asked == "column"
    assert nodes_of_turn(script) == {"column": 1, "over": 2}


def test_two_cubes() -> None:
    for reroll, counts in COUNTS.items():
        script = Script(cube_reroll=reroll).do("play 7", "roll 1 2 3 5 6", "stop")
        script.do("cube 1+1", "cube 2+1", "cube 3-1")
        assert nodes_of_turn(script) == counts


def test_two_cubes_after_a_lamp() -> None:
    script = Script("2 1 3 | 7 5 4 | -1 -1 -1").do("play 2", "roll 6 6 6 6 6")
    script.do("reroll 6", "roll 1", "stop", "lamp no", "cube 1+1", "cube 2+1", "cube 3+1")
    assert nodes_of_turn(script) == {"cube": 16, "roll": 172, "column": 17, "over": 288}


# Rolls of more than one die are counted, not walked.
COUNTS = {
    "one": {"cube": 32, "roll": 119, "column": 226, "over": 1148},
    "any": {"cube": 32, "roll": 680, "column": 226, "over": 1148},
}
