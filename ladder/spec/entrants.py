"""The entrants of a spec: their bots loaded, their names given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ladder.bots import LoadedBot, load, load_program, load_word
from ladder.errors import BotLoadError
from ladder.games import Game
from ladder.spec.documents import Place
from ladder.spec.file import PROGRAM, Entrant, EntrantPart
from ladder.spec.messages import shown


@dataclass(frozen=True)
class NamedBot:
    """An entrant of a run."""

    name: str
    loaded: LoadedBot
    author: str = ""


def entrant_part(value: Any) -> EntrantPart | None:
    """An entrant that has its shape, or None: what is wrong with it is reported already."""
    try:
        return TypeAdapter(Entrant).validate_python(value)
    except ValidationError:
        return None


def load_entrants(
    parts: list[EntrantPart | None],
    game: Game,
    problems: dict[Place, list[str]],
    *,
    trusts_all: bool,
) -> tuple[NamedBot, ...] | None:
    """The entrants, or None where one cannot be loaded; each one's problems are reported."""
    entrants: list[NamedBot] = []
    names: dict[str, int] = {}
    versions: dict[str, int] = {}
    for position, part in enumerate(parts):
        if part is None:
            continue
        place: Place = ("entrants", position)
        try:
            loaded = _load(part, game, is_trusted=trusts_all or part.trusted)
        except BotLoadError as error:
            got = f" (got {shown(part.command or part.bot)})"
            problems[place] = [p if "(got " in p else p + got for p in error.problems]
            continue
        name = part.name or _default_name(part, loaded)
        if name in names:
            problems[place] = [f"the name {name!r} is taken by entrants[{names[name]}]"]
        elif loaded.version in versions:
            first = versions[loaded.version]
            problems[place] = [
                f"{name} is the same bot as entrants[{first}]: same source, class and params"
            ]
        names.setdefault(name, position)
        versions.setdefault(loaded.version, position)
        entrants.append(NamedBot(name, loaded, part.author or ""))
    return tuple(entrants) if len(entrants) == len(parts) else None


def _load(part: EntrantPart, game: Game, *, is_trusted: bool) -> LoadedBot:
    if (part.bot == PROGRAM) != bool(part.command):
        raise BotLoadError("an entrant has either bot or command")
    if part.command:
        return load_program(part.command, part.files, part.params, game.name, is_trusted=is_trusted)
    if part.files:
        raise BotLoadError("files belong to a command; a Python bot's imports are found")
    if not part.params:
        return load_word(part.bot, game.name, is_trusted=is_trusted)
    if "=" in part.bot:
        raise BotLoadError("has params both in bot and in params; give them in one place")
    return load(part.bot, part.params, game.name, is_trusted=is_trusted)


def _default_name(part: EntrantPart, loaded: LoadedBot) -> str:
    if part.command:
        return Path(part.command[-1]).stem
    if "=" in part.bot:
        return f"{loaded.class_name}:{part.bot.rpartition(':')[2]}"
    params = ",".join(f"{name}={value}" for name, value in part.params.items())
    return f"{loaded.class_name}:{params}" if params else loaded.class_name
