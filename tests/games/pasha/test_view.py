"""What a seat sees, and what it does not (rule 7)."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.games.nodes import CHANCE, END, FORCED, NODE, SEAT
from ladder.games.pasha import GAME, board, row, rules
from ladder.games.pasha.row import count
from tests.games.pasha.scripted import Script, random_action


def hide_otherwise(state: list[int], rng: random.Random) -> list[int]:
    """The same table with what the deciding seat cannot know shuffled."""
    other = list(state)
    played_now = 1 if state[NODE] != row.CARD else 0
    for seat in range(state[row.SEATS]):
        done = state[row.ROUND] + (state[row.PLAYED + seat] != 0)
        if seat == state[SEAT]:
            done = rules.hand_end(state[row.ROUND] + played_now)  # the own hand is known
        at = row.DECKS + seat * row.NUM_CARDS
        hidden = other[at + done : at + row.NUM_CARDS]
        rng.shuffle(hidden)
        other[at + done : at + row.NUM_CARDS] = hidden
    for first in (0, 3, 6):
        at = max(row.ORDER + first, row.ORDER + state[row.ROUND] + 1)
        end = row.ORDER + first + 3
        hidden = other[at:end]
        rng.shuffle(hidden)
        other[at : at + len(hidden)] = hidden
    return other


@given(seed=st.integers(0, 2**32), seats=st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_a_view_does_not_change_when_hidden_things_do(seed: int, seats: int) -> None:
    rng = random.Random(seed)
    table = GAME.table(seats=seats)
    state = GAME.new_state(table)
    GAME.start(state)
    width = GAME.view_width(table)
    spare, other_spare = [0] * width, [7] * width
    while state[NODE] != END:
        if state[NODE] != CHANCE:
            other = hide_otherwise(state, rng)
            view = tuple(GAME.observe(state, spare)[:width])
            assert view == tuple(GAME.observe(other, other_spare)[:width])
        GAME.advance(state, random_action(state, rng))


def test_what_stands_in_a_view() -> None:
    script = Script("7 -1 3 | 1 2 -1 | 5 -1 4", seats=3).turn(7, "2 2 2 5 5").turn(5, "6 6 1 2 3")
    script.do("play 7", "roll 2 3 4 4 5")
    view = script.view()
    assert (view.seat, view.seats, view.leader, view.seats_to_play) == (2, 3, 0, 0)
    assert view.faces == (2, 3, 4, 4, 5)
    assert [count(view.dice, face) for face in range(1, 7)] == [0, 1, 1, 2, 1, 0]
    assert view.hand == (5, 4)
    assert view.played == (7, 5, 7)
    assert view.marks == (board.mark(board.FULL_HOUSE, 2), board.mark(board.PAIR, 6), -1)
    assert view.best_mark == board.mark(board.FULL_HOUSE, 2)
    assert view.mark == board.mark(board.PAIR, 4)
    assert (view.rolls_left, view.lamp_left, view.cubes) == (2, 0, 5)
    assert [count(view.remaining[0], card + 1) for card in (-1, 1, 7)] == [3, 1, 0]
    assert view.rounds_left == 9
    assert (view.score, view.lead) == (5, 0)
    assert [row.tile_column(tile) for tile in view.tiles] == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert view.turned_up == 1
    assert view.num_legal == len(view.legal) == 24
    assert view.legal[0] == row.STOP


def test_a_card_decision_shows_no_dice() -> None:
    view = Script().view()
    assert view.dice == 0
    assert view.faces == (0, 0, 0, 0, 0)
    assert view.legal == tuple(map(row.play, view.hand))
    assert view.best_mark == -1


def test_a_view_does_not_tell_whose_card_was_forced() -> None:
    """A hand of three cards of -1 looks like any other from which a -1 is played."""
    script = Script("-1 -1 -1 | 7 5 4 | 3 2 1").turn(0, "1 2 3 4 5")
    assert script.state[FORCED] == 1
    assert script.view()[FORCED] == 0
    other = Script("-1 5 4 | 7 -1 -1 | 3 2 1").turn(-1, "1 2 3 4 5")
    assert script.view() == other.view()
