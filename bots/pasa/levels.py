"""The app's four levels, Easy to Master (rule 9 of Pasa).

The page names four levels and two win shares, and does not say how they play. Easy and Hard are
what reproduces both shares; Medium lies between; Master goes beyond the page.
"""

from __future__ import annotations

import math
from typing import Any

from ladder.games.pasa import PasaBot, PasaView


class Easy(PasaBot):
    """Strictly ahead, half the time the most; otherwise any legal stake."""

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Uses one bit of luck for the coin and the rest for the stake."""
        if view.lead > 0 and view.luck % 2 == 0:
            return view.most_stake
        return view.legal[view.luck // 2 % view.num_legal]

    @staticmethod
    def luck_ways(view: PasaView, params: Any) -> int:
        """The coin, then the stakes."""
        return 2 * view.num_legal


class Medium(PasaBot):
    """Stakes the most or the least on a coin; the least once it is far ahead."""

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Half as bold as Hard."""
        if view.lead > 75 * view.turns_left or view.luck % 2 == 0:
            return view.least_stake
        return view.most_stake

    @staticmethod
    def luck_ways(view: PasaView, params: Any) -> int:
        """The coin."""
        return 2


class Hard(PasaBot):
    """The page's strongest rule: the most, until the lead is too large to be taken back."""

    per_turn: int = 75

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The least when ahead by more than `per_turn` chips for each turn left."""
        if view.lead > params.per_turn * view.turns_left:
            return view.least_stake
        return view.most_stake


def throws_to_come(view: PasaView, seat: int) -> int:
    """How many of the turns left are a seat's own to throw in, the present one included."""
    seats = view.seats
    wait = (seat - view.thrower) % seats
    return (view.turns_left - wait + seats - 1) // seats


def weight(ahead: float) -> float:
    """About e ** ahead, of nothing but operations that every machine rounds alike."""
    x = ahead / 4
    grown = x + math.sqrt(1 + x * x)
    if x < 0:
        grown = 1 / (math.sqrt(1 + x * x) - x)
    return grown * grown * grown * grown


def prospect(view: PasaView, stake: int, sign: int, params: Any) -> float:
    """Its chance to end on top, roughly, after a paro (sign -1) or a tiro (sign 1).

    Piles are compared as they will most likely stand, not as they are: throwing is a lottery in
    which half the time everything staked is paid at once, so a turn still to throw in is a burden
    of `burden` percent of the most stake. What luck may still do grows with the turns left.
    """
    left = view.turns_left - (1 if sign > 0 else 0)
    spread = view.most * (params.spread + params.spread_a_turn * left) / 100
    burden = view.most * params.burden / 100
    wait = (view.seat - view.thrower) % view.seats
    mine = view.pile + sign * stake - burden * throws_to_come(view, view.seat)
    total = 1.0
    on_mat = stake
    for seat in range(view.seats):
        if seat != view.seat and seat != view.thrower:
            put_down = view.stakes[seat]
            if (seat - view.thrower) % view.seats > wait:
                put_down = min(view.piles[seat], view.most * 2 // 5)  # a guess
            on_mat += put_down
            pile = view.piles[seat] + sign * put_down - burden * throws_to_come(view, seat)
            total += weight((pile - mine) / spread)
    throws = throws_to_come(view, view.thrower) - (1 if sign > 0 else 0)
    pile = view.piles[view.thrower] - sign * on_mat - burden * throws
    return 1 / (total + weight((pile - mine) / spread))


class Master(PasaBot):
    """Looks one throw ahead: stakes what leaves it the best chance to end on top.

    What exact play teaches: a lead in chips is not a lead while its owner still has to throw, and
    a stake is worth making when the seat it is made against is the one to beat.
    """

    spread: int = 10
    spread_a_turn: int = 30
    burden: int = 80

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The legal stake with the best mean prospect of paro and tiro, the smallest of equals."""
        best = -1.0
        chosen = view.least_stake
        for stake in view.legal:
            chance = prospect(view, stake, -1, params) + prospect(view, stake, 1, params)
            if chance > best + 1e-9:
                best = chance
                chosen = stake
        return chosen
