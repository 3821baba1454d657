"""Plays a chunk of matches with bots of any kind, many side by side.

The compiled stepper runs each match to its next decision; here every bot is asked for all the
decisions it owes at once, and its answers are judged. With one lane this is plain one-by-one play.

Where a bot in a child process takes several matches down with it, nobody can be convicted yet:
those matches are dropped, and played again one by one at the end, each with players of its own.
"""

from __future__ import annotations

import operator
import signal
import sys
import traceback
from collections import deque
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ladder import seeds
from ladder.errors import BotFaultError, InfraError
from ladder.games import Game, Table
from ladder.games.bot import Bot, bind, params_tuple, policy_of
from ladder.interrupts import is_asked, stoppable
from ladder.isolate.verdict import Unsettled
from ladder.record import Fault, FaultRow, Record, Segment
from ladder.stepper import (
    DECISIONS,
    FORFEITS,
    LANE_SIZE,
    MAX_KINDS,
    ROW,
    SEGMENT,
    columns_of,
    stepper,
)

Ints = NDArray[np.int64]
LANES = 1024
SEAT_BITS = 3  # key of a bot object: lane << SEAT_BITS | seat


class Player(Protocol):
    """One bot version in one chunk: asked for decisions in batches.

    A key names the bot object of one seat of one match; `start` says that its match is new.
    """

    lanes: int  # how many matches side by side suit it

    def start(self, keys: Sequence[int]) -> None:
        """New matches begin for these keys."""

    def finish(self, keys: Sequence[int]) -> None:
        """The matches of these keys, all seats of them, are over."""

    def fresh(self) -> Player:
        """The same bot with nothing in memory: what a match is played again with."""

    def post(self, kind: int, keys: Sequence[int], rows: Ints) -> None:
        """Ask for a decision of `kind` for every key; `rows` are the views, [keys, width]."""

    def collect(self) -> list[Any]:
        """The answers to the oldest `post` not yet collected: actions in its order, or Faults.

        Raises: Unsettled, InfraError.
        """

    def close(self) -> None:
        """The chunk is over."""


class LocalPlayer:
    """A bot of this process."""

    def __init__(self, game: Game, bot: type[Bot], params: dict[str, Any]) -> None:
        self.lanes = LANES
        self._again = (game, bot, params)
        self._view = game.view
        self._methods = game.decisions
        self._policies = {k: policy_of(bot, method) for k, method in game.decisions.items()}
        self._params = params_tuple(bot, params)
        self._make = bind(bot, params)
        self._remembers = None in self._policies.values()
        self._bots: dict[int, Any] = {}
        self._answers: deque[list[Any]] = deque()

    def start(self, keys: Sequence[int]) -> None:
        """Make a new bot object for each key, if the bot has any use for one."""
        if self._remembers:
            for key in keys:
                self._bots[key] = _new_bot(self._make)

    def finish(self, keys: Sequence[int]) -> None:
        """Objects are replaced when their key's next match begins."""

    def fresh(self) -> LocalPlayer:
        """The same bot, its objects made anew."""
        return LocalPlayer(*self._again)

    def post(self, kind: int, keys: Sequence[int], rows: Ints) -> None:
        """Decide at once; `collect` hands the answers over, in the order of the posts."""
        views = map(self._view, rows.tolist())
        policy = self._policies[kind]
        if policy is None:
            method = self._methods[kind]
            bots = [self._bots[key] for key in keys]
            pairs = zip(bots, views, strict=True)
            self._answers.append([_ask(bot, method, view) for bot, view in pairs])
        else:
            self._answers.append(_ask_policy(policy, list(views), self._params))

    def collect(self) -> list[Any]:
        """The answers to the oldest `post`."""
        return self._answers.popleft()

    def close(self) -> None:
        """Forget the bot objects."""
        self._bots.clear()
        self._answers.clear()


def fault_of(error: BaseException, cause: str = "exception") -> Fault:
    """The fault of a bot that raised."""
    name = type(error).__name__
    try:
        shown = f"{name}: {error}"
        lines = traceback.format_exception(error)
    except BaseException:  # noqa: BLE001 - a bot's error may do anything when shown
        shown, lines = f"{name}, whose text raises", traceback.format_tb(error.__traceback__)
    return Fault(cause, shown[:500], "".join(lines)[-4096:])


def _new_bot(make: Any) -> Any:
    try:
        return make()
    except BaseException as error:  # whatever a bot raises is its fault
        if is_asked():
            raise
        return fault_of(error, "init_failed")


def _ask(bot: Any, method: str, view: Any) -> Any:
    if isinstance(bot, Fault):
        return bot
    try:
        return getattr(bot, method)(view)
    except BaseException as error:
        if is_asked():
            raise
        return fault_of(error)


