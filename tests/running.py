"""Whole runs from the text of a spec, in this process or in one that can be killed.

As a program: `python -m tests.running SPEC DB CHUNK [WORKERS]` plays a spec in chunks of so many
matches, with a line on standard output for each chunk that is in the store, and the digest last;
it exits as `ladder run` does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ladder.errors import LadderError
from ladder.execute import Progress, Workers
from ladder.plan import Plan, make_plan
from ladder.spec import Spec, make_spec
from ladder.spec.documents import parse_document
from ladder.store import Store
from ladder.tournament import Outcome, run_spec

SMALL = """\
name: small
game: pasa
table: {seats: 3, rounds: 1, chips: 100}
seed: 7
entrants: [Easy, Hard, Uniform, Least]
format: {kind: round_robin, matches: 60}
"""


def planned(text: str) -> tuple[Spec, Plan]:
    """A spec and its plan."""
    spec = make_spec(parse_document(text, "x.yaml"))
    return spec, make_plan(spec)


def run_text(
    text: str,
    db: Path,
    report: Callable[[Progress], None] = lambda progress: None,
    *,
    count: int | None = 0,
    **workers: Any,
) -> Outcome:
    """Play a spec into a store; `workers` as of `execute.Workers`."""
    spec, plan = planned(text)
    return run_spec(
        spec,
        plan,
        Store(db),
        Workers(count, compile=spec.compile, record=spec.record, **workers),
        report,
    )


def rows_of(db: Path, view: str = "results") -> list[tuple[Any, ...]]:
    """A view's rows without the run, in an order of their own."""
    columns = {
        "results": "match, seat, bot, version, score, place, win_share, faults",
        "matches": "match, seed, seats, throws_or_rolls, decisions, termination, digest",
    }
    return sorted(Store(db).query(f"SELECT {columns[view]} FROM {view}"))


def main() -> None:
    """Play a spec as the module says."""
    spec, db, chunk, *workers = sys.argv[1:]
    count = int(workers[0]) if workers else 0
    done = -1
    out = sys.stdout  # it points elsewhere while Ray runs

    def report(progress: Progress) -> None:
        nonlocal done
        if progress.done != done:
            done = progress.done
            print(done, file=out, flush=True)

    try:
        outcome = run_text(Path(spec).read_text(), Path(db), report, count=count, chunk=int(chunk))
    except LadderError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    print(outcome.digest, flush=True)


if __name__ == "__main__":
    main()
