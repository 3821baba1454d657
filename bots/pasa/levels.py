"""The app's four levels, Easy to Master (rule 9 of Pasa).

The page names four levels and two win shares, and does not say how they play. Easy and Hard are
what reproduces both shares; Medium lies between; Master goes beyond the page.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ladder.games.pasa import PasaBot, PasaView


class Easy(PasaBot):
    """Strictly ahead, half the time the most; otherwise any legal stake."""

    @staticmethod
    def luck_ways(view: PasaView, params: Any) -> int:
        """A coin and a stake."""
        return 2 * view.num_legal

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Uses one bit of luck for the coin and the rest for the stake."""
        if view.lead > 0 and view.luck % 2 == 0:
            return view.most_stake
        return view.legal[view.luck // 2 % view.num_legal]


class Medium(PasaBot):
    """Stakes the most or the least on a coin; the least once it is far ahead."""

    luck_ways: ClassVar[int] = 2

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Half as bold as Hard."""
        if view.lead > 75 * view.turns_left or view.luck % 2 == 0:
            return view.least_stake
        return view.most_stake


class Hard(PasaBot):
    """The page's strongest rule: the most, until the lead is too large to be taken back."""

    per_turn: int = 75

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The least when ahead by more than `per_turn` chips for each turn left."""
        if view.lead > params.per_turn * view.turns_left:
            return view.least_stake
        return view.most_stake


class Master(PasaBot):
    """Hard with a line drawn much earlier: a lead of ten chips a turn left is worth keeping."""

    per_turn: int = 10

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The least when ahead by more than `per_turn` chips for each turn left."""
        if view.lead > params.per_turn * view.turns_left:
            return view.least_stake
        return view.most_stake
