"""Scripted play: a match from a text file of its actions, dice included, with no seed.

First line: the game and its table options, `pasa seats=3 chips=100 rounds=1`; then one action a
line. Blank lines and what follows a `#` are passed over; forced actions may be left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ladder.errors import IllegalActionError, ParseError, SpecError
from ladder.games import Game, get_game
from ladder.games.nodes import CHANCE, END, NODE, NUM_LEGAL, SEAT
from ladder.lineup import table_options
from ladder.spec import make_table


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
        text = path.read_bytes().decode("utf-8-sig")
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
        replay = Replay(game.name, game.score_key)
        _note(replay, game, state, None)
        for number, line in lines[1:]:  # noqa: B007 - the handler below names the line
            action = game.text.parse_action(state, line)
            words = game.text.action_text(state, action)
            told = game.text.told(state, action)
            game.advance(state, action)
            _note(replay, game, state, words, told)
    except (ParseError, IllegalActionError, SpecError) as error:
        raise SpecError(*(f"{path}:{number} {line}" for line in str(error).splitlines())) from None
    seats = range(game.num_seats(state))
    replay.scores = [game.score(state, seat) for seat in seats]
    if state[NODE] == END:
        standings = [game.standing(state, seat) for seat in seats]
        first = standings.count(max(standings))
        replay.win_share = [1 / first if s == max(standings) else 0.0 for s in standings]
        replay.lines.append("win share " + " ".join(f"{share:g}" for share in replay.win_share))
    return replay


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
