"""Commands that look into what was played: replay, verify, export, import, report, play."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ladder.cli import options

if TYPE_CHECKING:
    from ladder.play import Terminal


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command()(replay)
    app.command()(verify)
    app.command()(play)
    app.command()(report)
    app.command()(export)
    app.command("import")(import_)


def replay(
    match: Annotated[
        str | None,
        typer.Argument(help="A match's id, as in the view `matches` and in `standings --faults`."),
    ] = None,
    actions: Annotated[
        Path | None,
        typer.Option("--actions", help="A script instead: a header line, then one action a line."),
    ] = None,
    run: options.Run = None,
    first: Annotated[int, typer.Option("--from", min=1, help="Begin at this move.")] = 1,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each move.")] = False,
    trust: options.Trust = False,
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Replay a stored match from its seed, move by move, and compare it with what is stored.

    With --actions: replay a text file of actions, dice included, with no seed and no store.
    Exits with 1 where the match does not come out as it is stored.

    Example: ladder replay 0f3a5c7e9b1d2f4a:17 --from 20
    """
    if (match is None) == (actions is None):
        raise typer.BadParameter(
            "give one of a match's id (`ladder report` and the view `matches` list them) and"
            " --actions FILE",
            param_hint="MATCH",
        )
    if actions is not None:
        ignored = {"--run": run, "--from": first > 1, "--step": step, "--db": db}
        options.refuse(ignored, "--actions, which needs no store and shows every move")
        from ladder.printing.matches import print_replay
        from ladder.script import replay_file

        print_replay(replay_file(actions), as_json=json)
        return
    from ladder.printing.matches import print_stored_replay
    from ladder.proof.replays import open_replay
    from ladder.store import Store

    assert match is not None
    opened = open_replay(Store(options.db_path(db)), match, run, trusts_all=trust)
    pause = _wait_for_enter if step and not json else None
    print_stored_replay(opened, first=first, pause=pause, as_json=json)
    if opened.is_same is False:
        raise typer.Exit(1)


