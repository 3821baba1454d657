"""The compiled kernel of the exact solver, one for each number of seats and of best seats.

Policies are compiled one by one, by `ladder.policy`, to the very functions that play; the kernel
calls them by address, so it is the same for all of them and comes from the cache.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from ladder.exact import kernel
from ladder.jit import cache_folder, register_rules, source_digest

_TEMPLATE_FUNCTIONS = (
    "rank",
    "units",
    "place",
    "after_throw",
    "weigh",
    "is_better",
    "take_in",
    "last_choice",
    "play_stakings",
    "win_shares",
    "is_top",
    "count_final",
)


@cache
def borrowed() -> Callable[..., Any]:
    """Compiled code's view of an array that does not own it.

    A slice of an array counts a reference, which costs two locked instructions; the kernel would
    spend most of its time on them. The caller keeps the array alive.
    """
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.np import arrayobj

    def lend(typing_context: Any, array: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = arrayobj.make_array(signature.return_type)(context, builder, arguments[0])
            made.meminfo = cgutils.get_null_value(made.meminfo.type)
            made.parent = cgutils.get_null_value(made.parent.type)
            return made._getvalue()

        return array(array), build

    lent: Callable[..., Any] = intrinsic(lend)
    return lent


@cache
def kernel_for(seats: int, num_best: int, tie: float) -> Callable[..., bool]:
    """`kernel.run_level` compiled for so many seats, or read from the cache."""
    import numba
    from numba.extending import register_jitable

    from ladder.policy import call

    scope: dict[str, Any] = {"__name__": kernel.__name__}
    exec(compile(inspect.getsource(kernel), str(kernel.__file__), "exec"), scope)
    scope.update(SEATS=seats, NUM_BEST=num_best, TIE=tie)
    scope.update(borrowed=borrowed(), call_policy=call.call_policy)
    register_rules()
    digest = source_digest("jit.py", "games/", "exact/", "policy/call.py")
    made_for = f"{digest}-{seats}-{num_best}-{tie}"
    for name in (*_TEMPLATE_FUNCTIONS, "run_level"):
        # Compiled code is linked by name, so each kernel's functions need names of their own.
        scope[name].__qualname__ = f"{name}_{made_for}"
    for name in _TEMPLATE_FUNCTIONS:
        register_jitable(forceinline=True, error_model="numpy")(scope[name])
    with cache_folder(f"exact/{made_for}") as usable:
        compiled: Callable[..., bool] = numba.njit(nogil=True, cache=usable, error_model="numpy")(
            scope["run_level"]
        )
    return compiled
