"""What must hold of every Pasha match, whoever plays: conserved cards and cubes, fair dice."""

from __future__ import annotations

from collections.abc import Sequence

from ladder.games.pasha import deal, row
from ladder.games.pasha.words import parse_dice, roll_text

KIND_WAYS: dict[str, int] = {}  # no kinds of throw here
FACES: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
_SET = sorted(deal.slot_value(slot) for slot in range(row.NUM_CARDS))


def problem(state: Sequence[int]) -> str:
    """What is wrong with the cards and cubes of a state, or '' (rules 3 to 5)."""
    seats = state[row.SEATS]
    if state[row.DEALT] < seats + 3:
        return ""  # still being dealt
    played: list[int] = []
    for seat in range(seats):
        at = row.DECKS + seat * row.NUM_CARDS
        cards = list(state[at : at + row.NUM_CARDS])
        if sorted(cards) != _SET:
            return f"seat {seat} has the cards {cards}"
        played += cards[: state[row.ROUND]]
    won = sum(state[row.CARDS : row.CARDS + seats])
    if won != sum(card for card in played if card > 0):
        return f"cards worth {won} won of {sum(card for card in played if card > 0)} played"
    minus = sum(state[row.MINUS : row.MINUS + seats]) + state[row.DISCARDED]
    if minus != played.count(-1):
        return f"{minus} cards of -1 in piles and discarded, {played.count(-1)} played"
    cubes = list(state[row.CUBES : row.CUBES + seats])
    dealt = row.OWN_CUBES * seats + row.WHITE_CUBES
    if min(cubes) < 0 or sum(cubes) + state[row.WHITE] > dealt:
        return f"cubes {cubes} and {state[row.WHITE]} in the reserve, of {dealt}"
    return ""


def thrown(state: Sequence[int], action: int) -> tuple[int, ...]:
    """The faces that a chance node brought; none where it dealt cards or tiles."""
    if state[row.STEP] != row.ROLL_STEP:
        return ()
    packed = parse_dice(roll_text(action, state[row.ROLLING]).removeprefix("roll "))
    return tuple(face for face in FACES for _ in range(row.count(packed, face)))


def kind(state: Sequence[int], action: int) -> str:
    """Pasha's rolls have no kinds."""
    return ""


def fair_score(state: Sequence[int]) -> int | None:
    """There is none: points depend on play."""
    return None


def total_score(state: Sequence[int]) -> int | None:
    """Not fixed: tiles and cubes come and go."""
    return None
