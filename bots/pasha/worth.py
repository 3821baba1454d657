"""What a final mark is worth in a Pasha round, in points: what Hard and Master plan for.

The parts, each of which a bot may leave out (`Weights`):
- cards: the expected card of each rank, the cards and marks on the table known, those of the seats
  still to play drawn from their remaining sets and from `later`, a distribution over marks;
- rivals: a point that a rival does not get is worth 1 / (seats - 1) of one's own;
- tiles: those above the mark's column, by the chance to be the best in it;
- cubes: what is left of them, by `cube_worth`;
- lead: what it costs to be the best and play first in the next round.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ladder.games.nodes import SEAT
from ladder.games.pasha import board
from ladder.games.pasha.row import (
    ABOVE,
    CUBES_TILE,
    MARKS,
    MAX_SEATS,
    MINUS,
    NUM_MARKS,
    NUM_TILES,
    PLAYED,
    POINTS_TILE,
    REMAINING,
    SEATS,
    WHITE,
    count,
    num_dice,
    tile_amount,
    tile_column,
    tile_effect,
)
from ladder.jit import compiled, outlined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_VALUE = 7


class Weights(NamedTuple):
    """How much each part counts."""

    rivals: float = 1.0
    tiles: float = 1.0
    lead: float = 0.0


@outlined
def expected_cards(cells: Any, card: int, rewards: Any) -> float:
    """Fill rewards[rank] with the expected card of each rank; return the expected cards of -1.

    A rank's card is the sum over v = 1..7 of the chance that more than `rank` cards reach v.
    """
    seats, seat = cells[SEATS], cells[SEAT]
    for rank in range(seats):
        rewards[rank] = 0.0
    minus = 0.0
    reach = np.zeros(MAX_SEATS + 1)
    for value in range(1, MAX_VALUE + 1):
        reach[:] = 0.0
        reach[0] = 1.0
        for other in range(seats):
            played = card if other == seat else cells[PLAYED + other]
            if played != 0:
                share = 1.0 if played >= value else 0.0
            else:
                held = cells[REMAINING + other]
                above = 0
                for v in range(value, MAX_VALUE + 1):
                    above += count(held, v + 1)
                share = above / (num_dice(held >> 3) + count(held, 0))
            for n in range(other + 1, 0, -1):
                reach[n] = reach[n] * (1 - share) + reach[n - 1] * share
            reach[0] *= 1 - share
        tail = 0.0
        for n in range(seats, 0, -1):
            tail += reach[n]
            rewards[n - 1] += tail
    for other in range(seats):
        played = card if other == seat else cells[PLAYED + other]
        if played < 0:
            minus += 1.0
        elif played == 0:
            held = cells[REMAINING + other]
            minus += count(held, 0) / (num_dice(held >> 3) + count(held, 0))
    return minus


@outlined
def tile_worth(cells: Any, column: int, minus: float, cube: float, rivals: float) -> float:
    """What the tiles above a column are worth to the seat; `cube` is what one more cube is."""
    seat = cells[SEAT]
    share = rivals / (cells[SEATS] - 1)
    total = 0.0
    for i in range(NUM_TILES):
        packed = cells[ABOVE + i]
        if tile_column(packed) == column:
            effect = tile_effect(packed)
            if effect == POINTS_TILE:
                total += tile_amount(packed) * (1 + share)
            elif effect == CUBES_TILE:
                total += min(tile_amount(packed), cells[WHITE]) * (cube + share)
            else:
                total += cells[MINUS + seat] + minus
    return total


def utility(cells: Any, card: int, later: Any, cube_worth: Any, weights: Any, out: Any) -> None:
    """Fill out[cubes left, mark] for the deciding seat when it plays `card`."""
    rivals, tiles, lead = weights
    seats, seat = cells[SEATS], cells[SEAT]
    rewards = np.zeros(MAX_SEATS)
    minus = expected_cards(cells, card, rewards)
    to_play = 0
    for other in range(seats):
        if other != seat and cells[MARKS + other] < 0:
            to_play += 1
    scale = 1 + rivals / (seats - 1)
    at_least = 0.0  # chance that one later seat reaches this mark
    in_column = np.zeros(7)  # the same within its column
    ranks = np.zeros(MAX_SEATS + 1)
    cubes = out.shape[0] - 1
    cube = cube_worth[cubes + 1] - cube_worth[cubes]
    for mark in range(NUM_MARKS - 1, -1, -1):
        at_least += later[mark]
        column = board.mark_column(mark)
        in_column[column] += later[mark]
        better = 0
        is_best_in_column = column > 0
        for other in range(seats):
            if other != seat and cells[MARKS + other] > mark:
                better += 1
                if board.mark_column(cells[MARKS + other]) == column:
                    is_best_in_column = False
        ranks[:] = 0.0
        ranks[better] = 1.0
        for _ in range(to_play):
            for rank in range(seats - 1, 0, -1):
                ranks[rank] = ranks[rank] * (1 - at_least) + ranks[rank - 1] * at_least
            ranks[0] *= 1 - at_least
        worth = -minus * ranks[seats - 1]
        for rank in range(seats):
            worth += rewards[rank] * ranks[rank]
        worth = worth * scale - lead * ranks[0]
        if is_best_in_column and tiles > 0:
            first = 1.0
            for _ in range(to_play):
                first *= 1 - in_column[column]
            if first > 0:
                own = minus * ranks[seats - 1]
                worth += tiles * first * tile_worth(cells, column, own, cube, rivals)
        for c in range(cubes + 1):
            out[c, mark] = worth + cube_worth[c]


@cache
def utility_kernel() -> Any:
    """`utility`, compiled or loaded from the cache."""
    return compiled(utility, "games/")


def worth_of_marks(
    cells: Ints, card: int, cubes: int, later: Floats, cube_worth: Floats, weights: Weights
) -> Floats:
    """[cubes + 1, 37]: what each final mark with so many cubes left is worth."""
    out = np.empty((cubes + 1, NUM_MARKS))
    utility_kernel()(cells, card, later, cube_worth, weights, out)
    return out
