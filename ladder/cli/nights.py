"""Commands of the ladder: nightly, history, restore."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ladder.cli import options

LadderName = Annotated[
    str | None, typer.Option("--ladder", help="The ladder (default: the one that played last).")
]
NIGHT_PATIENCE_S = 3600.0  # a reader never ends a night: it is waited for


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command()(nightly)
    app.command()(history)
    app.command()(restore)


def nightly(
    spec: Annotated[Path, typer.Argument(help="A spec with `format: {kind: ladder, ...}`.")],
    db: options.SpecDb = None,
    workers: options.WorkerCount = None,
    ray: options.RayAddress = None,
    date: Annotated[
        str | None, typer.Option("--date", metavar="YYYY-MM-DD", help="Default: today, UTC.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Play a second night of a date that is done.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of every line-up why it was chosen.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a bot faulted or was refused.")
    ] = False,
    trust: options.Trust = False,
    json: options.AsJson = False,
) -> None:
    """Play a night of a ladder: for cron. Run again, it goes on where it stopped.

    Example: ladder nightly configs/nightly.yaml
    """
    import shlex

    from ladder.execute import Workers
    from ladder.nightly import run_nightly, summary_lines
    from ladder.nightly.page import write_page
    from ladder.nightly.summary import diff_values
    from ladder.printing.bars import ProgressLine, note
    from ladder.printing.ladders import history_values
    from ladder.printing.output import print_json
    from ladder.spec import load_spec
    from ladder.store import NightStore

    loaded = load_spec(spec, trusts_all=trust)
    path = options.db_path(db, loaded.db)
    store = NightStore(path, patience_s=NIGHT_PATIENCE_S)
    chosen = Workers(workers, ray, compile=loaded.compile)
    with ProgressLine(0) as line:
        try:
            outcome = run_nightly(
                loaded, store, chosen, line.update, date=_date(date), is_again=again,
                tell=note if explain else lambda line: None, trusts_all=trust,
            )  # fmt: skip
        except KeyboardInterrupt:
            line.stop()
            again_words = " ".join(shlex.quote(word) for word in sys.argv[1:])
            typer.echo(f"interrupted; to go on with this night: ladder {again_words}", err=True)
            raise typer.Exit(130) from None
    outcome.page = write_page(loaded, store, note)
    if json:
        night = outcome.night
        print_json(
            {
                "ladder": night.ladder,
                "night": night.night,
                "date": night.label,
                "run": night.run,
                "matches": night.matches,
                "rounds": night.rounds,
                "seconds": night.seconds,
                "digest": night.digest,
                "is_repeat": outcome.is_repeat,
                "standings": [history_values(night, row) for row in outcome.rows],
                "changes": diff_values(outcome),
                "notes": list(night.notes),
                "backup": str(outcome.backup) if outcome.backup else None,
                "report": str(outcome.page) if outcome.page else None,
            }
        )
    else:
        for text in summary_lines(outcome):
            typer.echo(text)
    if strict and not outcome.is_repeat and (outcome.faults or outcome.refused):
        raise typer.Exit(1)


def _date(text: str | None) -> str | None:
    from datetime import date

    if text is None:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise typer.BadParameter(
            f"should be a date as in 2026-01-31 (got {text!r})", param_hint="--date"
        ) from None


def history(
    bot: Annotated[str | None, typer.Argument(help="One bot (default: all).")] = None,
    ladder: LadderName = None,
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Print how ratings moved from night to night; of one bot, every night.

    Example: ladder history Master
    """
    from ladder.errors import SpecError
    from ladder.nightly.table import find_ladder
    from ladder.printing.ladders import print_history
    from ladder.store import NightStore

    store = NightStore(options.db_path(db), patience_s=options.READ_PATIENCE_S)
    name = find_ladder(store, ladder)
    nights = store.nights(name)
    current = {row.version: row.name for row in store.submissions(nights[-1].game)}
    rows = store.history(name, [v for v, n in current.items() if n == bot] if bot else [])
    if bot and bot not in current.values():
        raise SpecError(
            f"no bot of {name} is called {bot!r}; there are"
            f" {', '.join(sorted(set(current.values()))[:20])}"
        )
    print_history(rows, current, as_json=json)


def restore(
    backup: Annotated[Path, typer.Argument(help="A backup that a night has left.")],
    db: options.Db = None,
) -> None:
    """Put a backup in the store's place; the file that was there is kept beside it.

    Example: ladder restore results/backups/ladder-pasa-000012.duckdb
    """
    from ladder.store import StoreFile

    path = options.db_path(db)
    kept = StoreFile(path).put_back(backup)
    typer.echo(f"{path} is {backup} again" + (f"; what was there is {kept}" if kept else ""))