def verify(
    run: options.Run = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Replay so many matches (default 1000).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Replay every match.")] = False,
    exact: Annotated[
        Path | None,
        typer.Option(
            "--exact",
            metavar="SPEC",
            help="Play this spec's one line-up and test each seat against its exact value instead.",
        ),
    ] = None,
    workers: options.WorkerCount = None,
    trust: options.Trust = False,
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Prove a stored run: replay its matches, audit what must hold, compare all stored sums.

    Names the first differing action and the bot to blame. Exits with 1 where anything is wrong.

    Example: ladder verify --run quickstart --all
    """
    if exact is not None:
        ignored = {"--run": run, "--sample": sample, "--all": every, "--workers": workers}
        options.refuse(ignored | {"--i-trust-these-bots": trust}, "--exact")
        _verify_exact(exact, options.db_path(db), json=json)
        return
    if every and sample is not None:
        raise typer.BadParameter("give one of --sample and --all", param_hint="--all")
    from ladder.printing.bars import CountLine
    from ladder.printing.matches import print_verdict
    from ladder.proof.verify import SAMPLE
    from ladder.proof.verify import verify as verify_run
    from ladder.rated import find_run
    from ladder.store import Store

    store = Store(options.db_path(db))
    found = find_run(store, run)
    with CountLine("replayed") as line:
        verdict = verify_run(
            store, found, sample=None if every else sample or SAMPLE, workers=workers,
            trusts_all=trust, report=line.update,
        )  # fmt: skip
    print_verdict(verdict, as_json=json)
    if not verdict.is_ok:
        raise typer.Exit(1)


def _verify_exact(spec: Path, db: Path, *, json: bool) -> None:
    from ladder.lab.crosscheck import cross_check
    from ladder.printing.lab import print_cross_check, solving

    with solving() as progress:
        found = cross_check(spec, db, progress=progress)
    print_cross_check(found, as_json=json)
    if not found.is_ok:
        raise typer.Exit(1)


def report(
    run: options.Run = None,
    ladder: Annotated[
        str | None,
        typer.Option("--ladder", help="A ladder's name: its latest run, with all its history."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path("report.html"),
    charts: Annotated[
        Path | None, typer.Option("--charts", help="Write the charts to this folder, SVG and PNG.")
    ] = None,
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Write a run's report: one HTML file that needs no network, for phone and desktop.

    Example: ladder report --run quickstart --out quickstart.html --charts charts/
    """
    if run is not None and ladder is not None:
        raise typer.BadParameter("give one of --run and --ladder", param_hint="--ladder")
    from ladder.page.write import write_report
    from ladder.printing.matches import print_written
    from ladder.store import Store

    store = Store(options.db_path(db))
    print_written(write_report(store, run, ladder, out, charts), as_json=json)


def export(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    run: Annotated[
        list[str] | None,
        typer.Option("--run", help="A run's id or name; repeatable (default: the latest run)."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All runs of the store.")] = False,
    kind: Annotated[
        Literal["parquet", "csv", "jsonl"], typer.Option("--format", help="How to write it.")
    ] = "parquet",
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Write runs as files: matches, results, faults, ratings, bots and their sources.

    Matches and results are partitioned by game and run. `ladder import` takes it in again.

    Example: ladder export out/ --run quickstart --format parquet
    """
    if every and run:
        raise typer.BadParameter("give one of --run and --all", param_hint="--all")
    from ladder.exchange import export_runs
    from ladder.printing.matches import print_exported
    from ladder.rated import find_run
    from ladder.store import Store

    store = Store(options.db_path(db))
    runs = store.runs()
    words: list[str | None] = [*run] if run else [None]
    chosen = runs if every and runs else [find_run(store, word, runs) for word in words]
    unique = list({each.run: each for each in chosen}.values())
    print_exported(export_runs(store, unique, folder, kind), as_json=json)


def import_(
    folder: Annotated[Path, typer.Argument(help="A folder that `ladder export` wrote.")],
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Take an export into a store; what is there already is not counted twice.

    Exits with 3 where a run does not come to the digest that it was exported with.

    Example: ladder import out/ --db results/other.duckdb
    """
    from ladder.exchange import import_runs
    from ladder.printing.matches import print_imported
    from ladder.store import Store

    path = options.db_path(db)
    print_imported(import_runs(Store(path), folder), path, as_json=json)


def play(
    game: Annotated[str, typer.Argument(help="pasa or pasha.")],
    bots: Annotated[
        list[str] | None, typer.Argument(help="Bots to play against (default: Easy in every seat).")
    ] = None,
    people: Annotated[
        list[str] | None,
        typer.Option("--person", help="A person's name; repeatable for people at one keyboard."),
    ] = None,
    table: options.TableWords = "",
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, max=2**64 - 1, help="Play the dice of this seed.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the match as a script for `replay`.")
    ] = None,
    store: Annotated[bool, typer.Option("--store", help="Keep the match, unrated.")] = False,
    db: options.Db = None,
) -> None:
    """Play at the terminal, against bots or with others at the same keyboard.

    Answer with an action in words (stake 20), its value (20) or its number in the list, as (2);
    ? lists all that is legal, q leaves.

    Example: ladder play pasa Hard Master --person Ada --person Bo
    """
    from ladder.games import get_game
    from ladder.paths import write_whole
    from ladder.play import LeftError, play_match, seat_all, store_match
    from ladder.store import Store

    seating = seat_all(get_game(game), bots or [], people or ["you"], table)
    try:
        played = play_match(seating, _terminal(), seed)
    except (LeftError, KeyboardInterrupt):
        typer.echo("left the table; nothing is kept", err=True)
        raise typer.Exit(130) from None
    if save is not None:
        try:
            write_whole(save, played.script().encode())
        except OSError as error:
            raise typer.BadParameter(f"{save}: {error.strerror}", param_hint="--save") from None
        typer.echo(f"see it again: ladder replay --actions {save}")
    if store or db is not None:
        path = options.db_path(db)
        run = store_match(played, Store(path))
        typer.echo(f"kept in {path} as run {run}, unrated")


def _terminal() -> Terminal:
    """The people at standard input and output."""
    import time

    from ladder.play import Terminal

    shows = sys.stdout.isatty()

    def write(text: str) -> None:
        sys.stdout.write(text + "\n")

    def read(prompt: str) -> str | None:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        return sys.stdin.readline() or None

    def pause() -> None:
        sys.stdout.flush()
        if shows:
            time.sleep(0.7)

    def clear() -> None:
        sys.stdout.write("\x1b[2J\x1b[3J\x1b[H" if shows else "\n" * 40)

    return Terminal(write, read, pause, clear)


def _wait_for_enter() -> bool:
    """Whether to go on showing moves: Enter, and not q or the end of input."""
    sys.stdout.flush()
    sys.stderr.write("-- Enter: next move, q: to the end -- ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    return bool(line) and line.strip().lower() not in ("q", "quit")
