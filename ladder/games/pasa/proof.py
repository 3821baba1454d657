"""What must hold of every Pasa match, whoever plays: conserved chips, fair dice (rules 2 and 5)."""

from __future__ import annotations

from collections.abc import Sequence

from ladder.games.pasa import rules
from ladder.games.pasa.text import KINDS, faces

# Ways out of 64 (rule 2).
KIND_WAYS = {"bachyo": 36, "paro": 14, "tiro": 14}
FACES: tuple[int, ...] = rules.FACES


def problem(state: Sequence[int]) -> str:
    """What is wrong with the chips of a state, or ''."""
    seats = state[rules.SEATS]
    piles = list(state[rules.PILES : rules.PILES + seats])
    held = sum(piles) + state[rules.HOUSE]
    if held != seats * state[rules.CHIPS]:
        return f"{held} chips at the table, {seats * state[rules.CHIPS]} were dealt"
    if min(piles) < 0:
        return f"a pile below nought: {piles}"
    stakes = sum(state[rules.STAKES : rules.STAKES + seats])
    if stakes > state[rules.PILES + state[rules.THROWER]]:
        return f"stakes of {stakes} against a pile of {state[rules.PILES + state[rules.THROWER]]}"
    return ""


def thrown(state: Sequence[int], action: int) -> tuple[int, ...]:
    """The faces that a chance node brought."""
    return faces(action)


def kind(state: Sequence[int], action: int) -> str:
    """The kind of throw that a chance node brought."""
    return KINDS[rules.kind_of_total(rules.total(action))]


def fair_score(state: Sequence[int]) -> int | None:
    """The mean score of any bot whatever it stakes: its chips, since every stake is fair.

    None where the house takes a cut.
    """
    return None if state[rules.CUT_PERCENT] else state[rules.CHIPS]


def total_score(state: Sequence[int]) -> int | None:
    """What the scores of every match add up to; None where that is not fixed."""
    return None if state[rules.CUT_PERCENT] else state[rules.SEATS] * state[rules.CHIPS]
