"""What a Pasa bot sees, and the base class of Pasa bots (rule 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ladder.games.bot import Bot
from ladder.games.nodes import LUCK, NUM_LEGAL, SEAT
from ladder.games.pasa import rules
from ladder.games.view import View, at, visible


def pile(row: Sequence[int]) -> int:
    """Your own pile."""
    return row[rules.PILES + row[SEAT]]


def best_other(row: Sequence[int]) -> int:
    """The largest pile of the other seats."""
    return rules.best_other(row, row[SEAT])


def lead(row: Sequence[int]) -> int:
    """Your pile minus the largest other; negative when behind."""
    return rules.lead(row, row[SEAT])


def turns_left(row: Sequence[int]) -> int:
    """Turns still to be played, the present one included."""
    return rules.turns_left(row)


def least_stake(row: Sequence[int]) -> int:
    """The smallest stake that is legal now."""
    return row[rules.SIZES + row[rules.NUM_SIZES]]


def most_stake(row: Sequence[int]) -> int:
    """The largest stake that is legal now."""
    return row[rules.SIZES + row[rules.NUM_SIZES] + row[NUM_LEGAL] - 1]


def legal(row: Sequence[int]) -> Sequence[int]:
    """The legal stakes, smallest first; at least two."""
    start = rules.SIZES + row[rules.NUM_SIZES]
    return row[start : start + row[NUM_LEGAL]]


def piles(row: Sequence[int]) -> Sequence[int]:
    """Every seat's pile, by seat."""
    return row[rules.PILES : rules.PILES + row[rules.SEATS]]


def stakes(row: Sequence[int]) -> Sequence[int]:
    """Every seat's stake on the mat, by seat; 0 where there is none (yet)."""
    return row[rules.STAKES : rules.STAKES + row[rules.SEATS]]


def sizes(row: Sequence[int]) -> Sequence[int]:
    """The table's stake sizes."""
    return row[rules.SIZES : rules.SIZES + row[rules.NUM_SIZES]]


class PasaView(View):
    """The mat as one seat sees it when it has to stake. All numbers are chips, seats or turns."""

    __slots__ = ()

    seat: int = at(SEAT, "Your seat, 0 .. seats - 1.")
    luck: int = at(LUCK, "A private random integer, 0 <= luck < 2**31, new at each decision.")
    pile: int = visible(pile)
    best_other: int = visible(best_other)
    lead: int = visible(lead)
    turns_left: int = visible(turns_left)
    least_stake: int = visible(least_stake)
    most_stake: int = visible(most_stake)
    num_legal: int = at(NUM_LEGAL, "How many stakes are legal.")
    legal: tuple[int, ...] = visible(legal)
    thrower: int = at(rules.THROWER, "The seat that holds the dice.")
    cover: int = at(rules.COVER, "The part of the thrower's pile not yet matched by stakes.")
    piles: tuple[int, ...] = visible(piles)
    stakes: tuple[int, ...] = visible(stakes)
    seats: int = at(rules.SEATS, "Table option: seats.")
    rounds: int = at(rules.ROUNDS, "Table option: rounds of the table.")
    chips: int = at(rules.CHIPS, "Table option: chips each at the start.")
    least: int = at(rules.LEAST, "Table option: least stake.")
    most: int = at(rules.MOST, "Table option: most stake.")
    sizes: tuple[int, ...] = visible(sizes)
    first_thrower: int = at(rules.FIRST_THROWER, "Table option: the seat that throws first.")
    fifteen_cut_percent: int = at(rules.CUT_PERCENT, "Table option: the house's cut on a fifteen.")


def least(view: PasaView, params: Any) -> int:
    """The least stake: what a Pasa bot does when it decides nothing itself."""
    return view.least_stake


class PasaBot(Bot):
    """Base of Pasa bots: override `stake`, which returns one of `view.legal`.

    As a policy, `@staticmethod def stake(view, params)`, it is a function of the view and can be
    compiled; as a method, `def stake(self, view)`, it may remember within its match.
    """

    game: ClassVar[str] = "pasa"

    stake: ClassVar[Any] = staticmethod(least)
