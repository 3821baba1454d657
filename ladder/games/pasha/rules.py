"""Pasha's rules: the turn, step by step (rule 4); row.py says what the ints mean.

A turn runs down the stages below until one of them asks for a decision or a roll. Every stage
function returns the stage that follows, or WAIT when the node is set.
"""

from __future__ import annotations

from ladder.games.nodes import CHANCE, END, FORCED, NODE, NUM_LEGAL, SEAT, WAYS, Row
from ladder.games.pasha.board import (
    TWO_PAIRS,
    best_mark,
    list_cubes,
    list_rerolls,
    lower_column,
    mark,
    mark_column,
)
from ladder.games.pasha.deal import clear, deal, is_dealt
from ladder.games.pasha.row import (
    ABOVE,
    BETWEEN,
    CARD,
    COLUMN,
    CUBE,
    CUBES,
    DECKS,
    DICE,
    EXTRA_CARDS,
    EXTRA_ROLLS,
    FACES,
    HAND,
    LAMP,
    LAMP_CARDS,
    LAMP_LEFT,
    LAMP_ROLLS,
    LEADER,
    LEGAL,
    MARKS,
    NUM_CARDS,
    NUM_DICE,
    NUM_HAND,
    NUM_ROUNDS,
    ORDER,
    PLAYED,
    RANKING,
    REMAINING,
    REROLL,
    REROLL_ANY,
    ROLL_STEP,
    ROLLING,
    ROLLS,
    ROLLS_LEFT,
    ROUND,
    SEATS,
    STEP,
    STOP,
    TILES,
    TURN,
    TURNED,
    VIEW_WIDTH,
    card_value,
    change_die,
    count,
    is_cube_change,
    num_dice,
    one,
    play,
    rerolled,
)
from ladder.games.pasha.scoring import score_round
from ladder.jit import rule

WAIT = 0
ROLLED = 1  # dice have landed or changed
ROLLING_OVER = 2
SPENDING = 3  # cubes after the last roll
PLACING = 4
TURN_OVER = 5
NEW_ROUND = 6
NEW_TURN = 7

ROUNDS_PLAYED = 0  # the one termination


@rule
def start(state: Row) -> None:
    """Set up a table whose options are in the row: the first chance node (rule 3)."""
    clear(state)


@rule
def advance(state: Row, action: int) -> None:
    """Apply an action or a chance outcome and run to the next node; the caller knows it legal."""
    stage = apply(state, action)
    if stage == ROLLED:
        stage = after_roll(state)
    if stage == ROLLING_OVER:
        stage = ask_lamp(state)
    if stage == SPENDING:
        stage = ask_cube(state)
    if stage == PLACING:
        stage = place_disc(state)
    if stage == TURN_OVER:
        stage = end_turn(state)
    if stage == NEW_ROUND:
        stage = open_round(state)
    if stage == NEW_TURN:
        ask_card(state)


@rule
def apply(state: Row, action: int) -> int:
    """What the action itself does; the stage that follows."""
    node = state[NODE]
    if node == CHANCE:
        if state[STEP] == ROLL_STEP:
            land(state, action)
            return ROLLED
        deal(state, action)
        return NEW_ROUND if is_dealt(state) else WAIT
    if node == REROLL:
        if action == STOP:
            state[ROLLS_LEFT] = 0
            return ROLLING_OVER
        state[ROLLS_LEFT] -= 1
        roll(state, state[DICE] - action)
        return WAIT
    if node == CUBE:
        return use_cube(state, action)
    if node == CARD:
        play_card(state, action)
        return WAIT
    if node == LAMP:
        state[LAMP_LEFT] = 0
        if action == 0:
            return SPENDING
        state[ROLLS_LEFT] = LAMP_ROLLS - 1
        roll(state, 0)
        return WAIT
    state[MARKS + state[SEAT]] = mark(TWO_PAIRS, action)
    return TURN_OVER


@rule
def ask_card(state: Row) -> None:
    """Ask the seat for a card, or play it where the hand has only one kind (rule 4.B.1)."""
    state[DICE] = 0
    at = DECKS + state[SEAT] * NUM_CARDS
    end = at + hand_end(state[ROUND])
    listed = 0
    for i in range(at + state[ROUND], end):
        if listed == 0 or play(state[i]) != state[LEGAL + listed - 1]:
            state[LEGAL + listed] = play(state[i])
            listed += 1
    if listed > 1:
        state[NUM_LEGAL] = listed
        state[NODE] = CARD
    else:
        state[FORCED] += 1
        play_card(state, state[LEGAL])


@rule
def hand_end(played: int) -> int:
    """Where, in a seat's nine cards, the hand ends when so many have been played (rule 3)."""
    if played < 3:
        return 3
    return 6 if played < 6 else 9


@rule
def play_card(state: Row, action: int) -> None:
    """Play a card and roll all five dice (rules 4.B.1 and 4.B.2)."""
    seat = state[SEAT]
    value = card_value(action)
    first = DECKS + seat * NUM_CARDS + state[ROUND]
    at = first
    while state[at] != value:
        at += 1
    while at > first:
        state[at] = state[at - 1]
        at -= 1
    state[first] = value
    state[REMAINING + seat] -= one(action)
    state[PLAYED + seat] = value
    state[ROLLS_LEFT] = (EXTRA_ROLLS if (state[EXTRA_CARDS] >> action) & 1 else ROLLS) - 1
    state[LAMP_LEFT] = (state[LAMP_CARDS] >> action) & 1
    roll(state, 0)


