"""Stake policies that teach: each is a function of the view and nothing else."""

from __future__ import annotations

from typing import Any

from ladder.games.pasa import PasaBot, PasaView


class Least(PasaBot):
    """Stakes the least every time; on the app's page it wins 25.0 % against three Easy."""

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The smallest legal stake."""
        return view.least_stake


class Most(PasaBot):
    """Stakes the most it may every time."""

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The largest legal stake."""
        return view.most_stake


class Uniform(PasaBot):
    """Stakes each legal size equally often."""

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """A legal stake by the seat's private random integer."""
        return view.legal[view.luck % view.num_legal]

    @staticmethod
    def luck_ways(view: PasaView, params: Any) -> int:
        """Each legal stake."""
        return view.num_legal


class BoldUntilAhead(PasaBot):
    """Stakes the most until it leads by `lead` chips, then the least."""

    lead: int = 50

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Bold while the lead is smaller than the param."""
        return view.least_stake if view.lead >= params.lead else view.most_stake


class FractionOfPile(PasaBot):
    """Stakes the largest legal size up to `percent` of its pile."""

    percent: int = 5

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The largest legal stake that does not exceed the fraction; else the least."""
        most = view.pile * params.percent // 100
        chosen = view.least_stake
        for stake in view.legal:
            if stake <= most:
                chosen = stake
        return chosen


class CopyTheLeader(PasaBot):
    """Stakes what the richest seat has on the mat, or the least where it has none."""

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """The largest legal stake up to the leader's."""
        leader = 0
        for seat in range(view.seats):
            if view.piles[seat] > view.piles[leader]:
                leader = seat
        chosen = view.least_stake
        for stake in view.legal:
            if stake <= view.stakes[leader]:
                chosen = stake
        return chosen


class LastTurnGambler(PasaBot):
    """Stakes the least until `turns` turns are left, then the most while it is behind."""

    turns: int = 4

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Quiet, then all or nothing."""
        if view.turns_left > params.turns or view.lead > 0:
            return view.least_stake
        return view.most_stake
