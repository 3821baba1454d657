"""What every game must give, whatever its rules."""

from __future__ import annotations

import inspect
from random import Random
from typing import Any

import pytest

from ladder.games import GAMES, Game, get_game
from ladder.games.nodes import CHANCE, END, LEGAL_AT, LUCK, NODE, NUM_LEGAL, SEAT, TERMINATION, WAYS
from ladder.stepper import MAX_KINDS
from tests.conftest import ROOT


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    return get_game(request.param)


def opened(game: Game, seats: int) -> list[int]:
    """A match at its first node."""
    state = game.new_state(game.table(seats=seats))
    game.start(state)
    return state


def chosen(game: Game, state: list[int], luck: Random) -> int:
    """Any action of a node."""
    if state[NODE] == CHANCE:
        return luck.randrange(state[WAYS])
    state[LUCK] = luck.randrange(2**31)
    return luck.choice(game.legal(state))


def seat_counts(game: Game) -> range:
    return range(2, game.max_seats + 1)


def test_it_has_golden_playthroughs(game: Game) -> None:
    assert list((ROOT / "tests/games" / game.name / "golden").glob("*.txt"))


def test_it_says_what_it_is(game: Game) -> None:
    assert game.name in GAMES
    assert game.version >= 1
    assert game.title
    assert game.summary
    assert game.score_key in ("piles", "scores")
    assert len(set(game.terminations)) == len(game.terminations) > 0


def test_every_table_option_has_a_default_and_says_what_it_is(game: Game) -> None:
    table = game.table()  # type: ignore[call-arg]
    for name, field in game.table.model_fields.items():
        assert field.description, name
    assert game.table.model_validate(table.model_dump(mode="json")) == table
    assert table.canonical() == game.table().canonical()  # type: ignore[call-arg]


def test_every_decision_is_a_method_of_the_bot_base(game: Game) -> None:
    assert game.bot.game == game.name
    for kind, method in game.decisions.items():
        assert CHANCE < kind < MAX_KINDS
        assert callable(getattr(game.bot, method))


def test_every_attribute_of_a_view_says_what_it_is(game: Game) -> None:
    attributes = game.view.attributes()
    assert "luck" in attributes
    for name in attributes:
        assert inspect.getdoc(getattr(game.view, name)), name


def test_matches_end_and_every_node_is_as_nodes_says(game: Game) -> None:
    for seats in seat_counts(game):
        for number in range(5):
            luck = Random(f"{game.name} {seats} {number}")
            state = opened(game, seats)
            width = len(state)
            while state[NODE] != END:
                if state[NODE] == CHANCE:
                    assert 0 < state[WAYS] <= 2**31
                else:
                    assert state[NODE] in game.decisions
                    assert 0 <= state[SEAT] < seats
                    assert state[NUM_LEGAL] > 1  # a forced move is not asked
                    legal = game.legal(state)
                    assert len(set(legal)) == len(legal) == state[NUM_LEGAL]
                    assert state[LEGAL_AT] + state[NUM_LEGAL] <= width
                game.advance(state, chosen(game, state, luck))
                assert len(state) == width
            assert 0 <= state[TERMINATION] < len(game.terminations)
            assert game.num_seats(state) == seats


def test_a_match_replays_from_its_actions_alone(game: Game) -> None:
    for seats in seat_counts(game):
        luck = Random(f"replay {game.name} {seats}")
        state = opened(game, seats)
        actions: list[tuple[int, str]] = []
        while state[NODE] != END:
            action = chosen(game, state, luck)
            text = game.text.action_text(state, action)
            assert game.text.state_text(state)
            assert game.text.node_text(state)
            actions.append((action, text))
            game.advance(state, action)
        again = opened(game, seats)
        for action, text in actions:
            # Another number may be the same action (two equal cards that change places).
            parsed = game.text.parse_action(again, text)
            assert game.text.action_text(again, parsed) == text
            by_number, by_text = list(again), again
            game.advance(by_number, action)
            game.advance(by_text, parsed)
            assert by_text == by_number
        again[LUCK] = state[LUCK]
        assert again == state


def test_what_a_bot_sees_does_not_change_under_its_hands(game: Game) -> None:
    """A view is a value: the match going on does not alter one that a bot kept."""
    state = opened(game, 2)
    luck = Random("kept")
    kept: list[tuple[Any, tuple[int, ...]]] = []
    while state[NODE] != END and len(kept) < 20:
        if state[NODE] != CHANCE:
            row = list(game.observe(state, [0] * len(state)))
            view = game.view(row)
            kept.append((view, tuple(view)))
        game.advance(state, chosen(game, state, luck))
    assert all(tuple(view) == then for view, then in kept)
