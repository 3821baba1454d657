"""How anything is printed: tables for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

PIPED_WIDTH = 200


def console() -> Console:
    """Standard output; piped, wide enough that nothing is cut. Names are text, never markup."""
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def print_grid(out: Console, grid: Grid, dispensable: Sequence[str] = ()) -> None:
    """A table that loses no cell to a narrow terminal.

    Columns that can be missed are left out, and named below; what is too wide still runs over the
    edge, where a terminal breaks the line: a number cut short would be another number.
    """
    missed: list[str] = []
    there = {column.header for column in grid.columns}
    for name in dispensable:
        if _width(grid) <= out.width:
            break
        if name in there:
            grid = _without(grid, name)
            missed.append(name or "bars")
    out.width = max(out.width, _width(grid))
    out.print(grid)
    if missed:
        out.print(f"too narrow for: {', '.join(missed)}", markup=False, soft_wrap=True)


def _width(grid: Grid) -> int:
    """The columns of a terminal that a table would fill."""
    return Console(width=10_000, markup=False, emoji=False).measure(grid).maximum


def _without(grid: Grid, name: str) -> Grid:
    kept = [column for column in grid.columns if column.header != name]
    slim = Grid(*(c.copy() for c in kept), box=None, header_style="bold", pad_edge=False)
    for cells in zip(*(column.cells for column in kept), strict=True):
        slim.add_row(*cells)
    return slim


def print_json(value: Any) -> None:
    """One JSON value on standard output; what is not a number becomes null."""
    json.dump(_plain(value), sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def print_csv(values: Sequence[dict[str, Any]]) -> None:
    """Lines of comma-separated values, under the names of all that come."""
    names = list(dict.fromkeys(name for value in values for name in value))
    writer = csv.DictWriter(sys.stdout, names, lineterminator="\n")
    writer.writeheader()
    for value in values:
        seats = value.get("win_share_by_seat")
        writer.writerow(
            {**value, "win_share_by_seat": " ".join(map(str, seats))} if seats else value
        )
