"""Commands that show: standings, rate, bots, games."""

from __future__ import annotations

import math
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ladder.cli import options

DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command()(standings)
    app.command()(rate)
    app.command()(bots)
    app.command()(games)


def standings(
    run: options.Run = None,
    db: options.Db = None,
    by_seat: options.BySeat = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Print who beats whom instead, with counts.")
    ] = False,
    faults: Annotated[
        bool, typer.Option("--faults", help="Print the faults instead, by bot and cause.")
    ] = False,
    night: Annotated[
        str | None, typer.Option("--night", metavar="DATE", help="A ladder's table of that night.")
    ] = None,
    at_version: Annotated[
        str | None,
        typer.Option("--at-version", help="A ladder's table when that version played last."),
    ] = None,
    ladder: Annotated[
        str | None, typer.Option("--ladder", help="The table of this ladder's last night.")
    ] = None,
    json: options.AsJson = False,
    csv: options.AsCsv = False,
) -> None:
    """Print the table of a stored run, or of a night of a ladder.

    Example: ladder standings --run quickstart --by-seat
    """
    from ladder.nightly.table import find_ladder, find_night, night_of_run, rated_night
    from ladder.printing.runs import print_faults
    from ladder.printing.standings import print_pairs, print_standings
    from ladder.rated import rate_selection, rating_of_run, select
    from ladder.store import NightStore

    _refuse_ignored(pairs=pairs, faults=faults, by_seat=by_seat, csv=csv)
    if run is not None:
        options.refuse({"--night": night, "--at-version": at_version, "--ladder": ladder}, "--run")
    store = NightStore(options.db_path(db), patience_s=options.READ_PATIENCE_S)
    chosen = None
    if night or at_version or ladder:
        chosen = find_night(store, find_ladder(store, ladder), night, at_version)
        selection = select(store, [chosen.run])
    else:
        selection = select(store, [run] if run else [])
        chosen = night_of_run(store, selection.runs[0].run)
        if chosen is not None and chosen.finished_at is None:
            matches = store.progress(chosen.run)[0]
            typer.echo(
                f"note: the night of {chosen.label} is being played, {matches:,} matches so far;"
                " this is the table of the night before",
                err=True,
            )
            chosen = find_night(store, chosen.ladder)
            selection = select(store, [chosen.run])
    found = selection.runs[0]
    if faults:
        kinds = store.fault_kinds(found.run)
        for kind in kinds:
            words = ["ladder", "replay", kind["match"], "--run", found.run, "--db", str(store.path)]
            kind["replay"] = shlex.join(words)
        print_faults(kinds, as_json=json)
        return
    if chosen is not None:
        rated, _ = rated_night(store, chosen)
    else:
        rated = rate_selection(store, selection, rating_of_run(found), found.spec.get("expect", {}))
    if pairs:
        print_pairs(rated, as_json=json)
    else:
        print_standings(rated, selection.runs, by_seat=by_seat, as_json=json, as_csv=csv)


def _refuse_ignored(*, csv: bool, by_seat: bool = False, **instead: bool) -> None:
    """At most one thing is printed instead of the table, and CSV is of the table alone."""
    chosen = [f"--{name}" for name, is_given in instead.items() if is_given]
    if chosen:
        other = dict.fromkeys(chosen[1:], True)
        options.refuse({**other, "--by-seat": by_seat, "--csv": csv}, chosen[0])


