"""Pasha's text forms: deals, rolls, actions, states; each `x_text` is undone by `parse_x`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from ladder.errors import IllegalActionError, ParseError
from ladder.games.nodes import CHANCE, END, LEGAL_AT, NODE, NUM_LEGAL, SEAT
from ladder.games.pasha import board, deal, row, rules
from ladder.games.pasha.scoring import score

TERMINATIONS = ("rounds",)
EFFECTS = ("", "points", "discard", "cubes")  # by tile_effect
ROWS = ("beside", "pair", "two pairs", "three", "full house", "four", "five")
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


def dice_text(dice: int) -> str:
    """Packed dice as faces, ascending.

    >>> dice_text(parse_dice("4 2 4"))
    '2 4 4'
    """
    faces = [str(face) for face in range(1, 7) for _ in range(row.count(dice, face))]
    return " ".join(faces)


def parse_dice(text: str) -> int:
    """Undo `dice_text`; faces apart by blanks or hyphens.

    >>> parse_dice("1") == row.one(1)
    True
    """
    shown = text.replace("-", " ").split()
    if len(shown) > row.NUM_DICE or any(face not in list("123456") for face in shown):
        raise ParseError(f"dice are up to five faces 1..6 (got {text!r})")
    return sum(row.one(int(face)) for face in shown)


def mark_text(mark: int) -> str:
    """A space of the board in words.

    >>> mark_text(board.mark(board.FULL_HOUSE, 2))
    'full house 2'
    """
    return f"{ROWS[board.mark_row(mark)]} {board.mark_column(mark)}" if mark else ROWS[0]


def parse_mark(text: str) -> int:
    """Undo `mark_text`.

    >>> parse_mark("five 6")
    36
    """
    name, _, column = text.strip().rpartition(" ")
    if text.strip() == ROWS[0]:
        return board.BESIDE
    if name not in ROWS[1:] or column not in list("123456"):
        raise ParseError(f"a mark is written as in 'two pairs 6' or 'beside' (got {text!r})")
    return board.mark(ROWS.index(name), int(column))


def roll_text(action: int, rolling: int) -> str:
    """A roll of so many dice, ascending.

    >>> roll_text(parse_roll("roll 6 2 6"), 3)
    'roll 2 6 6'
    """
    faces = sorted(action // 6**die % 6 + 1 for die in range(rolling))
    return " ".join(["roll", *map(str, faces)])


def parse_roll(text: str) -> int:
    """Undo `roll_text`, for any number of dice.

    >>> parse_roll("roll 1 1 1 1 1")
    0
    """
    word, _, rest = text.strip().partition(" ")
    faces = [int(face) - 1 for face in dice_text(parse_dice(rest)).split()]
    if word != "roll" or not faces:
        raise ParseError(f"a roll is written as in 'roll 2 3 4 4 5' (got {text!r})")
    return sum(face * 6**die for die, face in enumerate(faces))


def decks_text(action: int) -> str:
    """The three decks of a deal, the hand first.

    >>> decks_text(0)
    '7 5 4 | 3 2 1 | -1 -1 -1'
    """
    cells = [0] * row.WIDTH
    deal.deal_decks(cells, 0, action)
    cards = cells[row.DECKS : row.DECKS + row.NUM_CARDS]
    return " | ".join(" ".join(map(str, cards[i : i + 3])) for i in (0, 3, 6))


@cache
def _ways_to_deal() -> dict[str, int]:
    """A deal for each text of decks; cards of -1 are alike, so several deals share one."""
    return {decks_text(action): action for action in reversed(range(deal.DECK_WAYS))}


def parse_decks(text: str) -> int:
    """Undo `decks_text`; within a deck the order does not matter.

    >>> decks_text(parse_decks("7 -1 3 | 1 2 -1 | 5 -1 4"))
    '7 3 -1 | 2 1 -1 | 5 4 -1'
    """
    try:
        decks = [sorted(map(int, part.split()), reverse=True) for part in text.split("|")]
    except ValueError:
        decks = []
    slots = [deal.slot_value(slot) for slot in range(row.NUM_CARDS)]
    dealt = [card for deck in decks for card in deck]
    if [len(deck) for deck in decks] != [3, 3, 3] or sorted(dealt, reverse=True) != slots:
        raise ParseError(
            f"decks are written as in '7 -1 3 | 1 2 -1 | 5 -1 4', nine cards in all (got {text!r})"
        )
    wanted = " | ".join(" ".join(map(str, deck)) for deck in decks)
    return _ways_to_deal()[wanted]


def tile_names(tiles: Sequence[int]) -> list[str]:
    """Names of a set's tiles: the column, with a letter from the second in one column on.

    >>> tile_names([row.tile(2, 1, 3), row.tile(5, 1, 2), row.tile(2, 1, 1)])
    ['2', '5', '2b']
    """
    columns = [row.tile_column(tile) for tile in tiles]
    again = [columns[:i].count(column) for i, column in enumerate(columns)]
    return [f"{column}{' bc'[n].strip()}" for column, n in zip(columns, again, strict=True)]


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


def choice_text(kind: int, action: int) -> str:
    """A decision's action as a line of a script.

    >>> choice_text(row.CUBE, row.cube_change(3, 1)), choice_text(row.REROLL, parse_dice("2 5"))
    ('cube 3+1', 'reroll 2 5')
    """
    if kind == row.CARD:
        return f"play {row.card_value(action)}"
    if kind == row.LAMP:
        return "lamp yes" if action else "lamp no"
    if kind == row.COLUMN:
        return f"column {action}"
    if action == row.STOP:
        return "stop"
    if row.is_cube_change(action):
        face, to = row.changed_face(action), row.changed_to(action)
        return f"cube {face}{to - face:+d}"
    if row.is_cube_reroll(action):
        return f"cube reroll {dice_text(row.rerolled(action))}"
    return f"reroll {dice_text(action)}"


def parse_choice(text: str, dice: int) -> tuple[frozenset[int], int]:
    """Undo `choice_text`: (decision kinds that it answers, action).

    `dice` are those on the table, for `keep`.

    >>> parse_choice("keep 4 4", parse_dice("2 3 4 4 5")) == ({row.REROLL}, parse_dice("2 3 5"))
    True
    >>> parse_choice("cube reroll 2", 0) == ({row.CUBE}, row.cube_reroll(row.one(2)))
    True
    """
    words = text.split()
    line = " ".join(words)
    if line == "stop":
        return frozenset((row.REROLL, row.CUBE)), row.STOP
    if line in ("lamp yes", "lamp no"):
        return frozenset((row.LAMP,)), int(line == "lamp yes")
    if found := re.fullmatch(r"play (-1|[1-57])", line):
        return frozenset((row.CARD,)), row.play(int(found[1]))
    if found := re.fullmatch(r"column ([1-6])", line):
        return frozenset((row.COLUMN,)), int(found[1])
    if found := re.fullmatch(r"cube ([1-6])([+-])1", line):
        return frozenset((row.CUBE,)), row.cube_change(int(found[1]), 1 if found[2] == "+" else -1)
    if words[:2] == ["cube", "reroll"] and len(words) > 2:
        return frozenset((row.CUBE,)), row.cube_reroll(parse_dice(" ".join(words[2:])))
    if words[:1] == ["reroll"] and len(words) > 1:
        return frozenset((row.REROLL,)), parse_dice(" ".join(words[1:]))
    if words[:1] == ["keep"]:
        kept = parse_dice(" ".join(words[1:]))
        if any(row.count(kept, face) > row.count(dice, face) for face in range(1, 7)):
            raise IllegalActionError(
                f"only dice on the table can be kept: {dice_text(dice)} (rule 4.B.2) (got {text!r})"
            )
        return frozenset((row.REROLL,)), dice - kept
    raise ParseError(
        "an action is written as in 'play 7', 'keep 4 4', 'reroll 2 3 5', 'stop', 'lamp yes',"
        f" 'cube 3+1', 'cube reroll 2', 'column 6' or 'roll 2 3 4 4 5' (got {text!r})"
    )


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


def tile_text(tile: int) -> str:
    """A bonus tile in words.

    >>> tile_text(row.tile(2, row.POINTS_TILE, 3)), tile_text(row.tile(5, row.DISCARD_TILE, 0))
    ('points 3 on 2', 'discard on 5')
    """
    effect = EFFECTS[row.tile_effect(tile)]
    amount = f" {row.tile_amount(tile)}" if row.tile_amount(tile) else ""
    return f"{effect}{amount} on {row.tile_column(tile)}"


def parse_tile(text: str) -> int:
    """Undo `tile_text`.

    >>> parse_tile("cubes 3 on 1") == row.tile(1, row.CUBES_TILE, 3)
    True
    """
    found = re.fullmatch(r"(points|discard|cubes)(?: (\d+))? on ([1-6])", text.strip())
    if not found:
        raise ParseError(f"a tile is written as in 'points 3 on 2' (got {text!r})")
    return row.tile(int(found[3]), EFFECTS.index(found[1]), int(found[2] or 0))


def told(state: Sequence[int], action: int) -> str:
    """What a roll makes of the dice; the other actions say themselves."""
    if state[NODE] != CHANCE or state[row.STEP] != row.ROLL_STEP:
        return ""
    faces = roll_text(action, state[row.ROLLING]).removeprefix("roll ")
    return mark_text(board.best_mark(state[row.DICE] + parse_dice(faces)))
