"""What the commands of the ladder print: verdicts, submissions, histories."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rich.table import Table as Grid

from ladder.check import Verdict
from ladder.printing.output import console, print_grid, print_json
from ladder.store import NightEntrant, NightRow, Submission

MARKS = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}
BARS = "▁▂▃▄▅▆▇█"


def verdict_values(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values."""
    return {
        "bot": verdict.reference,
        "passed": verdict.is_passed,
        "reasons": verdict.reasons,
        "game": verdict.game,
        "version": verdict.version,
        "params": dict(verdict.params),
        "findings": [
            {"check": f.check, "verdict": f.verdict, "detail": f.detail} for f in verdict.findings
        ],
        "figures": verdict.figures,
        "table": list(verdict.table),
    }


def print_verdict(verdict: Verdict, *, as_json: bool) -> None:
    """What a check found."""
    if as_json:
        print_json(verdict_values(verdict))
        return
    for finding in verdict.findings:
        first, *rest = finding.detail.splitlines() or [""]
        sys.stdout.write(f"{MARKS[finding.verdict]} {finding.check:14} {first}\n")
        for line in rest:
            sys.stdout.write(f"{'':20} {line}\n")
    if verdict.is_passed:
        sys.stdout.write(f"passed: {verdict.reference}, version {verdict.version}\n")
    else:
        faults = len(verdict.reasons)
        sys.stdout.write(f"not passed: {faults} fault{'s' * (faults != 1)}\n")


def submission_values(row: Submission) -> dict[str, Any]:
    """A submission as plain values."""
    return {
        "name": row.name,
        "version": row.version,
        "game": row.game,
        "author": row.author,
        "state": row.state,
        "submitted_at": row.submitted_at.isoformat(),
        "params": dict(row.params),
        "class": row.class_name,
        "source_hash": row.source_hash,
        "about": row.about,
        "quarantine": row.quarantine,
    }


def print_submissions(rows: Sequence[Submission], *, as_json: bool) -> None:
    """The submitted versions."""
    if as_json:
        print_json([submission_values(row) for row in rows])
        return
    grid = Grid("bot", "version", "game", "author", "submitted (UTC)", "state", "params", "about",
                box=None, header_style="bold", pad_edge=False)  # fmt: skip
    for row in rows:
        params = ", ".join(f"{name}={value}" for name, value in row.params)
        when = f"{row.submitted_at:%Y-%m-%d %H:%M}"
        grid.add_row(
            row.name, row.version, row.game, row.author, when, row.state, params, row.about
        )
    console().print(grid)


def print_submission(
    rows: Sequence[Submission],
    chosen: Submission,
    record: dict[str, Any],
    files: Sequence[tuple[str, bytes]],
    *,
    as_json: bool,
) -> None:
    """One version: its source, its record, its faults; and the versions around it."""
    if as_json:
        print_json(
            {
                **submission_values(chosen),
                "record": record,
                "versions": [row.version for row in rows],
                "files": {name: _file_text(content) for name, content in files},
            }
        )
        return
    write = sys.stdout.write
    params = ", ".join(f"{name}={value}" for name, value in chosen.params) or "none"
    write(
        f"{chosen.name}, version {chosen.version} of {len(rows)}, by"
        f" {chosen.author or 'the spec'}\n"
        f"{chosen.about}\ngame {chosen.game}, class {chosen.class_name}, params {params},"
        f" submitted {chosen.submitted_at:%Y-%m-%d %H:%M} UTC, {chosen.state}\n"
    )
    if chosen.quarantine:
        write(f"quarantine: {chosen.quarantine}\n")
    share = record["win_share"]
    won = "" if share is None else f", win share {100 * share:.2f} %"
    write(f"{record['matches']:,} stored matches in {record['runs']:,} runs{won}\n")
    for fault in record["faults"]:
        write(
            f"{fault['faults']:,} x {fault['cause']}, first in match {fault['match']} at seat"
            f" {fault['seat']}, decision {fault['decision']}: {fault['detail']}\n"
        )
        for line in fault["traceback"].splitlines():
            write(f"    {line}\n")
    for name, content in files:
        write(f"--- {name}\n{_file_text(content)}\n")


def _file_text(content: bytes) -> str:
    if b"\0" in content:
        return f"({len(content):,} bytes, no text)"
    return content.decode("utf-8", "replace")


def sparkline(values: Sequence[float]) -> str:
    """
    Values as bars, the least the lowest.

    >>> sparkline([1, 2, 3])
    '▁▅█'
    """
    least, span = min(values), max(values) - min(values)
    if span == 0:
        return BARS[3] * len(values)
    return "".join(BARS[round((v - least) / span * (len(BARS) - 1))] for v in values)


def history_values(night: NightRow, row: NightEntrant) -> dict[str, Any]:
    """A bot's night as plain values."""
    return {
        "night": night.night,
        "date": night.label,
        "bot": row.name,
        "version": row.version,
        "rank": row.rank,
        "mu": row.mu,
        "sigma": row.sigma,
        "conservative": (row.mu or 0.0) - 3 * (row.sigma or 0.0),
        "matches": row.matches,
        "matches_in_all": row.matches_before + row.matches,
        "win_share": row.win_share,
        "faults": row.faults,
        "quarantine": row.quarantine,
    }


def print_history(
    rows: Sequence[tuple[NightRow, NightEntrant]], current: dict[str, str], *, as_json: bool
) -> None:
    """Ratings by night, a line a bot; of one bot a line a night too.

    `current` gives a version the name its bot goes by today.
    """
    if as_json:
        print_json(
            [
                {**history_values(night, row), "bot": current.get(row.version, row.name)}
                for night, row in rows
            ]
        )
        return
    by_name: dict[str, list[tuple[NightRow, NightEntrant]]] = {}
    for night, row in rows:
        by_name.setdefault(current.get(row.version, row.name), []).append((night, row))
    grid = Grid("bot", "mu by night", box=None, header_style="bold", pad_edge=False)
    for title in ("first", "last", "mu", "sigma", "nights", "versions"):
        grid.add_column(title, justify="right", no_wrap=True)
    order = sorted(by_name, key=lambda name: (-(by_name[name][-1][1].mu or 0.0), name))
    for name in order:
        lines = by_name[name]
        line = sparkline([row.mu or 0.0 for _, row in lines][-60:])
        last = lines[-1][1]
        grid.add_row(
            name, line, lines[0][0].label, lines[-1][0].label, f"{last.mu:.2f}",
            f"{last.sigma:.2f}", str(len(lines)), str(len({row.version for _, row in lines})),
        )  # fmt: skip
    print_grid(console(), grid, ("first", "versions", "nights", "sigma", "last"))
    if len(by_name) == 1:
        for night, row in next(iter(by_name.values())):
            sys.stdout.write(
                f"{night.label}  #{row.rank:<3} mu {row.mu:6.2f} +- {row.sigma:.2f}"
                f"  {row.matches:,} matches, version {row.version}"
                f"{f', {row.faults} faults' if row.faults else ''}"
                f"{f', quarantined: {row.quarantine}' if row.quarantine else ''}\n"
            )
