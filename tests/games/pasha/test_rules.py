"""The numbered rules, one by one."""

from __future__ import annotations

import pytest

from ladder.errors import IllegalActionError
from ladder.games.nodes import TERMINATION
from ladder.games.pasha import GAME, board, row, scoring, text, words
from ladder.games.pasha.rules import land
from tests.games.pasha.scripted import Script

LOW = "-1 1 2 | -1 3 4 | -1 5 7"


def dice(text_form: str) -> int:
    return words.parse_dice(text_form)


def test_rule_1_material() -> None:
    state = Script(seats=3).state
    assert state[row.WHITE] == 6
    assert state[row.CUBES : row.CUBES + 3] == [5, 5, 5]
    cards = state[row.DECKS : row.DECKS + 9]
    assert sorted(cards) == [-1, -1, -1, 1, 2, 3, 4, 5, 7]
    packed = row.FULL_SET
    assert {value: row.count(packed, value + 1) for value in range(-1, 8) if value} == {
        **dict.fromkeys((1, 2, 3, 4, 5, 7), 1), -1: 3, 6: 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("roll", "mark"),
    [
        ("1 2 3 4 5", "beside"),
        ("2 3 4 5 6", "beside"),  # straights are nothing
        ("5 5 1 6 4", "pair 5"),
        ("6 6 2 2 3", "two pairs 6"),
        ("4 4 4 1 6", "three 4"),
        ("6 6 1 1 1", "full house 1"),
        ("3 3 3 3 6", "four 3"),
        ("2 2 2 2 2", "five 2"),
    ],
)
def test_rule_2_combinations(roll: str, mark: str) -> None:
    assert words.mark_text(board.best_mark(dice(roll))) == mark


def test_rule_2_row_first_then_further_right() -> None:
    better = ["beside"]
    better += [
        f"{row_name} {column}"
        for row_name in ("pair", "two pairs", "three", "full house", "four", "five")
        for column in range(1, 7)
    ]
    assert [words.parse_mark(mark) for mark in better] == list(range(row.NUM_MARKS))


def test_rule_2_on_one_space_the_later_disc_wins() -> None:
    script = Script(seats=3).turn(7, "6 6 6 1 2").turn(5, "6 6 6 1 3").turn(4, "6 6 6 2 3")
    assert script.row(row.RANKING) == [2, 1, 0]
    assert script.row(row.CARDS) == [4, 5, 7]


def test_rule_2_beside_the_board_the_first_to_fail_is_the_worst() -> None:
    script = Script(LOW, seats=3).turn(-1, "1 2 3 4 5").turn(5, "1 2 3 4 6").turn(7, "1 1 3 4 5")
    assert script.row(row.RANKING) == [2, 1, 0]
    assert script.row(row.MINUS) == [1, 0, 0]
    assert script.row(row.CARDS) == [0, 5, 7]


def test_rule_2_if_all_fail_the_last_is_the_best() -> None:
    script = Script(seats=3).turn(7, "1 2 3 4 5").turn(5, "1 2 3 4 6").turn(4, "2 3 4 5 6")
    assert script.row(row.CARDS) == [4, 5, 7]
    assert script.state[row.LEADER] == 2


def test_rule_3_first_player() -> None:
    assert Script(seats=4, first_player=2).seat == 2
    state = GAME.new_state(GAME.table(seats=3))
    GAME.start(state)
    assert text.node_text(state) == "the first player is drawn"
    GAME.advance(state, text.parse_action(state, "first 1"))
    assert state[row.LEADER] == 1


def test_rule_3_three_decks_and_one_in_hand() -> None:
    script = Script("5 -1 2 | 7 4 1 | 3 -1 -1")
    assert script.legal == ["play 5", "play 2", "play -1"]


def test_rule_3_tiles_a_then_b_then_c() -> None:
    script = Script(tiles={"A": "4 1 2", "B": "6 5 3", "C": "5 3 1"})
    seen = []
    while script.asked != "end":
        seen.append(script.tiles[-1])
        for _ in range(2):
            card = int(script.legal[0].split()[1]) if script.asked == "card" else 0
            script.turn(card, "1 2 3 4 5")
    assert seen == [4, 1, 2, 6, 5, 3, 5, 3, 1]


