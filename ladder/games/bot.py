"""The base of every bot class, in any game: its params, and which of its methods are policies."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable
from typing import Any, ClassVar, get_type_hints

PARAM_TYPES = (int, float, bool, str)


class Bot:
    """A bot. Annotated class attributes with a default are its params.

    A decision is a method. As a static method `(view, params)` it is a *policy*: a function of
    the view alone, which can be compiled. As an ordinary method `(self, view)` it may remember
    within its match; the object is new every match. Subclass a game's own base class.
    """

    game: ClassVar[str] = ""


def param_types(bot: type[Bot]) -> dict[str, type]:
    """A bot class's params and their types, bases first."""
    hints = get_type_hints(bot)
    return {
        name: hint
        for name, hint in hints.items()
        if hint in PARAM_TYPES and hasattr(bot, name) and not name.startswith("_")
    }


def param_defaults(bot: type[Bot]) -> dict[str, Any]:
    """A bot class's params with their defaults."""
    return {name: getattr(bot, name) for name in param_types(bot)}


def bind(bot: type[Bot], params: dict[str, Any]) -> type[Bot]:
    """The bot class with its params set: calling it makes the bot of one match."""
    return type(bot.__name__, (bot,), {"__module__": bot.__module__, **params})


def params_tuple(bot: type[Bot], params: dict[str, Any]) -> Any:
    """What a policy gets as `params`: a named tuple, defaults filled in."""
    filled = {**param_defaults(bot), **params}
    return namedtuple("Params", filled)(**filled)


def policy_of(bot: type[Bot], method: str) -> Callable[..., Any] | None:
    """The policy function behind a decision method, or None where it is an ordinary method."""
    found = inspect.getattr_static(bot, method)
    return found.__func__ if isinstance(found, staticmethod) else None
