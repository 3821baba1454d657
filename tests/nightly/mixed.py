"""A bot whose strength is known: better play as often as its skill says."""

from __future__ import annotations

from typing import Any

from ladder.games.pasa import PasaBot, PasaView


class Mixed(PasaBot):
    """Plays as Master does in `skill` of 1,000 decisions, and stakes the least in the others."""

    skill: int = 500

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """Bold until a little ahead, or the least."""
        if view.luck % 1000 < params.skill and view.lead <= 10 * view.turns_left:
            return view.most_stake
        return view.least_stake
