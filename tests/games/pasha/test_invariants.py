"""What holds in every match, over random play and all options (rule 8 among it)."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.games.nodes import CHANCE, END, FORCED, LEGAL_AT, NODE, NUM_LEGAL, SEAT, WAYS
from ladder.games.pasha import GAME, row, scoring, text
from tests.games.pasha.oracle import Oracle
from tests.games.pasha.scripted import random_action, random_match

SPECIALS = [
    {1: "extra_throw", 2: "lamp"},
    {1: "lamp", 2: "extra_throw"},
    {},
    {-1: "lamp", 7: "lamp"},
]


@st.composite
def options(draw: st.DrawFn) -> dict[str, object]:
    seats = draw(st.integers(2, 5))
    return {
        "seats": seats,
        "first_player": draw(st.none() | st.integers(0, seats - 1)),
        "special_cards": draw(st.sampled_from(SPECIALS)),
        "cube_reroll": draw(st.sampled_from(["any", "one"])),
        "cubes_between_rolls": draw(st.booleans()),
    }


seeds = st.integers(0, 2**32)


@given(seed=seeds, options=options())
@settings(max_examples=60, deadline=None)
def test_scores_from_the_log_equal_the_engines(seed: int, options: dict[str, object]) -> None:
    state, _, lines = random_match(seed, **options)
    table = GAME.table(**options)
    oracle = Oracle(table, lines)
    seats = range(table.seats)
    assert [scoring.score(state, seat) for seat in seats] == oracle.scores
    assert [state[row.CUBES + seat] for seat in seats] == oracle.cubes
    assert state[row.WHITE] == oracle.white
    assert state[row.DISCARDED] == oracle.discarded
    at = [row.DECKS + seat * row.NUM_CARDS for seat in seats]
    assert [state[a : a + row.NUM_CARDS] for a in at] == oracle.plays


@given(seed=seeds, options=options())
@settings(max_examples=60, deadline=None)
def test_cards_and_cubes_are_conserved(seed: int, options: dict[str, object]) -> None:
    """Rule 8: the piles sum to 19 a seat plus the cards of -1 discarded; no cube appears."""
    state, _, lines = random_match(seed, **options)
    table = GAME.table(**options)
    seats = range(table.seats)
    cards = sum(state[row.CARDS + s] - state[row.MINUS + s] for s in seats)
    assert cards == 19 * table.seats + state[row.DISCARDED]
    assert sum(state[row.MINUS + s] for s in seats) + state[row.DISCARDED] == 3 * table.seats
    spent = sum(line.startswith("cube") for line in lines)
    held = sum(state[row.CUBES + s] for s in seats)
    assert held + spent + state[row.WHITE] == row.OWN_CUBES * table.seats + row.WHITE_CUBES
    assert all(state[row.REMAINING + s] == 0 for s in seats)


@given(seed=seeds, options=options())
@settings(max_examples=25, deadline=None)
def test_every_node_is_well_formed(seed: int, options: dict[str, object]) -> None:
    rng = random.Random(seed)
    state = GAME.new_state(GAME.table(**options))
    GAME.start(state)
    seats = state[row.SEATS]
    while state[NODE] != END:
        tiles = [tile for tile in state[row.ABOVE : row.ABOVE + row.NUM_TILES] if tile]
        assert len(tiles) <= state[row.ROUND] + 1 <= row.NUM_TILES
        if state[NODE] == CHANCE:
            assert state[WAYS] >= 2
            if state[row.STEP] == row.ROLL_STEP:
                assert row.num_dice(state[row.DICE]) + state[row.ROLLING] == row.NUM_DICE
                assert state[WAYS] == 6 ** state[row.ROLLING]
        else:
            legal = state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]]
            assert 2 <= len(legal) == len(set(legal)) <= row.MAX_LEGAL
            assert 0 <= state[SEAT] < seats
            assert all(action >= 0 for action in legal)
        action = random_action(state, rng)
        line = text.action_text(state, action)
        again = text.parse_action(state, line)
        assert text.action_text(state, again) == line
        if state[NODE] != CHANCE:
            assert again == action
        GAME.advance(state, action)
    assert state[FORCED] >= 3 * seats  # at least each deck's last card


@given(seed=seeds, options=options())
@settings(max_examples=40, deadline=None)
def test_a_match_replays_from_its_actions(seed: int, options: dict[str, object]) -> None:
    state, actions, lines = random_match(seed, **options)
    again = GAME.new_state(GAME.table(**options))
    GAME.start(again)
    for action in actions:
        GAME.advance(again, action)
    assert again == state
    scripted = GAME.new_state(GAME.table(**options))
    GAME.start(scripted)
    for line in lines:
        GAME.advance(scripted, text.parse_action(scripted, line))
    assert scripted == state


@given(seed=seeds, seats=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_hands_come_deck_by_deck(seed: int, seats: int) -> None:
    """Rule 4.B.1: rounds 1 to 3 play the first deck, 4 to 6 the second, 7 to 9 the third."""
    state, _, lines = random_match(seed, seats=seats)
    for seat in range(seats):
        line = next(line for line in lines if line.startswith(f"deck {seat} "))
        decks = line.removeprefix(f"deck {seat} ").split(" | ")
        at = row.DECKS + seat * row.NUM_CARDS
        for i, deck in enumerate(decks):
            plays = state[at + 3 * i : at + 3 * i + 3]
            assert sorted(plays) == sorted(map(int, deck.split()))
