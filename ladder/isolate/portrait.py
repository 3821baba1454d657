"""What a bot class is, as told by a child that has imported it: no line of it runs in our process.

A stranger's child may tell anything; what it tells is checked here for type, length and range,
and where it lies about its own params or docstring it misleads nobody but its own record.
"""

from __future__ import annotations

import inspect
import json
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ladder.games import get_game
from ladder.games.bot import PARAM_TYPES, Bot, bind, param_types, policy_of

MAX_PORTRAIT = 1 << 15  # bytes
MAX_NAMES, MAX_NAME, MAX_TEXT = 200, 100, 500
TYPES = {kind.__name__: kind for kind in PARAM_TYPES}
KINDS = ("bot", "base", "other", "absent")


@dataclass(frozen=True)
class Portrait:
    """A name of a module, and what stands behind it."""

    kind: str  # bot; base: of all bots of a game; other: no bot class; absent
    name: str = ""  # the class's own name
    there: tuple[str, ...] = field(default=(), compare=False)  # bot classes of its module
    game: str = ""
    about: str = ""  # the first line of the class's own docstring
    params: tuple[tuple[str, str, int | float | bool | str], ...] = ()  # name, type, default
    policies: tuple[str, ...] = ()  # decisions that are functions of the view alone

    @property
    def types(self) -> dict[str, type]:
        """The params' types by name."""
        return {name: TYPES[kind] for name, kind, _ in self.params}

    @property
    def defaults(self) -> dict[str, int | float | bool | str]:
        """The params' defaults by name."""
        return {name: value for name, _, value in self.params}


def portray(module: ModuleType, name: str) -> Portrait:
    """Look at a class of an imported module. Raises: whatever its code raises."""
    there = tuple(
        each
        for each, value in vars(module).items()
        if is_bot(value) and value.__module__ == module.__name__
    )
    bot = getattr(module, name, None)
    if bot is None:
        return Portrait("absent", name, there)
    if not isinstance(bot, type) or not issubclass(bot, Bot):
        return Portrait("other", name, there)
    return portrait_of(bot, there)


def portrait_of(bot: type[Bot], there: tuple[str, ...] = ()) -> Portrait:
    """What a bot class is. Raises: whatever its code raises."""
    if not is_bot(bot):
        return Portrait("bot", bot.__name__, there)
    game = get_game(bot.game)
    if bot is game.bot:
        return Portrait("base", bot.__name__, there, bot.game)
    types = param_types(bot)
    params = tuple((name, kind.__name__, getattr(bot, name)) for name, kind in types.items())
    bind(bot, {name: value for name, _, value in params})
    policies = tuple(m for m in game.decisions.values() if policy_of(bot, m) is not None)
    return Portrait("bot", bot.__name__, there, bot.game, about_of(bot), params, policies)


def is_bot(value: Any) -> bool:
    """Whether it is a bot class of a game."""
    return isinstance(value, type) and issubclass(value, Bot) and bool(value.game)


def about_of(bot: type[Bot]) -> str:
    """The first line of the class's own docstring (its base's would say nothing of it)."""
    return inspect.cleandoc(bot.__doc__ or "").partition("\n")[0]


def why(error: BaseException) -> str:
    """Why a module would not be imported, on one line."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    if isinstance(error, ModuleNotFoundError):
        return f"cannot be imported: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""
    return f"raised on import{where}: {type(error).__name__}: {error}"


def pack_portrait(portrait: Portrait) -> bytes:
    """As bytes; a text that is too long is cut."""
    params = [[name, kind, _plain(value)] for name, kind, value in portrait.params]
    there = [name[:MAX_NAME] for name in portrait.there[:MAX_NAMES]]
    fields = [portrait.kind, portrait.name, there, portrait.game[:MAX_NAME],
              portrait.about[:MAX_TEXT], params, list(portrait.policies)]  # fmt: skip
    return json.dumps(fields).encode()


def _plain(default: Any) -> Any:
    """A default that is none of a param's types as text: it is refused then, and shown."""
    value = default if type(default) in PARAM_TYPES else repr(default)
    return value[:MAX_TEXT] if isinstance(value, str) else value


def parse_portrait(payload: bytes) -> Portrait:
    """Undo `pack_portrait`, trusting nothing. Raises: ValueError.

    >>> parse_portrait(pack_portrait(Portrait("bot", "A", params=(("n", "int", 3),)))).types
    {'n': <class 'int'>}
    """
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ValueError("no description") from error
    if not isinstance(fields, list) or len(fields) != 7:
        raise ValueError("no description")
    kind, name, there, game, about, params, policies = fields
    if kind not in KINDS or not isinstance(params, list) or len(params) > MAX_NAMES:
        raise ValueError("no description")
    return Portrait(
        kind,
        _text(name, MAX_NAME),
        _texts(there),
        _text(game, MAX_NAME),
        _text(about, MAX_TEXT),
        tuple(_param(each) for each in params),
        _texts(policies),
    )


def _param(value: Any) -> tuple[str, str, int | float | bool | str]:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("no param")
    name, kind, default = value
    if not isinstance(kind, str) or kind not in TYPES or not _text(name, MAX_NAME).isidentifier():
        raise ValueError("no param")
    if type(default) not in PARAM_TYPES:
        raise ValueError(f"a default of param {name!r} that is none")
    if isinstance(default, str):
        _text(default, MAX_TEXT)
    elif type(default) is int and abs(default) > 2**62:
        raise ValueError(f"a default of param {name!r} out of range")
    return name, kind, default


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_NAMES:
        raise ValueError("no list of names")
    return tuple(_text(each, MAX_NAME) for each in value)


def _text(value: Any, most: int) -> str:
    """Text of a stranger, without control characters. Raises: ValueError."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("no text")
    return "".join(c if c.isprintable() else "?" for c in value)
