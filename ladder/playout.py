"""Compiled play: the stepper's loop with compiled policies, no Python inside; same record.

A match in which a policy raises or answers illegally is set aside, and the driver plays it again
to record the fault; so faults, too, come out the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ladder import seeds
from ladder.bots import LoadedBot
from ladder.driver import LocalPlayer, Player, play
from ladder.games import Game, Table, get_game
from ladder.games.nodes import END, NODE, SEAT
from ladder.jit import compiled
from ladder.policy.compile import CompiledPolicy, compile_bot, param_row
from ladder.policy.source import NotCompilableError
from ladder.record import Ints, Record, Segment
from ladder.stepper import (
    LANE_SIZE,
    MAX_KINDS,
    NO_ANSWER,
    ROW,
    SEGMENT,
    columns_of,
    is_legal,
    loop_of,
)

NOT_TRUSTED = "it is not trusted"  # what is compiled runs in our own process


@dataclass(frozen=True)
class CompiledBots:
    """The bots of a run as the playout takes them; the index is the entrant."""

    addresses: Ints  # [bots, kinds]
    params: Any  # float64 [bots, most params]
    reads_luck: Ints
    refused: dict[int, str]  # bots that have to be played in Python, and why
    keep: list[dict[int, CompiledPolicy]]  # so that the machine code stays

    def can_play(self, segment: Segment) -> bool:
        """Whether every bot of a segment is compiled."""
        return not any(bot in self.refused for bot in segment.lineup)


def compile_bots(game: Game, bots: Sequence[LoadedBot]) -> CompiledBots:
    """Compile every bot that can be, or read it from the cache."""
    rows = [list(dict(bot.params).values()) for bot in bots]
    addresses = np.zeros((len(bots), MAX_KINDS), np.int64)
    params = np.zeros((len(bots), max([1, *(len(row) for row in rows)])))
    reads_luck = np.zeros(len(bots), np.int64)
    code = CompiledBots(addresses, params, reads_luck, {}, [])
    for number, bot in enumerate(bots):
        if not bot.is_trusted:
            code.refused[number] = NOT_TRUSTED
            continue
        try:
            row = param_row(dict(bot.params))
            policies = compile_bot(game.name, bot.bot)
        except NotCompilableError as error:
            code.refused[number] = str(error)
            continue
        params[number, : len(row)] = row
        for kind, policy in policies.items():
            addresses[number, kind] = policy.address
            reads_luck[number] |= policy.reads_luck
        code.keep.append(policies)
    return code


class Desk(NamedTuple):
    """The rows one match is played on, used again for each; the last three are of its seats."""

    state: Ints
    source: Ints
    lane: Ints
    cursor: Ints
    forfeits: Ints
    standings: Ints
    seen: Ints
    addresses: Ints  # [seats, kinds]
    params: Any  # float64 [seats, most params]
    reads_luck: Ints


def _new_desk(game: Game, table: Table, code: CompiledBots) -> Desk:
    seats = table.seats
    return Desk(
        state=np.zeros(len(game.new_state(table)), np.int64),
        source=np.zeros(seeds.source_size(seats), np.int64),
        lane=np.zeros(LANE_SIZE, np.int64),
        cursor=np.zeros(2, np.int64),
        forfeits=np.zeros(seats, np.int64),
        standings=np.zeros(seats, np.int64),
        seen=np.zeros(game.view_width(table), np.int64),
        addresses=np.zeros((seats, MAX_KINDS), np.int64),
        params=np.zeros((seats, code.params.shape[1])),
        reads_luck=np.zeros(seats, np.int64),
    )


@cache
def playout_of(game_name: str) -> Any:
    """The compiled loop of a game, compiled or read from the cache."""
    game = get_game(game_name)
    observe = game.observe
    loop = loop_of(game_name)
    load, run, write = loop.load, loop.run, loop.write
    from ladder import rows  # by module: numba's cache cannot name an intrinsic
    from ladder.policy import call

    def playout(
        blank: Any, segments: Any, keys: Any, players: Any, addresses: Any, params: Any,
        reads_luck: Any, columns: Any, aside: Any, desk: Any,
    ) -> int:  # fmt: skip
        """Play all segments; write the rows set aside to `aside`, give their number."""
        state, source = rows.row(desk.state), rows.row(desk.source)
        lane, cursor = rows.row(desk.lane), rows.row(desk.cursor)
        forfeits, standings = rows.row(desk.forfeits), rows.row(desk.standings)
        spare, seat_luck = rows.row(desk.seen), rows.row(desk.reads_luck)
        entries, values = desk.addresses, desk.params
        chances, decisions, termination, digest, scores, places = columns
        seated = -1  # the segment whose bots have taken their seats
        num_aside = 0
        while load(lane, state, source, forfeits, blank, segments, keys, cursor):
            if lane[SEGMENT] != seated:
                seated = lane[SEGMENT]
                for seat in range(len(seat_luck)):
                    bot = players[seated, seat]
                    seat_luck[seat] = reads_luck[bot]
                    # One by one: to assign a slice, numba compiles a second of error messages.
                    for kind in range(MAX_KINDS):
                        entries[seat, kind] = addresses[bot, kind]
                    for param in range(params.shape[1]):
                        values[seat, param] = params[bot, param]
            answer = NO_ANSWER
            while True:
                run(state, source, lane, forfeits, seat_luck, answer)
                if state[NODE] == END:
                    write(
                        state, lane, forfeits, standings,
                        chances, decisions, termination, digest, scores, places,
                    )  # fmt: skip
                    break
                seat = state[SEAT]
                seen = observe(state, spare)
                answer = call.call_policy(entries[seat, state[NODE]], seen, values[seat])
                if not is_legal(state, answer, seat_luck[seat]):
                    aside[num_aside] = lane[ROW]
                    num_aside += 1
                    break
        return num_aside

    return compiled(
        playout, "stepper.py", "playout.py", "policy/call.py", "rows.py", "games/nodes.py",
        f"games/{game_name}/",
    )  # fmt: skip


def play_compiled(
    game: Game,
    table: Table,
    bots: Sequence[LoadedBot],
    code: CompiledBots,
    segments: Sequence[Segment],
    deal_keys: Sequence[bytes],
    *,
    on_fault: str = "forfeit",
) -> Record:
    """Play every match of `segments` with compiled bots; as `driver.play`, bit for bit.

    Raises: BotFaultError where a bot faults and `on_fault` is "abort".
    """
    total = sum(segment.count for segment in segments)
    record = Record.empty(total, table.seats)
    starts = np.cumsum([0, *(segment.count for segment in segments)])
    firsts = [*(segment.first for segment in segments), 0]
    aside = np.zeros(total, np.int64)
    num_aside = playout_of(game.name)(
        np.array(game.new_state(table), np.int64),
        np.array(list(zip(starts, firsts, strict=True)), np.int64),
        np.array([seeds.key_words(key) for key in deal_keys], np.int64),
        np.array([segment.lineup for segment in segments], np.int64),
        code.addresses,
        code.params,
        code.reads_luck,
        columns_of(record),
        aside,
        _new_desk(game, table, code),
    )
    if num_aside:
        again = np.sort(aside[:num_aside])
        _play_again(game, table, bots, segments, deal_keys, starts, again, on_fault, record)
    return record


def _play_again(
    game: Game,
    table: Table,
    bots: Sequence[LoadedBot],
    segments: Sequence[Segment],
    deal_keys: Sequence[bytes],
    starts: Ints,
    rows: Ints,
    on_fault: str,
    record: Record,
) -> None:
    """Play single matches in the driver and put them into their rows."""
    where = (np.searchsorted(starts, rows, side="right") - 1).tolist()
    single = [
        Segment(
            segments[s].lineup, segments[s].pairing, segments[s].first + row - int(starts[s]), 1
        )
        for s, row in zip(where, rows.tolist(), strict=True)
    ]
    players: list[Player] = [LocalPlayer(game, bot.bot, dict(bot.params)) for bot in bots]
    played = play(game, table, players, single, [deal_keys[s] for s in where], on_fault=on_fault)
    record.put(rows, played)
