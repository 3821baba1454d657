"""Pasha's text forms node by node, and whole states; words.py has the parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ladder.errors import IllegalActionError, ParseError
from ladder.games.nodes import CHANCE, END, LEGAL_AT, NODE, NUM_LEGAL, SEAT
from ladder.games.pasha import board, deal, row, rules
from ladder.games.pasha.scoring import score
from ladder.games.pasha.words import (
    choice_text,
    decks_text,
    dice_text,
    mark_text,
    parse_choice,
    parse_decks,
    parse_dice,
    parse_roll,
    roll_text,
    tile_names,
    tile_text,
)

TERMINATIONS = ("rounds",)
DECISIONS = {
    row.CARD: ("a card", "rule 4.B.1"),
    row.REROLL: ("dice to reroll", "rule 4.B.2"),
    row.LAMP: ("the lamp", "rule 4.B.2"),
    row.CUBE: ("cubes", "rule 4.B.3"),
    row.COLUMN: ("a column for two pairs", "rule 2"),
}
CHANCES = ("first", "deck", "tiles", "roll")
CHOICES = ("play", "keep", "reroll", "stop", "lamp", "cube", "column")
_LISTED = 12  # legal actions shown in a refusal


def _orders(names: list[str]) -> list[str]:
    shuffled = []
    for action in range(deal.TILES_WAYS):
        cells = [0] * row.WIDTH
        deal.shuffle_tiles(cells, 0, action)
        shuffled.append(" ".join(names[i] for i in cells[row.ORDER : row.ORDER + 3]))
    return shuffled


def _set_to_shuffle(state: Sequence[int]) -> tuple[str, list[str]]:
    """The letter of the set to shuffle now and its six orders in words."""
    number = state[row.DEALT] - state[row.SEATS]
    at = row.TILES + 3 * number
    return "ABC"[number], _orders(tile_names(state[at : at + 3]))


def action_text(state: Sequence[int], action: int) -> str:
    """The action at this node as a line of a script."""
    if state[NODE] != CHANCE:
        return choice_text(state[NODE], action)
    step = state[row.STEP]
    if step == row.FIRST_STEP:
        return f"first {action}"
    if step == row.DECK_STEP:
        return f"deck {state[SEAT]} {decks_text(action)}"
    if step == row.TILES_STEP:
        letter, orders = _set_to_shuffle(state)
        return f"tiles {letter} {orders[action]}"
    return roll_text(action, state[row.ROLLING])


def parse_action(state: Sequence[int], text: str) -> int:
    """Undo `action_text`. Raises: ParseError, IllegalActionError (rules 2 to 6)."""
    words = text.split()
    if not words or words[0] not in CHANCES + CHOICES:
        raise ParseError(f"an action begins with {', '.join(CHANCES + CHOICES)} (got {text!r})")
    if state[NODE] == END:
        raise IllegalActionError(f"nine rounds are over: nothing is legal (rule 6) (got {text!r})")
    if state[NODE] == CHANCE:
        return _parse_chance(state, words, text)
    legal = list(state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]])
    kinds, action = frozenset[int](), -1
    if words[0] in CHOICES:
        kinds, action = parse_choice(text, state[row.DICE])
    if state[NODE] not in kinds or action not in legal:
        asked, rule_name = DECISIONS[state[NODE]]
        shown = ", ".join(choice_text(state[NODE], known) for known in legal[:_LISTED])
        more = f" and {len(legal) - _LISTED} more" if len(legal) > _LISTED else ""
        raise IllegalActionError(
            f"seat {state[SEAT]} is asked for {asked}: legal are {shown}{more} ({rule_name})"
            f" (got {text!r})"
        )
    return action


def _parse_chance(state: Sequence[int], words: list[str], text: str) -> int:
    """The outcome that a line gives at this chance node."""
    step = state[row.STEP]
    rest = " ".join(words[1:])
    if step == row.ROLL_STEP:
        rolling = state[row.ROLLING]
        if words[0] != "roll" or row.num_dice(parse_dice(rest)) != rolling:
            raise IllegalActionError(
                f"{rolling} dice are in the air: legal is 'roll' with {rolling} faces"
                f" (rule 4.B.2) (got {text!r})"
            )
        return parse_roll(text)
    if step == row.FIRST_STEP:
        seats = [str(seat) for seat in range(state[row.SEATS])]
        if words[0] != "first" or rest not in seats:
            raise IllegalActionError(
                f"the first player is drawn: legal is first {' | '.join(seats)} (rule 3)"
                f" (got {text!r})"
            )
        return int(rest)
    if step == row.DECK_STEP:
        seat = state[SEAT]
        if words[:2] != ["deck", str(seat)]:
            raise IllegalActionError(
                f"seat {seat} is dealt to: legal is 'deck {seat} a b c | d e f | g h i' (rule 3)"
                f" (got {text!r})"
            )
        return parse_decks(" ".join(words[2:]))
    letter, orders = _set_to_shuffle(state)
    order = " ".join(words[2:])
    if words[:2] != ["tiles", letter] or order not in orders:
        shown = ", ".join(f"tiles {letter} {known}" for known in orders)
        raise IllegalActionError(
            f"set {letter} is shuffled: legal are {shown} (rule 3) (got {text!r})"
        )
    return orders.index(order)


def node_text(state: Sequence[int]) -> str:
    """What the node asks for, in words."""
    if state[NODE] == END:
        return f"end ({TERMINATIONS[rules.ROUNDS_PLAYED]})"
    if state[NODE] != CHANCE:
        return f"seat {state[SEAT]} is asked for {DECISIONS[state[NODE]][0]}"
    if state[row.STEP] == row.FIRST_STEP:
        return "the first player is drawn"
    if state[row.STEP] == row.DECK_STEP:
        return f"seat {state[SEAT]} is dealt to"
    if state[row.STEP] == row.TILES_STEP:
        return f"set {_set_to_shuffle(state)[0]} is shuffled"
    return f"seat {state[SEAT]} rolls {state[row.ROLLING]} dice"


def state_text(state: Sequence[int]) -> str:
    """The table on one line; `parse_state` reads it back.

    rounds played, first player; by seat the cards, marks, points and cubes; tiles above the
    columns; the dice; then the node.
    """
    seats = state[row.SEATS]
    tiles = [tile for tile in state[row.ABOVE : row.ABOVE + row.NUM_TILES] if tile]
    columns = " ".join(str(row.tile_column(tile)) for tile in tiles)

    def by_seat(at: int) -> str:
        return " ".join(str(cell) for cell in state[at : at + seats])

    scores = " ".join(str(score(state, seat)) for seat in range(seats))
    return (
        f"round {state[row.ROUND]} leader {state[row.LEADER]} played {by_seat(row.PLAYED)}"
        f" marks {by_seat(row.MARKS)} scores {scores} cubes {by_seat(row.CUBES)}"
        f" tiles {columns or '-'} dice {dice_text(state[row.DICE]) or '-'}: {node_text(state)}"
    )


def parse_state(text: str) -> dict[str, list[int]]:
    """The numbers of a `state_text`, by word. Raises: ParseError."""
    names = ("round", "leader", "played", "marks", "scores", "cubes", "tiles", "dice")
    pattern = " ".join(rf"{name} ([-\d ]+)" for name in names) + ": .+"
    found = re.fullmatch(pattern, text)
    if not found:
        raise ParseError(f"not a state of the table (got {text!r})")
    parts = zip(names, found.groups(), strict=True)
    return {name: [int(n) for n in numbers.split() if n != "-"] for name, numbers in parts}


def state_values(state: Sequence[int]) -> dict[str, Any]:
    """The table as plain values."""
    seats = range(state[row.SEATS])
    marks = [state[row.MARKS + seat] for seat in seats]
    at = [row.DECKS + seat * row.NUM_CARDS for seat in seats]
    return {
        "rounds_played": state[row.ROUND],
        "leader": state[row.LEADER],
        "played": [state[row.PLAYED + seat] for seat in seats],
        "marks": [mark_text(mark) if mark >= 0 else None for mark in marks],
        "cards": [list(state[first : first + row.NUM_CARDS]) for first in at],
        "scores": [score(state, seat) for seat in seats],
        "cubes": [state[row.CUBES + seat] for seat in seats],
        "tiles": [tile_text(tile) for tile in state[row.ABOVE : row.ABOVE + row.NUM_TILES] if tile],
        "dice": [int(face) for face in dice_text(state[row.DICE]).split()],
        "rolls_left": state[row.ROLLS_LEFT],
    }


_DOES = {row.CARD: "plays {}", row.LAMP: "lamp: {}", row.CUBE: "cube: {}", row.COLUMN: "column {}"}


def move_text(state: Sequence[int], action: int) -> str:
    """What the seat does, or what is dealt to it or rolled by it."""
    text = action_text(state, action)
    word, _, rest = text.partition(" ")
    if state[NODE] == CHANCE:
        if state[row.STEP] != row.ROLL_STEP:
            return {"first": f"first player: seat {rest}"}.get(word, f"is dealt: {text}")
        kept = dice_text(state[row.DICE])
        with_kept = f" beside {kept}" if kept else ""
        return f"rolls {rest}{with_kept}: {told(state, action)}"
    if state[NODE] == row.REROLL:
        kept = dice_text(state[row.DICE] - action)
        return f"rerolls {dice_text(action)}, keeps {kept or 'none'}" if action else "rolls no more"
    if state[NODE] == row.CUBE and action == row.STOP:
        return "spends no more cubes"
    return _DOES[state[NODE]].format(rest or text)


def chance_seat(state: Sequence[int]) -> int | None:
    """The seat that is dealt to or rolls; the first player and the tiles are nobody's."""
    return state[SEAT] if state[row.STEP] in (row.DECK_STEP, row.ROLL_STEP) else None


def table_text(state: Sequence[int]) -> str:
    """Cards and marks of the round, points, cubes; it changes when a disc is placed."""
    seats = range(state[row.SEATS])
    marks = [state[row.MARKS + seat] for seat in seats]
    shown = ", ".join(mark_text(mark) if mark >= 0 else "-" for mark in marks)
    points = " ".join(str(score(state, seat)) for seat in seats)
    cubes = " ".join(str(state[row.CUBES + seat]) for seat in seats)
    number = min(state[row.ROUND] + 1, row.NUM_ROUNDS)
    return f"round {number}: marks {shown}; points {points}; cubes {cubes}"


def told(state: Sequence[int], action: int) -> str:
    """What a roll makes of the dice; the other actions say themselves."""
    if state[NODE] != CHANCE or state[row.STEP] != row.ROLL_STEP:
        return ""
    faces = roll_text(action, state[row.ROLLING]).removeprefix("roll ")
    return mark_text(board.best_mark(state[row.DICE] + parse_dice(faces)))
