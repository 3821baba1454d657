"""What the rules allow and do at one seat's staking, tabulated by asking the rules.

Nothing of the rules stands in the solver: a table of a few thousand numbers is filled by playing
every case out with `rules.ask_next`, `rules.put_down` and `rules.settle`, and the kernel looks the
cases up. What is assumed here, and held by the tests against the rules played in full: the legal
stakes follow from the seat's pile and what is left of the cover, neither counting beyond the
largest stake; and a throw moves a seat's pile by what that seat staked.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ladder.games.nodes import CHANCE, LEGAL_AT, NODE, NUM_LEGAL
from ladder.games.pasa import rules
from ladder.games.pasa.table import PasaTable, new_state
from ladder.jit import compiled, rule

PARO, TIRO = 0b111111, 0b000000  # 6 6 6 and 1 1 1, as throws of the rules


class Menus(NamedTuple):
    """The cases, in units. A *menu* is a list of legal stakes, its options stand in *slots*.

    A menu is called by its first slot.
    """

    most: int  # chips of a pile or a cover beyond this cannot be staked by one seat
    menu: Any  # by cover and pile
    count: Any  # by menu: options
    stake: Any  # by slot, like the next three
    covered: Any  # what staking it does to the cover
    paro: Any  # what a paro does to the pile of who staked it
    tiro: Any


def menus(table: PasaTable, unit: int) -> Menus:
    """Every case of a table whose chips and sizes are multiples of `unit`."""
    most = table.most // unit
    slots = (most + 1) * len(table.sizes)
    found = Menus(
        most,
        np.zeros((most + 1, most + 1), np.int64),
        *(np.zeros(slots, np.int64) for _ in range(5)),
    )
    row = new_state(table)
    rules.start(row)
    for seat in range(table.seats):
        row[rules.PILES + seat] = 0
    _filler()(found, np.array(row, np.int64), unit, len(table.sizes))
    return found


@cache
def _filler() -> Any:
    return compiled(_fill, "exact/menus.py", "games/pasa/", "games/nodes.py")


def _fill(found: Menus, row: Any, unit: int, options: int) -> None:
    """Each case: seat 1 is asked, the seats after it have nothing to stake."""
    for cover in range(found.most + 1):
        for pile in range(found.most + 1):
            row[rules.THROWER] = 0
            row[rules.PILES] = cover * unit
            row[rules.PILES + 1] = pile * unit
            rules.open_staking(row)
            rules.ask_next(row)
            menu = _largest(row) // unit * options
            found.menu[cover, pile] = menu
            if found.count[menu] == 0:
                _fill_options(found, row, unit, menu)


@rule
def _largest(row: Any) -> int:
    """The largest legal stake; where it is forced it has been put down already."""
    if row[NODE] == CHANCE:
        return int(row[rules.STAKES + 1])
    return int(row[row[LEGAL_AT] + row[NUM_LEGAL] - 1])


@rule
def _fill_options(found: Menus, row: Any, unit: int, menu: int) -> None:
    is_forced = row[NODE] == CHANCE
    count = 1 if is_forced else row[NUM_LEGAL]
    found.count[menu] = count
    for option in range(count):
        staked = row.copy()
        stake = _largest(row)
        if not is_forced:
            stake = row[row[LEGAL_AT] + option]
            rules.put_down(staked, stake)
        found.stake[menu + option] = stake // unit
        found.covered[menu + option] = (staked[rules.COVER] - row[rules.PILES]) // unit
        found.paro[menu + option] = _moved(staked, PARO) // unit
        found.tiro[menu + option] = _moved(staked, TIRO) // unit


@rule
def _moved(row: Any, throw: int) -> int:
    settled = row.copy()
    rules.settle(settled, throw)
    return int(settled[rules.PILES + 1] - row[rules.PILES + 1])
