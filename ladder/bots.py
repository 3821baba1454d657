"""Finding bots by the one word that names them everywhere, and what a loaded bot is.

A bot in one word: a NAME (shipped, or installed as an entry point of the group `ladder.bots`),
`package.module:Class` or `path/to/file.py:Class`; params behind a further colon, as in
`BoldUntilAhead:lead=50`.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ladder.commands import is_program, program_of, read_command
from ladder.errors import BotLoadError
from ladder.games import GAMES, get_game
from ladder.games.bot import Bot, bind, param_defaults, param_types
from ladder.sources import Source, is_path, loading, read_file, read_module, restore

SHIPPED = "bots"
ENTRY_POINTS = "ladder.bots"


@dataclass(frozen=True)
class LoadedBot:
    """A bot ready to play: its class, its params with defaults filled in, and what it is made of.

    `version` is a digest of source, class and params: equal versions play the same.
    """

    reference: str
    bot: type[Bot]
    params: tuple[tuple[str, Any], ...]
    source: Source

    @property
    def class_name(self) -> str:
        """The name of the class in its module."""
        return self.bot.__name__

    @property
    def version(self) -> str:
        """16 hex digits."""
        return self.version_of(self.source, self.class_name, self.params)

    @staticmethod
    def version_of(source: Source, class_name: str, params: tuple[tuple[str, Any], ...]) -> str:
        """The version of a bot of which no more is known than this."""
        text = json.dumps(
            [source.digest, class_name, params], sort_keys=True, separators=(",", ":")
        )
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def about(self) -> str:
        """The first line of the class's docstring."""
        return _about(self.bot)

    def portable(self) -> PortableBot:
        """The same bot without its class, for another process."""
        return PortableBot(self.reference, self.class_name, self.params, self.source)


@dataclass(frozen=True)
class PortableBot:
    """A bot as it travels: plain values and sources."""

    reference: str
    class_name: str
    params: tuple[tuple[str, Any], ...]
    source: Source

    def load(self) -> LoadedBot:
        """Import the class from the sources."""
        if is_program(self.source):
            bot = program_of(self.source, self.reference.partition(":")[0])
            return LoadedBot(self.reference, bot, self.params, self.source)
        bot = getattr(restore(self.source), self.class_name)
        return LoadedBot(self.reference, bot, self.params, self.source)


@dataclass(frozen=True)
class Listing:
    """A bot that can be named: a line of `ladder bots`."""

    name: str
    reference: str
    game: str
    about: str
    params: dict[str, Any]


def split_word(word: str) -> tuple[str, dict[str, str]]:
    """The reference and the params of a bot in one word.

    >>> split_word("BoldUntilAhead:lead=50")
    ('BoldUntilAhead', {'lead': '50'})

    Raises: BotLoadError.
    """
    reference, colon, last = word.rpartition(":")
    if not colon or "=" not in last:
        return word, {}
    params = {}
    for part in last.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise BotLoadError(f"params are written as name=value,name=value (got {last!r})")
        params[name.strip()] = value.strip()
    return reference, params


def load_word(word: str, game: str) -> LoadedBot:
    """The bot that one word names. Raises: BotLoadError."""
    reference, texts = split_word(word)
    bot, source = find(reference, game)
    return LoadedBot(reference, bot, filled_params(bot, texts, {}), source)


