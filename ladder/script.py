"""Scripted play: a match from a text file of its actions, dice included, with no seed.

First line: the game and its table options, `pasa seats=3 chips=100 rounds=1`; then one action a
line. Blank lines and what follows a `#` are passed over; forced actions may be left out or given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ladder.errors import IllegalActionError, ParseError, SpecError
from ladder.games import Game, get_game
from ladder.games.nodes import CHANCE, END, NODE, NUM_LEGAL, SEAT
from ladder.lineup import table_options
from ladder.paths import content_of
from ladder.spec import make_table

MAX_TURNS_BACK = 8  # lines read, for each line of a script, in telling forced actions apart


@dataclass
class Replay:
    """The states of a scripted match, as text lines and as values."""

    game: str
    score_key: str  # "piles" at Pasa, "scores" elsewhere
    lines: list[str] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)
    win_share: list[float] | None = None  # None: the script stops before the end


def replay_file(path: Path) -> Replay:
    """Replay a script. Raises: SpecError as `path:LINE message`."""
    try:
        text = content_of(path).decode("utf-8-sig")
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not UTF-8 text") from None
    return replay_text(text, str(path))


def replay_text(text: str, path: str) -> Replay:
    """Replay the text of a script. Raises: SpecError as `path:LINE message`."""
    numbered = [
        (number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1)
    ]
    lines = [(number, line) for number, line in numbered if line]
    if not lines:
        raise SpecError(f"{path}: is empty; a script begins with a line like: pasa seats=4")
    number, header = lines[0]
    try:
        game, state = _open_table(header)
        actions = _Reading(game, state, lines[1:]).actions()
    except (ParseError, IllegalActionError, SpecError) as error:
        raise SpecError(*(f"{path}:{number} {line}" for line in str(error).splitlines())) from None
    except _RefusedError as refused:
        raise SpecError(f"{path}:{refused.number} {refused}") from None
    replay = Replay(game.name, game.score_key)
    _note(replay, game, state, None)
    for action in actions:
        words = game.text.action_text(state, action)
        told = game.text.told(state, action)
        game.advance(state, action)
        _note(replay, game, state, words, told)
    seats = range(game.num_seats(state))
    replay.scores = [game.score(state, seat) for seat in seats]
    if state[NODE] == END:
        standings = [game.standing(state, seat) for seat in seats]
        first = standings.count(max(standings))
        replay.win_share = [1 / first if s == max(standings) else 0.0 for s in standings]
        replay.lines.append("win share " + " ".join(f"{share:g}" for share in replay.win_share))
    return replay


class _RefusedError(Exception):
    """A line that is no legal action where it stands."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


@dataclass
class _Point:
    """How far a script is read: the next line, the state, forced actions that may yet be given."""

    at: int
    state: list[int]
    forced: list[str]
    actions: int


# The forced actions between two nodes (None: the start), of a game whose scripts may give them.
_Forced = Callable[[Sequence[int] | None, Sequence[int]], list[str]]


class _Reading:
    """Tells the actions of a script from the forced ones that it gives all the same.

    A line that may be either is taken for a choice first, and if the script cannot go on so, for
    the forced action.
    """

    def __init__(self, game: Game, state: list[int], lines: list[tuple[int, str]]) -> None:
        self._game, self._lines = game, lines
        self._forced: _Forced = getattr(game.text, "forced_texts", lambda before, state: [])
        self._state = list(state)
        self._actions: list[int] = []

    def actions(self) -> list[int]:
        """The actions. Raises: _RefusedError for the line that goes furthest wrong."""
        point = _Point(0, self._state, self._forced(None, self._state), 0)
        open_points: list[_Point] = []
        furthest: _RefusedError | None = None
        for _ in range(len(self._lines) * MAX_TURNS_BACK + 1):
            if point.at == len(self._lines):
                return self._actions
            number, line = self._lines[point.at]
            is_forced = bool(point.forced) and line.split() == point.forced[0].split()
            try:
                action = self._game.text.parse_action(point.state, line)
            except (ParseError, IllegalActionError) as error:
                if is_forced:
                    point = self._passed_over(point)
                    continue
                if furthest is None or number > furthest.number:
                    furthest = _RefusedError(number, str(error))
                if not open_points:
                    break
                point = self._passed_over(open_points.pop())
                continue
            if is_forced:
                open_points.append(point)
            point = self._taken(point, action)
        assert furthest is not None
        raise furthest

    def _passed_over(self, point: _Point) -> _Point:
        """The line is the forced action that has been applied already."""
        return _Point(point.at + 1, point.state, point.forced[1:], point.actions)

    def _taken(self, point: _Point, action: int) -> _Point:
        self._actions[point.actions :] = [action]
        state = list(point.state)
        self._game.advance(state, action)
        return _Point(point.at + 1, state, self._forced(point.state, state), point.actions + 1)


# Between options: not inside the brackets of a list or mapping.
_BLANKS = re.compile(r"\s+(?![^\[{]*[\]}])")


def _open_table(header: str) -> tuple[Game, list[int]]:
    name, _, rest = header.partition(" ")
    game = get_game(name)
    table = make_table(
        game, table_options(",".join(_BLANKS.split(rest.strip())) if rest.strip() else "")
    )
    state = game.new_state(table)
    game.start(state)
    return game, state


def _note(replay: Replay, game: Game, state: list[int], action: str | None, told: str = "") -> None:
    text = game.text.state_text(state)
    if action is not None:
        replay.lines.append(f"{action}{f'  ({told})' if told else ''}")
    replay.lines.append(f"  {text}")
    value: dict[str, Any] = {"action": action, **game.text.state_values(state)}
    if told:
        value["told"] = told
    value["node"] = (
        "end" if state[NODE] == END else "chance" if state[NODE] == CHANCE
        else game.decisions[state[NODE]]
    )  # fmt: skip
    if state[NODE] not in (END, CHANCE):
        value["seat"] = state[SEAT]
        value["legal"] = [
            game.text.action_text(state, action) for action in game.legal(state)[: state[NUM_LEGAL]]
        ]
    replay.states.append(value)
