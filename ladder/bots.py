"""Finding bots by the one word that names them everywhere, and what a loaded bot is.

A bot in one word: a NAME (shipped, or installed as an entry point of the group `ladder.bots`),
`package.module:Class` or `path/to/file.py:Class`; params behind a further colon, as in
`BoldUntilAhead:lead=50`.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ladder.commands import (
    is_program,
    portrait_of_program,
    program_of,
    read_command,
    require_program,
)
from ladder.errors import BotLoadError, LadderError
from ladder.games import GAMES
from ladder.games.bot import Bot
from ladder.isolate.bundled import MAIN
from ladder.isolate.portrait import Portrait, is_bot, portrait_of, portray
from ladder.isolate.verdict import Bundle
from ladder.paths import user_path
from ladder.sources import (
    SHIPPED,
    Source,
    bundle_of,
    is_path,
    is_shipped,
    loading,
    read_file,
    read_module,
    restore,
    with_shipped_parts,
)

ENTRY_POINTS = "ladder.bots"
TRUST_OPTION = "--i-trust-these-bots"


@dataclass(frozen=True)
class LoadedBot:
    """A bot ready to play: its params with defaults filled in, and what it is made of.

    A trusted bot has its class too. That of any other is known by its portrait alone: it is
    imported in locked-down child processes and nowhere else. `version` is a digest of source,
    class and params: equal versions play the same.
    """

    reference: str
    imported: type[Bot] | None  # None: not trusted
    params: tuple[tuple[str, Any], ...]
    source: Source
    portrait: Portrait | None = None  # of a bot that is not trusted

    @property
    def is_trusted(self) -> bool:
        """Whether it plays in our own process."""
        return self.imported is not None

    @property
    def bot(self) -> type[Bot]:
        """The class. Raises: BotLoadError for a bot that is not trusted."""
        if self.imported is None:
            raise BotLoadError(
                f"{self.reference}: is not trusted, and this needs its code in Ladder's own"
                f" process; if you would run it as your own, say {TRUST_OPTION}"
            )
        return self.imported

    @property
    def looks(self) -> Portrait:
        """What the class is."""
        return self.portrait if self.portrait is not None else portrait_of(self.bot)

    @property
    def class_name(self) -> str:
        """The name of the class in its module."""
        return self.portrait.name if self.portrait is not None else self.bot.__name__

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
        return self.looks.about

    def bundle(self) -> Bundle:
        """The bot on its way to a child process."""
        return _bundle(self.source, self.class_name, self.params)

    def portable(self) -> PortableBot:
        """The same bot without its class, for another process."""
        return PortableBot(
            self.reference, self.class_name, self.params, self.source, self.portrait,
            self.is_trusted,
        )  # fmt: skip


@dataclass(frozen=True)
class PortableBot:
    """A bot as it travels: plain values and sources."""

    reference: str
    class_name: str
    params: tuple[tuple[str, Any], ...]
    source: Source
    portrait: Portrait | None = None  # of a bot that is not trusted, where it is known
    is_trusted: bool = False

    def load(self) -> LoadedBot:
        """The bot: imported from the sources if it is trusted or came with Ladder as it is.

        Raises: BotLoadError, InfraError.
        """
        if is_program(self.source):
            return _program(self.reference, self.source, self.params, is_trusted=self.is_trusted)
        if self.is_trusted or _is_as_shipped(self.source):
            bot = getattr(restore(self.source), self.class_name)
            return LoadedBot(self.reference, bot, self.params, self.source)
        portrait = self.portrait
        if portrait is None:
            portrait = _described(self.source, self.class_name, self.reference)
        return LoadedBot(self.reference, None, self.params, self.source, portrait)


def _is_as_shipped(source: Source) -> bool:
    """Whether these are the files of a bot that came with this Ladder, unchanged."""
    if source.module.partition(".")[0] != SHIPPED:
        return False
    try:
        return is_shipped(source.module) and bundle_of(source.module).digest == source.digest
    except BotLoadError:
        return False


def _described(source: Source, name: str, where: str) -> Portrait:
    """What a class is, as a locked-down child tells it."""
    from ladder.isolate.describe import describe
    from ladder.isolate.nursery import shared_nurseries

    return describe(_bundle(source, name), where, shared_nurseries())


def _bundle(source: Source, name: str, params: tuple[tuple[str, Any], ...] = ()) -> Bundle:
    files = with_shipped_parts(source)
    module = source.module if "/" in source.files[0][0] else MAIN
    return Bundle(module, files, name, params)


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
        if reference.rpartition(":")[0].endswith(".py"):  # file.py:Class:what
            raise BotLoadError(f"params are written as name=value,name=value (got {last!r})")
        return word, {}
    params = {}
    for part in last.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise BotLoadError(f"params are written as name=value,name=value (got {last!r})")
        params[name.strip()] = value.strip()
    return reference, params


def load_word(word: str, game: str, *, is_trusted: bool = False) -> LoadedBot:
    """The bot that one word names. Raises: BotLoadError, InfraError."""
    reference, texts = split_word(word)
    found = find(reference, game, is_trusted=is_trusted)
    types = found.looks.types
    params = {name: _read_param(text, types.get(name)) for name, text in texts.items()}
    return found.with_params(params)


def load(
    reference: str, params: dict[str, Any], game: str, *, is_trusted: bool = False
) -> LoadedBot:
    """The bot of a reference with the given params. Raises: BotLoadError, InfraError."""
    return find(reference, game, is_trusted=is_trusted).with_params(params)


@dataclass(frozen=True)
class Found:
    """A bot class, its params not chosen yet."""

    reference: str
    imported: type[Bot] | None  # None: not trusted
    looks: Portrait
    source: Source

    def with_params(self, params: dict[str, Any]) -> LoadedBot:
        """The bot with these params. Raises: BotLoadError."""
        portrait = self.looks if self.imported is None else None
        filled = _checked_params(self.looks, params)
        return LoadedBot(self.reference, self.imported, filled, self.source, portrait)


def find(reference: str, game: str | None, *, is_trusted: bool = False) -> Found:
    """The class of a reference (without params), of any game where `game` is None.

    A bot that came with Ladder, or is said to be trusted, is imported here; any other in a
    locked-down child process, which tells what it is. Raises: BotLoadError, InfraError.
    """
    if any(unicodedata.category(letter) == "Cc" for letter in reference):
        raise BotLoadError(f"a bot is named without control characters (got {reference!r})")
    where, colon, name = reference.rpartition(":")
    if not colon:
        where, name = _named(reference, game)
    if not where or not name:
        raise BotLoadError(f"a bot is NAME, module:Class or file.py:Class (got {reference!r})")
    if is_trusted or is_shipped(where):
        path = user_path(where)
        source, module = read_file(path) if is_path(where) else read_module(where)
        with loading(where):
            looks = portray(module, name)
        _check_class(looks, name, where, game)
        return Found(reference, getattr(module, name), looks, source)
    source = bundle_of(where)
    shown = str(user_path(where).resolve()) if is_path(where) else where
    looks = _described(source, name, shown)
    _check_class(looks, name, where, game)
    return Found(reference, None, looks, source)


def class_in(module: ModuleType, name: str, where: str, game: str | None) -> type[Bot]:
    """The bot class of an imported module; of any game where `game` is None.

    Raises: BotLoadError.
    """
    with loading(where):
        looks = portray(module, name)
    _check_class(looks, name, where, game)
    found: type[Bot] = getattr(module, name)
    return found


def filled_params(
    bot: type[Bot], texts: dict[str, str], params: dict[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """All params of a bot, from those given as text and as values. Raises: BotLoadError."""
    looks = portrait_of(bot)
    read = {name: _read_param(text, looks.types.get(name)) for name, text in texts.items()}
    return _checked_params(looks, {**read, **params})


def load_program(
    command: Sequence[str],
    files: Sequence[str],
    params: dict[str, Any],
    game: str,
    *,
    is_trusted: bool,
) -> LoadedBot:
    """A bot that is a program, with files that its command does not name.

    Raises: BotLoadError; SpecError where it is not trusted and this machine has no sandbox.
    """
    source = read_command(command, files)
    reference = f"{game}: {' '.join(command)}"
    return _program(reference, source, tuple(params.items()), is_trusted=is_trusted)


def _program(
    reference: str, source: Source, params: tuple[tuple[str, Any], ...], *, is_trusted: bool
) -> LoadedBot:
    require_program(source)
    game = reference.partition(":")[0]
    if is_trusted:
        return LoadedBot(reference, program_of(source, game), params, source)
    from ladder.isolate.nursery import shared_nurseries
    from ladder.isolate.probe import require

    require(shared_nurseries().offer)
    return LoadedBot(reference, None, params, source, portrait_of_program(source, game))


def _check_class(looks: Portrait, name: str, where: str, game: str | None) -> None:
    if looks.kind == "absent":
        raise BotLoadError(f"{where}: has no class {name!r}{_suggest(name, list(looks.there))}")
    if looks.kind == "other":
        base = f"{game.title()}Bot" if game else "PasaBot or PashaBot"
        raise BotLoadError(f"{where}: {name} is not a bot: it should be a subclass of {base}")
    if looks.game not in (GAMES if game is None else (game,)):
        wanted = game or " or ".join(GAMES)
        raise BotLoadError(f"{where}: {name} plays {looks.game or 'no game'}, not {wanted}")
    if looks.kind == "base":
        raise BotLoadError(f"{where}: {name} is the base of bots, and no bot itself")


def _named(name: str, game: str | None) -> tuple[str, str]:
    """Module and class of a name; a plug-in is not loaded for it."""
    shipped = [listing for each in GAMES if game in (None, each) for listing in _shipped(each)]
    references = {listing.name: listing.reference for listing in shipped}
    for entry in entry_points(group=ENTRY_POINTS):
        references.setdefault(entry.name, entry.value)
    if name in references:
        where, _, class_name = references[name].rpartition(":")
        return where, class_name
    if name.endswith(".py"):
        raise BotLoadError(f"{name}: name the class too, as in {name}:MyBot")
    plays = f" plays {game}" if game else ""
    raise BotLoadError(f"no bot of that name{plays}{_suggest(name, list(references))}")


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
            looks = find(entry.value, None).looks
        except LadderError as error:
            warnings.append(f"plug-in {entry.name} ({entry.value}) is broken: {error}")
            continue
        if game in (None, looks.game):
            listings.append(_listing(entry.name, entry.value, looks))
    return listings, warnings


def _shipped(game: str) -> list[Listing]:
    if not is_shipped(f"{SHIPPED}.{game}"):
        raise BotLoadError(
            f"another package named {SHIPPED!r} hides the bots that come with Ladder; run this"
            " in another folder, or rename it"
        )
    listings = []
    package = importlib.import_module(f"{SHIPPED}.{game}")
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for bot in vars(module).values():
            is_public = is_bot(bot) and not bot.__name__.startswith("_")
            if is_public and bot.__module__ == module.__name__:
                reference = f"{bot.__module__}:{bot.__name__}"
                listings.append(_listing(bot.__name__, reference, portrait_of(bot)))
    return listings


def _listing(name: str, reference: str, looks: Portrait) -> Listing:
    return Listing(name, reference, looks.game, looks.about, looks.defaults)


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


def _checked_params(looks: Portrait, params: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    types = looks.types
    problems = []
    filled: dict[str, Any] = looks.defaults
    for name, value in {**filled, **params}.items():
        if name not in types:
            there = _suggest(name, list(types)) or "; it has none"
            problems.append(f"{looks.name} has no param {name!r}{there}")
            continue
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(types[name], config=ConfigDict(strict=True))
            filled[name] = adapter.validate_python(value)
        except ValidationError:
            problems.append(
                f"{looks.name}: param {name} should be {_KINDS[types[name]]} (got {value!r})"
            )
    if problems:
        raise BotLoadError(*problems)
    return tuple(filled.items())
