"""Pasha's things in words: dice, marks, rolls, decks, tiles, choices, each with its `parse_x`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ladder.errors import IllegalActionError, ParseError
from ladder.games.pasha import board, deal, row

EFFECTS = ("", "points", "discard", "cubes")  # by tile_effect
ROWS = ("beside", "pair", "two pairs", "three", "full house", "four", "five")


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
