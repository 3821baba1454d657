"""Measures this machine: what is printed by `ladder bench`, never asserted.

Figures that are compared are taken in one run, so that their ratio holds where the machine drifts.
"""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ladder import seeds
from ladder.bench_isolated import isolated_figures
from ladder.bots import LoadedBot, load_word
from ladder.driver import LocalPlayer, play
from ladder.execute import MOST_CHUNK, Setup, Workers, playing
from ladder.games import Game, get_game
from ladder.games.nodes import CHANCE, END, NODE, WAYS
from ladder.lineup import match_plan
from ladder.playout import compile_bots, play_compiled
from ladder.ratings.bench import bench_ratings
from ladder.record import Record, Segment

Figure = tuple[str, float, str]

PASA_BOTS = ("Least", "Most", "BoldUntilAhead", "Easy", "Hard", "Uniform")

# Matches a second on one core where nothing was measured yet: for the estimate of a dry run.
_USUAL_RATE = {"pasa": 10_000.0, "pasha": 800.0}


def estimated_rate(game: str) -> float:
    """A guess of matches a second on one core with plain Python bots."""
    return _USUAL_RATE[game]


def run_bench(*, quick: bool) -> Iterator[Figure]:
    """All figures, in one run on one machine, each as soon as it is known."""
    seconds = 0.4 if quick else 3.0
    yield from machine()
    yield from _play_figures(seconds)
    yield from _pasha_figures(seconds)
    yield from isolated_figures(quick=quick)
    yield from bench_ratings()
    yield from _store_figures(seconds)
    million = 100_000 if quick else 1_000_000
    for keep in ("results", "summary"):
        yield _end_to_end(keep, million)
    yield from _ray_figures(seconds)
    yield from _start_up()
    yield from _peers(seconds)


def machine() -> Iterator[Figure]:
    """What the figures were measured on; the unit says it."""
    names = ("numba", "numpy", "duckdb", "ray", "pyarrow")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    system = f"{platform.system()} {platform.release()}"
    yield "machine", float(os.cpu_count() or 1), f"cores, {_processor()}, {system}"
    yield "python", 0.0, f"Python {platform.python_version()}, {versions}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


class _Table:
    """A line-up to be played again and again."""

    def __init__(self, game: str, words: tuple[str, ...]) -> None:
        self.game: Game = get_game(game)
        self.table: Any = self.game.table(seats=len(words))
        self.bots: list[LoadedBot] = [load_word(word, game) for word in words]
        self.code = compile_bots(self.game, self.bots)
        self.key = seeds.deal_key(seeds.run_key(1), b"bench")

    def segments(self, matches: int) -> list[Segment]:
        return [Segment(tuple(range(len(self.bots))), b"bench", 0, matches)]

    def compiled(self, matches: int) -> Record:
        return play_compiled(
            self.game, self.table, self.bots, self.code, self.segments(matches), [self.key]
        )

    def compiled_by_chunk(self, matches: int) -> None:
        """As a run plays them: each chunk's record is handed on before the next begins."""
        for first in range(0, matches, MOST_CHUNK):
            self.compiled(min(MOST_CHUNK, matches - first))

    def python(self, matches: int) -> Record:
        players = [LocalPlayer(self.game, bot.bot, dict(bot.params)) for bot in self.bots]
        return play(self.game, self.table, players, self.segments(matches), [self.key])

    def interpreted(self, matches: int) -> int:
        """The rules alone without numba, the default move at every decision; decisions made."""
        decisions = 0
        for repetition in range(matches):
            source = seeds.new_source(self.key, repetition, self.table.seats)
            state = self.game.new_state(self.table)
            self.game.start(state)
            while state[NODE] != END:
                if state[NODE] == CHANCE:
                    action = seeds.draw(source, state[WAYS])
                else:
                    decisions += 1
                    action = self.game.legal(state)[0]
                self.game.advance(state, action)
        return decisions


def rate_of(once: Callable[[int], object], seconds: float, start: int) -> float:
    """Calls of `once(n)` a second, per n; about `seconds` of it after a warm-up."""
    once(start)
    matches = start
    while True:
        begun = time.perf_counter()
        once(matches)
        took = time.perf_counter() - begun
        if took > seconds / 8:
            break
        matches *= 4
    matches = max(1, int(matches * seconds / took))
    begun = time.perf_counter()
    once(matches)
    return matches / (time.perf_counter() - begun)


def _pasha_figures(seconds: float) -> Iterator[Figure]:
    table = _Table("pasha", ("Simple",) * 4)
    compiled = rate_of(table.compiled_by_chunk, seconds, 500)
    yield "pasha_compiled_matches_per_s", compiled, "matches/s/core, four Simple"
    python = rate_of(table.python, seconds, 32)
    yield "pasha_python_matches_per_s", python, "matches/s/core, four Simple"
    yield "pasha_compiled_to_python_ratio", compiled / python, "times"


