"""What Ladder knows of itself, of games, bots and this machine, printed."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rich.table import Table as Grid

from ladder.bots import Listing
from ladder.doctor import Finding
from ladder.games import GAMES, get_game
from ladder.printing.output import console, print_json
from ladder.spec import SpecPart


def print_findings(findings: Iterable[Finding], *, as_json: bool) -> list[Finding]:
    """What `ladder doctor` found, each line as soon as it is known."""
    found = []
    for each in findings:
        found.append(each)
        if not as_json:
            mark = "ok" if each.is_good else "!!"
            sys.stdout.write(f"{mark}  {each.name:16} {each.value}\n")
            sys.stdout.flush()
    if as_json:
        print_json([{"name": f.name, "ok": f.is_good, "value": f.value} for f in found])
    return found


def print_bots(listings: Sequence[Listing], *, as_json: bool) -> None:
    """The bots that can be named."""
    if as_json:
        print_json([asdict(listing) for listing in listings])
        return
    grid = Grid("bot", "game", "params", "about", box=None, header_style="bold", pad_edge=False)
    for listing in listings:
        params = ", ".join(f"{name}={value}" for name, value in listing.params.items())
        grid.add_row(listing.name, listing.game, params, listing.about)
    console().print(grid)


def print_games(*, as_json: bool) -> None:
    """The games."""
    games = [get_game(name) for name in GAMES]
    if as_json:
        print_json([{"name": g.name, "title": g.title, "version": g.version} for g in games])
        return
    for game in games:
        sys.stdout.write(f"{game.name}  {game.title} (version {game.version})\n")


def print_game(name: str, *, as_json: bool) -> None:
    """A game's options, defaults and rules in short."""
    game = get_game(name)
    fields = game.table.model_fields
    defaults = game.table().model_dump(mode="json")  # type: ignore[call-arg]
    if as_json:
        options = [
            {"option": option, "default": defaults[option], "about": field.description or ""}
            for option, field in fields.items()
        ]
        print_json({"name": name, "title": game.title, "options": options, "rules": game.summary})
        return
    out = console()
    out.print(f"{game.title}\n\n{game.summary}\n", markup=False)
    grid = Grid("option", "default", "about", box=None, header_style="bold", pad_edge=False)
    for option, field in fields.items():
        default = json.dumps(defaults[option]).replace('"', "")  # as a spec spells it
        grid.add_row(option, default, field.description or "")
    out.print(grid)


def print_schema(name: str | None) -> None:
    """The JSON schema of a spec, with the table options of one game or of all."""
    schema = SpecPart.model_json_schema()
    tables = [get_game(each).table.model_json_schema() for each in ([name] if name else GAMES)]
    schema["properties"]["table"] = tables[0] if len(tables) == 1 else {"anyOf": tables}
    print_json(schema)


def print_bench(figures: Iterable[tuple[str, float, str]], *, as_json: bool) -> None:
    """Measured figures, each as soon as it is known."""
    if as_json:
        print_json([{"name": n, "value": v, "unit": u} for n, v, u in figures])
        return
    for name, value, unit in figures:
        shown = "-" if math.isnan(value) else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
        sys.stdout.write(f"{name:40} {shown:>12} {unit}\n")
        sys.stdout.flush()
