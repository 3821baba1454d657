"""The shipped Pasha bots: no faults under any option, policies that compile, worths by hand."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bots.pasha import last_round, levels, simple, worth
from ladder import seeds
from ladder.driver import LocalPlayer, play
from ladder.games.bot import policy_of
from ladder.games.nodes import CHANCE, END, NODE
from ladder.games.pasha import GAME, board, row, words
from ladder.games.view import seen
from ladder.jit import register_rules, rule
from ladder.record import Segment
from tests.games.pasha.scripted import Script, random_action

BOTS = [simple.Random, simple.Simple, levels.Easy, levels.Medium, levels.Hard, levels.Master]
COMPILED = [simple.Random, simple.Simple, levels.Easy]
TABLES: list[dict[str, Any]] = [
    {"seats": 2},
    {"seats": 3, "cube_reroll": "one", "special_cards": {}},
    {"seats": 5},
    {"seats": 4, "cubes_between_rolls": True, "special_cards": {1: "lamp", 2: "extra_throw"}},
]


def shares(bots: list[Any], matches: int, **options: Any) -> tuple[list[float], int]:
    """Win shares by bot, each in each seat equally often, and the faults."""
    seats = len(bots)
    table = GAME.table(seats=seats, **options)
    players = [LocalPlayer(GAME, bot, {}) for bot in bots]
    segments = [
        Segment(tuple((i + turn) % seats for i in range(seats)), b"", 0, matches // seats)
        for turn in range(seats)
    ]
    keys = [seeds.deal_key(seeds.run_key(3), b"%d" % turn) for turn in range(seats)]
    record = play(GAME, table, players, segments, keys)
    won = [0.0] * seats
    for n, places in enumerate(record.places.tolist()):
        lineup = segments[n // (matches // seats)].lineup
        first = [lineup[seat] for seat, place in enumerate(places) if place == 1]
        for bot in first:
            won[bot] += 1 / len(first)
    return [w / len(record.places) for w in won], int(record.faults.sum())


@pytest.mark.parametrize("options", TABLES)
@pytest.mark.parametrize("bot", BOTS)
def test_no_faults(bot: Any, options: dict[str, Any]) -> None:
    rest = {name: value for name, value in options.items() if name != "seats"}
    _, faults = shares([bot] * options["seats"], options["seats"], **rest)
    assert faults == 0


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_levels_are_ordered(seats: int) -> None:
    order = [levels.Easy, levels.Medium, levels.Hard, levels.Master]
    for weaker, stronger in pairwise(order):
        (share, *_), _ = shares([stronger, *[weaker] * (seats - 1)], 800 * seats)
        assert share > 1.05 / seats


@pytest.mark.slow
def test_master_against_the_lower_levels() -> None:
    """PASHA item 4: twice its fair share against three Easy, 1.3 times against three Medium."""
    (against_easy, *_), _ = shares([levels.Master, *[levels.Easy] * 3], 1200)
    (against_medium, *_), _ = shares([levels.Master, *[levels.Medium] * 3], 1200)
    assert against_easy > 2 / 4
    assert against_medium > 1.3 / 4


@pytest.mark.parametrize("bot", COMPILED)
def test_policies_compile_and_agree(bot: Any) -> None:
    from numba import njit

    policies = {kind: policy_of(bot, method) for kind, method in GAME.decisions.items()}
    assert None not in policies.values()
    view_of = seen(GAME.view)
    for policy in policies.values():
        rule(policy)  # type: ignore[type-var]
    register_rules()
    card, reroll, lamp, cube, column = (policies[kind] for kind in range(2, 7))

    @njit(boundscheck=True)
    def decide(cells):  # type: ignore[no-untyped-def]
        view = view_of(cells)
        if cells[0] == 2:
            return card(view, 0)
        if cells[0] == 3:
            return reroll(view, 0)
        if cells[0] == 4:
            return lamp(view, 0)
        if cells[0] == 5:
            return cube(view, 0)
        return column(view, 0)

    rng = random.Random(2)
    state = GAME.new_state(GAME.table(seats=3))
    GAME.start(state)
    spare = [0] * row.VIEW_WIDTH
    while state[NODE] != END:
        if state[NODE] != CHANCE:
            state[4] = rng.randrange(2**31)
            cells = list(GAME.observe(state, spare))
            assert decide(np.array(cells)) == policies[state[NODE]](GAME.view(cells), 0)  # type: ignore[misc]
        GAME.advance(state, random_action(state, rng))


def cells_of(script: Script) -> Any:
    return np.array(script.view())


def test_the_worth_of_marks_for_the_last_seat() -> None:
    """Nothing is open: the worth is the card of the rank, less the cards of -1 for the worst."""
    low = "-1 1 2 | -1 3 4 | -1 5 7"
    script = Script(low, seats=3).turn(-1, "5 5 5 1 2").turn(7, "3 3 3 3 1")
    nobody = np.zeros(row.NUM_MARKS)
    cubes = np.zeros(3)
    marks = worth.worth_of_marks(cells_of(script), 5, 1, nobody, cubes, worth.Weights(0.0, 0.0))
    for c in (0, 1):
        assert marks[c, board.BESIDE] == -1
        assert marks[c, words.parse_mark("three 5")] == 5  # on top of the first disc
        assert marks[c, words.parse_mark("four 2")] == 5
        assert marks[c, words.parse_mark("four 3")] == 7


def test_the_worth_of_a_tile() -> None:
    script = Script(seats=2, tiles={"A": "2 1 4"}).turn(7, "1 2 3 4 5").do("play 5")
    nobody, cubes = np.zeros(row.NUM_MARKS), np.zeros(3)
    with_tiles = worth.worth_of_marks(script_cells := cells_of(script.do("roll 1 2 3 4 5")), 5, 0,
                                      nobody, cubes, worth.Weights(0.0, 1.0))  # fmt: skip
    without = worth.worth_of_marks(script_cells, 5, 0, nobody, cubes, worth.Weights(0.0, 0.0))
    gained = with_tiles - without
    assert {board.mark_column(m) for m in range(37) if gained[0, m] > 0} == {2}
    assert gained[0, words.parse_mark("pair 2")] == 3


def test_expected_cards_by_hand() -> None:
    """One seat to play that holds -1 and 7 alike: half a card of -1, and half the time the 7."""
    script = Script(seats=2).do("play 5", "roll 1 2 3 4 5")
    cells = cells_of(script)
    cells[row.REMAINING + 1] = row.one(0) + row.one(8)
    rewards = np.zeros(row.MAX_SEATS)
    assert worth.expected_cards(cells, 5, rewards) == 0.5
    assert rewards[:2].tolist() == [6.0, 2.5]  # best: 7 or 5; second: 5 or nothing


def test_the_last_seat_of_the_last_round_knows_what_wins() -> None:
    script = Script(seats=2)
    while script.state[row.ROUND] < 8:
        card = int(script.legal[0].split()[1]) if script.asked == "card" else 0
        script.turn(card, "1 2 3 4 5")
    script.turn(0, "2 2 3 4 5").do("roll 1 2 3 4 5")
    cells = cells_of(script)
    cells[row.CARDS : row.CARDS + 2] = [20, 20]
    later = np.zeros(row.NUM_MARKS)
    seat = script.seat
    won = last_round.win_chances(cells, 5, later)
    assert won[5, board.BESIDE] < 0.5  # the -1 of the round goes to the worst
    assert won[5, 36] > 0.9
    assert cells[row.CUBES + seat] == 5