def _ask_policy(policy: Any, views: list[Any], params: Any) -> list[Any]:
    try:
        return [policy(view, params) for view in views]
    except BaseException:  # asked one by one below; a policy is a pure function
        if is_asked():
            raise
        return [_ask_one(policy, view, params) for view in views]


def _ask_one(policy: Any, view: Any, params: Any) -> Any:
    try:
        return policy(view, params)
    except BaseException as error:
        if is_asked():
            raise
        return fault_of(error)


def play(
    game: Game,
    table: Table,
    players: Sequence[Player],
    segments: Sequence[Segment],
    deal_keys: Sequence[bytes],
    *,
    on_fault: str = "forfeit",
    lanes: int = LANES,
) -> Record:
    """Play every match of `segments`; line-ups index `players`, `deal_keys` go by segment.

    Raises: BotFaultError where a bot faults and `on_fault` is "abort"; InfraError.
    """
    lanes = min([lanes, *(player.lanes for player in players)])
    # Standard output is for results; a bot's own KeyboardInterrupt is no Ctrl-C.
    with redirect_stdout(sys.stderr), stoppable(signal.SIGINT):
        first = _Play(game, table, players, segments, deal_keys, on_fault, lanes)
        record = first.run()
        _settle(first, segments, deal_keys, record)
        return record


def _settle(
    first: _Play, segments: Sequence[Segment], deal_keys: Sequence[bytes], record: Record
) -> None:
    """Play the matches that were dropped again, each alone, and put them into their rows."""
    rows = sorted(first.dropped)
    if not rows:
        return
    record.faults[rows] = 0
    record.fault_rows[:] = [each for each in record.fault_rows if each.row not in first.dropped]
    for row in rows:
        number = int(np.searchsorted(first.segments[:, 0], row, side="right")) - 1
        segment = segments[number]
        repetition = segment.first + row - int(first.segments[number, 0])
        bots = list(dict.fromkeys(segment.lineup))
        lineup = tuple(bots.index(bot) for bot in segment.lineup)
        players = [first.players[bot].fresh() for bot in bots]
        alone = [Segment(lineup, segment.pairing, repetition, 1)]
        again = _Play(
            first.game, first.table, players, alone, [deal_keys[number]], first.on_fault, 1
        )
        try:
            played = again.run()
        except BotFaultError as error:
            error.row = row
            raise
        finally:
            for player in players:
                player.close()
        if again.dropped:
            raise InfraError("a bot's child was lost, and its match alone did not tell why")
        record.put(np.array([row]), played)