def test_rule_4a_unclaimed_tiles_stay_and_pile_up() -> None:
    tiles = [{"set": s, "column": 2, "effect": "points", "amount": 1} for s in "AAABBBCCC"]
    script = Script(tiles=dict.fromkeys("ABC", "2 2b 2c"), table_tiles=tiles)
    script.turn(7, "1 1 3 4 5").turn(7, "1 2 3 4 6")
    assert script.tiles == [2, 2]
    script.turn(5, "2 2 3 4 5").turn(5, "1 2 3 4 6")
    assert script.tiles == [2]
    assert script.row(row.TILE_POINTS) == [2, 0]


def test_rule_4b1_one_card_first() -> None:
    script = Script()
    with pytest.raises(IllegalActionError, match=r"rule 4\.B\.1"):
        script.do("roll 1 2 3 4 5")
    with pytest.raises(IllegalActionError, match="play 7, play 5, play 4"):
        script.do("play 3")
    assert script.do("play 5").asked == "roll"


def test_rule_4b1_the_next_deck_comes_at_once() -> None:
    script = Script().turn(7, "1 2 3 4 5").turn(7, "1 2 3 4 6")
    script.turn(5, "1 2 3 4 5").turn(5, "1 2 3 4 5")
    script.do("roll 1 2 3 4 5")  # the 4, the last card, is not asked for
    assert script.state[row.PLAYED + script.seat] == 4
    assert list(script.view().hand) == [3, 2, 1]


def test_rule_4b2_dice_set_aside_may_be_rolled_again() -> None:
    script = Script().do("play 7", "roll 2 3 4 4 5", "keep 4 4", "roll 2 6 6")
    assert "reroll 2 4 4" in script.legal
    assert "reroll 2 4 4 6 6" in script.legal  # even all five


def test_rule_4b2_three_rolls() -> None:
    script = Script().do("play 7", "roll 1 2 3 4 5", "reroll 1", "roll 1", "reroll 1", "roll 6")
    assert script.asked == "cube"


def test_rule_4b2_stop_early() -> None:
    assert Script().do("play 7", "roll 1 2 3 4 5", "stop").asked == "cube"


def test_rule_4b2_extra_throw_is_a_fourth_roll() -> None:
    script = Script("1 2 3 | 7 5 4 | -1 -1 -1").do("play 1", "roll 1 2 3 4 5")
    for _ in range(3):
        assert script.asked == "reroll"
        script.do("reroll 1", "roll 1")
    assert script.asked == "cube"


def test_rule_4b2_the_lamp_starts_anew() -> None:
    script = Script("1 2 3 | 7 5 4 | -1 -1 -1").do("play 2", "roll 1 2 3 4 5", "stop")
    assert script.asked == "lamp"
    assert script.legal == ["lamp no", "lamp yes"]
    script.do("lamp yes", "roll 1 1 1 2 2", "reroll 2 2", "roll 1 3", "reroll 3", "roll 4")
    assert script.asked == "cube"  # asked once only; cubes may still follow
    assert script.do("stop").marks[0] == "four 1"


def test_rule_4b2_the_lamp_after_the_last_roll_and_declined() -> None:
    script = Script("1 2 3 | 7 5 4 | -1 -1 -1").do("play 2", "roll 1 2 3 4 5")
    script.do("reroll 5", "roll 5", "reroll 5", "roll 4", "lamp no")
    assert script.asked == "cube"


def test_rule_4b2_special_cards_are_an_option() -> None:
    script = Script("1 2 3 | 7 5 4 | -1 -1 -1", special_cards={3: "lamp"})
    script.do("play 3", "roll 1 2 3 4 5", "stop")
    assert script.asked == "lamp"
    script = Script("1 2 3 | 7 5 4 | -1 -1 -1", special_cards={})
    assert script.do("play 2", "roll 1 2 3 4 5", "stop").asked == "cube"


def test_rule_4b3_a_cube_rerolls_any_dice() -> None:
    script = Script().do("play 7", "roll 1 2 3 4 5", "stop", "cube reroll 1 2 3 4 5")
    assert script.do("roll 6 6 6 6 6", "cube reroll 6", "roll 5", "stop").marks[0] == "four 6"
    assert script.row(row.CUBES) == [3, 5]


