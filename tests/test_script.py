"""`ladder replay`: a match from its actions alone, and what a wrong script is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder.errors import SpecError
from ladder.script import replay_file, replay_text

EXAMPLE = """\
pasa seats=3 chips=100 rounds=1
stake 20        # next seat to stake
stake 50
throw 6 6 1     # in words: thirteen, tike terha, paro
"""


def test_the_example_of_the_contract_by_hand() -> None:
    replay = replay_text(EXAMPLE, "x")
    assert [state["piles"] for state in replay.states] == [
        [100, 100, 100], [100, 100, 100], [100, 100, 100], [170, 80, 50],
    ]  # fmt: skip
    assert [state["node"] for state in replay.states] == ["stake", "stake", "chance", "stake"]
    assert [state.get("seat") for state in replay.states] == [1, 2, None, 1]
    assert replay.states[1]["stakes"] == [0, 20, 0]
    assert replay.states[1]["cover"] == 80
    assert replay.states[3]["told"] == "6-6-1, thirteen, tike terha: paro"
    assert replay.states[3]["legal"] == ["stake 5", "stake 10", "stake 20", "stake 50"]
    assert replay.scores == [170, 80, 50]
    assert replay.win_share is None  # the match goes on


def test_a_match_to_its_end_has_win_shares() -> None:
    replay = replay_text("pasa seats=2 chips=50\nstake 50\nthrow 2 2 2\n", "x")
    assert replay.scores == [0, 100]
    assert replay.win_share == [0, 1]
    assert replay.lines[-1] == "win share 0 1"


def test_a_shared_win() -> None:
    lines = ["stake 5", "throw 2 2 2", "stake 5", "throw 2 2 2"]
    replay = replay_text("pasa seats=2 chips=50 rounds=1\n" + "\n".join(lines), "x")
    assert replay.scores == [50, 50]
    assert replay.win_share == [0.5, 0.5]


# The thrower holds 7: seat 1 chooses 5, seat 2 must put down 2 and seat 3 sits out (rule 4).
SEVEN = "pasa seats=4 chips=7 rounds=1 most=50\n"


@pytest.mark.parametrize(
    "lines",
    [
        ["stake 5", "throw 6 6 1"],  # left out
        ["stake 5", "stake 2", "throw 6 6 1"],  # given
    ],
    ids=["left out", "given"],
)
def test_forced_stakes_may_be_left_out_or_given(lines: list[str]) -> None:
    replay = replay_text(SEVEN + "\n".join(lines), "x")
    assert replay.scores == [14, 2, 5, 7]


def test_a_line_that_may_be_forced_or_chosen_is_what_lets_the_script_go_on() -> None:
    """Seat 1 holds 5 and must put it down; seat 2 chooses, and 5 is among its stakes too."""
    before = ["pasa seats=3 chips=15 rounds=2 least=5 most=10", "stake 10", "throw 6 6 1"]
    assert replay_text("\n".join(before), "x").scores == [30, 5, 10]
    left_out = replay_text("\n".join([*before, "stake 5", "throw 6 6 1"]), "x")
    given = replay_text("\n".join([*before, "stake 5", "stake 5", "throw 6 6 1"]), "x")
    assert left_out.scores == given.scores == [40, 0, 5]
    assert left_out.states == given.states
    ten = replay_text("\n".join([*before, "stake 5", "stake 10", "throw 6 6 1"]), "x")
    assert ten.scores == [45, 0, 0]


def test_blank_lines_comments_and_carriage_returns_are_passed_over() -> None:
    text = "# a match\r\n\r\npasa seats=2 chips=50  # two\r\n  stake   50\r\n\r\nthrow 6-6-1\r\n"
    assert replay_text(text, "x").scores == [100, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: is empty; a script begins with a line like: pasa seats=4"),
        ("# nothing\n", "x: is empty; a script begins with a line like: pasa seats=4"),
        ("poker seats=2\n", "x:1 game: unknown game, there are pasa, pasha (got 'poker')"),
        ("pasa seats=9\n", "x:1 table.seats: should be at most 6 (got 9)"),
        (
            "pasa seat=3\n",
            "x:1 table.seat: unknown option of pasa; did you mean seats? (got 3)",
        ),
        (
            EXAMPLE.replace("stake 50", "stake 51"),
            "x:3 seat 2 is to stake: legal are stake 5, stake 10, stake 20, stake 50 (rule 4)"
            " (got 'stake 51')",
        ),
        (
            EXAMPLE.replace("stake 50", "throw 1 1 1"),
            "x:3 seat 2 is to stake: legal are stake 5, stake 10, stake 20, stake 50 (rule 4)"
            " (got 'throw 1 1 1')",
        ),
        (
            EXAMPLE.replace("throw 6 6 1", "stake 5"),
            "x:4 the stakes are down: legal is throw F F F (rule 5) (got 'stake 5')",
        ),
        (
            EXAMPLE.replace("6 6 1", "6 6 3"),
            "x:4 a throw is three faces out of 1 2 5 6 (got '6 6 3')",
        ),
        (
            EXAMPLE.replace("stake 20", "put 20"),
            "x:2 an action is 'stake N' or 'throw F F F' (got 'put 20')",
        ),
        (
            "pasa seats=2 chips=50\nstake 50\nthrow 6 6 1\nthrow 6 6 1\n",
            "x:4 the match is over: nothing more is legal (rule 6)",
        ),
        (
            SEVEN + "stake 5\nstake 3\nthrow 6 6 1\n",
            "x:3 the stakes are down: legal is throw F F F (rule 5) (got 'stake 3')",
        ),
    ],
)
def test_what_a_wrong_script_is_told(text: str, message: str) -> None:
    with pytest.raises(SpecError) as error:
        replay_text(text, "x")
    assert str(error.value) == message


def test_no_file_and_no_text(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none.txt", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
    ):
        with pytest.raises(SpecError, match=message):
            replay_file(path)
    (tmp_path / "x.txt").write_bytes(b"pasa \xff")
    with pytest.raises(SpecError, match="is not UTF-8 text"):
        replay_file(tmp_path / "x.txt")
