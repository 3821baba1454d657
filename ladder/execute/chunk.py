"""One chunk of matches, played in this process by whatever plays each bot."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ladder import seeds
from ladder.bots import LoadedBot, PortableBot
from ladder.commands import is_program
from ladder.driver import LocalPlayer, Player, play
from ladder.errors import BotFaultError, InfraError
from ladder.foreign import ForeignPlayer
from ladder.games import Game, Table, get_game
from ladder.isolate.verdict import DEFAULT_LIMITS, Limits
from ladder.plan import Plan
from ladder.playout import CompiledBots, compile_bots, play_compiled
from ladder.record import Record, Segment

Chunk = list[Segment]
Result = Record | BotFaultError | InfraError
Played = tuple[Chunk, Result, float]


@dataclass(frozen=True)
class Setup:
    """What every chunk of a run has in common, as plain values that travel."""

    game: str
    table: Table
    bots: tuple[PortableBot, ...]
    key: bytes
    on_fault: str
    is_compiled: bool  # play compiled where every bot of a line-up compiles
    limits: Limits = DEFAULT_LIMITS
    tier: str = "sandbox"  # of bots that are not trusted
    deal_keys: tuple[tuple[bytes, bytes], ...] = ()  # by pairing, where they are known already

    @classmethod
    def of(cls, plan: Plan, bots: Sequence[LoadedBot], *, is_compiled: bool) -> Setup:
        """The setup of a plan."""
        portable = tuple(bot.portable() for bot in bots)
        return cls(
            plan.game.name, plan.table, portable, plan.key, plan.on_fault, is_compiled,
            plan.limits, plan.tier,
        )  # fmt: skip


@lru_cache(maxsize=4)
def loaded(setup: Setup) -> tuple[LoadedBot, ...]:
    """The bots of a setup, in this process."""
    return tuple(bot.load() for bot in setup.bots)


@lru_cache(maxsize=4)
def code_of(setup: Setup) -> CompiledBots:
    """The bots of a setup compiled, as far as they can be."""
    return compile_bots(get_game(setup.game), loaded(setup))


def play_chunk(setup: Setup, chunk: Chunk, lanes: int) -> tuple[Result, float]:
    """Play one chunk in this process; with the seconds it took."""
    begun = time.monotonic()
    compiled = [setup.is_compiled and code_of(setup).can_play(segment) for segment in chunk]
    played: Result
    try:
        if all(compiled):
            played = _play_compiled(setup, chunk, lanes)
        elif not any(compiled):
            played = _play_in_python(setup, chunk, lanes)
        else:
            played = _play_mixed(setup, chunk, lanes, compiled)
    except BotFaultError as error:
        played = error
    except InfraError as error:
        played = InfraError(str(error))  # its causes may not travel
    return played, time.monotonic() - begun


def _play_mixed(setup: Setup, chunk: Chunk, lanes: int, compiled: list[bool]) -> Record:
    """Play a chunk only some of whose segments are compiled."""
    record = Record.empty(sum(segment.count for segment in chunk), setup.table.seats)
    starts = np.cumsum([0, *(segment.count for segment in chunk)])
    for is_compiled, play_part in ((True, _play_compiled), (False, _play_in_python)):
        part = [i for i, is_so in enumerate(compiled) if is_so == is_compiled]
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in part])
        try:
            record.put(rows, play_part(setup, [chunk[i] for i in part], lanes))
        except BotFaultError as error:
            error.row = int(rows[error.row])
            raise
    return record


def _play_compiled(setup: Setup, chunk: Chunk, lanes: int) -> Record:
    return play_compiled(
        get_game(setup.game), setup.table, loaded(setup), code_of(setup), chunk,
        _deal_keys(setup, chunk), on_fault=setup.on_fault,
    )  # fmt: skip


def _play_in_python(setup: Setup, chunk: Chunk, lanes: int) -> Record:
    game, bots = get_game(setup.game), loaded(setup)
    seated = sorted({bot for segment in chunk for bot in segment.lineup})
    players = [player_for(game, bots[bot], setup.tier, setup.limits) for bot in seated]
    number = {bot: position for position, bot in enumerate(seated)}
    chunk = [
        replace(segment, lineup=tuple(number[bot] for bot in segment.lineup)) for segment in chunk
    ]
    keys = _deal_keys(setup, chunk)
    try:
        return play(game, setup.table, players, chunk, keys, on_fault=setup.on_fault, lanes=lanes)
    finally:
        for player in players:
            player.close()


def player_for(
    game: Game, bot: LoadedBot, tier: str = "sandbox", limits: Limits | None = None
) -> Player:
    """The player of a bot for one chunk: in this process if it is trusted, else in children.

    A program is a process of its own in any case. Raises: SpecError, InfraError.
    """
    if is_program(bot.source):
        return ForeignPlayer(
            game, bot.source, dict(bot.params), is_trusted=bot.is_trusted, tier=tier,
            limits=limits or DEFAULT_LIMITS,
        )  # fmt: skip
    if bot.is_trusted:
        return LocalPlayer(game, bot.bot, dict(bot.params))
    from ladder.isolate.nursery import shared_nurseries
    from ladder.isolate.player import IsolatedPlayer

    return IsolatedPlayer(
        game.name, bot.bundle(), nurseries=shared_nurseries(), tier=tier, limits=limits
    )


def _deal_keys(setup: Setup, chunk: Chunk) -> list[bytes]:
    known = dict(setup.deal_keys)
    return [
        known.get(segment.pairing) or seeds.deal_key(setup.key, segment.deal or segment.pairing)
        for segment in chunk
    ]
