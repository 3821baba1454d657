"""Commands of the laboratory: compare, exact, exploit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ladder.cli import options

MemoryMb = Annotated[
    int, typer.Option("--memory", min=64, metavar="MB", help="Refuse what needs more memory.")
]
SeatWords = Annotated[
    list[str], typer.Argument(help="One a seat, in seat order: a bot in one word, or best.")
]


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command()(compare)
    app.command()(exact)
    app.command()(exploit)


def compare(
    words: Annotated[
        list[str], typer.Argument(help="Two or more candidates, or one spec of kind compare.")
    ],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="A bot of the field; repeatable, repeats to fill seats."),
    ] = None,
    game: options.GameName = "pasa",
    table: options.TableWords = "",
    seed: options.Seed = 1,
    matches: Annotated[
        int | None, typer.Option("--matches", min=1, help="Budget of each candidate (400,000).")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="Win share difference that counts as none, e.g. 0.002.")
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help="Half width to say the matches needed for (0.005).")
    ] = None,
    db: Annotated[
        Path | None,
        typer.Option(help="Store the matches here (default: the spec's, else nowhere)."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Play nothing: exact shares beside the best reply's.")
    ] = False,
    memory: MemoryMb = 2048,
    charts: Annotated[
        Path | None, typer.Option(help="Write a chart of the win shares into this folder.")
    ] = None,
    workers: options.WorkerCount = None,
    trust: options.Trust = False,
    json: options.AsJson = False,
) -> None:
    """Compare candidates on the same dice until it is clear which is better.

    Example: ladder compare Hard Master --against Easy --margin 0.002
    """
    from ladder.execute import Workers
    from ladder.lab.compare import compare as answer
    from ladder.lab.questions import question_of_words, questions_of_spec
    from ladder.printing.lab import RaceLine, print_comparisons
    from ladder.store import Store

    if len(words) == 1 and words[0].endswith((".yaml", ".yml")):
        ignored = {
            "--against": against, "--game": game != "pasa", "--table": table, "--seed": seed != 1,
            "--matches": matches, "--margin": margin, "--precision": precision,
        }  # fmt: skip
        options.refuse(ignored, "a spec, which says it itself")
        asked = list(questions_of_spec(Path(words[0]), trusts_all=trust))
    else:
        given = {"matches": matches, "margin": margin, "precision": precision}
        words_asked = question_of_words(
            words, against or [], game, table, seed, given, trusts_all=trust
        )
        asked = [("", *words_asked)]
    if exact:
        _closeness(asked, memory, charts, as_json=json)
        return
    found = []
    try:
        for told, question, spec in asked:
            path = db or (Path(spec.db) if spec.db else None)
            playing = Workers(workers, compile=spec.compile, record=spec.record)
            with RaceLine(told) as line:
                result = answer(question, playing, Store(path) if path else None, line.update)
            found.append((told, result))
    except KeyboardInterrupt:
        typer.echo(f"interrupted: {len(found)} of {len(asked)} tables were compared", err=True)
        raise typer.Exit(130) from None
    print_comparisons(found, as_json=json)
    if charts is not None:
        from ladder.page.grids import grid_chart, write_chart

        for path in write_chart(grid_chart(found), charts):
            typer.echo(path, err=True)


def _closeness(asked: Any, memory: int, charts: Path | None, *, as_json: bool) -> None:
    from ladder.lab.exact_questions import ask_closeness
    from ladder.printing.lab import print_closeness, solving

    with solving() as progress:
        found = [
            each
            for told, question, _ in asked
            for each in ask_closeness(told, question, memory_mb=memory, progress=progress)
        ]
    print_closeness(found, as_json=as_json)
    if charts is not None:
        from ladder.page.grids import closeness_chart, write_chart

        for path in write_chart(closeness_chart(found), charts):
            typer.echo(path, err=True)


def exact(
    words: SeatWords,
    table: options.TableWords = "",
    first_seat: Annotated[
        str, typer.Option("--first-seat", help="The seat that throws first, or all: averaged.")
    ] = "",
    memory: MemoryMb = 2048,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Keep the best seats' play here, for bots.pasa.perfect."),
    ] = None,
    trust: options.Trust = False,
    json: options.AsJson = False,
) -> None:
    """Exact win shares of a Pasa line-up, by backward induction; no match is played.

    Example: ladder exact best Easy Easy Easy --table chips=500,rounds=2
    """
    from ladder.lab.exact_questions import ask_exact, save_exact
    from ladder.printing.lab import print_exact, solving

    with solving() as progress:
        if save is not None:
            save_exact(words, table, save, memory_mb=memory, progress=progress, trusts_all=trust)
        found = ask_exact(
            words, table, first_seat, memory_mb=memory, progress=progress, trusts_all=trust
        )
    print_exact(words, found, as_json=json)


def exploit(
    word: Annotated[str, typer.Argument(help="A Pasa policy in one word.")],
    table: options.TableWords = "",
    memory: MemoryMb = 2048,
    trust: options.Trust = False,
    json: options.AsJson = False,
) -> None:
    """How far a Pasa policy is from unbeatable: what one best replier wins against a table of it.

    Example: ladder exploit Master --table seats=3
    """
    from ladder.lab.exact_questions import ask_exploit
    from ladder.printing.lab import print_exploit, solving

    with solving() as progress:
        found: Any = ask_exploit(word, table, memory_mb=memory, progress=progress, trusts_all=trust)
    print_exploit(word, found, as_json=json)