def test_rule_4b3_or_exactly_one_die() -> None:
    script = Script(cube_reroll="one").do("play 7", "roll 1 1 3 4 5", "stop")
    rerolls = [line for line in script.legal if "reroll" in line]
    assert rerolls == ["cube reroll 1", "cube reroll 3", "cube reroll 4", "cube reroll 5"]


def test_rule_4b3_rerolls_and_changes_mix_while_cubes_last() -> None:
    script = Script().do("play 7", "roll 1 2 3 4 6", "stop")
    script.do("cube 6-1", "cube reroll 5", "roll 5", "cube 5-1", "cube 3+1", "cube 2+1")
    assert script.marks[0] == "three 4"  # the fifth cube was the last, nothing is asked
    assert script.row(row.CUBES) == [0, 5]


def test_rule_4b3_cubes_only_after_the_last_roll() -> None:
    script = Script().do("play 7", "roll 1 2 3 4 5")
    with pytest.raises(IllegalActionError, match=r"rule 4\.B\.2"):
        script.do("cube 1+1")


def test_rule_4b3_cubes_between_rolls() -> None:
    script = Script("2 1 3 | 7 5 4 | -1 -1 -1", cubes_between_rolls=True)
    script.do("play 2", "roll 1 2 3 4 5", "cube reroll 1 2", "roll 3 3", "cube 4-1", "stop")
    assert script.asked == "reroll"
    assert script.view().rolls_left == 2  # a cube's reroll is not one of the rolls
    script.do("reroll 5", "roll 6", "stop", "stop", "lamp yes")
    assert script.row(row.CUBES) == [3, 5]  # spent before the lamp, they stay spent
    script.do("roll 1 2 3 4 5", "stop", "stop", "stop")
    assert script.marks[0] == "beside"


def test_rule_4b4_no_disc_moves_after_marking() -> None:
    script = Script().turn(7, "6 6 6 6 6")
    assert script.marks == ["five 6", ""]
    assert script.seat == 1


def test_rule_4c_two_minus_ones() -> None:
    """With k cards of -1 the k - 1 seats just above the worst get none."""
    script = Script(LOW, LOW, HIGH := "7 5 4 | 3 2 1 | -1 -1 -1", HIGH, seats=4)
    script.turn(-1, "6 6 6 6 1").turn(-1, "5 5 5 5 1").turn(5, "4 4 4 4 1").turn(7, "3 3 3 3 1")
    assert script.row(row.CARDS) == [7, 5, 0, 0]
    assert script.row(row.MINUS) == [0, 0, 0, 2]


def test_rule_4c_the_worst_takes_a_card_when_no_minus_one_was_played() -> None:
    script = Script(seats=3).turn(7, "6 6 6 6 1").turn(5, "5 5 5 5 1").turn(4, "4 4 4 4 1")
    assert script.row(row.CARDS) == [7, 5, 4]


def test_rule_4c_cards_first_then_tiles() -> None:
    """A discard tile also removes a -1 taken in the same round."""
    tiles = [
        *({"set": "A", "column": 3, "effect": "discard"} for _ in range(3)),
        *({"set": s, "column": 1, "effect": "points", "amount": 1} for s in "BBBCCC"),
    ]
    script = Script(
        LOW, LOW, tiles={"A": "3 3b 3c", "B": "1 1b 1c", "C": "1 1b 1c"}, table_tiles=tiles
    )
    script.turn(-1, "3 3 1 2 4").turn(-1, "6 6 6 6 6")
    assert script.row(row.MINUS) == [0, 0]
    assert script.state[row.DISCARDED] == 2
    assert script.tiles == [3]  # the next tile; the discard left the game


def test_rule_4c_the_best_in_a_column_takes_all_its_tiles() -> None:
    script = Script(tiles={"A": "2 1 4"}).turn(7, "1 2 3 4 5").turn(7, "1 2 3 4 6")
    script.turn(5, "2 2 3 4 5").turn(5, "2 2 2 4 5")
    assert script.row(row.TILE_POINTS) == [3, 0]  # seat 1 led, so seat 0 played second


def test_rule_4c_the_best_seat_leads_the_next_round() -> None:
    script = Script(seats=3).turn(7, "1 2 3 4 5").turn(7, "6 6 6 6 6").turn(7, "2 2 1 3 4")
    assert script.state[row.LEADER] == script.seat == 1
    script.turn(5, "1 2 3 4 5")
    assert script.seat == 2
    script.turn(5, "1 2 3 4 5")
    assert script.seat == 0


