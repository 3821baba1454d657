"""Runs the matches of a plan that the store lacks: in this process, or on Ray.

The only `import ray`. The work is cut into chunks of about half a second, each stored in one
transaction as soon as it is played; whatever ends a run, finished chunks stay.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from ladder import seeds
from ladder.bots import TRUST_OPTION, LoadedBot, PortableBot
from ladder.commands import is_program
from ladder.driver import LANES, LocalPlayer, Player, play
from ladder.errors import BotFaultError, InfraError, LadderError, SpecError
from ladder.foreign import ForeignPlayer
from ladder.games import Game, Table, get_game
from ladder.isolate.verdict import DEFAULT_LIMITS, Limits
from ladder.plan import Plan
from ladder.playout import NOT_TRUSTED, CompiledBots, compile_bots, play_compiled
from ladder.record import Record, Segment
from ladder.store import Store

CHUNK_S = 0.5
FIRST_CHUNK = 16
MOST_CHUNK = 250_000
WINDOW = 2000  # pairings asked of the store at once
IN_FLIGHT = 3  # chunks a worker
AUTO_AFTER_S = 3.0  # `auto` hands over to Ray then ...
AUTO_WORTH_S = 8.0  # ... if at least this much is left
CONNECT_S = 10.0  # for a cluster to answer
WATCHDOG_S = 300.0  # without a finished chunk for so long, Ray is given up
MOST_FAILURES = 12  # failures of ours with no chunk finished in between

Chunk = list[Segment]


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


@dataclass
class Workers:
    """Where to play: `count` None is auto, 0 this process; an address is a running Ray cluster."""

    count: int | None = None
    address: str | None = None
    lanes: int = LANES
    compile: str = "auto"  # auto, never or require
    record: str = "results"  # or summary
    chunk: int | None = None  # matches a chunk; None: by time

    @property
    def is_auto(self) -> bool:
        """Whether to begin here and move to Ray when it pays."""
        return self.count is None and self.address is None


@dataclass
class Progress:
    """How far a run is; `report` is called after every change."""

    report: Callable[[Progress], None]
    total: int
    done: int = 0
    stored_before: int = 0
    played: int = 0
    timed: int = 0  # of them, since the clock started
    where: str = "starting"
    play_s: float = 0.0
    store_s: float = 0.0
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def rate(self) -> float:
        """Matches a second since everything was compiled; 0 while it is too early to say."""
        seconds = time.monotonic() - self.started
        return 0.0 if self.is_starting or seconds < 0.2 else self.timed / seconds

    @property
    def is_starting(self) -> bool:
        """Whether nothing was played yet."""
        return self.where == "starting"

    def begin(self) -> None:
        """Everything is compiled: the clock starts."""
        self.timed = 0
        self.where = "in process"
        self.started = time.monotonic()

    def note_refused(self, plan: Plan, refused: dict[int, str], *, must: bool) -> None:
        """Say which bots are not compiled. Raises: SpecError where the spec requires it."""
        lines = {
            bot: f"{plan.names[bot]} cannot be compiled: {why}" for bot, why in refused.items()
        }
        if must and lines:
            raise SpecError(*(f"compile: require, but {line}" for line in lines.values()))
        self.notes += [
            f"{line}; its matches are played in Python"
            for bot, line in lines.items()
            if refused[bot] != NOT_TRUSTED
        ]
        self.report(self)

    def note_strangers(self, plan: Plan) -> None:
        """Say which bots play in child processes."""
        names = [plan.names[bot] for bot in sorted(plan.strangers)]
        if names:
            shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")
            self.notes.append(
                f"{shown}: not trusted, so played in locked-down child processes ({plan.tier});"
                f" `trusted: true` in the spec, or {TRUST_OPTION}, lets their code run in Ladder's"
                " own process, compiled where it can be"
            )
            self.report(self)

    def add(self, matches: int) -> None:
        """More matches are in the store."""
        self.done += matches
        self.report(self)


def execute(
    plan: Plan,
    bots: Sequence[LoadedBot],
    store: Store,
    run: str,
    workers: Workers,
    progress: Progress,
) -> None:
    """Play what `run` lacks. Raises: BotFaultError, InfraError, StoreError, KeyboardInterrupt."""
    setup = Setup.of(plan, bots, is_compiled=workers.compile != "never")
    progress.note_strangers(plan)
    if setup.is_compiled:
        progress.note_refused(plan, _code(setup).refused, must=workers.compile == "require")
    job = _Job(plan, store, run, workers, progress)
    with _terminable():
        # Another run on the same store may have written what this one was about to: then less
        # was added than was played, and the rest is asked for again.
        while job.lacks_matches():
            _play_missing(job, setup)


def _play_missing(job: _Job, setup: Setup) -> None:
    """One pass over what the store lacks."""
    workers = job.workers
    here = _Here(setup, workers.lanes)
    chunks = job.chunks()
    # The first chunk is always played here: it compiles, or fills the cache that workers read.
    job.work(here, islice(chunks, 1))
    if workers.is_auto or (workers.count == 0 and not workers.address):
        job.work(here, chunks, AUTO_AFTER_S if workers.is_auto else None)
    first = next(chunks, None)
    if first is None:
        return
    job.progress.where = "on Ray"
    job.progress.report(job.progress)
    with _ray(workers) as size:
        job.work(_OnRay(setup, workers.lanes, size), chain([first], chunks))


class _Sizes:
    """How many matches make a chunk of about half a second, as measured."""

    def __init__(self, fixed: int | None) -> None:
        self.fixed = fixed
        self.size = fixed or FIRST_CHUNK
        self.rate = 0.0

    def learn(self, matches: int, seconds: float) -> None:
        self.rate = matches / max(seconds, 1e-6)
        if self.fixed is None:
            wanted = int(self.rate * CHUNK_S)
            self.size = max(FIRST_CHUNK, min(wanted, self.size * 16, MOST_CHUNK))


class _Job:
    """The matches of a run that the store lacks, cut into chunks, played and stored."""

    def __init__(
        self, plan: Plan, store: Store, run: str, workers: Workers, progress: Progress
    ) -> None:
        self.plan, self.store, self.run = plan, store, run
        self.workers, self.progress = workers, progress
        self.sizes = _Sizes(workers.chunk)
        self.set_aside: list[tuple[Segment, str]] = []  # matches that fail, and why
        self._key_id = seeds.run_key_id(plan.key)
        self._passes = 0
        self._failed: dict[tuple[Segment, ...], int] = {}  # how often a chunk failed
        self._failures = 0  # without a chunk finished in between
        self._again: deque[Chunk] = deque()

    def lacks_matches(self) -> bool:
        """Whether there is another pass to make."""
        self._passes += 1
        if self._passes == 1:
            return True
        if self.set_aside:
            raise InfraError(*_told_aside(self.plan, self.set_aside))
        self.progress.done = self.store.progress(self.run)[0]
        return self.progress.done < self.progress.total

    def chunks(self) -> Iterator[Chunk]:
        """The missing matches, cut to size; the plan is read a window at a time."""
        chunk: Chunk = []
        room = self.sizes.size
        for segment in self._missing():
            first, left = segment.first, segment.count
            while left:
                count = min(left, room)
                chunk.append(Segment(segment.lineup, segment.pairing, first, count))
                first, left, room = first + count, left - count, room - count
                if room == 0:
                    yield chunk
                    chunk, room = [], self.sizes.size
        if chunk:
            yield chunk

    def _missing(self) -> Iterator[Segment]:
        pairings = iter(self.plan)
        while window := list(islice(pairings, WINDOW)):
            missing = self.store.want(self.run, self.plan, window, keep=self.workers.record)
            wanted = sum(pairing.repetitions for pairing in window)
            lacking = sum(segment.count for segments in missing for segment in segments)
            if self._passes == 1:
                self.progress.stored_before += wanted - lacking
                self.progress.add(wanted - lacking)
            for segments in missing:
                yield from segments

    def work(
        self, pool: _Here | _OnRay, chunks: Iterator[Chunk], seconds: float | None = None
    ) -> None:
        """Play chunks and store them; after `seconds`, stop if enough is left to be worth it."""
        progress = self.progress
        for chunk, record, elapsed in pool.play(self._with_failed(chunks)):
            if isinstance(record, BotFaultError):
                raise _named_fault(self.plan, chunk, record)
            if isinstance(record, InfraError):
                self._reschedule(chunk, record)
                continue
            self._failures = 0
            begun = time.monotonic()
            added = self.store.append(self._key_id, record, chunk, keep=self.workers.record)
            progress.store_s += time.monotonic() - begun
            progress.play_s += elapsed
            progress.played += added
            progress.timed += added
            if progress.is_starting:
                progress.begin()  # the first chunk compiles: its time says nothing
            else:
                self.sizes.learn(len(record), elapsed)
            progress.add(added)
            if seconds is not None and time.monotonic() - progress.started > seconds:
                left_s = (progress.total - progress.done) / max(self.sizes.rate, 1e-9)
                if left_s > AUTO_WORTH_S and not self._again:
                    return

    def _with_failed(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks, and those that have to be played again as soon as they are there."""
        while True:
            while self._again:
                yield self._again.popleft()
            chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk

    def _reschedule(self, chunk: Chunk, error: InfraError) -> None:
        """A chunk failed by no bot's fault: again, then in halves, at last without its match.

        Raises: InfraError where nothing else gets through either.
        """
        self._failures += 1
        if self._failures > MOST_FAILURES and sum(each.count for each in chunk) > 1:
            raise error
        tries = self._failed[tuple(chunk)] = self._failed.get(tuple(chunk), 0) + 1
        if tries == 1:
            self._again.append(chunk)
        elif sum(segment.count for segment in chunk) == 1:
            self.set_aside.append((chunk[0], str(error)))
            if len(self.set_aside) > MOST_FAILURES:
                raise InfraError(*_told_aside(self.plan, self.set_aside))
        else:
            self._again += _halves(chunk)


