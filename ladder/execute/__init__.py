"""Runs the matches of a plan that the store lacks: in this process, or on Ray."""

from ladder.execute.chunk import Chunk, Setup, play_chunk, player_for
from ladder.execute.job import MOST_CHUNK, MOST_FAILURES, execute
from ladder.execute.on_ray import seconds_to_start_ray
from ladder.execute.pools import play_chunks, playing
from ladder.execute.progress import Progress, Workers

__all__ = [
    "MOST_CHUNK",
    "MOST_FAILURES",
    "Chunk",
    "Progress",
    "Setup",
    "Workers",
    "execute",
    "play_chunk",
    "play_chunks",
    "player_for",
    "playing",
    "seconds_to_start_ray",
]
