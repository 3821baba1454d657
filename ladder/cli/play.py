"""Commands that play: run, match, bench."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ladder.cli import options

if TYPE_CHECKING:
    from ladder.execute import Workers
    from ladder.plan import Plan
    from ladder.spec import Spec


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command()(run)
    app.command()(match)
    app.command()(bench)


def run(
    spec: Annotated[Path, typer.Argument(help="A tournament spec, e.g. configs/quickstart.yaml.")],
    db: options.SpecDb = None,
    workers: options.WorkerCount = None,
    ray: options.RayAddress = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show line-ups, matches and time; play nothing.")
    ] = False,
    strict: options.Strict = False,
    by_seat: options.BySeat = False,
    trust: options.Trust = False,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="HEX", help="A run key, as published by a secret run."),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Play a tournament and print its table; run again, it goes on where it stopped.

    Example: ladder run configs/quickstart.yaml --workers 2
    """
    from ladder.plan import make_plan
    from ladder.spec import load_spec
    from ladder.store import Store
    from ladder.tournament import run_key_for

    loaded = load_spec(spec, trusts_all=trust)
    if dry_run:
        from ladder.printing.runs import print_dry_run

        print_dry_run(loaded, make_plan(loaded), as_json=json)
        return
    again = f"ladder run {_quoted(str(spec))}"
    if trust:
        again += " --i-trust-these-bots"
    if key is not None:
        again += f" --key {key}"
    path = options.db_path(db, loaded.db)
    plan = make_plan(loaded, run_key_for(loaded, Store(path), key))
    _play(
        loaded, plan, path, _workers(loaded, workers, ray), again,
        strict=strict, by_seat=by_seat, as_json=json, show_db=db is not None,
    )  # fmt: skip


def match(
    bots: Annotated[
        list[str], typer.Argument(help="One bot a seat: NAME, module:Class or file.py:Class.")
    ],
    matches: Annotated[
        int | None, typer.Option("--matches", min=1, help="Over all seat rotations.")
    ] = None,
    game: options.GameName = "pasa",
    table: options.TableWords = "",
    seed: options.Seed = 1,
    db: options.Db = None,
    workers: options.WorkerCount = None,
    ray: options.RayAddress = None,
    strict: options.Strict = False,
    by_seat: options.BySeat = False,
    trust: options.Trust = False,
    json: options.AsJson = False,
) -> None:
    """Play one line-up over all seat rotations, no spec needed, and print its table.

    Example: ladder match my_bot.py:MyBot Easy Easy Easy --matches 20000
    """
    from ladder.lineup import match_plan

    spec, plan = match_plan(bots, game, table, matches, seed, trusts_all=trust)
    again = "ladder " + " ".join(_quoted(word) for word in sys.argv[1:])
    _play(
        spec, plan, options.db_path(db), _workers(spec, workers, ray), again,
        strict=strict, by_seat=by_seat, as_json=json, show_db=False,
    )  # fmt: skip


def bench(
    json: options.AsJson = False,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter measurements.")] = False,
) -> None:
    """Measure this machine: matches, store rows and ratings a second.

    Example: ladder bench --json
    """
    from ladder.bench import run_bench
    from ladder.printing.knowledge import print_bench

    print_bench(run_bench(quick=quick), as_json=json)


def _play(
    spec: Spec,
    plan: Plan,
    db: Path,
    workers: Workers,
    again: str,
    *,
    strict: bool,
    by_seat: bool,
    as_json: bool,
    show_db: bool,
) -> None:
    from ladder.errors import InfraError
    from ladder.printing.bars import ProgressLine, print_notes
    from ladder.printing.runs import print_outcome
    from ladder.store import Store
    from ladder.tournament import run_spec

    def told() -> str:
        to_go_on = f"{again}{f' --db {_quoted(str(db))}' if show_db else ''}"
        matches = f"{line.done:,} of {plan.num_matches:,} matches are in {db}"
        return f"{matches}; to go on: {to_go_on}"

    print_notes(spec, plan, db)
    with ProgressLine(plan.num_matches) as line:
        try:
            outcome = run_spec(spec, plan, Store(db), workers, line.update)
        except KeyboardInterrupt:
            line.stop()
            typer.echo(f"interrupted: {told()}", err=True)
            raise typer.Exit(130) from None
        except InfraError as error:
            line.stop()
            raise InfraError(f"{error}\n{told()}") from None
    print_outcome(outcome, db, by_seat=by_seat, as_json=as_json)
    if strict and outcome.faults:
        raise typer.Exit(1)


def _workers(spec: Spec, count: int | None, address: str | None) -> Workers:
    from ladder.execute import Workers

    return Workers(count, address, compile=spec.compile, record=spec.record)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)
