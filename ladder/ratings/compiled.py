"""How the numerics of this package are compiled; importing this imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from ladder.jit import cache_folder, source_digest

F = TypeVar("F", bound=Callable[..., Any])

_DIGEST = source_digest("ratings/", "jit.py")


def jitted(function: F) -> F:
    """Compile a function of this package, cached under a digest of all of its sources.

    The name carries the digest as well: code from the cache is linked by name.
    """
    function.__qualname__ += f"-{_DIGEST[:8]}"
    with cache_folder(_DIGEST) as usable:
        compiled: F = numba.njit(cache=usable, error_model="numpy", nogil=True)(function)
    return compiled
