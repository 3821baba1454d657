"""Where a run is to be played, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ladder.bots import TRUST_OPTION
from ladder.driver import LANES
from ladder.errors import SpecError
from ladder.plan import Plan
from ladder.playout import NOT_TRUSTED


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