def _play_figures(seconds: float) -> Iterator[Figure]:
    rates = {}
    for seats in (4, 2, 3, 6):
        table = _Table("pasa", PASA_BOTS[:seats])
        rates[seats] = rate_of(table.compiled_by_chunk, seconds, 20_000)
        name = "pasa_compiled_matches_per_s" + ("" if seats == 4 else f"_{seats}_seats")
        yield name, rates[seats], "matches/s/core"
    four = _Table("pasa", PASA_BOTS[:4])
    python = rate_of(four.python, seconds, 256)
    yield "pasa_python_matches_per_s", python, "matches/s/core"
    interpreted = rate_of(four.interpreted, seconds, 8)
    yield "pasa_interpreted_rules_matches_per_s", interpreted, "matches/s/core, default moves"
    each = four.compiled(20_000).decisions.mean()
    yield "pasa_compiled_ns_per_decision", 1e9 / rates[4] / each, f"ns, {each:.1f} a match"
    yield "pasa_python_ns_per_decision", 1e9 / python / each, "ns"
    yield "pasa_compiled_to_python_ratio", rates[4] / python, "times"


def _store_figures(seconds: float) -> Iterator[Figure]:
    from ladder.store import Store

    table = _Table("pasa", PASA_BOTS[:4])
    record, segments = table.compiled(50_000), table.segments(50_000)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "bench.duckdb"))
        store.create()
        begun = time.perf_counter()
        rows = 0
        while time.perf_counter() - begun < seconds:
            store.append("bench", record, segments)
            rows += record.places.size
        rate = rows / (time.perf_counter() - begun)
    yield "store_rows_per_s", rate, "seat rows/s, 200,000 a transaction, with matches and ledger"


def _end_to_end(keep: str, matches: int) -> Figure:
    """Play and store so many standard matches in this process, rating apart."""
    from ladder.store import Store
    from ladder.tournament import run_spec

    spec, plan = match_plan(PASA_BOTS[:4], "pasa", "", matches, 1)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "bench.duckdb"))
        outcome = run_spec(spec, plan, store, Workers(0, record=keep), lambda progress: None)
    seconds = (outcome.seconds - outcome.rate_s) * 1_000_000 / matches
    name = "end_to_end_million_s" if keep == "results" else "end_to_end_million_summary_s"
    return name, seconds, f"s, played {outcome.play_s:.2f}, stored {outcome.store_s:.2f}"


def _ray_figures(seconds: float) -> Iterator[Figure]:
    """Chunks on Ray one after another and two at once; Ray's own start is not in it."""
    plan = match_plan(PASA_BOTS[:4], "pasa", "", 4, 1)[1]
    bots = [load_word(word, "pasa") for word in PASA_BOTS[:4]]
    setup = Setup.of(plan, bots, is_compiled=True)

    def chunks(count: int) -> Iterator[list[Segment]]:
        for number in range(count):
            yield [Segment((0, 1, 2, 3), b"bench", number * MOST_CHUNK, MOST_CHUNK)]

    rates = []
    for workers in (1, 2):
        with playing(setup, Workers(workers)) as pool:
            for _ in pool.play(chunks(2 * workers)):  # every worker reads the cache
                pass
            count = max(2, round(8 * seconds)) * workers
            begun = time.perf_counter()
            for _ in pool.play(chunks(count)):
                pass
            rates.append(count * MOST_CHUNK / (time.perf_counter() - begun))
    yield "ray_one_worker_matches_per_s", rates[0], "matches/s"
    yield "ray_two_workers_matches_per_s", rates[1], "matches/s"
    yield "ray_two_workers_ratio", rates[1] / rates[0], "times one worker"


def _start_up() -> Iterator[Figure]:
    call = [sys.executable, "-c", "from ladder.cli import main; main()"]
    with tempfile.TemporaryDirectory() as folder:
        small = ["match", "Least", "Most", "Easy", "Hard", "--matches", "400", "--db",
                 str(Path(folder, "bench.duckdb"))]  # fmt: skip
        for name, words in (("help_s", ["--help"]), ("small_run_s", small)):
            subprocess.run([*call, *words], capture_output=True, check=True)
            begun = time.perf_counter()
            subprocess.run([*call, *words], capture_output=True, check=True)
            yield name, time.perf_counter() - begun, "s, warm"


def _peers(seconds: float) -> Iterator[Figure]:
    """Other runners' match loops, where the extra `peers` is installed, as decisions a second.

    Not the same games: a decision of theirs is one move of two memory-one players, or of Pig.
    What compares is what a runner adds to each decision.
    """
    four = _Table("pasa", PASA_BOTS[:4])
    each = four.python(1000).decisions.mean()
    mine = rate_of(four.python, seconds, 256) * each
    yield "pasa_python_decisions_per_s", mine, "decisions/s/core"
    for name, peer in (("axelrod", _axelrod), ("openspiel_pig", _openspiel)):
        try:
            rate = rate_of(peer, seconds, 200)
        except ImportError:
            yield (
                f"peer_{name}_decisions_per_s",
                float("nan"),
                "not installed: pip install pasa-ladder[peers]",
            )
            continue
        yield f"peer_{name}_decisions_per_s", rate, "decisions/s/core"
        yield f"ratio_to_{name}", mine / rate, "times (Python bots on both sides)"


def _axelrod(decisions: int) -> None:
    import axelrod

    players = axelrod.Random(0.5), axelrod.Random(0.5)
    for _ in range(max(1, decisions // 400)):
        axelrod.Match(players, turns=200).play()


def _openspiel(decisions: int) -> None:
    import pyspiel

    game = pyspiel.load_game("pig(players=4)")
    dice = random.Random(1)
    made = 0
    while made < decisions:
        state = game.new_initial_state()
        while not state.is_terminal() and made < decisions:
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(dice.choices(outcomes, weights)[0])
            else:
                state.apply_action(dice.choice(state.legal_actions()))
                made += 1
