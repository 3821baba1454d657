"""Bots that take their time, so that a short run lasts long enough to be disturbed."""

import os
import time

from ladder.games.pasa import PasaBot

# Children have a clean environment: only in our own process can the wait be left out.
WAIT_S = float(os.environ.get("LADDER_TEST_WAIT_S", "0.004"))


class Patient(PasaBot):
    """Stakes by its luck, after a nap."""

    def stake(self, view):
        time.sleep(WAIT_S)
        return view.legal[view.luck % view.num_legal]


class Counting(PasaBot):
    """Stakes more with every decision of a match, after a nap."""

    def __init__(self):
        self.decisions = 0

    def stake(self, view):
        time.sleep(WAIT_S)
        self.decisions += 1
        return view.legal[min(self.decisions, view.num_legal) - 1]
