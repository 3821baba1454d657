"""What a Pasha bot sees, and the base class of Pasha bots (rule 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ladder.games.bot import Bot
from ladder.games.nodes import LUCK, NUM_LEGAL, SEAT
from ladder.games.pasha import board, row, scoring
from ladder.games.pasha.board import THREE, mark_row
from ladder.games.pasha.row import STOP, all_of, count
from ladder.games.view import View, at, visible


def legal(cells: Sequence[int]) -> Sequence[int]:
    """The legal actions; at least two, the first is the default."""
    return cells[row.LEGAL : row.LEGAL + cells[NUM_LEGAL]]


def hand(cells: Sequence[int]) -> Sequence[int]:
    """The values of the cards in your hand, highest first."""
    return cells[row.HAND : row.HAND + cells[row.NUM_HAND]]


def faces(cells: Sequence[int]) -> Sequence[int]:
    """The five dice on the table, ascending; five zeros before they are rolled."""
    return cells[row.FACES : row.FACES + row.NUM_DICE]


def mark(cells: Sequence[int]) -> int:
    """What the dice on the table would mark, two pairs in the higher column."""
    return board.best_mark(cells[row.DICE])


def cubes(cells: Sequence[int]) -> int:
    """Your cubes."""
    return cells[row.CUBES + cells[SEAT]]


def seats_to_play(cells: Sequence[int]) -> int:
    """How many seats play after you in this round."""
    return cells[row.SEATS] - cells[row.TURN] - 1


def best_mark(cells: Sequence[int]) -> int:
    """The best mark of this round so far, -1 if you are the first to play.

    An equal mark beats it: a later disc lies on top.
    """
    best = -1
    for seat in range(cells[row.SEATS]):
        if cells[row.MARKS + seat] > best:
            best = cells[row.MARKS + seat]
    return best


def rounds_left(cells: Sequence[int]) -> int:
    """Rounds still to be played, the present one included."""
    return row.NUM_ROUNDS - cells[row.ROUND]


def score(cells: Sequence[int]) -> int:
    """Your points if the match ended now."""
    return scoring.score(cells, cells[SEAT])


def lead(cells: Sequence[int]) -> int:
    """Your points minus those of the best other seat."""
    best = -999
    for seat in range(cells[row.SEATS]):
        if seat != cells[SEAT] and scoring.score(cells, seat) > best:
            best = scoring.score(cells, seat)
    return scoring.score(cells, cells[SEAT]) - best


def played(cells: Sequence[int]) -> Sequence[int]:
    """Each seat's card of this round, 0 where it is still to play."""
    return cells[row.PLAYED : row.PLAYED + cells[row.SEATS]]


def marks(cells: Sequence[int]) -> Sequence[int]:
    """Each seat's mark of this round, -1 where it is still to play."""
    return cells[row.MARKS : row.MARKS + cells[row.SEATS]]


def remaining(cells: Sequence[int]) -> Sequence[int]:
    """The cards each seat has not played, packed: `count(remaining[seat], value + 1)`."""
    return cells[row.REMAINING : row.REMAINING + cells[row.SEATS]]


def cards(cells: Sequence[int]) -> Sequence[int]:
    """Each seat's positive cards won, added up."""
    return cells[row.CARDS : row.CARDS + cells[row.SEATS]]


def minus(cells: Sequence[int]) -> Sequence[int]:
    """How many cards of -1 lie in each seat's pile."""
    return cells[row.MINUS : row.MINUS + cells[row.SEATS]]


def tile_points(cells: Sequence[int]) -> Sequence[int]:
    """Each seat's points on tiles."""
    return cells[row.TILE_POINTS : row.TILE_POINTS + cells[row.SEATS]]


def all_cubes(cells: Sequence[int]) -> Sequence[int]:
    """Each seat's cubes."""
    return cells[row.CUBES : row.CUBES + cells[row.SEATS]]


def ranking(cells: Sequence[int]) -> Sequence[int]:
    """The seats, best first, as the last round ended; all zeros in the first."""
    return cells[row.RANKING : row.RANKING + cells[row.SEATS]]


def tiles(cells: Sequence[int]) -> Sequence[int]:
    """The nine places above the columns, oldest first: a packed tile, or 0 where there is none."""
    return cells[row.ABOVE : row.ABOVE + row.NUM_TILES]


def all_tiles(cells: Sequence[int]) -> Sequence[int]:
    """Table option: the nine tiles, packed, set A first."""
    return cells[row.TILES : row.TILES + row.NUM_TILES]


