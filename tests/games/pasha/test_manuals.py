"""Every example that the manuals print."""

from __future__ import annotations

import pytest

from ladder.errors import IllegalActionError
from ladder.games.pasha import board, row, words
from tests.games.pasha.scripted import Script


def test_the_roll_of_three_sixes() -> None:
    """2-3-4-4-5, keep 4-4; 2-6-6, keep 6-6; 4-5-6: three of a kind, column 6 (rule 4.B.2)."""
    script = Script().do("play 7", "roll 2 3 4 4 5", "keep 4 4", "roll 2 6 6", "keep 6 6")
    script.do("roll 4 5 6")
    assert words.dice_text(script.state[row.DICE]) == "4 5 6 6 6"
    script.do("stop")
    assert script.marks[0] == "three 6"


def test_the_four_fives_with_three_cubes() -> None:
    """3-5-5-6-2: two cubes turn the 3 to a 5, a third the 6 to a 5 (rule 4.B.3)."""
    script = Script().do("play 7", "roll 3 5 5 6 2", "stop")
    script.do("cube 3+1", "cube 4+1", "cube 6-1")
    assert words.dice_text(script.state[row.DICE]) == "2 5 5 5 5"
    script.do("stop")
    assert script.marks[0] == "four 5"
    assert script.row(row.CUBES) == [2, 5]


def test_a_six_never_becomes_a_one_by_one_cube() -> None:
    script = Script().do("play 7", "roll 1 1 6 6 3", "stop")
    assert "cube 6-1" in script.legal
    for line in ("cube 6+1", "cube 1-1"):
        with pytest.raises(IllegalActionError, match=r"rule 4\.B\.3"):
            script.do(line)


@pytest.mark.parametrize(
    ("dice", "columns"), [("2 2 2 5 5", "2"), ("5 5 1 6 4", "5"), ("6 6 2 2 3", "6 2")]
)
def test_the_three_placements(dice: str, columns: str) -> None:
    """Full house, pair, and two pairs in either column (rule 2)."""
    kinds = {"2 2 2 5 5": "full house", "5 5 1 6 4": "pair", "6 6 2 2 3": "two pairs"}
    for column in columns.split():
        script = Script().do("play 7", f"roll {dice}", "stop", "stop")
        if len(columns) > 1:
            assert script.legal == ["column 6", "column 2"]
            script.do(f"column {column}")
        assert script.marks[0] == f"{kinds[dice]} {column}"


def test_two_pairs_in_three_and_one() -> None:
    assert board.lower_column(words.parse_dice("6 6 2 2 3")) == 2
    assert board.lower_column(words.parse_dice("2 2 2 5 5")) == 0


def test_the_first_tile_is_placed_above_column_three() -> None:
    """Rule 4.A: the tile goes above the column of its die."""
    script = Script().turn(7, "1 2 3 4 5").turn(7, "1 2 3 4 6")
    script.turn(5, "1 2 3 4 5").turn(5, "1 2 3 4 6").do("roll 1 1 2 3 4", "stop", "stop")
    script.turn(4, "1 2 3 4 6")
    assert script.tiles[-1] == 3  # set B begins with the tile of column 3


def test_the_scoring_example() -> None:
    """Rule 5: Green takes both -1, Blue the 7, Yellow the 4, Orange the tile of column 2."""
    green, blue, yellow, orange = 0, 1, 2, 3
    low = "-1 1 2 | -1 3 4 | -1 5 7"
    script = Script(
        low, "4 1 2 | -1 3 -1 | -1 5 7", low, "7 1 2 | -1 3 -1 | -1 5 4",
        seats=4, tiles={"A": "2 1 4"},
    )  # fmt: skip
    script.turn(-1, "1 1 2 3 4")  # Green: pair, column 1, the lowest
    script.turn(4, "5 5 5 5 1")  # Blue: four of a kind, the best
    script.turn(-1, "4 4 4 1 2")  # Yellow: three of a kind, second
    assert script.tiles == [2]
    script.turn(7, "2 2 3 4 6")  # Orange: pair, column 2, alone in it
    assert script.row(row.MINUS) == [2, 0, 0, 0]
    cards = script.row(row.CARDS)
    assert (cards[green], cards[blue], cards[yellow], cards[orange]) == (0, 7, 4, 0)
    assert script.row(row.TILE_POINTS) == [0, 0, 0, 3]
    assert script.tiles == [1]  # the next one is up already
    assert script.state[row.LEADER] == blue  # first player of the next round (rule 4.C.4)
