"""Judging a program before it enters: the protocol step by step, then matches, and twice the same.

The transcript of its first match is what an author tests against.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from ladder import seeds
from ladder.bots import LoadedBot
from ladder.driver import Player, play
from ladder.execute import player_for
from ladder.foreign import ForeignPlayer
from ladder.games import get_game
from ladder.record import Record, Segment
from ladder.walk import Walk, walk_through

KEY = seeds.deal_key(seeds.run_key(0), b"transcript")
MATCHES = 200


@dataclass
class Judged:
    """What was found out about a program."""

    reference: str
    transcript: list[str] = field(default_factory=list)  # "> sent", "< answered"
    checks: list[tuple[str, bool, str]] = field(default_factory=list)

    @property
    def is_ok(self) -> bool:
        """Whether it may enter."""
        return all(is_ok for _, is_ok, _ in self.checks)


def judge(bot: LoadedBot, game_name: str, matches: int = MATCHES) -> Judged:
    """Play a program against the default move and itself, twice."""
    game = get_game(game_name)
    table = game.table(seats=2)
    judged = Judged(bot.reference)

    def note(sign: str, line: bytes) -> None:
        judged.transcript.append(f"{sign} {line.decode('utf-8', 'replace').rstrip()}")

    written = ForeignPlayer(
        game, bot.source, dict(bot.params), is_trusted=bot.is_trusted, note=note
    )
    walk = Walk(game, table, [written, written], KEY, 0, "default")
    steps = walk_through(walk)
    faults = [step.fault for step in steps if step.fault]
    first = (
        f"{faults[0].cause}: {faults[0].detail}\n{faults[0].traceback}".strip() if faults else ""
    )
    judged.checks.append(
        ("protocol", not faults, first or f"one match, {walk.decisions} decisions")
    )
    if faults:
        return judged
    begun = time.monotonic()
    one, two = (_played(bot, game_name, matches, lanes) for lanes in (256, 1))
    seconds = time.monotonic() - begun
    worst = one.fault_rows[:1]
    judged.checks.append((
        "legal", not one.fault_rows,
        f"{worst[0].fault.cause}: {worst[0].fault.detail}" if worst else f"{matches} matches",
    ))  # fmt: skip
    judged.checks.append((
        "repeats", bool(np.array_equal(one.digest, two.digest)),
        "twice from one seed, side by side and one by one: "
        + ("the same" if np.array_equal(one.digest, two.digest) else "not the same"),
    ))  # fmt: skip
    decisions = int(one.decisions.sum() + two.decisions.sum())
    judged.checks.append(("speed", True, f"{decisions / max(seconds, 1e-9):,.0f} decisions/s"))
    return judged


def _played(bot: LoadedBot, game_name: str, matches: int, lanes: int) -> Record:
    game = get_game(game_name)
    table = game.table(seats=2)
    players: list[Player] = [player_for(game, bot)]
    try:
        segments = [Segment((0, 0), b"", 0, matches)]
        return play(game, table, players, segments, [KEY], lanes=lanes)
    finally:
        players[0].close()
