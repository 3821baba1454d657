"""Measures this machine: what is printed by `ladder bench`, never asserted."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from ladder import seeds
from ladder.bots import load_word
from ladder.driver import LocalPlayer, play
from ladder.games import get_game
from ladder.record import Record, Segment

Figure = tuple[str, float, str]

# Matches a second on one core where nothing was measured yet: for the estimate of a dry run.
_USUAL_RATE = {"pasa": 10_000.0, "pasha": 800.0}


def estimated_rate(game: str) -> float:
    """A guess of matches a second on one core with plain Python bots."""
    return _USUAL_RATE[game]


def run_bench(*, quick: bool) -> list[Figure]:
    """All figures, in one run on one machine."""
    seconds = 0.5 if quick else 3.0
    rate, record, segments = python_rate(
        "pasa", ["Least", "Most", "BoldUntilAhead", "Easy"], seconds
    )
    return [
        *machine(),
        ("pasa_python_matches_per_s", rate, "matches/s/core"),
        ("store_rows_per_s", store_rate(record, segments, seconds), "seat rows/s"),
    ]


def machine() -> list[Figure]:
    """What the figures were measured on; the unit says it, the value counts cores or is 0."""
    names = ("numba", "numpy", "duckdb", "ray", "pyarrow")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return [
        ("machine", float(os.cpu_count() or 1), f"cores, {_processor()}, {platform.system()}"),
        ("versions", 0.0, f"Python {platform.python_version()}, {versions}"),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def python_rate(
    game_name: str, words: list[str], seconds: float
) -> tuple[float, Record, list[Segment]]:
    """Matches a second with Python bots in this process, and the last record played."""
    game = get_game(game_name)
    table = game.table(seats=len(words))
    bots = [load_word(word, game_name) for word in words]
    key = seeds.deal_key(seeds.run_key(1), b"bench")

    def once(matches: int) -> tuple[Record, list[Segment]]:
        players = [LocalPlayer(game, bot.bot, dict(bot.params)) for bot in bots]
        segments = [Segment(tuple(range(len(words))), b"bench", 0, matches)]
        return play(game, table, players, segments, [key]), segments

    once(64)  # compile, or read the cache
    matches = _enough(lambda n: once(n), seconds)
    begun = time.perf_counter()
    record, segments = once(matches)
    return matches / (time.perf_counter() - begun), record, segments


def _enough(once: Callable[[int], object], seconds: float) -> int:
    """How many matches take about that long."""
    matches = 256
    while True:
        begun = time.perf_counter()
        once(matches)
        took = time.perf_counter() - begun
        if took > seconds / 8:
            return max(1, int(matches * seconds / took))
        matches *= 4


def store_rate(record: Record, segments: list[Segment], seconds: float) -> float:
    """Seat rows a second into a new store, at 50,000 rows a transaction or more."""
    from ladder.store import Store

    seats = record.places.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "bench.duckdb"))
        store.create()
        begun = time.perf_counter()
        rows = 0
        while time.perf_counter() - begun < seconds:
            store.append("bench", record, segments)
            rows += len(record) * seats
        return rows / (time.perf_counter() - begun)
