"""How the numerics of this package are compiled; importing this imports numba."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def _sources_digest() -> str:
    digest = hashlib.blake2b(digest_size=4)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_DIGEST = _sources_digest()


def jitted(function: F) -> F:
    """Compile a function of this package, cached on disk.

    numba's cache notices an edit in the function's own file only, and these functions call each
    other across files; so the cached name carries a digest of all of them.
    """
    function.__qualname__ += f"-{_DIGEST}"
    compiled: F = numba.njit(cache=True, error_model="numpy")(function)
    return compiled