class PashaView(View):
    """The table as one seat sees it when it has to decide.

    Dice and sets of cards are packed counts (`row.count`), marks are 0 beside the board and
    1..36 on it, larger is better (`board.mark_row`, `board.mark_column`).
    """

    __slots__ = ()

    seat: int = at(SEAT, "Your seat, 0 .. seats - 1.")
    luck: int = at(LUCK, "A private random integer, 0 <= luck < 2**31, new at each decision.")
    num_legal: int = at(NUM_LEGAL, "How many actions are legal.")
    legal: tuple[int, ...] = visible(legal)
    hand: tuple[int, ...] = visible(hand)
    dice: int = at(row.DICE, "The dice on the table, packed: `count(dice, face)`.")
    faces: tuple[int, ...] = visible(faces)
    mark: int = visible(mark)
    rolls_left: int = at(row.ROLLS_LEFT, "Rolls you still have; at a cube, 0 after the last.")
    lamp_left: int = at(row.LAMP_LEFT, "1 while the lamp of your card can still be used.")
    cubes: int = visible(cubes)
    best_mark: int = visible(best_mark)
    seats_to_play: int = visible(seats_to_play)
    rounds_left: int = visible(rounds_left)
    score: int = visible(score)
    lead: int = visible(lead)
    played: tuple[int, ...] = visible(played)
    marks: tuple[int, ...] = visible(marks)
    remaining: tuple[int, ...] = visible(remaining)
    cards: tuple[int, ...] = visible(cards)
    minus: tuple[int, ...] = visible(minus)
    tile_points: tuple[int, ...] = visible(tile_points)
    all_cubes: tuple[int, ...] = visible(all_cubes)
    ranking: tuple[int, ...] = visible(ranking)
    tiles: tuple[int, ...] = visible(tiles)
    white_cubes: int = at(row.WHITE, "White cubes in the reserve.")
    discarded: int = at(row.DISCARDED, "Cards of -1 that tiles have taken out of the game.")
    turned_up: int = at(row.TURNED, "Bit i: tile i of `all_tiles` has been turned up.")
    leader: int = at(row.LEADER, "The seat that plays first in this round.")
    seats: int = at(row.SEATS, "Table option: seats.")
    first_player: int = at(row.FIRST_PLAYER, "Table option: first player of round one, -1 drawn.")
    extra_cards: int = at(row.EXTRA_CARDS, "Table option: bit value + 1: an extra throw.")
    lamp_cards: int = at(row.LAMP_CARDS, "Table option: bit value + 1: a lamp.")
    reroll_any: int = at(row.REROLL_ANY, "Table option: 1 if a cube rerolls any dice, 0 if one.")
    cubes_between_rolls: int = at(row.BETWEEN, "Table option: 1 if cubes count between rolls.")
    all_tiles: tuple[int, ...] = visible(all_tiles)


def highest_card(view: PashaView, params: Any) -> int:
    """The highest card of the hand."""
    return view.legal[0]


def keep_mark(view: PashaView, params: Any) -> int:
    """Keep the dice that make the mark and roll the others, even all five; stop at a full house."""
    dice = view.dice
    scored = 0
    for face in range(1, 7):
        if count(dice, face) >= 2:
            scored += all_of(dice, face)
    return dice - scored


def lamp_below_three(view: PashaView, params: Any) -> int:
    """Use the lamp when there are not even three of a kind."""
    return 1 if mark_row(view.mark) < THREE else 0


def keep_cubes(view: PashaView, params: Any) -> int:
    """Spend no cube."""
    return STOP


def higher_column(view: PashaView, params: Any) -> int:
    """The higher column of two pairs."""
    return view.legal[0]


class PashaBot(Bot):
    """Base of Pasha bots: override any of the five decisions, each returns one of `view.legal`.

    As a policy, `@staticmethod def card(view, params)`, it is a function of the view and can be
    compiled; as a method, `def card(self, view)`, it may remember within its match.
    What an action looks like: `row.play(7)`; a reroll is the packed dice to roll again, as in
    `row.reroll_all_but(view.dice, 6)`, or `row.STOP`; the lamp is 0 or 1; a cube is `row.STOP`,
    `row.cube_reroll(dice)` or `row.cube_change(face, +1)`; a column is 1..6. With the table option
    `cubes_between_rolls`, `cube` is asked before each `reroll` too: then `rolls_left` is not 0.
    """

    game: ClassVar[str] = "pasha"

    card: ClassVar[Any] = staticmethod(highest_card)
    reroll: ClassVar[Any] = staticmethod(keep_mark)
    lamp: ClassVar[Any] = staticmethod(lamp_below_three)
    cube: ClassVar[Any] = staticmethod(keep_cubes)
    column: ClassVar[Any] = staticmethod(higher_column)