def test_rule_5_white_cubes_while_the_reserve_lasts() -> None:
    tiles = [{"set": s, "column": 3, "effect": "cubes", "amount": 4} for s in "AAABBBCCC"]
    order = dict.fromkeys("ABC", "3 3b 3c")
    script = Script(tiles=order, table_tiles=tiles)
    script.turn(7, "3 3 3 1 2").turn(7, "1 2 3 4 5")
    assert (script.row(row.CUBES), script.state[row.WHITE]) == ([9, 5], 2)
    script.turn(5, "3 3 3 1 2").turn(5, "1 2 3 4 5")
    assert (script.row(row.CUBES), script.state[row.WHITE]) == ([11, 5], 0)


def test_rule_5_two_tiles_above_one_column() -> None:
    """Two tiles above one column go to one seat together."""
    tiles = [
        {"set": "A", "column": 3, "effect": "points", "amount": 2},
        {"set": "A", "column": 3, "effect": "cubes", "amount": 1},
        {"set": "A", "column": 3, "effect": "discard"},
        *({"set": s, "column": 1, "effect": "points", "amount": 1} for s in "BBBCCC"),
    ]
    order = {"A": "3 3b 3c", "B": "1 1b 1c", "C": "1 1b 1c"}
    script = Script(tiles=order, table_tiles=tiles)
    script.turn(7, "1 2 3 4 5").turn(7, "1 2 3 4 6")
    assert script.tiles == [3, 3]
    script.turn(5, "3 3 3 1 2").turn(5, "1 2 3 4 5")
    assert script.row(row.TILE_POINTS) == [0, 2]
    assert script.row(row.CUBES) == [5, 6]


def finished(cards: tuple[int, int], cubes: tuple[int, int]) -> list[int]:
    state = [0] * row.WIDTH
    state[row.SEATS] = 2
    state[row.CARDS : row.CARDS + 2] = cards
    state[row.CUBES : row.CUBES + 2] = cubes
    return state


def test_rule_6_points() -> None:
    state = finished((10, 8), (2, 3))
    state[row.MINUS] = 4
    state[row.TILE_POINTS + 1] = 3
    assert [scoring.score(state, seat) for seat in (0, 1)] == [10 - 4 + 2, 8 + 3 + 3]


def test_rule_6_a_tie_goes_to_more_cubes() -> None:
    state = finished((10, 9), (2, 3))
    assert scoring.score(state, 0) == scoring.score(state, 1)
    assert scoring.standing(state, 1) > scoring.standing(state, 0)
    more = finished((11, 9), (2, 3))
    assert scoring.standing(more, 0) > scoring.standing(more, 1)


def test_rule_6_then_it_is_shared() -> None:
    state = finished((10, 10), (2, 2))
    assert scoring.standing(state, 0) == scoring.standing(state, 1)


def test_rule_6_nine_rounds() -> None:
    script = Script()
    while script.asked != "end":
        card = int(script.legal[0].split()[1]) if script.asked == "card" else 0
        script.turn(card, "1 2 3 4 5")
    assert script.state[row.ROUND] == 9
    assert GAME.terminations[script.state[TERMINATION]] == "rounds"
    assert sum(script.row(row.CARDS)) - sum(script.row(row.MINUS)) == 38
    with pytest.raises(IllegalActionError, match="rule 6"):
        script.do("play 7")


def test_rule_7_one_choice_is_not_asked() -> None:
    script = Script("-1 -1 -1 | 7 5 4 | 3 2 1")
    assert script.asked == "roll"
    assert script.row(row.PLAYED) == [-1, 0]


def test_rule_8_rolls() -> None:
    counted: dict[str, int] = {}
    for action in range(6**5):
        state = [0] * row.WIDTH
        state[row.ROLLING] = 5
        land(state, action)
        name = words.mark_text(board.best_mark(state[row.DICE])).rstrip(" 123456")
        counted[name] = counted.get(name, 0) + 1
    assert counted == {
        "five": 6, "four": 150, "full house": 300, "three": 1200, "two pairs": 1800,
        "pair": 3600, "beside": 720,
    }  # fmt: skip
