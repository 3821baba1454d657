"""Bots of strangers who would know more than they are told. What they find out they say aloud.

An answer that is a text is illegal, so that whatever one of them found stands in a fault.
"""

import hashlib
import inspect
import json
import sys

from ladder import seeds
from ladder.games.pasa import PasaBot

SEEN = []  # of every match this process was ever asked about


class Learner(PasaBot):
    """Keeps the random integers of all its matches in its module."""

    def stake(self, view):
        SEEN.append((self, view.luck))
        others = [luck for bot, luck in SEEN if bot is not self]
        return f"REMEMBERS {others[0]}" if others else view.least_stake


class Cracker(PasaBot):
    """Tries small seeds until one gives the random integer it sees; two seats, rival first known.

    It was written with our source at hand: what makes a deal is told there.
    """

    rival: str = ""  # its version, as every table of results shows it
    table: str = ""  # the table's options, as a spec shows them
    rules: int = 0  # their version
    most: int = 100  # seeds to try
    tried = False

    def stake(self, view):
        if not self.tried:
            self.tried = True
            seed = self.crack(view)
            if seed is not None:
                return f"CRACKED {seed}"
        return view.least_stake

    def crack(self, view):
        lineup = [self.rival, self.rival]
        lineup[view.seat] = self.version()
        deal = digest(["pasa", self.rules, self.table, "forfeit", lineup], 16).digest()
        for seed in range(self.most):
            source = seeds.new_source(seeds.deal_key(seeds.run_key(seed), deal), 0, 2)
            if seeds.draw_luck(source, view.seat) == view.luck:
                return seed
        return None

    def version(self):
        source = inspect.getsource(sys.modules[__name__]).encode()
        content = hashlib.blake2b(b"bot\0%d\0%s" % (len(source), source), digest_size=16)
        params = [[name, getattr(self, name)] for name in PARAMS]
        return digest([content.hexdigest(), "Cracker", params], 8).hexdigest()


PARAMS = ("rival", "table", "rules", "most")


def digest(parts, size):
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=size)
