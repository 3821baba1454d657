"""Text forms: round trips and refusals."""

from __future__ import annotations

from collections import Counter
from math import factorial, prod

import pytest

from ladder.errors import IllegalActionError, ParseError
from ladder.games.pasha import GAME, deal, row, text, words
from tests.games.pasha.scripted import Script, random_match


def test_every_mark_reads_back() -> None:
    for mark in range(row.NUM_MARKS):
        assert words.parse_mark(words.mark_text(mark)) == mark


def test_every_deal_reads_back() -> None:
    texts = {words.decks_text(action) for action in range(deal.DECK_WAYS)}
    for shown in texts:
        assert words.decks_text(words.parse_decks(shown)) == shown


def test_every_deal_of_nine_cards_is_equally_likely() -> None:
    """Rule 3: three cards of -1 fall into the decks as three different cards would."""
    counted = Counter(words.decks_text(action) for action in range(deal.DECK_WAYS))
    for shown, ways in counted.items():
        alike = [deck.count("-1") for deck in shown.split("|")]
        assert ways == factorial(3) // prod(map(factorial, alike))
    assert sum(counted.values()) == factorial(9) // 6**3


def test_every_order_of_tiles() -> None:
    orders = []
    for action in range(deal.TILES_WAYS):
        cells = [0] * row.WIDTH
        deal.shuffle_tiles(cells, 1, action)
        orders.append(tuple(cells[row.ORDER + 3 : row.ORDER + 6]))
    assert sorted(orders) == [(3, 4, 5), (3, 5, 4), (4, 3, 5), (4, 5, 3), (5, 3, 4), (5, 4, 3)]


def test_states_read_back() -> None:
    state, _, _ = random_match(5)
    read = text.parse_state(text.state_text(state))
    assert read["scores"] == [GAME.score(state, seat) for seat in range(4)]
    assert read["round"] == [9]


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ([], "jump 3", "an action begins with"),
        ([], "play 6", "written as in"),
        ([], "play 3", r"asked for a card: legal are play 7, play 5, play 4 \(rule 4.B.1"),
        (["play 7"], "roll 1 2", r"5 dice are in the air: legal is 'roll' with 5 faces \(rule 4"),
        (["play 7"], "roll 1 2 3 4 7", "up to five faces"),
        (["play 7", "roll 1 2 3 4 5"], "keep 6", "only dice on the table can be kept: 1 2 3 4 5"),
        (["play 7", "roll 1 2 3 4 5"], "reroll 1 1", r"and 20 more \(rule 4.B.2\)"),
        (["play 7", "roll 1 2 3 4 5"], "lamp yes", "asked for dice to reroll"),
        (["play 7", "roll 1 1 2 2 5", "stop", "stop"], "column 5", r"column 2, column 1 \(rule 2"),
        (["play 7", "roll 1 1 2 2 5", "stop", "stop"], "stop", r"\(rule 2"),
    ],
)  # fmt: skip
def test_refusals_name_the_legal_actions_and_the_rule(
    lines: list[str], line: str, says: str
) -> None:
    script = Script().do(*lines)
    with pytest.raises((ParseError, IllegalActionError), match=says):
        script.do(line)


def test_refusals_of_the_deal() -> None:
    state = GAME.new_state(GAME.table(seats=3))
    GAME.start(state)

    def refused(line: str, says: str) -> None:
        with pytest.raises((ParseError, IllegalActionError), match=says):
            text.parse_action(state, line)

    refused("first 3", r"legal is first 0 \| 1 \| 2 \(rule 3\)")
    GAME.advance(state, 0)
    refused("deck 1 7 5 4 | 3 2 1 | -1 -1 -1", r"legal is 'deck 0 a b c")
    refused("deck 0 7 5 4 | 3 2 2 | -1 -1 -1", "nine cards in all")
    for _ in range(3):
        GAME.advance(state, 0)
    refused("tiles A 1 2 3", r"legal are tiles A 1 2 4, tiles A 1 4 2, .* \(rule 3\)")


def test_the_same_action_is_the_same_int_everywhere() -> None:
    assert row.play(-1) == 0
    assert row.cube_change(3, 1) != row.cube_change(3, -1)
    assert row.changed_to(row.cube_change(3, -1)) == 2
    assert row.rerolled(row.cube_reroll(words.parse_dice("1 6"))) == words.parse_dice("1 6")
