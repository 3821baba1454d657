"""What the solver refuses, and that the reason is said."""

from typing import ClassVar

import pytest

from bots.pasa import levels, policies
from ladder.errors import SpecError
from ladder.exact import BEST, estimate, solve
from ladder.exact.policies import check_luck, policy_for
from ladder.games.bot import policy_of
from ladder.games.pasa import PasaBot, PasaTable
from tests.exact.exact_bots import Easy, Least, Uniform

TWO = PasaTable(seats=2, chips=20, rounds=1)


def coin(view):
    return view.luck % 2


class Undeclared(PasaBot):
    @staticmethod
    def stake(view, params):
        return view.least_stake if coin(view) else view.most_stake


class Coin(Undeclared):
    luck_ways: ClassVar[int] = 2


class Dishonest(Uniform):
    luck_ways: ClassVar[int] = 1


class LooksAtCover(PasaBot):
    @staticmethod
    def stake(view, params):
        return view.least_stake if view.cover > 100 else view.most_stake


class Remembers(PasaBot):
    def stake(self, view):
        return view.least_stake


class Illegal(PasaBot):
    @staticmethod
    def stake(view, params):
        return view.most_stake + 1


def refusal(table, seats):
    with pytest.raises(SpecError) as caught:
        solve(table, seats)
    return str(caught.value)


def test_luck_must_be_declared():
    assert "Undeclared: it uses view.luck" in refusal(TWO, [Undeclared, Least])


def test_declarations_are_tried():
    for bot in (Uniform, Easy, Coin):
        check_luck(policy_for(bot), PasaTable())
    assert "Dishonest: luck_ways is 1, but luck" in refusal(TWO, [Dishonest, Least])


def shipped():
    for module in (levels, policies):
        for bot in vars(module).values():
            if isinstance(bot, type) and issubclass(bot, PasaBot) and bot is not PasaBot:
                yield bot


@pytest.mark.parametrize("bot", list(shipped()), ids=lambda bot: bot.__name__)
def test_shipped_policies_declare_their_luck(bot):
    if policy_of(bot, "stake") is not None:
        for table in (PasaTable(), PasaTable(seats=3, chips=37, least=1, most=12)):
            check_luck(policy_for(bot), table)


def test_the_mat_is_found_in_the_source():
    assert not policy_for(Easy).reads_mat
    assert policy_for(LooksAtCover).reads_mat


def test_memory_between_stakes_is_refused():
    assert "Remembers: its stake is a method" in refusal(TWO, [Remembers, Least])


def test_tables_that_do_not_fit():
    assert "at 2 to 4 (got 6)" in refusal(PasaTable(seats=6, chips=1000), [Least] * 6)
    cut = PasaTable(seats=2, fifteen_cut_percent=5)
    assert "fifteen_cut_percent" in refusal(cut, [Least] * 2)
    assert "one policy a seat (got 1 for 2 seats)" in refusal(TWO, [Least])


def test_illegal_stakes_name_the_position():
    said = refusal(TWO, [Illegal, Least])
    assert "Illegal: stakes 11 at seat 0 with piles [30, 10], turn 1, thrower 1" in said
    assert "legal are [5, 10]" in said


def test_memory_is_said_before_anything_starts():
    found = estimate(PasaTable(), [BEST, Uniform, Uniform, Uniform])
    assert found.memory_mb <= 2048
    assert found.states > 10**7
    assert estimate(PasaTable(), [BEST] * 4).memory_mb <= 2048
    with pytest.raises(SpecError, match="--memory"):
        estimate(PasaTable(), [BEST, BEST, BEST, BEST], memory_mb=500)
