"""Views from random play: what a bot may be asked at every edge of a game."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from ladder.games import get_game
from ladder.games.nodes import CHANCE, END, LUCK, NODE, WAYS

EDGES = (0, 1, 2**31 - 1)  # of the private integer


@cache
def fuzzed_views(game_name: str, matches: int = 12) -> tuple[tuple[int, Any, list[int]], ...]:
    """(decision kind, view, legal actions) from random matches at every number of seats."""
    game = get_game(game_name)
    views: list[tuple[int, Any, list[int]]] = []
    for seats in range(2, game.max_seats + 1):
        for number in range(matches):
            luck = Random(f"{game_name} {seats} {number}")
            state = game.new_state(game.table(seats=seats))
            game.start(state)
            while state[NODE] != END:
                if state[NODE] == CHANCE:
                    action = luck.randrange(state[WAYS])
                else:
                    state[LUCK] = luck.choice([*EDGES, luck.randrange(2**31)])
                    legal = game.legal(state)
                    row = list(game.observe(state, [0] * len(state)))
                    views.append((state[NODE], game.view(row), legal))
                    action = luck.choice(legal)
                game.advance(state, action)
    return tuple(views)
