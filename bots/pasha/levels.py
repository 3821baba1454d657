"""Four levels of Pasha, Easy to Master."""

from __future__ import annotations

from typing import Any

from ladder.games.pasha import PashaBot, PashaView
from ladder.games.pasha.row import STOP, count, reroll_all_but


class Easy(PashaBot):
    """Goes for as many dice of one face as it can get, stops when it leads the round."""

    @staticmethod
    def reroll(view: PashaView, params: Any) -> int:
        """Keep the most frequent face, the higher one if there are two."""
        if view.seats_to_play == 0 and view.mark >= view.best_mark:
            return STOP
        keep = 6
        for face in range(5, 0, -1):
            if count(view.dice, face) > count(view.dice, keep):
                keep = face
        return reroll_all_but(view.dice, keep)
