"""Ray: the only place that imports it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ladder.errors import InfraError
from ladder.execute.chunk import Chunk, Played, Result, Setup, play_chunk
from ladder.execute.lifeline import (
    Address,
    Lifeline,
    Orphans,
    RayLostError,
    ended_if_held,
    knock,
    parse_address,
)
from ladder.execute.progress import Workers

IN_FLIGHT = 3  # chunks a worker
PULSE_S = 1.0  # while nothing comes from Ray, it is looked after as often
WATCHDOG_S = 300.0  # without a finished chunk for so long, Ray is given up
HELD_S = 60.0  # for Ray to start, or to stop


@dataclass(frozen=True)
class Cluster:
    """A Ray that is connected to."""

    size: int  # CPUs for us
    lifeline: Lifeline


class OnRay:
    """Plays on Ray, a bounded number of chunks in flight."""

    def __init__(self, setup: Setup, lanes: int, cluster: Cluster) -> None:
        import ray

        self._ray = ray
        self._lifeline = cluster.lifeline
        self._looked = time.monotonic()
        self._setup = ray.put(setup)
        self._lanes = lanes
        self._most = IN_FLIGHT * cluster.size
        # A chunk whose worker died is tried again by us, who count and cut it in two.
        self._play = ray.remote(max_retries=0, num_cpus=1)(play_chunk)

    def play(self, chunks: Iterator[Chunk]) -> Iterator[Played]:
        """Play chunks, in whatever order they end. Raises: RayLostError, InfraError."""
        waiting: dict[Any, Chunk] = {}
        while True:
            for chunk in islice(chunks, self._most - len(waiting)):
                waiting[self._play.remote(self._setup, chunk, self._lanes)] = chunk
            if not waiting:
                return
            finished = self._finished(list(waiting))
            yield waiting.pop(finished), *self._get(finished)

    def _finished(self, waiting: list[Any]) -> Any:
        """A chunk that is done. Raises: RayLostError, which Ray does not; InfraError."""
        end = time.monotonic() + WATCHDOG_S
        while time.monotonic() < end:
            ready, _ = self._ray.wait(waiting, num_returns=1, timeout=PULSE_S)
            # Without its GCS, Ray goes on for a minute and then ends our whole process.
            if not ready or time.monotonic() > self._looked + PULSE_S:
                self._lifeline.check()
                self._looked = time.monotonic()
            if ready:
                return ready[0]
        raise InfraError(f"Ray has finished nothing for {WATCHDOG_S:.0f} s; gave it up")

    def _get(self, reference: Any) -> tuple[Result, float]:
        end = time.monotonic() + WATCHDOG_S
        while True:
            try:
                played: tuple[Result, float] = self._ray.get(reference, timeout=PULSE_S)
                return played
            except self._ray.exceptions.RayError as error:
                self._lifeline.check()  # else the chunk's own worker is at fault
                is_late = isinstance(error, self._ray.exceptions.GetTimeoutError)
                if is_late and time.monotonic() < end:
                    continue
                last = str(error).strip().splitlines()[-1]
                return InfraError(f"{type(error).__name__} on Ray: {last}"), 0.0


def _knock(word: str) -> None:
    """Refuse an address where nobody listens: Ray itself would try it for minutes."""
    address = parse_address(word)
    if address is None:
        return
    try:
        knock(address)
    except OSError as error:
        raise InfraError(f"cannot start Ray {word}: {error}") from None


def _vital(word: str | None) -> dict[str, Address]:
    """Where the processes listen without which nothing comes from this Ray any more."""
    import ray

    if word is not None and word.startswith("ray://"):  # its server answers for all of it
        server = parse_address(word)
        return {"server": server} if server else {}
    here = ray.get_runtime_context()
    gcs = parse_address(here.gcs_address)
    vital = {"GCS": gcs} if gcs else {}
    for node in ray.nodes():
        if node["NodeID"] == here.get_node_id():
            vital["raylet"] = (node["NodeManagerAddress"], node["NodeManagerPort"])
    return vital


def seconds_to_start_ray() -> float:
    """Start a Ray of our own, play nothing, stop it. Raises: InfraError."""
    begun = time.monotonic()
    with cluster_of(Workers(1)):
        return time.monotonic() - begun


@contextmanager
def cluster_of(workers: Workers) -> Iterator[Cluster]:
    """A Ray of our own, or the one at the address. Raises: InfraError."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

    package = Path(__file__).parent.parent
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
    # Standard output is for results, and Ray prints its troubles there.
    with redirect_stdout(sys.stderr):
        yield from _connected(workers, options)


def _connected(workers: Workers, options: dict[str, Any]) -> Iterator[Cluster]:
    import ray

    with ended_if_held(HELD_S):
        cluster, orphans = _start(workers, options)
    try:
        yield cluster
    except RayLostError:
        orphans.end()  # before they have Ray print the raylet's log
        raise
    finally:
        with ended_if_held(HELD_S):
            ray.shutdown()
        orphans.end()


def _start(workers: Workers, options: dict[str, Any]) -> tuple[Cluster, Orphans]:
    import ray

    try:
        ray.init(**options)
    except Exception as error:  # Ray raises bare ones too, as where its start times out
        where = workers.address or "on this machine"
        reason = str(error).strip().splitlines()[0]
        raise InfraError(f"cannot start Ray {where}: {reason}") from error
    orphans = Orphans(os.getpid() if workers.address is None else None)
    size = int(ray.cluster_resources().get("CPU", 1))
    size = min(size, workers.count) if workers.count else size
    return Cluster(size, Lifeline(_vital(workers.address))), orphans
