"""Pasha's dice and board: what a roll marks, what may be rolled again, who is best (rule 2)."""

from __future__ import annotations

from ladder.games.nodes import LEGAL_AT, NUM_LEGAL, ReadRow, Row
from ladder.games.pasha.row import (
    LEADER,
    MARKS,
    RANKING,
    SEATS,
    STOP,
    count,
    cube_change,
    cube_reroll,
    one,
)
from ladder.jit import rule

BESIDE = 0  # the mark of five different dice
PAIR, TWO_PAIRS, THREE, FULL_HOUSE, FOUR, FIVE = 1, 2, 3, 4, 5, 6


@rule
def mark(row: int, column: int) -> int:
    """A space of the board as one int, 1..36, larger is better (rule 2)."""
    return 6 * (row - 1) + column


@rule
def mark_row(place: int) -> int:
    """The row of a mark, PAIR .. FIVE; 0 beside the board."""
    return (place + 5) // 6


@rule
def mark_column(place: int) -> int:
    """The column of a mark, 1..6; 0 beside the board."""
    return place - 6 * ((place - 1) // 6) if place > 0 else 0


@rule
def best_mark(dice: int) -> int:
    """The mark of five dice, two pairs in their higher column (rule 2)."""
    most = 0  # the largest number of dice alike
    of = 0  # its face, the higher one of two pairs
    pairs = 0
    for face in range(1, 7):
        alike = count(dice, face)
        if alike >= 2:
            pairs += 1
            if alike >= most:
                most = alike
                of = face
    if pairs == 0:
        return BESIDE
    if pairs == 2:
        return mark(FULL_HOUSE if most == 3 else TWO_PAIRS, of)
    if most == 2:
        return mark(PAIR, of)
    if most == 3:
        return mark(THREE, of)
    return mark(FOUR if most == 4 else FIVE, of)


@rule
def lower_column(dice: int) -> int:
    """The lower column of two pairs, 0 for any other roll (rule 2)."""
    lower = 0
    pairs = 0
    for face in range(1, 7):
        alike = count(dice, face)
        if alike > 2:
            return 0
        if alike == 2:
            pairs += 1
            if pairs == 1:
                lower = face
    return lower if pairs == 2 else 0


@rule
def list_rerolls(state: Row, dice: int) -> None:
    """The legal actions of a reroll decision: stop, then every non-empty set of the dice."""
    at = state[LEGAL_AT]
    state[at] = STOP
    listed = 1
    for face in range(1, 7):
        alike = count(dice, face)
        before = listed
        for number in range(1, alike + 1):
            for i in range(before):
                state[at + listed] = state[at + i] + number * one(face)
                listed += 1
    state[NUM_LEGAL] = listed


@rule
def list_cubes(state: Row, dice: int, any_dice: int) -> None:
    """The legal actions of a cube decision: stop, changes by one, rerolls (rule 4.B.3)."""
    list_rerolls(state, dice)
    at = state[LEGAL_AT]
    listed = 1
    if any_dice:
        listed = state[NUM_LEGAL]
        for i in range(1, listed):
            state[at + i] = cube_reroll(state[at + i])
    for face in range(1, 7):
        if count(dice, face) > 0:
            if not any_dice:
                state[at + listed] = cube_reroll(one(face))
                listed += 1
            if face < 6:
                state[at + listed] = cube_change(face, 1)
                listed += 1
            if face > 1:
                state[at + listed] = cube_change(face, -1)
                listed += 1
    state[NUM_LEGAL] = listed


@rule
def turn_of(state: ReadRow, seat: int) -> int:
    """The place of a seat in this round's order of turns, from 0."""
    after = seat - state[LEADER]
    return after if after >= 0 else after + state[SEATS]


@rule
def strength(state: ReadRow, seat: int) -> int:
    """What seats with a mark are ranked by: the mark, then the later disc on top (rule 2)."""
    return 8 * state[MARKS + seat] + turn_of(state, seat)


@rule
def rank_seats(state: Row) -> None:
    """Put the seats into the ranking, best first."""
    for seat in range(state[SEATS]):
        at = seat
        while at > 0 and strength(state, state[RANKING + at - 1]) < strength(state, seat):
            state[RANKING + at] = state[RANKING + at - 1]
            at -= 1
        state[RANKING + at] = seat
