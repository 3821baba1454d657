"""Every numbered rule of Pasa and its examples, with expectations made by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from pydantic import ValidationError

from ladder.games.pasa import PasaTable, rules, text
from tests.games.pasa.mat import Mat

THROWS = range(64)


# --- rule 2: dice


def test_rule_2_three_dice_with_faces_1_2_5_6_make_64_equally_likely_throws() -> None:
    thrown = [text.faces(throw) for throw in THROWS]
    assert sorted(thrown) == sorted(product((1, 2, 5, 6), repeat=3))


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        (rules.PARO, {13: 9, 15: 1, 17: 3, 18: 1}),
        (rules.TIRO, {3: 1, 4: 3, 6: 1, 9: 9}),
        (rules.BACHYO, {5: 3, 7: 3, 8: 9, 10: 3, 11: 3, 12: 9, 14: 3, 16: 3}),
    ],
)
def test_rule_2_totals_of_each_kind_and_their_ways(kind: int, ways: dict[int, int]) -> None:
    totals = Counter(sum(text.faces(t)) for t in THROWS if _kind(t) == kind)
    assert totals == ways


def test_rule_2_kinds_are_14_to_14_to_36() -> None:
    kinds = Counter(_kind(throw) for throw in THROWS)
    assert kinds == {rules.PARO: 14, rules.TIRO: 14, rules.BACHYO: 36}


def test_rule_2_named_throws() -> None:
    named = [(text.throw_name(t), text.faces(t), _kind(t)) for t in THROWS if text.throw_name(t)]
    assert sorted(named) == [
        ("halhale", (2, 2, 2), rules.TIRO),
        ("tike terha", (1, 6, 6), rules.PARO),
        ("tike terha", (6, 1, 6), rules.PARO),
        ("tike terha", (6, 6, 1), rules.PARO),
    ]


def test_rule_2_a_five_and_a_one_together_are_always_bachyo() -> None:
    both = [throw for throw in THROWS if {1, 5} <= set(text.faces(throw))]
    assert len(both) == 18
    assert {_kind(throw) for throw in both} == {rules.BACHYO}


def _kind(throw: int) -> int:
    return rules.kind_of_total(rules.total(throw))


# --- rule 3: table options


def test_rule_3_defaults() -> None:
    assert PasaTable().model_dump() == {
        "seats": 4,
        "rounds": 2,
        "chips": 500,
        "least": 5,
        "most": 50,
        "sizes": (5, 10, 20, 50),
        "first_thrower": 0,
        "fifteen_cut_percent": 0,
    }


@pytest.mark.parametrize(
    ("least", "most", "sizes"),
    [
        (5, 50, (5, 10, 20, 50)),
        (1, 100, (1, 2, 5, 10, 20, 50, 100)),
        (3, 70, (3, 5, 10, 20, 50, 70)),
        (7, 7, (7,)),
        (7, 8, (7, 8)),
        (1, 3, (1, 2, 3)),
        (100, 1000, (100, 200, 500, 1000)),
    ],
)
def test_rule_3_sizes_left_out_are_the_1_2_5_series_between_both_ends(
    least: int, most: int, sizes: tuple[int, ...]
) -> None:
    assert PasaTable(least=least, most=most).sizes == sizes


def test_rule_3_explicit_sizes_are_taken() -> None:
    assert PasaTable(least=3, most=40, sizes=[3, 4, 40]).sizes == (3, 4, 40)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"seats": 1},
        {"seats": 7},
        {"rounds": 0},
        {"chips": 0},
        {"least": 0},
        {"least": 51},
        {"sizes": [5, 20, 10, 50]},
        {"sizes": [5, 5, 50]},
        {"sizes": [10, 50]},
        {"sizes": [5, 20]},
        {"first_thrower": 4},
        {"first_thrower": -1},
        {"fifteen_cut_percent": 101},
        {"fifteen_cut_percent": -1},
        {"chips": "500"},
        {"chips": 500.0},
        {"rounds": True},
        {"jokers": 1},
    ],
    ids=str,
)
def test_rule_3_what_no_table_can_be(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PasaTable(**options)


@pytest.mark.parametrize(
    ("seats", "chips", "advised"),
    [(4, 500, False), (5, 999, True), (5, 1000, False), (6, 500, True), (6, 1000, False)],
)
def test_rule_3_a_thousand_chips_are_advised_at_5_or_6_seats(
    seats: int, chips: int, advised: bool
) -> None:
    advice = PasaTable(seats=seats, chips=chips).advice()
    assert bool(advice) == advised


def test_rule_3_the_advice_says_what_one_tiro_can_cost() -> None:
    (five,) = PasaTable(seats=5).advice()
    (six,) = PasaTable(seats=6).advice()
    assert "one tiro can cost 200 (got 500)" in five
    assert "one tiro can cost 250 (got 500)" in six


@pytest.mark.parametrize("first", range(4))
def test_rule_3_first_thrower(first: int) -> None:
    mat = Mat(first_thrower=first)
    assert mat.thrower == first
    assert mat.seat == (first + 1) % 4


# --- rule 4: a staking


def test_rule_4_seats_stake_clockwise_from_the_seat_after_the_thrower() -> None:
    mat = Mat(seats=4, first_thrower=2)
    asked = []
    while mat.asks == "stake":
        asked.append(mat.seat)
        mat.stake(5)
    assert asked == [3, 0, 1]
    assert mat.stakes == [5, 5, 0, 5]


def test_rule_4_cover_is_the_throwers_pile_less_the_stakes_on_the_mat() -> None:
    mat = Mat.holding([70, 500, 500, 500])
    assert mat.cover == 70
    mat.stake(50)
    assert mat.cover == 20
    mat.stake(5)
    assert mat.cover == 15


def test_rule_4_with_cap_35_the_stakes_are_5_10_20_35() -> None:
    assert Mat.holding([500, 35]).legal == [5, 10, 20, 35]  # own pile
    assert Mat.holding([35, 500]).legal == [5, 10, 20, 35]  # cover
    assert Mat.holding([500, 500], most=35).legal == [5, 10, 20, 35]  # most


def test_rule_4_a_cap_that_is_a_size_stands_once() -> None:
    assert Mat.holding([500, 20]).legal == [5, 10, 20]


def test_rule_4_with_a_cap_below_least_the_cap_alone_is_legal_and_forced() -> None:
    mat = Mat.holding([500, 3])
    assert mat.asks == "throw"
    assert mat.stakes == [0, 3]
    assert mat.num_forced == 1


def test_rule_4_nought_is_never_legal() -> None:
    assert 0 not in Mat().legal


def test_rule_4_a_seat_without_chips_is_not_asked() -> None:
    mat = Mat.holding([100, 0, 100, 0])
    assert mat.seat == 2
    mat.stake(5)
    assert mat.asks == "throw"
    assert mat.stakes == [0, 0, 5, 0]


def test_rule_4_example_the_thrower_holds_7_and_5_is_chosen() -> None:
    mat = Mat.holding([7, 500, 500, 500])
    assert mat.legal == [5, 7]
    mat.stake(5)
    assert mat.asks == "throw"
    assert mat.stakes == [0, 5, 2, 0]
    assert mat.num_forced == 1


def test_rule_4_example_the_thrower_holds_7_and_7_is_chosen() -> None:
    mat = Mat.holding([7, 500, 500, 500]).stake(7)
    assert mat.asks == "throw"
    assert mat.stakes == [0, 7, 0, 0]
    assert mat.num_forced == 0


def test_rule_4_staked_chips_stay_in_their_owners_pile_until_settled() -> None:
    mat = Mat.holding([500, 50, 500]).stake(50, 50)
    assert mat.piles == [500, 50, 500]
    assert mat.asks == "throw"


# --- rule 5: a turn


def test_rule_5_paro_takes_every_stake_and_the_thrower_keeps_the_dice() -> None:
    mat = Mat(seats=3, chips=100, rounds=1).stake(20, 50).throw("6 6 1")
    assert mat.piles == [170, 80, 50]
    assert mat.thrower == 0
    assert mat.turns_left == 3
    assert (mat.asks, mat.seat, mat.stakes) == ("stake", 1, [0, 0, 0])


def test_rule_5_tiro_pays_every_stake_and_the_dice_pass() -> None:
    mat = Mat(seats=3, chips=100, rounds=1).stake(20, 50).throw("2 2 2")
    assert mat.piles == [30, 120, 150]
    assert mat.thrower == 1
    assert mat.turns_left == 2
    assert (mat.asks, mat.seat, mat.stakes) == ("stake", 2, [0, 0, 0])


def test_rule_5_bachyo_moves_nothing_and_the_stakes_stand() -> None:
    mat = Mat(seats=3, chips=100, rounds=1).stake(20, 50).throw("1 5 6", "1 1 5")
    assert mat.asks == "throw"
    assert mat.piles == [100, 100, 100]
    assert mat.stakes == [0, 20, 50]
    assert mat.turns_left == 3


def test_rule_5_a_seat_that_is_out_is_skipped_and_its_turn_counts_as_held() -> None:
    mat = Mat.holding([100, 0, 100], turn=0, rounds=1).stake(5).throw("2 2 2")
    assert mat.thrower == 2
    assert mat.turns_left == 1


def test_rule_5_a_seat_that_is_out_is_skipped_on_the_last_turn_without_dice() -> None:
    mat = Mat.holding([100, 100, 0], thrower=1, turn=1, rounds=1).stake(5).throw("2 2 2")
    assert (mat.asks, mat.ended_by) == ("end", "rounds")
    assert mat.turns_left == 0
    assert mat.piles == [105, 95, 0]


def test_rule_5_several_seats_that_are_out_are_skipped_at_once() -> None:
    mat = Mat.holding([0, 60, 60, 0, 0], thrower=2, turn=2, rounds=2).stake(5).throw("2 2 2")
    assert mat.thrower == 1
    assert mat.turns_left == 10 - 6  # the turns of seats 3, 4 and 0 are held


def test_rule_5_being_out_is_permanent() -> None:
    mat = Mat.holding([100, 50, 100], rounds=3).stake(50, 5).throw("6 6 1")
    assert mat.piles == [155, 0, 95]
    while mat.asks != "end":
        assert mat.asks == "throw" or mat.seat != 1
        mat.stake_least().throw("2 2 2")
        assert mat.asks == "end" or mat.thrower != 1
        assert mat.piles[1] == 0


def test_rule_5_a_thrower_who_pays_all_it_has_is_out_and_passes_the_dice() -> None:
    mat = Mat.holding([10, 100, 100]).stake(5).throw("2 2 2")
    assert mat.piles == [0, 105, 105]
    assert mat.thrower == 1
    assert mat.seat == 2


@pytest.mark.parametrize(
    ("percent", "cut"),
    [(0, 0), (1, 0), (2, 1), (10, 7), (33, 23), (50, 35), (99, 69), (100, 70)],
)
def test_rule_5_the_bot_keeps_its_percentage_of_a_fifteen_rounded_down(
    percent: int, cut: int
) -> None:
    mat = Mat(seats=3, chips=100, fifteen_cut_percent=percent).stake(20, 50).throw("5 5 5")
    assert mat.piles == [170 - cut, 80, 50]
    assert mat.house == cut


@pytest.mark.parametrize("faces", ["6 6 1", "6 6 5", "6 6 6", "2 2 2"])
def test_rule_5_the_bot_cuts_no_other_throw(faces: str) -> None:
    mat = Mat(seats=3, chips=100, fifteen_cut_percent=50).stake(20, 50).throw(faces)
    assert mat.house == 0
    assert sum(mat.piles) == 300


# --- rule 6: the match


def test_rule_6_the_dice_go_round_seats_times_rounds_turns() -> None:
    mat = Mat(seats=3, rounds=2, first_thrower=1)
    throwers = []
    while mat.asks != "end":
        throwers.append(mat.thrower)
        mat.stake_least().throw("1 5 6", "2 2 2")
    assert throwers == [1, 2, 0, 1, 2, 0]
    assert mat.ended_by == "rounds"
    assert mat.turns_left == 0


def test_rule_6_turns_left_includes_the_one_being_played() -> None:
    mat = Mat(seats=4, rounds=2)
    assert mat.turns_left == 8
    mat.stake_least().throw("2 2 2")
    assert mat.turns_left == 7


def test_rule_6_it_ends_at_once_when_one_pile_is_left_after_a_paro() -> None:
    mat = Mat(seats=2, chips=50).stake(50).throw("6 6 1")
    assert (mat.asks, mat.ended_by) == ("end", "one_pile")
    assert mat.piles == [100, 0]
    assert mat.stakes == [0, 0]


def test_rule_6_it_ends_at_once_when_one_pile_is_left_after_a_tiro() -> None:
    mat = Mat(seats=2, chips=50).stake(50).throw("2 2 2")
    assert (mat.asks, mat.ended_by) == ("end", "one_pile")
    assert mat.piles == [0, 100]


def test_rule_6_a_last_tiro_that_leaves_one_pile_ends_by_one_pile() -> None:
    mat = Mat.holding([500, 50], thrower=1, turn=3).stake(50).throw("2 2 2")
    assert mat.ended_by == "one_pile"


def test_rule_6_a_full_cut_can_leave_one_pile_and_that_ends_it() -> None:
    # The thrower's own pile stays, and all that it took goes to the house.
    mat = Mat(seats=2, chips=50, fifteen_cut_percent=100).stake(50).throw("5 5 5")
    assert (mat.asks, mat.ended_by) == ("end", "one_pile")
    assert mat.piles == [50, 0]
    assert mat.house == 50


@pytest.mark.parametrize(
    ("piles", "shares"),
    [
        ([400, 600, 500, 500], [0, 1, 0, 0]),
        ([600, 600, 400, 400], [1 / 2, 1 / 2, 0, 0]),
        ([500, 500, 500, 500], [1 / 4] * 4),
    ],
)
def test_rule_6_a_shared_largest_pile_shares_the_win(piles: list[int], shares: list[float]) -> None:
    from ladder.record import Record
    from ladder.stepper import place_of

    record = Record.empty(1, 4)
    record.places[0] = [place_of(piles, seat) for seat in range(4)]
    assert record.win_shares[0].tolist() == shares


# --- rule 7: what is seen


def test_rule_7_a_view_shows_the_whole_mat() -> None:
    from ladder.games.nodes import LUCK
    from ladder.games.pasa import PasaView

    mat = Mat.holding([70, 480, 500, 450], rounds=3, turn=4, first_thrower=2).stake(20)
    mat.state[LUCK] = 77
    view = PasaView(mat.state)
    assert (view.seat, view.luck) == (2, 77)
    assert (view.piles, view.pile, view.best_other, view.lead) == (
        (70, 480, 500, 450),
        500,
        480,
        20,
    )
    assert (view.stakes, view.thrower, view.cover) == ((0, 20, 0, 0), 0, 50)
    assert (view.legal, view.least_stake, view.most_stake) == ((5, 10, 20, 50), 5, 50)
    assert (view.num_legal, view.turns_left) == (4, 8)
    assert (view.seats, view.rounds, view.chips, view.least, view.most) == (4, 3, 500, 5, 50)
    assert (view.sizes, view.first_thrower, view.fifteen_cut_percent) == ((5, 10, 20, 50), 2, 0)


def test_rule_7_a_view_cannot_be_written_to() -> None:
    from ladder.games.pasa import PasaView

    view = PasaView(Mat().state)
    with pytest.raises((AttributeError, TypeError)):
        view.piles = (1, 2, 3, 4)  # type: ignore[misc]
    with pytest.raises(TypeError):
        view[0] = 1  # type: ignore[index]
