"""Bots whose matches do not come out of their seed again."""

from __future__ import annotations

import random
import time

from ladder.games.pasa import PasaBot

_seen: list[int] = []


class HiddenRandom(PasaBot):
    """Draws from the module `random`, not from its luck."""

    def stake(self, view):
        return random.choice(view.legal)


class Clock(PasaBot):
    """Stakes by the clock."""

    def stake(self, view):
        return view.legal[time.perf_counter_ns() // 1000 % len(view.legal)]


class Remembers(PasaBot):
    """Counts its decisions of all matches, in a list of its module."""

    def stake(self, view):
        _seen.append(1)
        return view.legal[len(_seen) * 7919 // 8 % len(view.legal)]
