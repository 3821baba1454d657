"""Commands for authors: new-bot, check, submit, withdraw, rename, show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ladder.cli import options

if TYPE_CHECKING:
    from ladder.bots import LoadedBot
    from ladder.transcript import Judged

Bot = Annotated[
    str | None, typer.Argument(help="NAME, module:Class or file.py:Class, params behind.")
]
Name = Annotated[str, typer.Argument(help="The bot's name on the ladder.")]
AnyGame = Annotated[
    str | None, typer.Option("--game", help="The game, where the bot does not say it.")
]
Params = Annotated[
    list[str] | None, typer.Option("--params", metavar="A=1", help="A param; repeatable.")
]
CommandWords = Annotated[
    str | None, typer.Option("--command", help="A program instead, as in 'node bot.js'.")
]
Files = Annotated[
    list[str] | None, typer.Option("--file", help="A file the program needs; repeatable.")
]


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    app.command("new-bot")(new_bot)
    app.command()(check)
    app.command()(submit)
    app.command()(withdraw)
    app.command()(rename)
    app.command()(show)


def new_bot(
    name: Annotated[str, typer.Argument(help="A Python name: MyBot or my_bot.")],
    game: options.GameName = "pasa",
    folder: Annotated[Path, typer.Option("--folder", help="Where to write it.")] = Path("."),
) -> None:
    """Write a bot file that plays, with a test beside it.

    Example: ladder new-bot MyBot --game pasa
    """
    from ladder.newbot import write_new_bot

    bot, test = write_new_bot(name, game, folder)
    typer.echo(f"{bot} and {test}\nnext: ladder check {bot}:{_class_of(bot)}")


def _class_of(bot: Path) -> str:
    return "".join(word[:1].upper() + word[1:] for word in bot.stem.split("_"))


def check(
    bot: Bot = None,
    game: AnyGame = None,
    params: Params = None,
    matches: Annotated[
        int | None, typer.Option("--matches", min=1, help="Against each level.")
    ] = None,
    command: CommandWords = None,
    files: Files = None,
    transcript: Annotated[
        Path | None, typer.Option("--transcript", help="Write a program's first match, by lines.")
    ] = None,
    trust: options.Trust = False,
    json: options.AsJson = False,
) -> None:
    """Judge a bot before entry: legal, deterministic, fast, and how it does against the levels.

    A program that speaks JSON lines is judged with --command (and --game, pasa if left out), in
    the sandbox unless you trust it.

    Example: ladder check my_bot.py:MyBot    or: ladder check --command "node my_bot.js"
    """
    if _is_program(bot, command):
        from ladder.transcript import judge

        options.refuse({"--matches": matches}, "--command: a program is judged in one match")

        program = _program(command, files, params, game, is_trusted=trust)
        _tell_judged(judge(program, game or "pasa"), transcript, as_json=json)
        return
    from ladder.check import check_word
    from ladder.printing.ladders import print_verdict

    programs = {"--file": files, "--transcript": transcript, "--i-trust-these-bots": trust}
    options.refuse(programs, "a Python bot, only with --command")
    assert bot is not None
    verdict = check_word(_word(bot, params), game=game, matches=matches)
    print_verdict(verdict, as_json=json)
    if not verdict.is_passed:
        raise typer.Exit(1)


def _is_program(bot: str | None, command: str | None) -> bool:
    if (bot is None) == (command is None):
        raise typer.BadParameter("give a bot, or --command", param_hint="BOT")
    return command is not None


def _program(
    command: str | None,
    files: list[str] | None,
    params: list[str] | None,
    game: str | None,
    *,
    is_trusted: bool = False,
) -> LoadedBot:
    import shlex

    from ladder.bots import load_program, split_word
    from ladder.games import get_game
    from ladder.spec.documents import parse_document

    get_game(game or "pasa")
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise typer.BadParameter(f"{error} (got {command!r})", param_hint="--command") from None
    _, texts = split_word(_word("", params))
    values = {name: parse_document(text, "--params").value for name, text in texts.items()}
    return load_program(words, files or [], values, game or "pasa", is_trusted=is_trusted)


def _tell_judged(judged: Judged, transcript: Path | None, *, as_json: bool) -> None:
    from ladder.printing.matches import print_judged

    if transcript is not None:
        try:
            transcript.write_text("\n".join(judged.transcript) + "\n", encoding="utf-8")
        except OSError as error:
            raise typer.BadParameter(
                f"{transcript}: {error.strerror}", param_hint="--transcript"
            ) from None
    print_judged(judged, as_json=as_json)
    if not judged.is_ok:
        raise typer.Exit(1)


def submit(
    name: Annotated[str, typer.Option("--name", help="What it goes by on the ladder.")],
    author: Annotated[str, typer.Option("--author", help="Whose it is.")],
    bot: Bot = None,
    game: AnyGame = None,
    params: Params = None,
    command: CommandWords = None,
    files: Files = None,
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Check a bot and store it, source and all, as the newest version of its name.

    A program (--command; --game, pasa if left out) is stored with the files that it is made of.

    Example: ladder submit my_bot.py:MyBot --name bold --author anna --params lead=50
    """
    from ladder.printing.ladders import print_verdict, submission_values, verdict_values
    from ladder.printing.matches import judged_values, print_judged
    from ladder.printing.output import print_json
    from ladder.store import SubmissionStore
    from ladder.submissions import submit as submit_bot
    from ladder.submissions import submit_program

    is_program = _is_program(bot, command)
    if not is_program:
        options.refuse({"--file": files}, "a Python bot, only with --command")
    store = SubmissionStore(options.db_path(db))
    store.create()
    if is_program:
        program = _program(command, files, params, game)
        entered, judged = submit_program(
            store, program, name=name, author=author, game=game or "pasa"
        )
        found = judged_values(judged)
    else:
        entered, verdict = submit_bot(
            store, _word(bot or "", params), name=name, author=author, game=game
        )
        found = verdict_values(verdict)
    if json:
        values: dict[str, Any] = {"entered": bool(entered and entered.is_new)}
        if entered:
            values |= {**submission_values(entered.row), "message": entered.message}
        print_json({**values, "verdict": found})
    elif entered:
        typer.echo(entered.message)
    elif is_program:
        print_judged(judged, as_json=False)
    else:
        print_verdict(verdict, as_json=False)
    if not entered:
        raise typer.Exit(1)


