"""What containing bots costs: the same tables of trivial bots in process and in child processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from ladder import seeds
from ladder.bots import load_word
from ladder.driver import LocalPlayer, Player, play
from ladder.games import get_game
from ladder.isolate.nursery import Nurseries
from ladder.isolate.player import IsolatedPlayer
from ladder.isolate.probe import probe
from ladder.record import Segment

Figure = tuple[str, float, str]

TRIVIAL = {"pasa": "Least", "pasha": "Simple"}
MATCHES = {"pasa": 4096, "pasha": 1024}  # in one call: fewer measure the start of children
ROUNDS = 3  # of both in turn, so that the ratio holds where the machine drifts


class _Same:
    """Four seats of one trivial bot, played in any of the ways."""

    def __init__(self, game: str, nurseries: Nurseries) -> None:
        self._game = get_game(game)
        self._bot = load_word(TRIVIAL[game], game)
        self._nurseries = nurseries
        self._key = seeds.deal_key(seeds.run_key(1), b"bench")

    def rate(self, tier: str, matches: int, lanes: int) -> float:
        """Matches a second; tier `trusted` is plain Python in this process."""
        segments = [Segment((0, 0, 0, 0), b"bench", 0, matches)]
        player = self._player(tier)
        begun = time.perf_counter()
        table = self._game.table(seats=4)
        play(self._game, table, [player], segments, [self._key], lanes=lanes)
        rate = matches / (time.perf_counter() - begun)
        player.close()
        return rate

    def _player(self, tier: str) -> Player:
        if tier == "trusted":
            return LocalPlayer(self._game, self._bot.bot, dict(self._bot.params))
        return IsolatedPlayer(
            self._game.name, self._bot.bundle(), nurseries=self._nurseries, tier=tier
        )


def isolated_figures(*, quick: bool) -> Iterator[Figure]:
    """Ratios and rates; nothing where this machine has no sandbox."""
    offer = probe()
    if offer.missing:
        return
    nurseries = Nurseries(offer)
    try:
        for game in TRIVIAL:
            same = _Same(game, nurseries)
            matches = MATCHES[game] if quick else 2 * MATCHES[game]
            for tier in ("trusted", "sandbox"):  # compiles, starts the zygote
                same.rate(tier, 16, 16)
            pairs = [
                (same.rate("sandbox", matches, 1024), same.rate("trusted", matches, 1024))
                for _ in range(ROUNDS)
            ]
            apart, here = (median(rates) for rates in zip(*pairs, strict=True))
            yield f"{game}_isolated_ratio", apart / here, "of plain Python in process"
            yield f"{game}_isolated_matches_per_s", apart, "matches/s, one process for a seat"
            one = same.rate("sandbox", 32, 1)
            yield f"{game}_isolated_one_a_frame_matches_per_s", one, "matches/s, no batching"
            strict = same.rate("strict", 32 if quick else 96, 32)
            yield f"{game}_strict_matches_per_s", strict, f"matches/s, {offer.walls}"
    finally:
        nurseries.close()
