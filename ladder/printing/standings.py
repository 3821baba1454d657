"""Standings and what ratings were asked, printed."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table as Grid

from ladder.printing.output import console, print_csv, print_grid, print_json
from ladder.rated import Rated
from ladder.ratings.questions import PredictiveCheck, Spread
from ladder.standings import Row, Share
from ladder.store import RunRow

DISPENSABLE = ("mean score", "95 % interval", "sigma", "above next", "matches", "mu", "published %")


def row_values(row: Row, *, by_seat: bool) -> dict[str, Any]:
    """A line of the table as plain values, the names of the `standings --json` contract."""
    share = row.tally.share
    values: dict[str, Any] = {
        "rank": row.rank,
        "bot": row.bot,
        "version": row.version,
        "mu": row.mu,
        "sigma": row.sigma,
        "conservative": row.conservative,
        "win_share": share.mean,
        "win_share_low": share.low,
        "win_share_high": share.high,
        "matches": share.matches,
        "mean_score": row.tally.mean_score,
        "faults": row.tally.faults,
    }
    values["above_next"] = row.above_next
    if row.expected is not None:
        values["expected"] = row.expected
    if by_seat:
        values["draw_share"] = row.tally.draw_share
        values["win_share_by_seat"] = [seat.mean for seat in row.tally.by_seat]
    return values


def standings_grid(rows: Sequence[Row], *, by_seat: bool) -> Grid:
    """The table as people read it."""
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    grid.add_column("#", justify="right")
    grid.add_column("bot", overflow="fold")
    for name in ("mu", "sigma", "mu-3s", "above next", "win %", "95 % interval"):
        grid.add_column(name, justify="right", no_wrap=True)
    has_expected = any(row.expected is not None for row in rows)
    if has_expected:
        grid.add_column("published %", justify="right", no_wrap=True)
    for name in ("matches", "mean score", "faults"):
        grid.add_column(name, justify="right", no_wrap=True)
    seats = len(rows[0].tally.by_seat) if rows and by_seat else 0
    if seats:
        grid.add_column("draw %", justify="right")
        for seat in range(seats):
            grid.add_column(f"seat {seat} %", justify="right")
    for row in rows:
        grid.add_row(*_cells(row, has_expected=has_expected, by_seat=by_seat))
    return grid


def _cells(row: Row, *, has_expected: bool, by_seat: bool) -> list[str]:
    share = row.tally.share
    cells = [
        str(row.rank), row.bot, f"{row.mu:.2f}", f"{row.sigma:.2f}",
        f"{row.conservative:.2f}",
        "" if row.above_next is None else f"{row.above_next:.3f}", _percent(share.mean),
        f"{_percent(share.low)} - {_percent(share.high)}",
    ]  # fmt: skip
    if has_expected:
        cells.append("" if row.expected is None else _percent(row.expected))
    cells += [f"{share.matches:,}", _number(row.tally.mean_score), f"{row.tally.faults:,}"]
    if by_seat:
        cells += [_percent(row.tally.draw_share), *(_seat(s) for s in row.tally.by_seat)]
    return cells


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.2f}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"


def _seat(share: Share) -> str:
    return _percent(share.mean)


def print_standings(
    rated: Rated, runs: Sequence[RunRow], *, by_seat: bool, as_json: bool, as_csv: bool
) -> None:
    """The table of stored runs."""
    values = [row_values(row, by_seat=by_seat) for row in rated.rows]
    if as_json:
        print_json(values)
    elif as_csv:
        print_csv(values)
    else:
        out = console()
        named = ", ".join(f"{run.name} {run.run}" for run in runs[:5])
        more = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
        matches = int(rated.results.counts.sum())
        out.print(
            f"{named}{more}: {matches:,} matches, rated by {rated.part.rank_by},"
            f" {rated.part.method}, draw probability {rated.ratings.draw_probability:.4f}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        print_grid(out, standings_grid(rated.rows, by_seat=by_seat), DISPENSABLE)
    for note in rated.notes:
        sys.stderr.write(f"note: {note}\n")


def print_pairs(rated: Rated, *, as_json: bool) -> None:
    """Who beats whom."""
    pairs = rated.pairs()
    if as_json:
        print_json(pairs)
        return
    names = [row.bot for row in rated.rows]
    grid = Grid("P(row beats column)", box=None, header_style="bold", pad_edge=False)
    for name in names:
        grid.add_column(name, justify="right")
    chance = {(pair["a"], pair["b"]): pair for pair in pairs}
    for a in names:
        cells = []
        for b in names:
            pair = chance.get((a, b))
            if pair is None:
                cells.append("")
                continue
            cells.append(
                f"{pair['p_a_beats_b']:.3f}\n{pair['a_before_b']:,}={pair['ties']:,}"
                f"={pair['b_before_a']:,}"
            )
        grid.add_row(a, *cells)
    print_grid(console(), grid)
    sys.stdout.write("under each: finished before = level = behind, pairs of seats\n")


def print_prediction(check: PredictiveCheck, *, as_json: bool) -> None:
    """How well the ratings foretell."""
    if as_json:
        print_json({**asdict(check), "is_misfit": check.is_misfit})
        return
    sys.stdout.write(
        f"log loss a match on {check.matches:,} held-out matches (less is better): by rating"
        f" {check.rating:.5f}, by win share {check.win_share:.5f}, even chances {check.even:.5f}\n"
    )
    if check.is_misfit:
        sys.stdout.write("win shares foretell better: TrueSkill misfits these results\n")


def print_spread(rated: Rated, spread: Spread, *, as_json: bool) -> None:
    """How far mu moves with the order of matches."""
    index = {entrant: position for position, entrant in enumerate(rated.results.entrants)}
    rows = [(row, index[row.bot, row.version]) for row in rated.rows]
    if as_json:
        print_json(
            [
                {"bot": row.bot, "mu": row.mu, "low": float(spread.low[i]),
                 "high": float(spread.high[i]), "deviation": float(spread.deviation[i])}
                for row, i in rows
            ]
        )  # fmt: skip
        return
    sys.stdout.write("mu over 20 orders of the same matches, rated one by one\n")
    grid = Grid("bot", box=None, header_style="bold", pad_edge=False)
    for name in ("mu", "lowest", "highest", "deviation"):
        grid.add_column(name, justify="right")
    for row, i in rows:
        values = (row.mu, spread.low[i], spread.high[i], spread.deviation[i])
        grid.add_row(row.bot, *(f"{value:.3f}" for value in values))
    print_grid(console(), grid)
