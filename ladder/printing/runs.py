"""Runs, planned and played, printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from ladder.plan import Plan
from ladder.printing.output import console, print_grid, print_json
from ladder.printing.standings import DISPENSABLE, row_values, standings_grid
from ladder.spec import Spec
from ladder.tournament import Outcome


def print_outcome(outcome: Outcome, db: Path, *, by_seat: bool, as_json: bool) -> None:
    """A finished run."""
    if as_json:
        print_json(
            {
                "run": outcome.run,
                "matches": outcome.matches,
                "seconds": outcome.seconds,
                "digest": outcome.digest,
                "standings": [row_values(row, by_seat=by_seat) for row in outcome.rows],
                **({"ranking": [asdict(line) for line in outcome.ranking]}
                   if outcome.ranking else {}),
            }
        )  # fmt: skip
        return
    out = console()
    for line in outcome.ranking:
        out.print(
            f"{line.rank:>3}  {line.bot}: {line.points:.1f} points; {'; '.join(line.path)}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
    if outcome.played == 0:
        out.print(f"nothing to play: all {outcome.matches:,} matches are in {db}", markup=False)
    print_grid(out, standings_grid(outcome.rows, by_seat=by_seat), DISPENSABLE)
    out.print(
        f"run {outcome.run}: {outcome.matches:,} matches, {outcome.played:,} of them played in"
        f" {outcome.seconds:.1f} s (playing {outcome.play_s:.1f}, storing {outcome.store_s:.1f},"
        f" rating {outcome.rate_s:.1f}); results digest {outcome.digest}",
        markup=False, soft_wrap=True,
    )  # fmt: skip
    for note in outcome.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    if outcome.faults:
        out.print(
            f"{outcome.faults:,} faults; see them with: ladder standings --db {db} --faults",
            markup=False, soft_wrap=True,
        )  # fmt: skip


def print_faults(kinds: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Faults by bot and cause, each with its first case."""
    if as_json:
        print_json(list(kinds))
        return
    if not kinds:
        sys.stdout.write("no faults\n")
    for kind in kinds:
        sys.stdout.write(
            f"{kind['bot']}: {kind['faults']:,} x {kind['cause']}, first in match {kind['match']}"
            f" at seat {kind['seat']}, decision {kind['decision']}: {kind['detail']}\n"
            f"    version {kind['version']}; to replay it: {kind['replay']}\n"
        )
        for line in kind["traceback"].splitlines():
            sys.stdout.write(f"    {line}\n")


def print_dry_run(spec: Spec, plan: Plan, *, as_json: bool) -> None:
    """What a run would play."""
    from ladder.bench import estimated_rate

    matches = plan.matches_of_each()
    seconds = plan.num_matches / estimated_rate(spec.game.name)
    shown = 10
    lineups = [plan.lineups[i] for i in range(min(shown, len(plan.lineups)))]
    if as_json:
        print_json(
            {
                "name": spec.name,
                "lineups": len(plan.lineups),
                "matches": plan.num_matches,
                "estimated_seconds": seconds,
                "entrants": [
                    {"bot": name, "version": version, "matches": n}
                    for name, version, n in zip(plan.names, plan.versions, matches, strict=True)
                ],
                "first_lineups": [
                    {"bots": [plan.names[i] for i in lineup], "matches": n} for lineup, n in lineups
                ],
            }
        )
        return
    out = console()
    out.print(
        f"{spec.name}: {len(plan.lineups):,} line-ups, {plan.num_matches:,} matches, about"
        f" {seconds:,.0f} s on one core; nothing played",
        markup=False,
    )
    grid = Grid("entrant", "version", box=None, header_style="bold", pad_edge=False)
    grid.add_column("matches", justify="right")
    for name, version, number in zip(plan.names, plan.versions, matches, strict=True):
        grid.add_row(name, version, f"{number:,}")
    print_grid(out, grid)
    for lineup, number in lineups:
        out.print(f"{' + '.join(plan.names[i] for i in lineup)}: {number:,}", markup=False)
    if len(plan.lineups) > shown:
        out.print(f"and {len(plan.lineups) - shown:,} line-ups more", markup=False)
