"""The games and what every one of them gives: rules over ints, table options, views, text forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from pydantic import BaseModel

from ladder.errors import SpecError
from ladder.games.bot import Bot
from ladder.games.nodes import LEGAL_AT, NUM_LEGAL
from ladder.games.view import View

GAMES = ("pasa", "pasha")


class Table(BaseModel):
    """Base of a game's table options; every field has a default, `advice` may hold warnings."""

    model_config = {"extra": "forbid", "strict": True, "frozen": True}

    seats: int

    def advice(self) -> list[str]:
        """Remarks on a legal but unwise table."""
        return []

    def canonical(self) -> str:
        """The options as one line, equal for equal tables; part of a pairing's identity."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))


class TextForms(Protocol):
    """A game's text forms; every `x_text` has a `parse_x` that undoes it."""

    def action_text(self, state: Sequence[int], action: int) -> str:
        """The action at this node as a line of a script."""

    def parse_action(self, state: Sequence[int], text: str) -> int:
        """Undo `action_text`. Raises: ParseError, IllegalActionError."""

    def state_text(self, state: Sequence[int]) -> str:
        """The whole state on one line."""

    def state_values(self, state: Sequence[int]) -> dict[str, Any]:
        """The whole state as plain values by name."""

    def told(self, state: Sequence[int], action: int) -> str:
        """What an action comes to, in words of the game; '' where there is nothing to say."""

    def move_text(self, state: Sequence[int], action: int) -> str:
        """The action at this node as a sentence about a seat, without the seat."""

    def chance_seat(self, state: Sequence[int]) -> int | None:
        """Whose dice or cards a chance node is about; None: nobody's."""

    def table_text(self, state: Sequence[int]) -> str:
        """How the table stands, in few words; changes only when something has moved."""

    def node_text(self, state: Sequence[int]) -> str:
        """What the node asks for, in words."""


class Proof(Protocol):
    """What must hold of every match of a game, whoever plays it."""

    KIND_WAYS: dict[str, int]  # of a chance outcome's kinds; {} where there are none
    FACES: tuple[int, ...]  # of one die, equally likely

    def problem(self, state: Sequence[int]) -> str:
        """What is not conserved in a state, or ''."""

    def thrown(self, state: Sequence[int], action: int) -> tuple[int, ...]:
        """The faces that a chance node brought."""

    def kind(self, state: Sequence[int], action: int) -> str:
        """The kind of a chance outcome, or ''."""

    def fair_score(self, state: Sequence[int]) -> int | None:
        """The mean score of any bot whatever it does, where there is such a number."""

    def total_score(self, state: Sequence[int]) -> int | None:
        """What the scores of a match add up to, where that is fixed."""


@dataclass(frozen=True)
class Game:
    """One game. `rules` functions are `@rule`s over a state row that begins as nodes.py says."""

    name: str
    version: int  # rises when the game's behaviour changes, and only then
    title: str
    summary: str  # the rules in short
    table: type[Table]
    bot: type[Bot]
    view: type[View]
    decisions: dict[int, str]  # decision kind -> method of a bot
    terminations: tuple[str, ...]
    score_name: str  # what a score counts: "chips", "points"
    score_key: str  # what a list of scores is called in JSON: "piles", "scores"
    chance_name: str  # what a chance node is: "throw", "roll"
    max_seats: int
    has_hands: bool  # whether a seat holds what the others may not see
    text: TextForms
    proof: Proof
    new_state: Callable[[Any], list[int]]  # a Table -> the row before `start`
    view_width: Callable[[Any], int]  # a Table -> ints in a view's row
    start: Callable[[Any], None]
    advance: Callable[[Any, int], None]
    observe: Callable[[Any, Any], Any]  # (state, spare row) -> the row the deciding seat sees
    score: Callable[[Any, int], int]
    standing: Callable[[Any, int], int]  # what seats are ranked by, larger is better
    num_seats: Callable[[Any], int]
    # A Table -> what all scores add up to, where a seat's mean score is its fair part of that
    # whatever anyone does; 0 where it is not. (A covariate of known mean: see stats.py.)
    fair_total: Callable[[Any], int] = lambda table: 0
    # What a bot's decisions look like, game by game: see `profile` of a game.
    profile: Callable[..., Any] | None = None

    def legal(self, state: Sequence[int]) -> list[int]:
        """The legal actions of a decision node, the default move first."""
        return list(state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]])


def get_game(name: str) -> Game:
    """The game of that name. Raises: SpecError for an unknown one."""
    if name not in GAMES:
        raise SpecError(f"game: unknown game, there are {', '.join(GAMES)} (got {name!r})")
    game: Game = import_module(f"ladder.games.{name}").GAME
    return game
