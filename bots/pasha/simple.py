"""The two simplest Pasha bots."""

from __future__ import annotations

from typing import Any

from ladder.games.pasha import PashaBot, PashaView


def uniform(view: PashaView, params: Any) -> int:
    """A legal action by the seat's private random integer."""
    return view.legal[view.luck % view.num_legal]


class Random(PashaBot):
    """Plays each legal action equally often."""

    card = staticmethod(uniform)
    reroll = staticmethod(uniform)
    lamp = staticmethod(uniform)
    cube = staticmethod(uniform)
    column = staticmethod(uniform)


class Simple(PashaBot):
    """The best mark greedily, cards from high to low: what a Pasha bot does by itself.

    Keeps the dice that make its mark and rolls the others, never spends a cube.
    """
