"""The last round of Pasha, where points no longer count but winning does."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bots.pasha.worth import Floats, Ints
from ladder.games.nodes import SEAT
from ladder.games.pasha.row import CUBES, MARKS, NUM_MARKS, PLAYED, REMAINING, SEATS, count
from ladder.games.pasha.scoring import score_round, standing
from ladder.jit import compiled, outlined

SAMPLES = 32  # marks of the seats still to play are drawn so often; the same draws every time
POINT = 0.002  # a point beside a win: what breaks ties between equal chances


@outlined
def draw_mark(later: Any, ticket: float) -> int:
    """The mark at this point of the distribution, 0 <= ticket < 1."""
    mark = 0
    reached = later[0]
    while reached < ticket and mark < NUM_MARKS - 1:
        mark += 1
        reached += later[mark]
    return mark


def chances(cells: Any, later: Any, samples: int, out: Any) -> None:
    """Fill out[cubes left, mark] with the chance to win (a shared win counts in part)."""
    seats, seat = cells[SEATS], cells[SEAT]
    out[:, :] = 0.0
    final = np.empty_like(cells)
    draws = np.zeros(seats, np.int64)
    for sample in range(samples):
        for other in range(seats):
            draws[other] = cells[MARKS + other]
            if other != seat and draws[other] < 0:
                # Steps of the golden section for the first seat, of the square root of 2 for
                # the second and so on: even over [0, 1) and over pairs of seats.
                ticket = (sample + 0.5) * (0.618033988749895 + 0.2360679 * other)
                draws[other] = draw_mark(later, ticket - int(ticket))
        for mark in range(NUM_MARKS):
            final[:] = cells
            for other in range(seats):
                final[MARKS + other] = mark if other == seat else draws[other]
                if final[PLAYED + other] == 0:
                    final[PLAYED + other] = last_card(cells[REMAINING + other])
            before = final[CUBES + seat]
            score_round(final)
            won = final[CUBES + seat] - before  # white cubes
            for left in range(out.shape[0]):
                final[CUBES + seat] = left + won
                own = standing(final, seat)
                shared = 1
                for other in range(seats):
                    if other != seat:
                        theirs = standing(final, other)
                        if theirs > own:
                            shared = 0
                            break
                        if theirs == own:
                            shared += 1
                share = 1.0 / shared if shared > 0 else 0.0
                out[left, mark] += (share + POINT * (own >> 4)) / samples


@outlined
def last_card(remaining: int) -> int:
    """The one card that a seat has left."""
    for digit in range(9):
        if count(remaining, digit) > 0:
            return digit - 1
    return 0


@cache
def chances_kernel() -> Any:
    """`chances`, compiled or loaded from the cache."""
    return compiled(chances, "games/")


def win_chances(cells: Ints, cubes: int, later: Floats) -> Floats:
    """[cubes + 1, 37]: the chance to win with each final mark and so many cubes left."""
    out = np.empty((cubes + 1, NUM_MARKS))
    seats = int(cells[SEATS])
    to_play = sum(int(mark < 0) for mark in cells[MARKS : MARKS + seats]) - 1
    chances_kernel()(cells, later, SAMPLES if to_play else 1, out)
    return out
