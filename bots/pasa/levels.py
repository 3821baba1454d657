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
    wait = (seat - view.thrower) % view.seats
    return (view.turns_left - wait + view.seats - 1) // view.seats


def chance_ahead(lead: float) -> float:
    """About 1 / (1 + e ** -lead), of nothing but operations that every machine rounds alike."""
    x = lead / 4
    root = math.sqrt(1 + x * x)
    ratio = root - x if x < 0 else 1 / (root + x)
    squared = ratio * ratio
    return 1 / (1 + squared * squared)


def chance_past(lead: float, throws: int, swing: float, spread: float) -> float:
    """The chance to end above a seat that still has turns to throw in.

    One of them is spelled out: half the time the first throw that counts is a tiro, which costs
    the thrower all that is staked; else it may win that back, or more. Further ones count as half
    a loss each.
    """
    if throws == 0:
        return chance_ahead(lead / spread)
    lead += swing / 2 * (throws - 1)
    return (
        0.5 * chance_ahead((lead + swing) / spread)
        + 0.25 * chance_ahead(lead / spread)
        + 0.125 * chance_ahead((lead - swing) / spread)
        + 0.125 * chance_ahead((lead - 2.4 * swing) / spread)
    )


def chance_on_top(view: PasaView, stake: int, mine: float, sign: int, params: Any) -> float:
    """The chance that `mine` is the largest pile, after a paro (sign -1) or a tiro (sign 1)."""
    left = view.turns_left - (1 if sign > 0 else 0)
    grown = math.sqrt(left) * math.sqrt(math.sqrt(left))
    spread = max(0.01, view.most * (params.spread + params.spread_a_turn * grown) / 100)
    swing = view.most * (view.seats - 1) * params.swing / 100
    wait = (view.seat - view.thrower) % view.seats
    odds = 1.0
    on_mat = stake
    for seat in range(view.seats):
        if seat != view.seat and seat != view.thrower:
            put_down = view.stakes[seat]
            if (seat - view.thrower) % view.seats > wait:
                put_down = min(view.piles[seat], view.most * 2 // 5)  # not known yet: a guess
            on_mat += put_down
            lead = mine - view.piles[seat] - sign * put_down
            chance = chance_past(lead, throws_to_come(view, seat), swing, spread)
            odds += (1 - chance) / (chance + 1e-12)
    throws = throws_to_come(view, view.thrower) - (1 if sign > 0 else 0)
    lead = mine - view.piles[view.thrower] + sign * on_mat
    chance = chance_past(lead, throws, swing, spread)
    return 1 / (odds + (1 - chance) / (chance + 1e-12))


def prospect(view: PasaView, stake: int, sign: int, params: Any) -> float:
    """About its chance to win after a paro or a tiro, its own turns to throw in reckoned with."""
    pile = float(view.pile + sign * stake)
    throws = throws_to_come(view, view.seat)
    if throws == 0:
        return chance_on_top(view, stake, pile, sign, params)
    swing = view.most * (view.seats - 1) * params.swing / 100
    pile -= swing / 2 * (throws - 1)
    return (
        0.5 * chance_on_top(view, stake, pile - swing, sign, params)
        + 0.25 * chance_on_top(view, stake, pile, sign, params)
        + 0.125 * chance_on_top(view, stake, pile + swing, sign, params)
        + 0.125 * chance_on_top(view, stake, pile + 2.4 * swing, sign, params)
    )


class Master(PasaBot):
    """Looks one throw ahead: stakes what leaves it the best chance to end on top.

    What exact play teaches. A lead is no lead while its owner still has to throw: half of all turns
    begin with a tiro, which pays everybody. And a stake is a bet against the thrower: it is worth
    most where the thrower is the one to beat. The params are percent of the most stake.
    """

    spread: int = 6  # how far apart piles are still as good as equal, after the last turn
    spread_a_turn: int = 44  # and what a turn left adds to that, growing as turns ** 3/4
    swing: int = 53  # what a throw moves, a staker

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The legal stake with the best mean prospect of paro and tiro, the smallest of equals."""
        best = -1.0
        chosen = view.least_stake
        for stake in view.legal:
            chance = 0.0
            for sign in (-1, 1):
                chance += prospect(view, stake, sign, params)
            if chance > best + 1e-9:
                best = chance
                chosen = stake
        return chosen