def rate(
    run: Annotated[
        list[str] | None,
        typer.Option("--run", help="A run's id or name; repeatable (default: the latest run)."),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(help="Runs started at or after this time (UTC).", formats=DATES),
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="Runs of this game.")] = None,
    table: options.TableWords = "",
    bot: Annotated[
        list[str] | None, typer.Option("--bot", help="Only matches among these; repeatable.")
    ] = None,
    rank_by: Annotated[
        Literal["winner", "placing"] | None,
        typer.Option(help="What a finish states (default: as the spec says)."),
    ] = None,
    method: Annotated[
        Literal["batch", "online"] | None,
        typer.Option(help="All at once, or one by one (default: as the spec says)."),
    ] = None,
    anchor: Annotated[
        str | None, typer.Option(metavar="BOT=MU", help="Shift all mu so that BOT has MU.")
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Print who beats whom instead.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Print how well it foretells held-out matches instead.")
    ] = False,
    spread: Annotated[
        bool, typer.Option("--spread", help="Print how mu moves with the matches' order instead.")
    ] = False,
    db: options.Db = None,
    json: options.AsJson = False,
    csv: options.AsCsv = False,
) -> None:
    """Rate stored runs anew, without playing, and store the ratings.

    Example: ladder rate --run quickstart --rank-by placing --anchor Easy=25
    """
    from ladder.games import get_game
    from ladder.lineup import table_options
    from ladder.printing.standings import (
        print_pairs,
        print_prediction,
        print_spread,
        print_standings,
    )
    from ladder.rated import (
        order_spread_of,
        prediction_of,
        rate_selection,
        rating_of_run,
        select,
        write_rated,
    )
    from ladder.store import Store

    _refuse_ignored(check=check, spread=spread, pairs=pairs, csv=csv)
    if game is not None:
        get_game(game)
    store = Store(options.db_path(db))
    selection = select(
        store, run or [], since=since and since.replace(tzinfo=UTC), game=game,
        table=table_options(table), bots=bot or [],
    )  # fmt: skip
    latest = selection.runs[-1]
    changes: dict[str, Any] = {"rank_by": rank_by, "method": method, "anchor": _anchor(anchor)}
    part = rating_of_run(latest).model_copy(
        update={name: value for name, value in changes.items() if value}
    )
    rated = rate_selection(store, selection, part, latest.spec.get("expect", {}))
    write_rated(store, rated)
    if check:
        print_prediction(prediction_of(store, selection, rated), as_json=json)
    elif spread:
        print_spread(rated, order_spread_of(store, selection, rated), as_json=json)
    elif pairs:
        print_pairs(rated, as_json=json)
    else:
        print_standings(rated, selection.runs, by_seat=False, as_json=json, as_csv=csv)


def _anchor(text: str | None) -> dict[str, float]:
    if text is None:
        return {}
    name, _, mu = text.rpartition("=")
    try:
        value = float(mu)
    except ValueError:
        value = math.nan
    if not name or not abs(value) <= 1e6:  # as a spec's
        raise typer.BadParameter(f"it is written as BOT=25 (got {text!r})", param_hint="--anchor")
    return {name: value}


def bots(
    game: Annotated[str | None, typer.Option("--game", help="Only bots of this game.")] = None,
    db: Annotated[
        Path | None, typer.Option(help="List the versions submitted to this store instead.")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """List the bots that can be named: shipped, or plug-ins; with --db those submitted.

    Example: ladder bots --game pasa
    """
    from ladder.bots import available
    from ladder.games import get_game
    from ladder.printing.knowledge import print_bots

    if game is not None:
        get_game(game)
    if db is not None:
        from ladder.printing.ladders import print_submissions
        from ladder.store import SubmissionStore

        print_submissions(SubmissionStore(db).submissions(game), as_json=json)
        return
    listings, warnings = available(game)
    print_bots(listings, as_json=json)
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


def games(
    name: Annotated[str | None, typer.Argument(help="Show this game's options and rules.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a spec, for editors.")
    ] = False,
    json: options.AsJson = False,
) -> None:
    """List the games; with a name: its table options, defaults and rules in short.

    Example: ladder games pasa
    """
    from ladder.printing.knowledge import print_game, print_games, print_schema

    if schema:
        print_schema(name)
    elif name is None:
        print_games(as_json=json)
    else:
        print_game(name, as_json=json)