def _halves(chunk: Chunk) -> tuple[Chunk, Chunk]:
    """The matches of a chunk in two parts."""
    left = sum(segment.count for segment in chunk) // 2
    first: Chunk = []
    second: Chunk = []
    for segment in chunk:
        count = min(left, segment.count)
        left -= count
        if count:
            first.append(replace(segment, count=count))
        if segment.count > count:
            rest = segment.count - count
            second.append(replace(segment, first=segment.first + count, count=rest))
    return first, second


def _told_aside(plan: Plan, matches: Sequence[tuple[Segment, str]]) -> list[str]:
    """What is said at the end of a run that had to leave matches out."""
    lines = [f"{len(matches)} matches could not be played, by no bot's fault (infra):"]
    for segment, reason in matches:
        names = ", ".join(plan.names[bot] for bot in segment.lineup)
        lines.append(f"  {names}, repetition {segment.first}: {reason}")
    return ["\n".join([*lines, "all others are stored; the same command tries these again"])]


def _named_fault(plan: Plan, chunk: Chunk, error: BotFaultError) -> LadderError:
    row = error.row
    for segment in chunk:
        if row < segment.count:
            break
        row -= segment.count
    bot = plan.names[segment.lineup[error.seat]]
    message = (
        f"{bot} at seat {error.seat}, decision {error.decision} of repetition"
        f" {segment.first + row}: {error.cause}: {error.detail} (on_fault: abort)"
    )
    named = LadderError(f"{message}\n{error.traceback}".strip())
    named.exit_code = error.exit_code
    return named