@rule
def roll(state: Row, kept: int) -> None:
    """Set the chance node of a roll: these dice stay, the others are in the air."""
    state[DICE] = kept
    ways = 1
    rolling = NUM_DICE - num_dice(kept)
    for _ in range(rolling):
        ways *= 6
    state[ROLLING] = rolling
    state[NODE] = CHANCE
    state[STEP] = ROLL_STEP
    state[WAYS] = ways


@rule
def land(state: Row, action: int) -> None:
    """Add the dice of a roll, one digit of base 6 each, to those that stayed."""
    dice = state[DICE]
    for _ in range(state[ROLLING]):
        rest = action // 6
        dice += one(action - 6 * rest + 1)
        action = rest
    state[DICE] = dice
    state[ROLLING] = 0


@rule
def after_roll(state: Row) -> int:
    """Ask for a reroll, or before it for a cube where those count between rolls (rule 4.B)."""
    if state[ROLLS_LEFT] == 0:
        return ROLLING_OVER
    if state[BETWEEN] and state[CUBES + state[SEAT]] > 0:
        return SPENDING
    ask_reroll(state)
    return WAIT


@rule
def ask_reroll(state: Row) -> None:
    """Which dice to roll again (rule 4.B.2)."""
    list_rerolls(state, state[DICE])
    state[NODE] = REROLL


@rule
def ask_lamp(state: Row) -> int:
    """Whether to use the lamp: once, when rolling ends and before cubes (rule 4.B.2)."""
    if state[LAMP_LEFT] == 0:
        return SPENDING
    state[LEGAL] = 0
    state[LEGAL + 1] = 1
    state[NUM_LEGAL] = 2
    state[NODE] = LAMP
    return WAIT


@rule
def ask_cube(state: Row) -> int:
    """Whether to spend a cube, and how (rule 4.B.3)."""
    if state[CUBES + state[SEAT]] == 0:
        return PLACING
    list_cubes(state, state[DICE], state[REROLL_ANY])
    state[NODE] = CUBE
    return WAIT


@rule
def use_cube(state: Row, action: int) -> int:
    """Stop, or spend one cube on a change or a reroll (rule 4.B.3)."""
    if action == STOP:
        if state[ROLLS_LEFT] == 0:
            return PLACING
        ask_reroll(state)
        return WAIT
    state[CUBES + state[SEAT]] -= 1
    if is_cube_change(action):
        state[DICE] = change_die(state[DICE], action)
        return ROLLED
    roll(state, state[DICE] - rerolled(action))
    return WAIT


@rule
def place_disc(state: Row) -> int:
    """Mark the result; with two pairs ask for the column (rules 2 and 4.B.4)."""
    best = best_mark(state[DICE])
    lower = lower_column(state[DICE])
    if lower == 0:
        state[MARKS + state[SEAT]] = best
        return TURN_OVER
    state[LEGAL] = mark_column(best)
    state[LEGAL + 1] = lower
    state[NUM_LEGAL] = 2
    state[NODE] = COLUMN
    return WAIT


@rule
def end_turn(state: Row) -> int:
    """Pass the dice clockwise; after everyone's turn score the round (rule 4)."""
    state[TURN] += 1
    if state[TURN] < state[SEATS]:
        state[SEAT] = state[SEAT] + 1 if state[SEAT] + 1 < state[SEATS] else 0
        return NEW_TURN
    score_round(state)
    state[ROUND] += 1
    state[LEADER] = state[RANKING]
    if state[ROUND] < NUM_ROUNDS:
        return NEW_ROUND
    state[NODE] = END
    return WAIT


@rule
def open_round(state: Row) -> int:
    """Take the discs back and turn up a tile (rule 4.A)."""
    for seat in range(state[SEATS]):
        state[PLAYED + seat] = 0
        state[MARKS + seat] = -1
    tile = state[ORDER + state[ROUND]]
    state[ABOVE + state[ROUND]] = state[TILES + tile]
    state[TURNED] |= 1 << tile
    state[TURN] = 0
    state[SEAT] = state[LEADER]
    return NEW_TURN


@rule
def observe(state: Row, out: Row) -> Row:
    """The row the deciding seat sees: all that is open, its hand and nothing else (rule 7)."""
    listed = LEGAL + state[NUM_LEGAL]
    for cell in range(listed):
        out[cell] = state[cell]
    out[FORCED] = 0  # it tells which hands had cards of one kind only
    for cell in range(listed, VIEW_WIDTH):
        out[cell] = 0  # what another seat was shown here before
    at = FACES
    for face in range(1, 7):
        for _ in range(count(state[DICE], face)):
            out[at] = face
            at += 1
    while at < FACES + NUM_DICE:
        out[at] = 0
        at += 1
    played = state[ROUND] if state[NODE] == CARD else state[ROUND] + 1
    first = DECKS + state[SEAT] * NUM_CARDS + played
    held = hand_end(played) - played
    out[NUM_HAND] = held
    for i in range(3):
        out[HAND + i] = state[first + i] if i < held else 0
    return out