class _Play:
    """The arrays of one call of `play`."""

    def __init__(
        self,
        game: Game,
        table: Table,
        players: Sequence[Player],
        segments: Sequence[Segment],
        deal_keys: Sequence[bytes],
        on_fault: str,
        lanes: int,
    ) -> None:
        seats = table.seats
        total = sum(segment.count for segment in segments)
        lanes = max(1, min(lanes, total))
        self.game, self.players, self.on_fault, self.seats = game, players, on_fault, seats
        self.table = table
        self.dropped: set[int] = set()  # rows to be played again
        self.seated: dict[int, int] = {}  # lane -> segment of its match
        self.record = Record.empty(total, seats)
        self.step, self.illegal = stepper(game.name)
        self.blank = np.array(game.new_state(table), np.int64)
        self.states = np.zeros((lanes, len(self.blank)), np.int64)
        self.sources = np.zeros((lanes, seeds.source_size(seats)), np.int64)
        self.lanes = np.zeros((lanes, LANE_SIZE), np.int64)
        self.lanes[:, ROW] = -1
        self.forfeits = np.zeros((lanes, seats), np.int64)
        self.actions = np.zeros(lanes, np.int64)
        self.live = np.arange(lanes)
        starts = np.cumsum([0, *(s.count for s in segments)])
        firsts = [*(s.first for s in segments), 0]
        self.segments = np.array(list(zip(starts, firsts, strict=True)), np.int64)
        self.keys = np.array([seeds.key_words(key) for key in deal_keys], np.int64)
        self.bots = np.array([s.lineup for s in segments], np.int64)
        self.reads_luck = np.ones(seats, np.int64)
        self.cursor = np.zeros(2, np.int64)
        self.rows = np.zeros((lanes, game.view_width(table)), np.int64)
        self.groups = np.zeros((len(players) * MAX_KINDS, 4), np.int64)
        self.started = np.zeros(lanes, np.int64)
        self.wrong = np.zeros(lanes, np.int64)

    def run(self) -> Record:
        """Step until no lane is live."""
        columns = columns_of(self.record)
        while len(self.live):
            if is_asked():  # and a bot went on as if nothing was
                raise KeyboardInterrupt
            waiting, num_groups, num_started = self.step(
                self.live, self.actions, self.lanes, self.states, self.sources, self.forfeits,
                self.blank, self.segments, self.keys, self.bots,
                self.reads_luck, self.cursor, columns,
                self.rows, self.groups, self.started,
            )  # fmt: skip
            self._start(self.started[:num_started])
            groups = self.groups[:num_groups].tolist()
            for bot, kind, first, count in groups:
                lanes = self.live[first : first + count]
                keys = (lanes << SEAT_BITS | self.states[lanes, 1]).tolist()
                self.players[bot].post(kind, keys, self.rows[first : first + count])
            for bot, _, first, count in groups:
                answers = self._collect(bot)
                self._judge(self.live[first : first + count], answers)
            self.live = self.live[:waiting]
        return self.record

    def _start(self, lanes: Ints) -> None:
        by_bot: dict[int, list[int]] = {}
        segments = self.lanes[lanes, SEGMENT].tolist()
        for lane, segment in zip(lanes.tolist(), segments, strict=True):
            before = self.seated.get(lane, segment)
            self.seated[lane] = segment
            if before != segment:
                for bot in {*self.bots[before].tolist()} - {*self.bots[segment].tolist()}:
                    self.players[bot].finish([lane << SEAT_BITS])
            for seat, bot in enumerate(self.bots[segment].tolist()):
                by_bot.setdefault(bot, []).append(lane << SEAT_BITS | seat)
        for bot, keys in by_bot.items():
            self.players[bot].start(keys)

    def _collect(self, bot: int) -> list[Any]:
        """A bot's answers; where they are lost with other matches, drop all of these.

        A dropped lane has no row: the next step fills it with the next match.
        """
        try:
            return self.players[bot].collect()
        except Unsettled as lost:
            for lane in {key >> SEAT_BITS for key in lost.keys}:
                row = int(self.lanes[lane, ROW])
                if row >= 0:
                    self.dropped.add(row)
                    self.lanes[lane, ROW] = -1
            return lost.answers

    def _judge(self, lanes: Ints, answers: list[Any]) -> None:
        """Take the legal answers as actions; deal with the rest."""
        if self.dropped:
            kept = np.flatnonzero(self.lanes[lanes, ROW] >= 0)
            lanes, answers = lanes[kept], [answers[position] for position in kept]
        actions, faults = as_actions(answers)
        count = self.illegal(self.states, lanes, actions, self.wrong)
        for position in self.wrong[:count].tolist():
            if position not in faults:
                faults[position] = self._illegal_fault(int(lanes[position]), answers[position])
        for position in sorted(faults):
            lane = int(lanes[position])
            actions[position] = self.states[lane, self.states[lane, 3]]
            self._charge(lane, faults[position])
        self.actions[lanes] = actions

    def _illegal_fault(self, lane: int, answer: Any) -> Fault:
        state = self.states[lane].tolist()
        return illegal_fault(answer, state[state[3] : state[3] + state[2]])

    def _charge(self, lane: int, fault: Fault) -> None:
        row, seat = int(self.lanes[lane, ROW]), int(self.states[lane, 1])
        decision = int(self.lanes[lane, DECISIONS])
        self.record.faults[row, seat] += 1
        self.record.fault_rows.append(FaultRow(row, seat, decision, fault))
        if self.on_fault == "forfeit":
            self.lanes[lane, FORFEITS] += 1
            self.forfeits[lane, seat] = self.lanes[lane, FORFEITS]
        elif self.on_fault == "abort":
            raise BotFaultError(row, seat, decision, fault.cause, fault.detail, fault.traceback)


def illegal_fault(answer: Any, legal: Sequence[int]) -> Fault:
    """The fault of an answer that is an integer, but none of the legal ones."""
    return Fault("illegal", f"returned {_shown(answer)}; legal are {list(legal)}")


def _shown(answer: Any) -> str:
    try:
        text = repr(answer)
    except BaseException:  # noqa: BLE001 - a bot's object may do anything
        text = "an object whose repr raises"
    return f"{text[:80]} ({type(answer).__name__})"


def as_actions(answers: list[Any]) -> tuple[Ints, dict[int, Fault]]:
    """Answers as an int64 array, and by position the faults of those that are no integers.

    Any integer type will do (a numpy integer too); a bool, a float or None will not.
    """
    if all(type(answer) is int for answer in answers):
        try:
            return np.array(answers, np.int64), {}
        except OverflowError:
            pass
    actions = np.zeros(len(answers), np.int64)
    faults: dict[int, Fault] = {}
    for position, answer in enumerate(answers):
        if type(answer) is Fault:  # isinstance would ask the object, which may raise
            faults[position] = answer
            continue
        try:
            if type(answer) is bool:
                raise TypeError
            actions[position] = operator.index(answer)
        except OverflowError:
            faults[position] = Fault("illegal", f"returned {_shown(answer)}, out of any range")
        except BaseException:  # noqa: BLE001
            faults[position] = Fault("illegal", f"returned {_shown(answer)}, not an integer")
    return actions, faults
