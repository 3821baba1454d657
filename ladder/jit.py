"""One source for interpreted and compiled play.

A function marked `@rule` is plain Python over ints and flat int sequences; compiled code may call
it, and the interpreter runs it as it stands. Nothing here imports numba until something compiles.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

from ladder.errors import InfraError

LEAST_FREE_MB = 64  # a disk with less takes no compiled code

F = TypeVar("F", bound=Callable[..., Any])

_pending: list[Callable[..., Any]] = []


def rule(function: F) -> F:
    """Mark a function that compiled code may call."""
    _name_by_content(function)
    _pending.append(function)
    return function


def _name_by_content(function: Callable[..., Any], salt: str = "") -> None:
    """Give a function made at run time a name that no other such function has.

    Compiled code is linked by name, and numba numbers names in each process anew: two functions
    of one name, compiled in two processes and read from the cache in a third, would be taken for
    each other. A function of a module is told by its module; one made inside a function or from
    text is told by what it is made of.
    """
    code = function.__code__
    if not salt and function.__qualname__ == code.co_name and "<" not in code.co_filename:
        return
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    used = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    parts = [
        salt, code.co_code.hex(), repr(code.co_names), repr(code.co_varnames),
        *(repr(value) for value in code.co_consts if not isinstance(value, CodeType)),
        *(_told(value) for value in (*cells, *used)),
    ]  # fmt: skip
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
    function.__qualname__ = f"{function.__qualname__}_{digest}"


def _told(value: Any) -> str:
    if isinstance(value, (FunctionType, type)):
        fields = getattr(value, "_fields", "")
        return f"{value.__module__}.{value.__qualname__}{fields}"
    return repr(value) if isinstance(value, (int, float, str, bool)) else type(value).__qualname__


def is_checked() -> bool:
    """Whether compiled rules check their indices (LADDER_CHECKED=1; the parity tests set it)."""
    return os.environ.get("LADDER_CHECKED", "0") == "1"


def register_rules() -> None:
    """Make every rule seen so far callable from compiled code.

    Inlined and without a path that raises: measured at Pasa, 0.9 microseconds a match, against
    4.2 as separate functions and 4.3 with numba's bounds checks (whose raising path keeps LLVM
    from holding the state in registers). So the rules are checked in the parity tests, where every
    shipped bot plays, and bots' own code is checked always.
    """
    from numba import config
    from numba.extending import register_jitable

    if config.DISABLE_JIT:
        raise InfraError("NUMBA_DISABLE_JIT is set, and nothing here plays without the compiler")
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


def source_digest(*names: str) -> str:
    """A digest of the sources under the package folder that start with one of `names`.

    Numba's own cache looks at the file of the compiled function alone, not at the rules it calls.
    """
    root = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root).as_posix()
        if relative.startswith(names):
            digest.update(relative.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_root() -> Path:
    """The folder of compiled code: $LADDER_CACHE_DIR, else ladder/ in the user's cache folder."""
    chosen = os.environ.get("LADDER_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME")
    if chosen:
        return Path(chosen)
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ladder"
    except RuntimeError:  # a user without a home: a folder that cannot be made
        return Path(os.devnull) / "ladder"


def cache_path(name: str) -> Path:
    """The folder of what is compiled under `name`; code with checked indices has its own."""
    return cache_root() / f"{name}-{'checked' if is_checked() else 'fast'}"


@contextmanager
def cache_folder(digest: str) -> Iterator[bool]:
    """Let what is compiled inside be cached under `digest`; yields whether it can be."""
    from numba import config

    folder = cache_path(digest)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        usable = (
            os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >> 20 >= LEAST_FREE_MB
        )
    except OSError:
        usable = False
    if not usable:
        warn_once(f"cannot write compiled code to {folder}: compiling anew in every process")
        yield False
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield True
    finally:
        config.CACHE_DIR = before


@cache
def warn_once(message: str) -> None:
    """Warn once a process."""
    warnings.warn(message, stacklevel=3)


def compiled(function: Callable[..., Any], *sources: str) -> Any:
    """A function that numba compiles at its first call, or reads from the cache.

    `sources` are the files and folders of the package whose edit makes the cache stale, beside
    those that everything compiled depends on.
    """
    import numba

    register_rules()
    digest = source_digest("seeds.py", "jit.py", *sources)
    _name_by_content(function, digest)
    with cache_folder(digest) as usable:
        return numba.njit(cache=usable, nogil=True, error_model="numpy", boundscheck=is_checked())(
            function
        )
