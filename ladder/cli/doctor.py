"""The command that looks at the machine."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.cli import options


def add_to(app: typer.Typer) -> None:
    """Register this command."""
    app.command()(doctor)


def doctor(
    db: options.Db = None,
    ray: Annotated[
        bool, typer.Option("--ray/--no-ray", help="Try whether Ray starts (some seconds).")
    ] = True,
    json: options.AsJson = False,
) -> None:
    """Show what this machine offers: sandbox, Ray, room, store, versions.

    Exits with 0 where untrusted bots can be contained, else with 3.

    Example: ladder doctor --no-ray
    """
    from ladder.doctor import examine
    from ladder.printing.knowledge import print_findings

    findings = print_findings(examine(options.db_path(db), starts_ray=ray), as_json=json)
    if not all(each.is_good for each in findings if each.name == "sandbox"):
        raise typer.Exit(3)
