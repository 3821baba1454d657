"""How a run shows that it moves, on standard error: a bar on a terminal, else plain lines."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from ladder.execute import Progress
from ladder.plan import Plan
from ladder.spec import Spec

LINE_EVERY_S = 10.0


def print_notes(spec: Spec, plan: Plan, db: Path) -> None:
    """What is about to be played, and advice on the table."""
    lineups = len(plan.lineups)
    note(
        f"{spec.name}: {spec.game.name}, {lineups:,} line-up{'s' * (lineups != 1)} of"
        f" {spec.table.seats}, {plan.num_matches:,} matches, store {db}"
    )
    for line in spec.table.advice():
        note(f"advice: {line}")
    if spec.strangers and spec.seed != "secret" and spec.path:
        note(
            "advice: a bot that is not trusted can work out the dice of a public seed from a few of"
            " them; `seed: secret` draws a key for the run, and publishes it at the end"
        )


def note(text: str) -> None:
    """A line on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class ProgressLine:
    """The progress of one run."""

    def __init__(self, total: int) -> None:
        self.done = 0
        self._total = total
        self._bar: Any = None
        self._task: Any = None
        self._next = time.monotonic() + LINE_EVERY_S
        self._where = ""

    def __enter__(self) -> ProgressLine:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,.0f} of {task.total:,.0f} matches"),
                TextColumn("{task.fields[rate]:,.0f}/s"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("in process", total=self._total, rate=0)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def update(self, progress: Progress) -> None:
        """Show a change."""
        while progress.notes:
            note(progress.notes.pop(0))
        self.done = progress.done
        self._total = progress.total  # a night grows round by round
        rate = progress.rate
        if self._bar is not None:
            self._bar.update(
                self._task,
                total=self._total,
                completed=progress.done,
                rate=rate,
                description=progress.where,
            )
        elif time.monotonic() >= self._next and rate > 0:
            self._next = time.monotonic() + LINE_EVERY_S
            left_s = (self._total - progress.done) / max(rate, 1e-9)
            note(
                f"{progress.done:,} of {self._total:,} matches ({progress.where},"
                f" {rate:,.0f}/s, about {left_s:,.0f} s left)"
            )


class CountLine:
    """A count that goes up, on standard error: in place on a terminal, else now and then."""

    def __init__(self, word: str) -> None:
        self._word = word
        self._next = time.monotonic() + (0.2 if sys.stderr.isatty() else LINE_EVERY_S)

    def __enter__(self) -> CountLine:
        return self

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def update(self, done: int, total: int) -> None:
        """Show how far it is."""
        if time.monotonic() < self._next:
            return
        text = f"{self._word} {done:,} of {total:,} matches"
        if sys.stderr.isatty():
            self._next = time.monotonic() + 0.2
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()
        else:
            self._next = time.monotonic() + LINE_EVERY_S
            note(text)
