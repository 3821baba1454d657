"""Text forms: what each looks like, and that parsing undoes formatting."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.errors import IllegalActionError, ParseError
from ladder.games.nodes import CHANCE, END, NODE
from ladder.games.pasa import GAME, PasaTable, rules, text
from tests.games.pasa.mat import Mat
from tests.games.pasa.tables import lucks, tables


def test_throws_round_trip() -> None:
    for throw in range(64):
        assert text.parse_throw(text.throw_text(throw)) == throw
        assert text.parse_throw(text.throw_text(throw).replace(" ", "-")) == throw


def test_kinds_round_trip() -> None:
    for kind, name in ((rules.PARO, "paro"), (rules.TIRO, "tiro"), (rules.BACHYO, "bachyo")):
        assert text.kind_text(kind) == name
        assert text.parse_kind(name) == kind


@given(st.integers(1, 10**9))
def test_stakes_round_trip(stake: int) -> None:
    assert text.parse_stake(text.stake_text(stake)) == stake


@settings(deadline=None, max_examples=60)
@given(tables, lucks)
def test_states_and_actions_round_trip_all_through_a_match(table: PasaTable, luck: Random) -> None:
    state = GAME.new_state(table)
    GAME.start(state)
    while True:
        shown = text.parse_state(text.state_text(state))
        assert shown["piles"] == state[rules.PILES :][: table.seats]
        assert shown["stakes"] == state[rules.STAKES :][: table.seats]
        assert shown["thrower"] == [state[rules.THROWER]]
        assert shown["left"] == [rules.turns_left(state)]
        if state[NODE] == END:
            return
        action = luck.randrange(64) if state[NODE] == CHANCE else luck.choice(GAME.legal(state))
        assert text.parse_action(state, text.action_text(state, action)) == action
        GAME.advance(state, action)


def test_what_a_throw_is_called() -> None:
    assert text.throw_words(text.parse_throw("6 6 1")) == "6-6-1, thirteen, tike terha: paro"
    assert text.throw_words(text.parse_throw("2 2 2")) == "2-2-2, six, halhale: tiro"
    assert text.throw_words(text.parse_throw("1 5 6")) == "1-5-6, twelve: bachyo"
    assert text.throw_words(text.parse_throw("6 6 6")) == "6-6-6, eighteen: paro"
    assert text.throw_words(text.parse_throw("1 1 1")) == "1-1-1, three: tiro"


@pytest.mark.parametrize("wrong", ["", "1", "1 2", "1 2 3", "1 2 5 6", "a b c", "11 2 5", "0 2 5"])
def test_no_throw(wrong: str) -> None:
    with pytest.raises(ParseError, match="a throw is three faces out of 1 2 5 6"):
        text.parse_throw(wrong)


@pytest.mark.parametrize("wrong", ["", "stake", "stake five", "stake -5", "stake 5.0", "stake 5 5"])
def test_no_stake(wrong: str) -> None:
    with pytest.raises(ParseError, match="a stake is written as in 'stake 20'"):
        text.parse_stake(wrong)


def test_no_kind_and_no_state() -> None:
    with pytest.raises(ParseError, match="there are bachyo, paro, tiro"):
        text.parse_kind("pero")
    with pytest.raises(ParseError):
        text.parse_state("left 3")


def test_an_illegal_action_is_refused_naming_what_is_legal_and_the_rule() -> None:
    mat = Mat(seats=3, chips=100, rounds=1)
    with pytest.raises(IllegalActionError) as error:
        text.parse_action(mat.state, "stake 7")
    assert str(error.value) == (
        "seat 1 is to stake: legal are stake 5, stake 10, stake 20, stake 50 (rule 4)"
        " (got 'stake 7')"
    )
    with pytest.raises(IllegalActionError, match="seat 1 is to stake"):
        text.parse_action(mat.state, "throw 1 1 1")
    mat.stake(5, 5)
    with pytest.raises(IllegalActionError, match=r"legal is throw F F F \(rule 5\)"):
        text.parse_action(mat.state, "stake 5")
    mat.throw("2 2 2").stake_least().throw("2 2 2").stake_least().throw("2 2 2")
    with pytest.raises(IllegalActionError, match=r"the match is over.*\(rule 6\)"):
        text.parse_action(mat.state, "throw 1 1 1")
