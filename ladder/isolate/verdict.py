"""What is allowed to a bot in a child process, and what is said of one that broke it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TIERS = ("trusted", "sandbox", "strict")  # weakest first; `trusted` plays in our own process

EXIT_MEMORY = 77  # the exit code of a child that had no memory left for its own loop


@dataclass(frozen=True)
class Limits:
    """Limits of one bot, enforced from outside."""

    decision_ms: int = 100  # CPU time of one decision, on the child's own clock
    wall_ms: int = 1_000  # backstop against sleepers; time spent waiting for a CPU not counted
    start_ms: int = 2_000  # CPU time to load, and to make the bot of a match (wall: five times)
    memory_mb: int = 512  # address space, the interpreter's own included
    output_kb: int = 64  # standard output and error kept; 256 times as much in one go is a fault


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Bundle:
    """A bot on its way to a child: its source files by relative path, class and params."""

    module: str
    files: tuple[tuple[str, bytes], ...]
    bot: str  # the class's name
    params: tuple[tuple[str, int | float | bool | str], ...] = ()


class Unsettled(Exception):
    """A child was lost over decisions of several matches, so that nobody can be convicted.

    `keys` are the matches it held: to be replayed one by one, each in a fresh child. `answers` are
    those of the `post` that was collected, with None where they were lost.
    """

    def __init__(self, keys: Sequence[int], answers: list[Any], reason: str) -> None:
        super().__init__(keys, answers, reason)
        self.keys, self.answers, self.reason = tuple(keys), answers, reason


class LostError(Exception):
    """A child that had to be given up: the cause, as of a Fault, or `infra` where we are to blame.

    Inside this package only; players turn it into a Fault, Unsettled or InfraError.
    """

    def __init__(self, cause: str, detail: str, output: str = "") -> None:
        super().__init__(cause, detail)
        self.cause, self.detail, self.output = cause, detail, output
