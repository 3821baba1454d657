"""Places to play chunks in: this process, or Ray."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from ladder.execute.chunk import Chunk, Played, Setup, play_chunk
from ladder.execute.on_ray import OnRay, cluster_of
from ladder.execute.progress import Workers
from ladder.interrupts import stoppable


class Here:
    """Plays in this process, where a breakpoint in a bot works."""

    def __init__(self, setup: Setup, lanes: int) -> None:
        self._setup, self._lanes = setup, lanes

    def play(self, chunks: Iterator[Chunk]) -> Iterator[Played]:
        """Play chunks, one after another."""
        for chunk in chunks:
            yield chunk, *play_chunk(self._setup, chunk, self._lanes)


@contextmanager
def playing(setup: Setup, workers: Workers) -> Iterator[Here | OnRay]:
    """A place to play chunks whose results are not stored as they come: here, or on Ray."""
    if not workers.count and not workers.address:
        yield Here(setup, workers.lanes)
        return
    with stoppable(signal.SIGINT, signal.SIGTERM), cluster_of(workers) as cluster:
        yield OnRay(setup, workers.lanes, cluster)


def play_chunks(setup: Setup, chunks: Iterator[Chunk], workers: Workers) -> Iterator[Played]:
    """Play chunks and store nothing, in any order; here unless workers are asked for.

    Raises: InfraError.
    """
    if not workers.count and workers.address is None:
        yield from Here(setup, workers.lanes).play(chunks)
        return
    with cluster_of(workers) as cluster:
        yield from OnRay(setup, workers.lanes, cluster).play(chunks)
