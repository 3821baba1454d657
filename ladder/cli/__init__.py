"""The command line: parse, call, print, exit code. Heavy imports live inside the commands."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import typer

from ladder.cli import doctor, lab, look, nights, play, show, submit
from ladder.errors import InfraError, LadderError

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
    _hold_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name no terminal of this machine can show
            stream.reconfigure(errors="replace")
    if "" not in sys.path:
        with suppress(FileNotFoundError):  # a folder that is gone
            sys.path.append(os.getcwd())  # so that `my_package.bots:Bot` is found
    try:
        app()
    except LadderError as error:
        _tell(str(error))
        sys.exit(error.exit_code)
    except OSError as error:  # of the machine: a disk full, a terminal gone
        where = "" if error.filename is None else f"{error.filename}: "
        _tell(f"{where}{error.strerror or error}")
        sys.exit(InfraError.exit_code)
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # `| head` has read enough
            sys.exit(0)
        raise


def _hold_streams() -> None:
    """Put what takes everything where a stream was closed (`>&-`): else a store may open there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115


def _tell(message: str) -> None:
    """Print an error without what moves a terminal's cursor or turns its text around."""
    shown = "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1]
        for letter in message
    )
    with suppress(OSError):  # nobody can be told; the exit code still says it
        typer.echo(shown, err=True)
