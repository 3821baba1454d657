"""Pasha's set-up: a first player, three decks a seat, the order of the tiles (rule 3).

All of it is chance nodes, one for the first player, one a seat, one a set of tiles, so that a
match replays from its actions alone.
"""

from __future__ import annotations

from ladder.games.nodes import CHANCE, FORCED, LEGAL_AT, NODE, SEAT, TERMINATION, WAYS, ReadRow, Row
from ladder.games.pasha.row import (
    CUBES,
    DEALT,
    DECK_STEP,
    DECKS,
    FIRST_PLAYER,
    FIRST_STEP,
    FULL_SET,
    LEADER,
    LEGAL,
    MARKS,
    NUM_CARDS,
    ORDER,
    OWN_CUBES,
    REMAINING,
    ROUND,
    SEATS,
    STEP,
    TILES_STEP,
    WHITE,
    WHITE_CUBES,
    WIDTH,
)
from ladder.jit import outlined, rule

DECK_WAYS = 1680  # 84 hands of three out of nine, times 20 second decks of three out of six
_SECOND_WAYS = 20
TILES_WAYS = 6
NUM_SETS = 3
_SET_BY_SLOT = 0x000234568  # value + 1 of the nine cards, highest first, four bits each


@rule
def slot_value(slot: int) -> int:
    """The value of card `slot` of a set, 0..8, highest first (rule 1)."""
    return ((_SET_BY_SLOT >> (4 * slot)) & 15) - 1


@rule
def choose(n: int, k: int) -> int:
    """Ways to take k of n, for k up to 3."""
    if k == 0:
        return 1
    if k == 1:
        return n
    if k == 2:
        return n * (n - 1) // 2
    return n * (n - 1) * (n - 2) // 6


@outlined
def clear(state: Row) -> None:
    """Lay out an empty table: everything after the options."""
    for cell in range(ROUND, WIDTH):
        state[cell] = 0
    state[FORCED] = 0
    state[TERMINATION] = 0
    state[LEGAL_AT] = LEGAL
    state[WHITE] = WHITE_CUBES
    for seat in range(state[SEATS]):
        state[CUBES + seat] = OWN_CUBES
        state[MARKS + seat] = -1
        state[REMAINING + seat] = FULL_SET
    state[NODE] = CHANCE
    if state[FIRST_PLAYER] < 0:
        state[SEAT] = 0
        state[STEP] = FIRST_STEP
        state[WAYS] = state[SEATS]
    else:
        state[LEADER] = state[FIRST_PLAYER]
        ask_deal(state)


@rule
def ask_deal(state: Row) -> None:
    """The next chance node of the set-up: the seats' decks, then the sets of tiles."""
    if state[DEALT] < state[SEATS]:
        state[SEAT] = state[DEALT]
        state[STEP] = DECK_STEP
        state[WAYS] = DECK_WAYS
    else:
        state[SEAT] = state[LEADER]
        state[STEP] = TILES_STEP
        state[WAYS] = TILES_WAYS


@outlined
def deal(state: Row, action: int) -> None:
    """Apply an outcome of the set-up and go on to the next chance node of it, if there is one."""
    if state[STEP] == FIRST_STEP:
        state[LEADER] = action
    else:
        if state[STEP] == DECK_STEP:
            deal_decks(state, state[SEAT], action)
        else:
            shuffle_tiles(state, state[DEALT] - state[SEATS], action)
        state[DEALT] += 1
    ask_deal(state)


@rule
def is_dealt(state: ReadRow) -> bool:
    """Whether the set-up is done."""
    return state[DEALT] == state[SEATS] + NUM_SETS


@rule
def deal_decks(state: Row, seat: int, action: int) -> None:
    """Make a seat's three decks; within a deck the cards lie from high to low.

    `action` // 20 is the rank of the hand among the 84 combinations of slots, the rest that of
    the second deck among the 20 combinations of what is left.
    """
    first_rank = action // _SECOND_WAYS
    second_rank = action - _SECOND_WAYS * first_rank
    at = DECKS + seat * NUM_CARDS
    first = 0
    second = 0
    third = 0
    for slot in range(NUM_CARDS):
        value = slot_value(slot)
        if first < 3:
            takes = choose(8 - slot, 2 - first)
            if first_rank < takes:
                state[at + first] = value
                first += 1
                continue
            first_rank -= takes
        if second < 3:
            takes = choose(5 - second - third, 2 - second)
            if second_rank < takes:
                state[at + 3 + second] = value
                second += 1
                continue
            second_rank -= takes
        state[at + 6 + third] = value
        third += 1


@rule
def shuffle_tiles(state: Row, tile_set: int, action: int) -> None:
    """Put the three tiles of a set (0 is A) into one of their six orders (rule 3)."""
    at = ORDER + 3 * tile_set
    top = action >> 1
    low = 1 if top == 0 else 0
    high = 1 if top == 2 else 2
    state[at] = 3 * tile_set + top
    state[at + 1] = 3 * tile_set + (high if action & 1 else low)
    state[at + 2] = 3 * tile_set + (low if action & 1 else high)
