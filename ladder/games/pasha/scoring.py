"""Pasha's scoring of a round and of the match (rules 4.C, 5 and 6)."""

from __future__ import annotations

from ladder.games.nodes import ReadRow, Row
from ladder.games.pasha.board import mark_column, rank_seats
from ladder.games.pasha.row import (
    ABOVE,
    CARDS,
    CUBES,
    CUBES_TILE,
    DISCARDED,
    MARKS,
    MINUS,
    NUM_TILES,
    PLAYED,
    POINTS_TILE,
    RANKING,
    SEATS,
    TILE_POINTS,
    WHITE,
    count,
    one,
    tile_amount,
    tile_column,
    tile_effect,
)
from ladder.jit import outlined, rule

MAX_VALUE = 7


@outlined
def score_round(state: Row) -> None:
    """Share out the round's cards, then the tiles (rule 4.C)."""
    rank_seats(state)
    share_cards(state)
    for column in range(1, 7):
        seat = best_in_column(state, column)
        if seat >= 0:
            take_tiles(state, seat, column)


@rule
def share_cards(state: Row) -> None:
    """The worst takes every -1; the rest go from the best down, highest first (rule 4.C)."""
    seats = state[SEATS]
    pool = 0
    for seat in range(seats):
        if state[PLAYED + seat] < 0:
            state[MINUS + state[RANKING + seats - 1]] += 1
        else:
            pool += one(state[PLAYED + seat])
    place = 0
    for value in range(MAX_VALUE, 0, -1):
        for _ in range(count(pool, value)):
            state[CARDS + state[RANKING + place]] += value
            place += 1


@rule
def best_in_column(state: ReadRow, column: int) -> int:
    """The best seat with its disc in this column, or -1."""
    for place in range(state[SEATS]):
        seat = state[RANKING + place]
        if mark_column(state[MARKS + seat]) == column:
            return seat
    return -1


@rule
def take_tiles(state: Row, seat: int, column: int) -> None:
    """Give a seat every tile above a column, the older first (rules 4.C.3 and 5)."""
    for i in range(NUM_TILES):
        packed = state[ABOVE + i]
        if tile_column(packed) == column:
            state[ABOVE + i] = 0
            effect = tile_effect(packed)
            if effect == POINTS_TILE:
                state[TILE_POINTS + seat] += tile_amount(packed)
            elif effect == CUBES_TILE:
                taken = min(tile_amount(packed), state[WHITE])
                state[WHITE] -= taken
                state[CUBES + seat] += taken
            else:
                state[DISCARDED] += state[MINUS + seat]
                state[MINUS + seat] = 0


@rule
def score(state: ReadRow, seat: int) -> int:
    """A seat's points: cards, tiles, and one for each cube left (rule 6)."""
    points = state[CARDS + seat] - state[MINUS + seat]
    return points + state[TILE_POINTS + seat] + state[CUBES + seat]


@rule
def standing(state: ReadRow, seat: int) -> int:
    """What seats are ranked by at the end: points, then cubes left (rule 6)."""
    return 16 * score(state, seat) + state[CUBES + seat]
