"""What every shipped or installed bot must hold: a new one is tested with no edit here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
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


Decision = tuple[int, Any, list[int], Any]  # kind, view, legal actions, answer


def decisions(loaded: LoadedBot, *, matches: int = 3, **params: Any) -> Iterator[Decision]:
    """What a bot is asked and answers in matches against random play, from every seat.

    A bot may remember within its match, so it is asked as in play: a new object a match, and its
    answers are what is done. Its luck is anything, the ends of its range often.
    """
    game = get_game(loaded.bot.game)
    for seats in range(2, game.max_seats + 1):
        table = game.table(seats=seats)
        for number in range(matches):
            luck = Random(f"{game.name} {seats} {number}")
            ask = asker(loaded, **params)
            own = number % seats
            state, width = game.new_state(table), game.view_width(table)
            game.start(state)
            while state[NODE] != END:
                if state[NODE] == CHANCE:
                    action = luck.randrange(state[WAYS])
                else:
                    legal = game.legal(state)
                    action = luck.choice(legal)
                    if state[SEAT] == own:
                        state[LUCK] = luck.choice([0, 1, 2**31 - 1, luck.randrange(2**31)])
                        row = game.observe(state, [0] * width)
                        view = game.view(list(row)[:width])
                        action = ask(state[NODE], view)
                        yield state[NODE], view, legal, action
                game.advance(state, action)


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


def test_it_plays_legally_and_returns_plain_integers(listing: Listing) -> None:
    asked = 0
    for _, view, legal, answer in decisions(load_word(listing.name, listing.game)):
        assert type(answer) is int
        assert answer in legal, view
        asked += 1
    assert asked > 20


def test_it_is_deterministic(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    one, other = (list(decisions(loaded, matches=1)) for _ in range(2))
    assert one == other


def test_a_policy_remembers_nothing(listing: Listing) -> None:
    loaded = load_word(listing.name, listing.game)
    game = get_game(listing.game)
    if any(policy_of(loaded.bot, method) is None for method in game.decisions.values()):
        pytest.skip("has a memory")
    asked = list(decisions(loaded, matches=1))
    ask = asker(loaded)
    for kind, view, _, answer in reversed(asked):
        assert ask(kind, view) == answer


@pytest.mark.parametrize("value", [-(10**9), -1, 0, 1, 10**9])
def test_it_is_legal_whatever_its_numbers(listing: Listing, value: int) -> None:
    loaded = load_word(listing.name, listing.game)
    numbers = {name: kind(value) for name, kind in param_types(loaded.bot).items() if kind is int}
    if not numbers:
        pytest.skip("has no numbers")
    for _, _, legal, answer in decisions(loaded, matches=1, **numbers):
        assert answer in legal
