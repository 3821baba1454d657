"""Plays what the store lacks of a plan, chunk by chunk, and stores it.

The work is cut into chunks of about half a second, each stored in one transaction as soon as it
is played; whatever ends a run, finished chunks stay.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from ladder import seeds
from ladder.bots import LoadedBot
from ladder.errors import BotFaultError, InfraError, LadderError
from ladder.execute.chunk import Chunk, Setup, code_of
from ladder.execute.lifeline import RayLostError
from ladder.execute.on_ray import OnRay, cluster_of
from ladder.execute.pools import Here
from ladder.execute.progress import Progress, Workers
from ladder.interrupts import stoppable
from ladder.plan import Plan
from ladder.record import Segment
from ladder.store import Store

CHUNK_S = 0.5
FIRST_CHUNK = 16
MOST_CHUNK = 250_000
WINDOW = 2000  # pairings asked of the store at once
AUTO_AFTER_S = 3.0  # `auto` hands over to Ray then ...
AUTO_WORTH_S = 8.0  # ... if at least this much is left
MOST_LOST = 3  # times that Ray is started again with no chunk finished in between
MOST_FAILURES = 12  # failures of ours with no chunk finished in between


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
        progress.note_refused(plan, code_of(setup).refused, must=workers.compile == "require")
    job = _Job(plan, store, run, workers, progress)
    with stoppable(signal.SIGINT, signal.SIGTERM):
        # Another run on the same store may have written what this one was about to: then less
        # was added than was played, and the rest is asked for again.
        while job.lacks_matches():
            try:
                _play_missing(job, setup)
            except RayLostError as lost:
                job.forget_lost(lost)


def _play_missing(job: _Job, setup: Setup) -> None:
    """One pass over what the store lacks. Raises: RayLostError, and as `execute`."""
    workers = job.workers
    here = Here(setup, workers.lanes)
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
    with cluster_of(workers) as cluster:
        job.work(OnRay(setup, workers.lanes, cluster), chain([first], chunks))


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
        self._lost = 0  # times Ray was lost, likewise
        self._was_cut_short = True  # the pass before: there was none
        self._again: deque[Chunk] = deque()

    def lacks_matches(self) -> bool:
        """Whether there is another pass to make."""
        self._passes += 1
        was_cut_short, self._was_cut_short = self._was_cut_short, False
        if was_cut_short:
            return True
        if self.set_aside:
            raise InfraError(*_told_aside(self.plan, self.set_aside))
        self.progress.done = self.store.progress(self.run)[0]
        return self.progress.done < self.progress.total

    def forget_lost(self, lost: RayLostError) -> None:
        """Ray is gone with all chunks in flight: the next pass finds them missing.

        Raises: RayLostError where it was lost too often.
        """
        self._lost += 1
        if self._lost > MOST_LOST:
            raise lost
        self._was_cut_short = True
        self._again.clear()
        self.progress.notes.append(f"{lost}; started again")
        self.progress.report(self.progress)

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
        self, pool: Here | OnRay, chunks: Iterator[Chunk], seconds: float | None = None
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
            if isinstance(pool, OnRay):
                self._lost = 0
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
