"""Commands that show: standings, rate, bots, games, replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ladder.cli import options


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command()(standings)
    app.command()(rate)
    app.command()(bots)
    app.command()(games)
    app.command()(replay)


def standings(
    run: options.Run = None,
    db: options.Db = None,
    by_seat: options.BySeat = False,
    faults: Annotated[
        bool, typer.Option("--faults", help="Print the faults instead, by bot and cause.")
    ] = False,
    json: options.AsJson = False,
    csv: options.AsCsv = False,
) -> None:
    """Print the table of a stored run.

    Example: ladder standings --run quickstart --by-seat
    """
    from ladder.report import print_faults, print_standings
    from ladder.store import Store
    from ladder.tournament import find_run, spec_rating, table_of

    store = Store(options.db_path(db))
    found = find_run(store, run)
    if faults:
        print_faults(store.fault_kinds(found.run), as_json=json)
        return
    part, expected, seats = spec_rating(found)
    rows = table_of(store, found.run, part, seats, expected)
    print_standings(rows, found, by_seat=by_seat, as_json=json, as_csv=csv)


def rate(
    run: options.Run = None,
    db: options.Db = None,
    rank_by: Annotated[
        Literal["winner", "placing"] | None,
        typer.Option(help="What a finish states (default: as the run's spec says)."),
    ] = None,
    json: options.AsJson = False,
    csv: options.AsCsv = False,
) -> None:
    """Rate a stored run anew, without playing, and store its ratings.

    Example: ladder rate --run quickstart --rank-by placing
    """
    from ladder.report import print_standings
    from ladder.store import Store
    from ladder.tournament import find_run, rate_run, spec_rating

    store = Store(options.db_path(db))
    found = find_run(store, run)
    part, expected, seats = spec_rating(found)
    if rank_by:
        part = part.model_copy(update={"rank_by": rank_by})
    rows = rate_run(store, found.run, part, seats, expected)
    print_standings(rows, found, by_seat=False, as_json=json, as_csv=csv)


def bots(
    game: Annotated[str | None, typer.Option("--game", help="Only bots of this game.")] = None,
    json: options.AsJson = False,
) -> None:
    """List the bots that can be named: shipped with Ladder, or installed as plug-ins.

    Example: ladder bots --game pasa
    """
    from ladder.bots import available
    from ladder.games import get_game
    from ladder.report import print_bots

    if game is not None:
        get_game(game)
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
    from ladder.report import print_game, print_games, print_schema

    if schema:
        print_schema(name)
    elif name is None:
        print_games(as_json=json)
    else:
        print_game(name, as_json=json)


def replay(
    actions: Annotated[
        Path, typer.Option("--actions", help="A script: a header line, then one action a line.")
    ],
    json: options.AsJson = False,
) -> None:
    """Replay a match from a text file of its actions, dice included, and print the states.

    Example: ladder replay --actions match.txt
    """
    from ladder.report import print_replay
    from ladder.script import replay_file

    print_replay(replay_file(actions), as_json=json)
