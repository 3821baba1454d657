"""A person at the terminal: legal answers only, hidden hands, matches that can be seen again."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder.errors import SpecError
from ladder.games import get_game
from ladder.play import LeftError, Terminal, play_match, seat_all
from ladder.store import Store
from tests.conftest import Command


class Desk:
    """A terminal whose people say what a list says, then the first legal thing."""

    def __init__(self, *lines: str) -> None:
        self.lines: Iterator[str] = iter(lines)
        self.shown: list[str] = []
        self.prompts: list[str] = []
        self.clears = 0

    def terminal(self) -> Terminal:
        return Terminal(self.shown.append, self._read, lambda: None, self._clear)

    def _read(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return next(self.lines, "(1)")

    def _clear(self) -> None:
        self.clears += 1


def test_answers_in_words_values_and_numbers() -> None:
    desk = Desk("", "?", "stake 21", "seven", "(9)", "stake 20", "50", "(2)")
    seating = seat_all(get_game("pasa"), ["Least"], ["Ada"], "rounds=4,chips=300")
    played = play_match(seating, desk.terminal(), 3)
    mine = [move.step.action for move in played.moves if move.seat == 0 and move.step.decision]
    assert mine[:3] == [20, 50, 10]
    text = "\n".join(desk.shown)
    assert "legal are stake 5, stake 10, stake 20, stake 50 (rule 4) (got 'stake 21')" in text
    assert played.walk.is_over


def test_a_throw_is_read_before_chips_move() -> None:
    desk = Desk()
    order: list[str] = []
    terminal = Terminal(order.append, lambda prompt: "(1)", lambda: order.append("-"), lambda: None)
    play_match(seat_all(get_game("pasa"), [], ["Ada", "Bo"], "rounds=1"), terminal, 5)
    at = next(i for i, line in enumerate(order) if line.endswith(": tiro"))
    assert order[at + 1] == "-"
    assert "pays" in order[at + 2]
    assert "piles" in order[at + 3]
    assert desk.clears == 0


def test_hands_are_hidden_between_two_people() -> None:
    desk = Desk()
    seating = seat_all(get_game("pasha"), ["Simple"], ["Ada", "Bo"], "")
    play_match(seating, desk.terminal(), 1)
    assert desk.clears > 10
    assert any("Bo's turn; others look away" in prompt for prompt in desk.prompts)
    assert not any("deck" in line for line in desk.shown)
    hands = [line for line in desk.shown if "your hand" in line]
    assert all(line.startswith(("Ada:", "Bo:")) for line in hands)


@pytest.mark.parametrize("game", ["pasa", "pasha"])
def test_a_match_is_seen_again(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    script, db = tmp_path / "m.txt", tmp_path / "m.duckdb"
    monkeypatch.setattr("sys.stdin", io.StringIO("(1)\n" * 5000))
    words = ("--person", 'A "b"\\', "--person", "Bo", "--seed", 4, "--save", script, "--db", db)
    ended = ladder("play", game, "Easy", *words)
    assert ended.code == 0, ended.err
    again = ladder("replay", "--actions", script)
    assert again.code == 0, again.err
    last = [line for line in ended.out.splitlines() if line.startswith("end (")][-1]
    assert "win share" in again.out
    [(match,)] = Store(db).query("SELECT match FROM matches")
    stored = ladder("replay", match, "--db", db)
    assert stored.code == 0, stored.out
    assert last in stored.out
    assert Store(db).query("SELECT count(*) FROM ratings") == [(0,)]
    assert ladder("verify", "--db", db, "--all").code == 0


def test_leaving_keeps_nothing(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    db = tmp_path / "x.duckdb"
    ended = ladder("play", "pasa", "--db", db)
    assert ended.code == 130
    assert "left the table" in ended.err
    assert not db.exists()
    nobody = Terminal(print, lambda prompt: None, lambda: None, lambda: None)
    seating = seat_all(get_game("pasa"), [], ["Ada"], "")
    with pytest.raises(LeftError):
        play_match(seating, nobody, 1)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["chess"], "unknown game"),
        (["pasa", "Nobody"], "no bot of that name"),
        (["pasa", "Easy", "Easy", "--table", "seats=2"], "seats=2, but 1 people and 2 bots"),
        (["pasa", "--table", "chips=no"], "chips"),
    ],
)
def test_mistakes(ladder: Command, words: list[str], told: str) -> None:
    ended = ladder("play", *words)
    assert ended.code == 2
    assert told in ended.err


@pytest.mark.parametrize("words", ["seats=99999999999", "seats=-5", "seats=7"])
def test_a_table_for_too_many(words: str) -> None:
    with pytest.raises(SpecError, match=r"table\.seats: should be at"):
        seat_all(get_game("pasa"), [], ["Ada"], words)


@pytest.mark.parametrize("person", ["", " ", "\x1b[2J", "a\nb"])
def test_a_person_without_a_name(person: str) -> None:
    with pytest.raises(SpecError, match="--person: should be a printable name"):
        seat_all(get_game("pasa"), [], [person], "")
