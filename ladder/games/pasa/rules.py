"""Pasa's rules as functions over ints (the rule numbers are the sections of the rules).

Nothing here knows names, bots or randomness: the caller brings the dice as actions. A throw is
one int, 0..63, two bits a die; a stake is its number of chips.
"""

from __future__ import annotations

from ladder.games.nodes import (
    CHANCE,
    END,
    FORCED,
    HEADER,
    LEGAL_AT,
    NODE,
    NUM_LEGAL,
    SEAT,
    TERMINATION,
    WAYS,
    ReadRow,
    Row,
)
from ladder.jit import rule

STAKE = 2  # the one kind of decision

# The state row. What a bot may see stands first, the sizes and the legal stakes last.
SEATS = HEADER
ROUNDS = HEADER + 1
CHIPS = HEADER + 2
LEAST = HEADER + 3
MOST = HEADER + 4
FIRST_THROWER = HEADER + 5
CUT_PERCENT = HEADER + 6
THROWER = HEADER + 7
TURN = HEADER + 8  # turns held so far
COVER = HEADER + 9
ASKED = HEADER + 10  # seats after the thrower that this staking has passed
HOUSE = HEADER + 11  # chips the house has kept
PILES = HEADER + 12
MAX_SEATS = 6
STAKES = PILES + MAX_SEATS
NUM_SIZES = STAKES + MAX_SEATS
SIZES = NUM_SIZES + 1

FACES = (1, 2, 5, 6)
_PACKED_FACES = 0x6521  # a table in a number: compiled, indexing a tuple costs a copy of it
OUTCOMES = 64
BACHYO, PARO, TIRO = 0, 1, 2
_PARO_TOTALS = (1 << 13) | (1 << 15) | (1 << 17) | (1 << 18)
_TIRO_TOTALS = (1 << 3) | (1 << 4) | (1 << 6) | (1 << 9)

ROUNDS_PLAYED, ONE_PILE_LEFT = 0, 1


@rule
def face(throw: int, die: int) -> int:
    """The face of die 0, 1 or 2 of a throw (rule 2)."""
    return (_PACKED_FACES >> (4 * ((throw >> (2 * die)) & 3))) & 15


@rule
def total(throw: int) -> int:
    """The three faces of a throw added up."""
    return face(throw, 0) + face(throw, 1) + face(throw, 2)


@rule
def kind_of_total(points: int) -> int:
    """PARO, TIRO or BACHYO (rule 2)."""
    if (_PARO_TOTALS >> points) & 1:
        return PARO
    if (_TIRO_TOTALS >> points) & 1:
        return TIRO
    return BACHYO


@rule
def next_seat(state: ReadRow, seat: int) -> int:
    """The next seat clockwise.

    No remainder here: a division costs more than the rest of the rule.
    """
    return seat + 1 if seat + 1 < state[SEATS] else 0


@rule
def turns_left(state: ReadRow) -> int:
    """Turns still to be played, the present one included (rule 6)."""
    return state[SEATS] * state[ROUNDS] - state[TURN]


@rule
def best_other(state: ReadRow, seat: int) -> int:
    """The largest pile of the other seats."""
    best = 0
    for other in range(state[SEATS]):
        if other != seat and state[PILES + other] > best:
            best = state[PILES + other]
    return best


@rule
def lead(state: ReadRow, seat: int) -> int:
    """How far a seat's pile is ahead of the best other; negative when behind."""
    return state[PILES + seat] - best_other(state, seat)


@rule
def start(state: Row) -> None:
    """Deal the chips at a table whose options are in the row, and run to the first decision."""
    for seat in range(MAX_SEATS):
        state[PILES + seat] = state[CHIPS] if seat < state[SEATS] else 0
    state[TURN] = 0
    state[HOUSE] = 0
    state[FORCED] = 0
    state[NUM_LEGAL] = 0
    state[LEGAL_AT] = SIZES + state[NUM_SIZES]
    state[THROWER] = state[FIRST_THROWER]
    open_staking(state)
    ask_next(state)


@rule
def advance(state: Row, action: int) -> None:
    """Apply a stake or a throw and run to the next node; the caller has checked it is legal."""
    if state[NODE] == CHANCE:
        settle(state, action)
    else:
        put_down(state, action)
    if state[NODE] != END:
        ask_next(state)