Result = Record | BotFaultError | InfraError
Played = tuple[Chunk, Result, float]


def play_chunk(setup: Setup, chunk: Chunk, lanes: int) -> tuple[Result, float]:
    """Play one chunk in this process; with the seconds it took."""
    begun = time.monotonic()
    record = Record.empty(sum(segment.count for segment in chunk), setup.table.seats)
    starts = np.cumsum([0, *(segment.count for segment in chunk)])
    compiled = [setup.is_compiled and _code(setup).can_play(segment) for segment in chunk]
    try:
        for is_compiled, play_part in ((True, _play_compiled), (False, _play_in_python)):
            part = [i for i, is_so in enumerate(compiled) if is_so == is_compiled]
            if part:
                rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in part])
                record.put(rows, play_part(setup, [chunk[i] for i in part], lanes))
    except BotFaultError as error:
        error.row = int(rows[error.row])
        return error, time.monotonic() - begun
    except InfraError as error:
        return InfraError(str(error)), time.monotonic() - begun  # its causes may not travel
    return record, time.monotonic() - begun


def _play_compiled(setup: Setup, chunk: Chunk, lanes: int) -> Record:
    return play_compiled(
        get_game(setup.game), setup.table, _loaded(setup), _code(setup), chunk,
        _deal_keys(setup, chunk), on_fault=setup.on_fault,
    )  # fmt: skip


def _play_in_python(setup: Setup, chunk: Chunk, lanes: int) -> Record:
    game, bots = get_game(setup.game), _loaded(setup)
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


