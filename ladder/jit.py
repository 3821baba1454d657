"""One source for interpreted and compiled play.

A function marked `@rule` is plain Python over ints and flat int sequences; compiled code may call
it, and the interpreter runs it as it stands. Nothing here imports numba until something compiles.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_pending: list[Callable[..., Any]] = []


def rule(function: F) -> F:
    """Mark a function that compiled code may call."""
    _pending.append(function)
    return function


def is_checked() -> bool:
    """Whether compiled rules check their indices (LADDER_CHECKED=1; the parity tests set it)."""
    return os.environ.get("LADDER_CHECKED", "0") == "1"


def register_rules() -> None:
    """Make every rule seen so far callable from compiled code.

    Inlined and without a path that raises: measured at Pasa, 1.0 microseconds a match, against
    4.2 as separate functions and 4.4 with numba's bounds checks (whose raising path keeps LLVM
    from holding the state in registers). So the rules are checked in the parity tests, where every
    shipped bot plays, and bots' own code is checked always.
    """
    from numba.extending import register_jitable

    checked = is_checked()
    options: dict[str, Any] = (
        {"boundscheck": True} if checked else {"forceinline": True, "error_model": "numpy"}
    )
    while _pending:
        function = _pending.pop()
        if getattr(function, "__outline__", False):
            register_jitable(error_model="numpy")(function)
        else:
            register_jitable(**options)(function)


def outlined(function: F) -> F:
    """A rule too long to be copied into every caller (a ChaCha block)."""
    function.__outline__ = True  # type: ignore[attr-defined]
    return rule(function)