@rule
def open_staking(state: Row) -> None:
    """Clear the mat and begin to ask."""
    for seat in range(state[SEATS]):
        state[STAKES + seat] = 0
    begin_staking(state)


@rule
def begin_staking(state: Row) -> None:
    """The first seat after the thrower is the next to be asked (rule 4); the mat is empty."""
    state[COVER] = state[PILES + state[THROWER]]
    state[ASKED] = 0
    state[SEAT] = state[THROWER]


@rule
def ask_next(state: Row) -> None:
    """Go on round the table to the next seat with a choice, or to the throw.

    After a bachyo nobody is left to ask and it is the throw again.
    """
    while state[ASKED] < state[SEATS] - 1:
        state[ASKED] += 1
        state[SEAT] = next_seat(state, state[SEAT])
        cap = min(state[MOST], state[PILES + state[SEAT]], state[COVER])
        if cap > 0:
            list_stakes(state, cap)
            if state[NUM_LEGAL] > 1:
                state[NODE] = STAKE
                return
            state[FORCED] += 1
            put_down(state, cap)
    state[NODE] = CHANCE
    state[WAYS] = OUTCOMES


@rule
def list_stakes(state: Row, cap: int) -> None:
    """The legal stakes: every size below the cap, and the cap itself (rule 4)."""
    at = state[LEGAL_AT]
    count = state[NUM_LEGAL]
    if count > 0 and state[at + count - 1] == cap:
        return
    count = 0
    while count < state[NUM_SIZES] and state[SIZES + count] < cap:
        state[at + count] = state[SIZES + count]
        count += 1
    state[at + count] = cap
    state[NUM_LEGAL] = count + 1


@rule
def put_down(state: Row, stake: int) -> None:
    """Put a stake on the mat; it stays in its owner's pile until the throw settles it."""
    state[STAKES + state[SEAT]] = stake
    state[COVER] -= stake


@rule
def settle(state: Row, throw: int) -> None:
    """Move the chips of a throw and go on (rule 5)."""
    points = total(throw)
    kind = kind_of_total(points)
    if kind == BACHYO:
        return
    sign = 2 * kind - 3  # -1 for a paro, 1 for a tiro: a branch would be guessed wrong
    on_mat = state[PILES + state[THROWER]] - state[COVER]
    state[PILES + state[THROWER]] -= sign * on_mat
    if points == 15:
        cut = on_mat * state[CUT_PERCENT] // 100
        state[PILES + state[THROWER]] -= cut
        state[HOUSE] += cut
    for seat in range(state[SEATS]):
        state[PILES + seat] += sign * state[STAKES + seat]
        state[STAKES + seat] = 0
    if is_one_pile_left(state):
        finish(state, ONE_PILE_LEFT)
        return
    if kind == TIRO:
        pass_dice(state)
        if turns_left(state) == 0:
            finish(state, ROUNDS_PLAYED)
            return
    begin_staking(state)


@rule
def pass_dice(state: Row) -> None:
    """Hand the dice on; the turn of a seat that is out counts as held (rule 5)."""
    state[TURN] += 1
    state[THROWER] = next_seat(state, state[THROWER])
    while turns_left(state) > 0 and state[PILES + state[THROWER]] == 0:
        state[TURN] += 1
        state[THROWER] = next_seat(state, state[THROWER])


@rule
def is_one_pile_left(state: ReadRow) -> bool:
    """Whether exactly one pile is not empty (rule 6)."""
    left = 0
    for seat in range(state[SEATS]):
        left += state[PILES + seat] > 0
    return left == 1


@rule
def finish(state: Row, termination: int) -> None:
    """End the match."""
    state[NODE] = END
    state[TERMINATION] = termination


@rule
def num_seats(state: ReadRow) -> int:
    """Seats at the table."""
    return state[SEATS]


@rule
def score(state: ReadRow, seat: int) -> int:
    """A seat's score: its pile."""
    return state[PILES + seat]


@rule
def standing(state: ReadRow, seat: int) -> int:
    """What seats are ranked by at the end, larger is better (rule 6)."""
    return state[PILES + seat]


@rule
def observe(state: Row, out: Row) -> Row:
    """The row a bot sees. Nothing at the mat is hidden, so it is the state itself (rule 7)."""
    return state