def play_chunks(setup: Setup, chunks: Iterator[Chunk], workers: Workers) -> Iterator[Played]:
    """Play chunks and store nothing, in any order; here unless workers are asked for.

    Raises: InfraError.
    """
    if not workers.count and workers.address is None:
        yield from _Here(setup, workers.lanes).play(chunks)
        return
    with _ray(workers) as size:
        yield from _OnRay(setup, workers.lanes, size).play(chunks)


@lru_cache(maxsize=4)
def _loaded(setup: Setup) -> tuple[LoadedBot, ...]:
    return tuple(bot.load() for bot in setup.bots)


@lru_cache(maxsize=4)
def _code(setup: Setup) -> CompiledBots:
    return compile_bots(get_game(setup.game), _loaded(setup))


@contextmanager
def playing(setup: Setup, workers: Workers) -> Iterator[_Here | _OnRay]:
    """A place to play chunks whose results are not stored as they come: here, or on Ray."""
    if not workers.count and not workers.address:
        yield _Here(setup, workers.lanes)
        return
    with _terminable(), _ray(workers) as size:
        yield _OnRay(setup, workers.lanes, size)


class _Here:
    """Plays in this process, where a breakpoint in a bot works."""

    def __init__(self, setup: Setup, lanes: int) -> None:
        self._setup, self._lanes = setup, lanes

    def play(self, chunks: Iterator[Chunk]) -> Iterator[Played]:
        for chunk in chunks:
            yield chunk, *play_chunk(self._setup, chunk, self._lanes)


class _OnRay:
    """Plays on Ray, a bounded number of chunks in flight."""

    def __init__(self, setup: Setup, lanes: int, size: int) -> None:
        import ray

        self._ray = ray
        self._setup = ray.put(setup)
        self._lanes = lanes
        self._most = IN_FLIGHT * size
        # A chunk whose worker died is tried again by us, who count and cut it in two.
        self._play = ray.remote(max_retries=0, num_cpus=1)(play_chunk)

    def play(self, chunks: Iterator[Chunk]) -> Iterator[Played]:
        waiting: dict[Any, Chunk] = {}
        while True:
            for chunk in islice(chunks, self._most - len(waiting)):
                waiting[self._play.remote(self._setup, chunk, self._lanes)] = chunk
            if not waiting:
                return
            ready, _ = self._ray.wait(list(waiting), num_returns=1, timeout=WATCHDOG_S)
            if not ready:
                raise InfraError(f"Ray has finished nothing for {WATCHDOG_S:.0f} s; gave it up")
            chunk = waiting.pop(ready[0])
            yield chunk, *self._get(ready[0])

    def _get(self, reference: Any) -> tuple[Result, float]:
        try:
            played: tuple[Result, float] = self._ray.get(reference, timeout=WATCHDOG_S)
            return played
        except self._ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1]
            return InfraError(f"{type(error).__name__} on Ray: {last}"), 0.0


def _knock(address: str) -> None:
    """Refuse an address where nobody listens: Ray itself would try it for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return  # a name of Ray's own, such as "auto"
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise InfraError(f"cannot start Ray {address}: {error}") from None


def seconds_to_start_ray() -> float:
    """Start a Ray of our own, play nothing, stop it. Raises: InfraError."""
    begun = time.monotonic()
    with _ray(Workers(1)):
        return time.monotonic() - begun


@contextmanager
def _ray(workers: Workers) -> Iterator[int]:
    """A Ray of our own (or the one at the address), and its number of CPUs."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    package = Path(__file__).parent
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if workers.address is None:
        cpus = workers.count or os.cpu_count() or 1
        options |= {
            "address": "local",  # never a cluster that somebody left in /tmp/ray
            "num_cpus": cpus,
            "include_dashboard": False,
            "object_store_memory": 160 * 2**20,
        }
    else:
        _knock(workers.address)
        shipped = package.parent / "bots"
        options["address"] = workers.address
        options["runtime_env"] = {"py_modules": [str(package), str(shipped)]}
    try:
        ray.init(**options)
    except Exception as error:
        where = workers.address or "on this machine"
        reason = str(error).strip().splitlines()[0]
        raise InfraError(f"cannot start Ray {where}: {reason}") from error
    try:
        size = int(ray.cluster_resources().get("CPU", 1))
        yield min(size, workers.count) if workers.count else size
    finally:
        ray.shutdown()


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