def filled_params(
    bot: type[Bot], texts: dict[str, str], params: dict[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """All params of a bot, from those given as text and as values. Raises: BotLoadError."""
    types = param_types(bot)
    read = {name: _read_param(text, types.get(name)) for name, text in texts.items()}
    return _checked_params(bot, {**read, **params})


def load_program(
    command: Sequence[str], files: Sequence[str], params: dict[str, Any], game: str
) -> LoadedBot:
    """A bot that is a program, with files that its command does not name. Raises: BotLoadError."""
    source = read_command(command, files)
    bot = program_of(source, game)
    return LoadedBot(f"{game}: {' '.join(command)}", bot, tuple(params.items()), source)


def load(reference: str, params: dict[str, Any], game: str) -> LoadedBot:
    """The bot of a reference with the given params. Raises: BotLoadError."""
    bot, source = find(reference, game)
    return LoadedBot(reference, bot, _checked_params(bot, params), source)


def find(reference: str, game: str) -> tuple[type[Bot], Source]:
    """The class of a reference (without params) and its source. Raises: BotLoadError."""
    where, colon, name = reference.rpartition(":")
    if not colon:
        where, name = _named(reference, game)
    if not where or not name:
        raise BotLoadError(f"a bot is NAME, module:Class or file.py:Class (got {reference!r})")
    source, module = read_file(Path(where).expanduser()) if is_path(where) else read_module(where)
    return class_in(module, name, where, game), source


def class_in(module: ModuleType, name: str, where: str, game: str | None) -> type[Bot]:
    """The bot class of that name; of any game where `game` is None. Raises: BotLoadError."""
    there = [n for n, c in vars(module).items() if _is_bot(c) and c.__module__ == module.__name__]
    bot = getattr(module, name, None)
    if bot is None:
        raise BotLoadError(f"{where}: has no class {name!r}{_suggest(name, there)}")
    if not isinstance(bot, type) or not issubclass(bot, Bot):
        base = f"{game.title()}Bot" if game else "PasaBot or PashaBot"
        raise BotLoadError(f"{where}: {name} is not a bot: it should be a subclass of {base}")
    if bot.game not in (GAMES if game is None else (game,)):
        wanted = game or " or ".join(GAMES)
        raise BotLoadError(f"{where}: {name} plays {bot.game or 'no game'}, not {wanted}")
    if bot is get_game(bot.game).bot:
        raise BotLoadError(f"{where}: {name} is the base of bots, and no bot itself")
    with loading(where):
        bind(bot, param_defaults(bot))
    return bot


def _is_bot(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Bot) and bool(value.game)


def _named(name: str, game: str) -> tuple[str, str]:
    listings, warnings = available(game)
    for listing in listings:
        if listing.name == name:
            where, _, class_name = listing.reference.rpartition(":")
            return where, class_name
    broken = "".join(f"; {w}" for w in warnings if name in w)
    names = [listing.name for listing in listings]
    raise BotLoadError(f"no bot of that name plays {game}{_suggest(name, names)}{broken}")


def _suggest(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, 1, 0.6)
    close = close or [n for n in names if n.casefold() == name.casefold()]
    if close:
        return f"; did you mean {close[0]}?"
    return f"; there are {', '.join(names)}" if names else ""


def available(game: str | None = None) -> tuple[list[Listing], list[str]]:
    """The shipped and installed bots of a game (or all), and a warning for each broken one."""
    listings: list[Listing] = []
    warnings: list[str] = []
    for each in GAMES:
        if game in (None, each):
            listings += _shipped(each)
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda e: e.name):
        try:
            bot = entry.load()
            if not _is_bot(bot):
                raise TypeError(f"{entry.value} is not a bot class")
            if game in (None, bot.game):
                listings.append(_listing(entry.name, bot))
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            warnings.append(
                f"plug-in {entry.name} ({entry.value}) is broken: {type(error).__name__}: {error}"
            )
    return listings, warnings


def _shipped(game: str) -> list[Listing]:
    listings = []
    package = importlib.import_module(f"{SHIPPED}.{game}")
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for bot in vars(module).values():
            is_public = _is_bot(bot) and not bot.__name__.startswith("_")
            if is_public and bot.__module__ == module.__name__:
                listings.append(_listing(bot.__name__, bot))
    return listings


def _listing(name: str, bot: type[Bot]) -> Listing:
    reference = f"{bot.__module__}:{bot.__name__}"
    return Listing(name, reference, bot.game, _about(bot), param_defaults(bot))


def _about(bot: type[Bot]) -> str:
    """The first line of the class's own docstring (its base's would say nothing of it)."""
    return inspect.cleandoc(bot.__doc__ or "").partition("\n")[0]


def _read_param(text: str, kind: type | None) -> Any:
    """A param given as text: a number or true/false where the bot declares one."""
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind in (int, float) and re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    if kind is float:
        try:
            return float(text)
        except ValueError:
            return text
    return text


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def _checked_params(bot: type[Bot], params: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    types = param_types(bot)
    problems = []
    filled = param_defaults(bot)
    for name, value in {**filled, **params}.items():
        if name not in types:
            there = _suggest(name, list(types)) or "; it has none"
            problems.append(f"{bot.__name__} has no param {name!r}{there}")
            continue
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(types[name], config=ConfigDict(strict=True))
            filled[name] = adapter.validate_python(value)
        except ValidationError:
            problems.append(
                f"{bot.__name__}: param {name} should be {_KINDS[types[name]]} (got {value!r})"
            )
    if problems:
        raise BotLoadError(*problems)
    return tuple(filled.items())
