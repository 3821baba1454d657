"""What commands print: tables for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from ladder.bots import Listing
from ladder.doctor import Finding
from ladder.games import GAMES, get_game
from ladder.plan import Plan
from ladder.rated import Rated
from ladder.ratings.questions import PredictiveCheck, Spread
from ladder.spec import Spec, SpecPart
from ladder.standings import Row, Share
from ladder.store import RunRow
from ladder.tournament import Outcome

PIPED_WIDTH = 200
DISPENSABLE = ("mean score", "95 % interval", "sigma", "above next", "matches", "mu", "published %")


def console() -> Console:
    """Standard output; piped, wide enough that nothing is cut."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


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
    return Console(width=10_000).measure(grid).maximum


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


def print_standings(
    rated: Rated, runs: Sequence[RunRow], *, by_seat: bool, as_json: bool, as_csv: bool
) -> None:
    """The table of stored runs."""
    values = [row_values(row, by_seat=by_seat) for row in rated.rows]
    if as_json:
        print_json(values)
    elif as_csv:
        _print_csv(values)
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


def _print_csv(values: Sequence[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for value in values for name in value))
    writer = csv.DictWriter(sys.stdout, names, lineterminator="\n")
    writer.writeheader()
    for value in values:
        seats = value.get("win_share_by_seat")
        writer.writerow(
            {**value, "win_share_by_seat": " ".join(map(str, seats))} if seats else value
        )


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


def print_findings(findings: Iterable[Finding], *, as_json: bool) -> list[Finding]:
    """What `ladder doctor` found, each line as soon as it is known."""
    found = []
    for each in findings:
        found.append(each)
        if not as_json:
            mark = "ok" if each.is_good else "!!"
            sys.stdout.write(f"{mark}  {each.name:16} {each.value}\n")
            sys.stdout.flush()
    if as_json:
        print_json([{"name": f.name, "ok": f.is_good, "value": f.value} for f in found])
    return found


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


def print_bots(listings: Sequence[Listing], *, as_json: bool) -> None:
    """The bots that can be named."""
    if as_json:
        print_json([asdict(listing) for listing in listings])
        return
    grid = Grid("bot", "game", "params", "about", box=None, header_style="bold", pad_edge=False)
    for listing in listings:
        params = ", ".join(f"{name}={value}" for name, value in listing.params.items())
        grid.add_row(listing.name, listing.game, params, listing.about)
    console().print(grid)


def print_games(*, as_json: bool) -> None:
    """The games."""
    games = [get_game(name) for name in GAMES]
    if as_json:
        print_json([{"name": g.name, "title": g.title, "version": g.version} for g in games])
        return
    for game in games:
        sys.stdout.write(f"{game.name}  {game.title} (version {game.version})\n")


def print_game(name: str, *, as_json: bool) -> None:
    """A game's options, defaults and rules in short."""
    game = get_game(name)
    fields = game.table.model_fields
    defaults = game.table().model_dump(mode="json")  # type: ignore[call-arg]
    if as_json:
        options = [
            {"option": option, "default": defaults[option], "about": field.description or ""}
            for option, field in fields.items()
        ]
        print_json({"name": name, "title": game.title, "options": options, "rules": game.summary})
        return
    out = console()
    out.print(f"{game.title}\n\n{game.summary}\n", markup=False)
    grid = Grid("option", "default", "about", box=None, header_style="bold", pad_edge=False)
    for option, field in fields.items():
        default = json.dumps(defaults[option]).replace('"', "")  # as a spec spells it
        grid.add_row(option, default, field.description or "")
    out.print(grid)


def print_schema(name: str | None) -> None:
    """The JSON schema of a spec, with the table options of one game or of all."""
    schema = SpecPart.model_json_schema()
    tables = [get_game(each).table.model_json_schema() for each in ([name] if name else GAMES)]
    schema["properties"]["table"] = tables[0] if len(tables) == 1 else {"anyOf": tables}
    print_json(schema)


def print_bench(figures: Iterable[tuple[str, float, str]], *, as_json: bool) -> None:
    """Measured figures, each as soon as it is known."""
    if as_json:
        print_json([{"name": n, "value": v, "unit": u} for n, v, u in figures])
        return
    for name, value, unit in figures:
        shown = "-" if math.isnan(value) else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
        sys.stdout.write(f"{name:40} {shown:>12} {unit}\n")
        sys.stdout.flush()
