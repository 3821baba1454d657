"""The options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

Db = Annotated[Path | None, typer.Option(help="The store (default: results/ladder.duckdb).")]
SpecDb = Annotated[
    Path | None,
    typer.Option(help="The store (default: the spec's `db`, else results/ladder.duckdb)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV on standard output.")]
BySeat = Annotated[
    bool, typer.Option("--by-seat", help="Add the draw share and the win share by seat.")
]
WorkerCount = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=0,
        help="Ray workers; 0 plays in this process (default: begin here, move to Ray if it pays).",
    ),
]
RayAddress = Annotated[
    str | None, typer.Option("--ray", metavar="ADDRESS", help="Play on this Ray cluster.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if a bot faulted.")]
Run = Annotated[
    str | None, typer.Option("--run", help="A run's id or name (default: the latest run).")
]
GameName = Annotated[str, typer.Option("--game", help="The game: see `ladder games`.")]
TableWords = Annotated[
    str, typer.Option("--table", metavar="A=1,B=2", help="Table options, e.g. chips=500,rounds=2.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Whole number all dice come from.")]

Trust = Annotated[
    bool,
    typer.Option(
        "--i-trust-these-bots",
        help="Run all bots' code in Ladder's own process, uncontained.",
    ),
]

READ_PATIENCE_S = 2.0  # a reader that cannot get in says so soon

DEFAULT_DB = Path("results/ladder.duckdb")


def db_path(given: Path | None, spec_db: str | None = None) -> Path:
    """The store to use: the option, else the spec's, else the default."""
    return given or (Path(spec_db) if spec_db else DEFAULT_DB)


def refuse(given: Mapping[str, object], reason: str) -> None:
    """Options that would be read and ignored are a mistake; `given` is what each was set to."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(f"does not go with {reason}", param_hint=name)
