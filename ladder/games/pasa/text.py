"""Pasa's text forms: throws, stakes, kinds, states; each `x_text` is undone by `parse_x`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ladder.errors import IllegalActionError, ParseError
from ladder.games.nodes import CHANCE, END, FORCED, LEGAL_AT, NODE, NUM_LEGAL, SEAT
from ladder.games.pasa import rules

KINDS = ("bachyo", "paro", "tiro")
TERMINATIONS = ("rounds", "one_pile")
HALHALE: tuple[int, ...] = (2, 2, 2)
TIKE_TERHA: tuple[int, ...] = (1, 6, 6)
_NUMBERS = [
    *("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
]


def faces(throw: int) -> tuple[int, int, int]:
    """The three faces of a throw, die by die."""
    return rules.face(throw, 0), rules.face(throw, 1), rules.face(throw, 2)


def kind_text(kind: int) -> str:
    """The name of a kind of throw.

    >>> kind_text(rules.PARO)
    'paro'
    """
    return KINDS[kind]


def parse_kind(text: str) -> int:
    """Undo `kind_text`.

    >>> parse_kind("tiro") == rules.TIRO
    True
    """
    if text not in KINDS:
        raise ParseError(f"unknown kind of throw, there are {', '.join(KINDS)} (got {text!r})")
    return KINDS.index(text)


def throw_name(throw: int) -> str:
    """The name of a throw that has one, else ''.

    >>> throw_name(parse_throw("6 1 6"))
    'tike terha'
    """
    names = {HALHALE: "halhale", TIKE_TERHA: "tike terha"}
    return names.get(tuple(sorted(faces(throw))), "")


def throw_text(throw: int) -> str:
    """The three faces of a throw.

    >>> throw_text(0)
    '1 1 1'
    """
    return " ".join(str(face) for face in faces(throw))


def parse_throw(text: str) -> int:
    """Undo `throw_text`; faces apart by blanks or hyphens.

    >>> throw_text(parse_throw("6 6 1"))
    '6 6 1'
    """
    shown = text.replace("-", " ").split()
    if len(shown) != 3 or any(face not in ("1", "2", "5", "6") for face in shown):
        raise ParseError(f"a throw is three faces out of 1 2 5 6 (got {text!r})")
    return sum(rules.FACES.index(int(face)) << (2 * die) for die, face in enumerate(shown))


def throw_words(throw: int) -> str:
    """A throw as one says it.

    >>> throw_words(parse_throw("6 6 1"))
    '6-6-1, thirteen, tike terha: paro'
    """
    points = rules.total(throw)
    words = [throw_text(throw).replace(" ", "-"), _NUMBERS[points - 3], throw_name(throw)]
    return ", ".join(word for word in words if word) + ": " + KINDS[rules.kind_of_total(points)]


def stake_text(stake: int) -> str:
    """A stake as a line of a script.

    >>> stake_text(20)
    'stake 20'
    """
    return f"stake {stake}"


def parse_stake(text: str) -> int:
    """Undo `stake_text`.

    >>> parse_stake("stake 20")
    20
    """
    match = re.fullmatch(r"stake\s+([0-9]{1,10})", text.strip())
    if not match:
        raise ParseError(f"a stake is written as in 'stake 20' (got {text!r})")
    return int(match[1])


def action_text(state: Sequence[int], action: int) -> str:
    """The action at this node as a line of a script."""
    return f"throw {throw_text(action)}" if state[NODE] == CHANCE else stake_text(action)


def parse_action(state: Sequence[int], text: str) -> int:
    """Undo `action_text`. Raises: ParseError, IllegalActionError (rules 4 to 6)."""
    word, _, rest = text.strip().partition(" ")
    if word not in ("stake", "throw"):
        raise ParseError(f"an action is 'stake N' or 'throw F F F' (got {text!r})")
    if state[NODE] == END:
        raise IllegalActionError("the match is over: nothing more is legal (rule 6)")
    if state[NODE] == CHANCE:
        if word != "throw":
            raise IllegalActionError(
                f"the stakes are down: legal is throw F F F (rule 5) (got {text!r})"
            )
        return parse_throw(rest)
    legal = list(state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]])
    shown = ", ".join(stake_text(stake) for stake in legal)
    if word == "throw" or parse_stake(text) not in legal:
        raise IllegalActionError(
            f"seat {state[SEAT]} is to stake: legal are {shown} (rule 4) (got {text!r})"
        )
    return parse_stake(text)


def node_text(state: Sequence[int]) -> str:
    """What the node asks for, in words."""
    if state[NODE] == END:
        return f"end ({TERMINATIONS[state[6]]})"
    if state[NODE] == CHANCE:
        return f"seat {state[rules.THROWER]} throws"
    return f"seat {state[SEAT]} stakes of cover {state[rules.COVER]}"


def state_text(state: Sequence[int]) -> str:
    """The mat on one line; `parse_state` reads it back.

    turns left, thrower, piles, stakes; then the node.
    """
    seats = state[rules.SEATS]
    piles = " ".join(str(p) for p in state[rules.PILES : rules.PILES + seats])
    stakes = " ".join(str(s) for s in state[rules.STAKES : rules.STAKES + seats])
    return (
        f"left {rules.turns_left(state)} thrower {state[rules.THROWER]} piles {piles}"
        f" stakes {stakes}: {node_text(state)}"
    )


def state_values(state: Sequence[int]) -> dict[str, Any]:
    """The mat as plain values."""
    seats = state[rules.SEATS]
    return {
        "turns_left": rules.turns_left(state),
        "thrower": state[rules.THROWER],
        "cover": state[rules.COVER],
        "piles": list(state[rules.PILES : rules.PILES + seats]),
        "stakes": list(state[rules.STAKES : rules.STAKES + seats]),
        "house": state[rules.HOUSE],
    }


def told(state: Sequence[int], action: int) -> str:
    """A throw as one says it; a stake says itself."""
    return throw_words(action) if state[NODE] == CHANCE else ""


def move_text(state: Sequence[int], action: int) -> str:
    """What the seat does: a stake with the cover it meets, a throw with the chips it moves."""
    if state[NODE] != CHANCE:
        return f"stakes {action} of cover {state[rules.COVER]}"
    kind = rules.kind_of_total(rules.total(action))
    on_mat = sum(state[rules.STAKES : rules.STAKES + state[rules.SEATS]])
    moved = {rules.PARO: f", takes {on_mat}", rules.TIRO: f", pays {on_mat}, the dice pass"}
    return f"throws {throw_words(action)}{moved.get(kind, ', throws again')}"


def chance_seat(state: Sequence[int]) -> int | None:
    """The thrower."""
    return state[rules.THROWER]


def table_text(state: Sequence[int]) -> str:
    """The piles, and how many turns are left."""
    piles = " ".join(str(p) for p in state[rules.PILES : rules.PILES + state[rules.SEATS]])
    return f"piles {piles}, turns left {rules.turns_left(state)}"


def forced_texts(before: Sequence[int] | None, state: Sequence[int]) -> list[str]:
    """The stakes put down without asking since the node before (None: the start), in their order.

    A script may leave them out, and may give them.
    """
    forced = state[FORCED] - (before[FORCED] if before is not None else 0)
    was_asked = before is not None and before[NODE] == rules.STAKE
    last = before[SEAT] if was_asked and before is not None else state[rules.THROWER]
    seats = state[rules.SEATS]
    stakes = [state[rules.STAKES + (last + step) % seats] for step in range(1, seats)]
    return [stake_text(stake) for stake in stakes if stake > 0][:forced]


def parse_state(text: str) -> dict[str, list[int]]:
    """The numbers of a `state_text`, by word. Raises: ParseError."""
    words: dict[str, list[int]] = {}
    pattern = r"left (\d+) thrower (\d+) piles ([\d ]+) stakes ([\d ]+): .+"
    match = re.fullmatch(pattern, text)
    if not match:
        raise ParseError(f"not a state of the mat (got {text!r})")
    for name, numbers in zip(("left", "thrower", "piles", "stakes"), match.groups(), strict=True):
        words[name] = [int(number) for number in numbers.split()]
    return words
