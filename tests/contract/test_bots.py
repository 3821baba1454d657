"""What every shipped or installed bot must hold: a new one is tested with no edit here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from ladder.bots import Listing, LoadedBot, available, load_word
from ladder.games import get_game
from ladder.games.bot import bind, param_defaults, param_types, params_tuple, policy_of
from ladder.games.nodes import CHANCE, END, LUCK, NODE, SEAT, WAYS

LISTINGS, WARNINGS = available()


@pytest.fixture(params=LISTINGS, ids=lambda listing: f"{listing.game}-{listing.name}")
def listing(request: pytest.FixtureRequest) -> Listing:
    return request.param  # type: ignore[no-any-return]


@cache
def fuzzed_views(game_name: str) -> list[tuple[int, Any, list[int]]]:
    """(decision kind, view, legal actions) from random play at every number of seats."""
    game = get_game(game_name)
    views: list[tuple[int, Any, list[int]]] = []
    for seats in range(2, game.max_seats + 1):
        for number in range(12):
            luck = Random(f"{game_name} {seats} {number}")
            state = game.new_state(game.table(seats=seats))
            game.start(state)
            while state[NODE] != END:
                if state[NODE] == CHANCE:
                    action = luck.randrange(state[WAYS])
                else:
                    state[LUCK] = luck.choice([0, 1, 2**31 - 1, luck.randrange(2**31)])
                    legal = game.legal(state)
                    row = list(game.observe(state, [0] * len(state)))
                    views.append((state[NODE], game.view(row), legal))
                    action = luck.choice(legal)
                game.advance(state, action)
    return views


def asker(loaded: LoadedBot, **params: Any) -> Callable[[int, Any], Any]:
    """(kind, view) -> answer, of a new bot object."""
    game = get_game(loaded.bot.game)
    given = {**dict(loaded.params), **params}
    made = bind(loaded.bot, given)()

    def ask(kind: int, view: Any) -> Any:
        method = game.decisions[kind]
        policy = policy_of(loaded.bot, method)
        if policy is not None:
            return policy(view, params_tuple(loaded.bot, given))
        return getattr(made, method)(view)

    return ask


def test_no_plug_in_is_broken() -> None:
    assert WARNINGS == []


def test_names_are_told_apart() -> None:
    names = [(listing.game, listing.name) for listing in LISTINGS]
    assert len(set(names)) == len(names)


def test_it_says_what_it_does_on_one_line(listing: Listing) -> None:
    assert listing.about
    assert listing.about[0].isupper()
    assert len(listing.about) <= 100
    assert listing.about.endswith(".")


def test_it_is_named_by_its_name_and_by_its_reference(listing: Listing) -> None:
    by_name = load_word(listing.name, listing.game)
    by_reference = load_word(listing.reference, listing.game)
    assert by_name.version == by_reference.version
    assert by_name.about == listing.about


def test_its_version_survives_a_journey(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    assert len(loaded.version) == 16
    assert loaded.portable().load().version == loaded.version


def test_its_params_are_typed_and_have_defaults_of_their_type(listing: Listing) -> None:
    bot = load_word(listing.name, listing.game).bot
    assert listing.params == param_defaults(bot)
    for name, kind in param_types(bot).items():
        assert type(getattr(bot, name)) is kind, name
    annotated = {
        name
        for each in bot.__mro__
        for name, hint in inspect.get_annotations(each).items()
        if "ClassVar" not in str(hint)
    }
    assert annotated <= set(param_types(bot)), "an annotated attribute that is no param"


def has_memory(loaded: LoadedBot) -> bool:
    methods = get_game(loaded.bot.game).decisions.values()
    return any(policy_of(loaded.bot, method) is None for method in methods)


def own_match(loaded: LoadedBot, seats: int, number: int) -> list[int]:
    """The answers of a bot that sits at seat 0 of a match among random ones."""
    game = get_game(loaded.bot.game)
    luck = Random(f"own {seats} {number}")
    ask = asker(loaded)
    state = game.new_state(game.table(seats=seats))
    game.start(state)
    answers = []
    while state[NODE] != END:
        if state[NODE] == CHANCE:
            action = luck.randrange(state[WAYS])
        else:
            state[LUCK] = luck.randrange(2**31)
            action = luck.choice(game.legal(state))
            if state[SEAT] == 0:
                row = list(game.observe(state, [0] * len(state)))
                action = ask(state[NODE], game.view(row))
                assert type(action) is int
                assert action in game.legal(state)
                answers.append(action)
        game.advance(state, action)
    return answers


def test_it_acts_legally_in_matches_of_its_own(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    for seats in range(2, get_game(listing.game).max_seats + 1):
        first = own_match(loaded, seats, 1)
        assert first
        assert own_match(loaded, seats, 1) == first, "the same views, other answers"


def test_it_acts_legally_at_any_view(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    if has_memory(loaded):
        pytest.skip("has a memory: its views are those of its own matches")
    ask = asker(loaded)
    for kind, view, legal in fuzzed_views(listing.game):
        answer = ask(kind, view)
        assert type(answer) is int
        assert answer in legal, view


def test_it_is_deterministic(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    if has_memory(loaded):
        pytest.skip("has a memory: its views are those of its own matches")
    one, other = asker(loaded), asker(loaded)
    for kind, view, _ in fuzzed_views(listing.game):
        assert one(kind, view) == other(kind, view)


def test_a_policy_remembers_nothing(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    if has_memory(loaded):
        pytest.skip("has a memory")
    ask = asker(loaded)
    views = fuzzed_views(listing.game)
    forward = [ask(kind, view) for kind, view, _ in views]
    backward = [ask(kind, view) for kind, view, _ in reversed(views)]
    assert forward == backward[::-1]


@pytest.mark.parametrize("value", [-(10**9), -1, 0, 1, 10**9])
def test_it_is_legal_whatever_its_numbers(listing: Listing, value: int) -> None:
    loaded = load_word(listing.name, listing.game)
    numbers = {name: kind(value) for name, kind in param_types(loaded.bot).items() if kind is int}
    if not numbers:
        pytest.skip("has no numbers")
    ask = asker(loaded, **numbers)
    for kind, view, legal in fuzzed_views(listing.game)[::7]:
        assert ask(kind, view) in legal