def withdraw(name: Name, game: AnyGame = None, db: options.Db = None) -> None:
    """Take a bot out of its ladders; its results stay, and a new version brings it back.

    Example: ladder withdraw bold
    """
    from ladder.store import SubmissionStore
    from ladder.submissions import withdraw as withdraw_bot

    row = withdraw_bot(SubmissionStore(options.db_path(db)), name, game=game)
    already = f" (it was, on {row.withdrawn_at:%Y-%m-%d})" if row.withdrawn_at else ""
    typer.echo(f"{name} is withdrawn{already}")


def rename(
    old: Name,
    new: Annotated[str, typer.Argument(help="Its new name.")],
    game: AnyGame = None,
    db: options.Db = None,
) -> None:
    """Give a bot another name; its versions keep their results.

    Example: ladder rename bold bolder
    """
    from ladder.store import SubmissionStore
    from ladder.submissions import rename as rename_bot

    rename_bot(SubmissionStore(options.db_path(db)), old, new, game=game)
    typer.echo(f"{old} is now {new}")


def show(
    name: Name,
    version: Annotated[
        str | None, typer.Option("--version", help="The beginning of one (default: the newest).")
    ] = None,
    game: AnyGame = None,
    db: options.Db = None,
    json: options.AsJson = False,
) -> None:
    """Show a submitted bot: source, record, faults with traceback.

    Example: ladder show bold
    """
    from ladder.errors import SpecError
    from ladder.printing.ladders import print_submission
    from ladder.store import SubmissionStore
    from ladder.submissions import find_name

    store = SubmissionStore(options.db_path(db))
    rows = find_name(store, name, game)
    found = [row for row in rows if row.version.startswith(version or "")]
    if not found:
        there = ", ".join(row.version for row in rows)
        raise SpecError(f"--version: {name} has {there} (got {version!r})")
    chosen = found[-1]
    files = store.sources([chosen.source_hash])[chosen.source_hash]
    print_submission(rows, chosen, store.record_of(chosen.version), files, as_json=json)


def _word(bot: str, params: list[str] | None) -> str:
    return f"{bot}:{','.join(params)}" if params else bot
