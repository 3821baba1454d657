"""Pasha's state row, cell by cell, and the ints that stand in it (rules 1 to 4).

Packed counts: dice and cards have no identity beyond face and value, so a multiset of them is one
int with three bits for each kind: `count(dice, face)`, `count(cards, value + 1)`.

Actions, the same wherever they stand:
- a card: its value + 1;
- a reroll: the packed dice to roll again, STOP (0) for none;
- the lamp: 0 no, 1 yes; a column: 1..6;
- a cube: STOP, `cube_reroll(dice)` or `cube_change(face, step)`.
Chance: a roll of k dice is k digits of base 6; a deal is one of 1,680 ways to make three decks of
nine cards; a shuffle of a set of tiles is one of six orders; a first player is a seat.
"""

from __future__ import annotations

from ladder.games.nodes import HEADER, ReadRow
from ladder.jit import rule

MAX_SEATS = 5
NUM_ROUNDS = 9
NUM_TILES = 9
NUM_CARDS = 9
NUM_DICE = 5
NUM_MARKS = 37  # 0 is beside the board, then 6 rows of 6 columns, worst first
OWN_CUBES = 5
WHITE_CUBES = 6
ROLLS = 3
EXTRA_ROLLS = 4  # with the card `extra throw`
LAMP_ROLLS = 3

# Decision kinds.
CARD, REROLL, LAMP, CUBE, COLUMN = 2, 3, 4, 5, 6

# What a chance node is about (the cell STEP).
FIRST_STEP, DECK_STEP, TILES_STEP, ROLL_STEP = 0, 1, 2, 3

# Table options.
SEATS = HEADER
FIRST_PLAYER = HEADER + 1  # a seat, or -1: drawn
EXTRA_CARDS = HEADER + 2  # bit value + 1: the card gives an extra throw
LAMP_CARDS = HEADER + 3  # bit value + 1: the card is a lamp
REROLL_ANY = HEADER + 4  # whether a cube rerolls any number of dice
BETWEEN = HEADER + 5  # whether cubes are used between rolls too
TILES = HEADER + 6  # the nine tiles, three of set A first; see `tile`

# The round and the turn.
ROUND = TILES + NUM_TILES  # rounds played
LEADER = ROUND + 1  # the round's first player
TURN = ROUND + 2  # turns finished in this round
STEP = ROUND + 3
WHITE = ROUND + 4  # white cubes left in the reserve
DISCARDED = ROUND + 5  # cards of -1 that tiles have taken out of the game
TURNED = ROUND + 6  # bit i: tile i has been turned up
DICE = ROUND + 7  # packed; at a chance node, the dice that stay
ROLLING = ROUND + 8  # at a chance node, how many dice are in the air
ROLLS_LEFT = ROUND + 9
LAMP_LEFT = ROUND + 10  # whether the lamp can still be asked for this turn
ABOVE = ROUND + 11  # tiles above the columns, oldest first; 0 where taken or to come

# A cell for each seat.
PLAYED = ABOVE + NUM_TILES  # value of the card played this round, 0 before
MARKS = PLAYED + MAX_SEATS  # mark of this round, -1 before
REMAINING = MARKS + MAX_SEATS  # packed cards not yet played, the hand among them
CARDS = REMAINING + MAX_SEATS  # sum of the positive cards won
MINUS = CARDS + MAX_SEATS  # cards of -1 in the pile
TILE_POINTS = MINUS + MAX_SEATS
CUBES = TILE_POINTS + MAX_SEATS
RANKING = CUBES + MAX_SEATS  # seats, best first, of the last round that was scored
FACES = RANKING + MAX_SEATS  # in a view: the five faces on the table, ascending
NUM_HAND = FACES + NUM_DICE  # in a view: cards in the seat's hand
HAND = NUM_HAND + 1  # in a view: those cards' values
LEGAL = HAND + 3
MAX_LEGAL = 48
VIEW_WIDTH = LEGAL + MAX_LEGAL

# Hidden. A seat's nine cards: those played, in order, then the hand, then the decks to come.
DECKS = VIEW_WIDTH
ORDER = DECKS + MAX_SEATS * NUM_CARDS  # the tiles in the order they are turned up
DEALT = ORDER + NUM_TILES  # chance nodes of the set-up so far
WIDTH = DEALT + 1

STOP = 0
_CUBE_REROLL = 1 << 21
_CUBE_CHANGE = 1 << 22

FULL_SET = 0o101111103  # -1 three times, 1 2 3 4 5 and 7 once

POINTS_TILE, DISCARD_TILE, CUBES_TILE = 1, 2, 3


@rule
def num_seats(state: ReadRow) -> int:
    """Seats at this table."""
    return state[SEATS]


@rule
def count(packed: int, digit: int) -> int:
    """How many of a kind: dice of a face, or cards of a value with digit value + 1."""
    return (packed >> (3 * digit)) & 7


@rule
def one(digit: int) -> int:
    """A packed multiset of one: a die of a face, or a card of a value with digit value + 1."""
    return 1 << (3 * digit)


@rule
def all_of(dice: int, face: int) -> int:
    """The dice of one face, packed."""
    return dice & (7 << (3 * face))


@rule
def num_dice(dice: int) -> int:
    """How many dice a packed multiset holds."""
    total = 0
    while dice > 0:
        total += dice & 7
        dice >>= 3
    return total


@rule
def play(value: int) -> int:
    """The action that plays a card of this value."""
    return value + 1


@rule
def card_value(action: int) -> int:
    """Undo `play`."""
    return action - 1


@rule
def reroll_all_but(dice: int, face: int) -> int:
    """The reroll that keeps the dice of one face; STOP where all five show it."""
    return dice & ~(7 << (3 * face))


@rule
def cube_reroll(dice: int) -> int:
    """The action that spends a cube to roll these dice again (packed)."""
    return _CUBE_REROLL | dice


@rule
def cube_change(face: int, step: int) -> int:
    """The action that spends a cube to turn a die of this face to face + step (+1 or -1)."""
    return _CUBE_CHANGE | (2 * face) | (1 if step > 0 else 0)


@rule
def is_cube_reroll(action: int) -> bool:
    """Whether a cube's action is a reroll."""
    return action & _CUBE_REROLL != 0


@rule
def is_cube_change(action: int) -> bool:
    """Whether a cube's action is a change of one die."""
    return action & _CUBE_CHANGE != 0


@rule
def rerolled(action: int) -> int:
    """The packed dice of a `cube_reroll`."""
    return action & (_CUBE_REROLL - 1)


@rule
def changed_face(action: int) -> int:
    """The face that a `cube_change` turns."""
    return (action & 15) >> 1


@rule
def changed_to(action: int) -> int:
    """The face that a `cube_change` turns it to."""
    return ((action & 15) >> 1) + (1 if action & 1 else -1)


@rule
def change_die(dice: int, action: int) -> int:
    """The dice after a `cube_change`."""
    return dice - one(changed_face(action)) + one(changed_to(action))


@rule
def tile(column: int, effect: int, amount: int) -> int:
    """A bonus tile as one int (rule 5)."""
    return column | (effect << 3) | (amount << 5)


@rule
def tile_column(packed: int) -> int:
    """The column of a tile, 1..6; 0 for a place with none."""
    return packed & 7


@rule
def tile_effect(packed: int) -> int:
    """POINTS_TILE, DISCARD_TILE or CUBES_TILE."""
    return (packed >> 3) & 3


@rule
def tile_amount(packed: int) -> int:
    """Points or cubes of a tile."""
    return packed >> 5
