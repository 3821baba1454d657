"""The command line: parse, call, print, exit code. Heavy imports live inside the commands."""

from __future__ import annotations

import os
import sys

import typer

from ladder.cli import doctor, lab, look, nights, play, show, submit
from ladder.errors import LadderError

app = typer.Typer(
    name="ladder",
    help="Tournaments and ladders of bots for the dice games Pasa and Pasha.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with: ladder match Easy Master Hard Least    or: ladder run SPEC.yaml",
)
play.add_to(app)
show.add_to(app)
submit.add_to(app)
nights.add_to(app)
look.add_to(app)
lab.add_to(app)
doctor.add_to(app)


def main() -> None:
    """Run a command; a user's mistake is a line on standard error, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name no terminal of this machine can show
            stream.reconfigure(errors="replace")
    if "" not in sys.path:
        sys.path.append(os.getcwd())  # so that `my_package.bots:Bot` is found
    try:
        app()
    except LadderError as error:
        typer.echo(_printable(str(error)), err=True)
        sys.exit(error.exit_code)
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # `| head` has read enough
            sys.exit(0)
        raise


def _printable(message: str) -> str:
    """The lines of a message without what moves a terminal's cursor or turns its text around."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1]
        for letter in message
    )
