"""What a learner sees of a view, and a trained policy as a bot of the ladder.

An observation is the view's row as float64 (what the numbers are: `observation_names`) with a mask
of the legal actions; action i is the i-th of `view.legal`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ladder.games import Game, Table
from ladder.games.bot import Bot
from ladder.games.nodes import LEGAL_AT, NUM_LEGAL

LARGEST = 2.0**53  # of a cell; luck, packed dice and piles all lie within

Observation = dict[str, NDArray[Any]]


def most_legal(game: Game, table: Table) -> int:
    """The most actions any node of a table offers: the room behind the place where they stand."""
    state = list(game.new_state(table))
    game.start(state)
    if game.name == "pasha":
        from ladder.games.pasha.row import MAX_LEGAL

        return MAX_LEGAL
    return game.view_width(table) - state[LEGAL_AT]


def observation_of(row: Sequence[int], width: int, actions: int) -> Observation:
    """A view's row as a learner sees it.

    Cells behind the legal actions are zero: they hold what was listed before.
    """
    seen = np.zeros(width, np.float64)
    end = min(width, row[LEGAL_AT] + row[NUM_LEGAL]) if row[NUM_LEGAL] else len(row)
    seen[:end] = row[:end]
    mask = np.zeros(actions, np.int8)
    mask[: row[NUM_LEGAL]] = 1
    return {"observation": seen, "action_mask": mask}


class Callback(Bot):
    """Mix-in of a bot whose decisions any callable makes: a trained network, a table, a lambda.

    `act` gets an observation with its mask, as the environment gives it, and returns the number
    of a legal action. Put the game's bot base behind it:

        class Trained(Callback, PasaBot):
            act = staticmethod(load_my_network())
    """

    act: ClassVar[Callable[[Observation], int]]
    most_actions: ClassVar[int] = 0  # length of the mask; 0: as many as are legal

    def _decide(self, view: Any) -> int:
        actions = self.most_actions or view.num_legal
        chosen = int(type(self).act(observation_of(view, len(view), actions)))
        if not 0 <= chosen < view.num_legal:
            raise ValueError(f"action {chosen} is not among {view.num_legal} legal ones")
        return int(view.legal[chosen])

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.game:
            from ladder.games import get_game

            for method in get_game(cls.game).decisions.values():
                setattr(cls, method, Callback._decide)
