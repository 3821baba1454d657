"""Compiled kernels of the exact solver, kept in memory and on disk by what went into them.

numba's disk cache looks at one file only, so a kernel is kept in a folder whose name is a digest of
every source that it was made of: the rules, the policies, and what their modules import.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
import types
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ladder.errors import SpecError
from ladder.exact import kernel
from ladder.exact.policies import Policy
from ladder.games.nodes import LEGAL_AT, LUCK, NUM_LEGAL, SEAT
from ladder.games.pasa.view import PasaView
from ladder.games.view import seen
from ladder.jit import cache_folder, register_rules, rule, source_digest

_OUTSIDE = tuple(
    str(Path(path).resolve())
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")}
)
_TEMPLATE_FUNCTIONS = (
    "rank",
    "units",
    "place",
    "after_throw",
    "is_better",
    "take_in",
    "last_choice",
    "play_stakings",
    "win_shares",
    "is_top",
    "count_final",
)


def sources_digest(functions: Iterable[Any]) -> str:
    """A digest of what a policy can come from: its module and all that this imports.

    Installed packages are left out, and Ladder itself, which has a digest of its own.
    """
    pending = [sys.modules.get(function.__module__) for function in functions]
    found: dict[str, bytes] = {}
    while pending:
        module = pending.pop()
        path = getattr(module, "__file__", None)
        if module is None or path is None or module.__name__ in found:
            continue
        resolved = str(Path(path).resolve())
        if resolved.startswith(_OUTSIDE) or module.__name__.partition(".")[0] == "ladder":
            continue
        found[module.__name__] = Path(path).read_bytes()
        for thing in vars(module).values():
            if isinstance(thing, types.ModuleType):
                pending.append(thing)
            elif isinstance(getattr(thing, "__module__", None), str):
                pending.append(sys.modules.get(thing.__module__))
    digest = hashlib.blake2b(digest_size=16)
    for function in functions:  # their order is the order of the groups
        code = function.__code__
        digest.update(f"{function.__qualname__} {code.co_names} {code.co_consts}".encode())
        digest.update(code.co_code)
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + hashlib.blake2b(found[name]).digest())
    return digest.hexdigest()


@cache
def borrowed() -> Callable[..., Any]:
    """Compiled code's view of an array that does not own it.

    A slice of an array counts a reference, which costs two locked instructions, and numba cannot
    leave them out where a raising path (a bounds check) lies between: a policy that reads
    `view.legal` took 390 ns, and takes 20 on a borrowed row. The caller keeps the array alive.
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

    return intrinsic(lend)


def params_maker(params: Any) -> Callable[..., Any]:
    """A rule that makes a policy's named params of a plain tuple.

    The class of the params is new in every process, so it must not be part of a cached signature.
    """
    scope = {"Params": namedtuple("Params", params._fields)}
    values = ", ".join(f"values[{i}]" for i in range(len(params)))
    exec(f"def make(values):\n    return Params({values})", scope)
    return rule(scope["make"])  # type: ignore[return-value]


def mixture(policy: Policy) -> Callable[..., Any]:
    """A compiled function that writes the probability a policy gives to each legal stake."""
    from numba.extending import register_jitable

    view_of = seen(PasaView)
    make_params = params_maker(policy.params)
    # What a bot's author wrote is compiled with checked indices: a slip must not read garbage.
    stake_of = register_jitable(boundscheck=True, forceinline=True)(_fresh(policy.stake))
    ways_of = register_jitable(boundscheck=True, forceinline=True)(_fresh(policy.luck_ways))

    def mix(row: Any, values: Any, weights: Any, start: int) -> Any:
        params = make_params(values)
        count = row[NUM_LEGAL]
        first = row[LEGAL_AT]
        for option in range(count):
            weights[start + option] = 0.0
        row[LUCK] = 0
        ways = ways_of(view_of(row), params)
        weight = 1.0 / max(1, ways)
        for luck in range(ways):
            row[LUCK] = luck
            stake = stake_of(view_of(row), params)
            option = 0
            while option < count and row[first + option] != stake:
                option += 1
            if option == count:
                return False, int(stake)
            weights[start + option] += weight
        return ways > 0, 0

    return rule(mix)


def _fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function, so that compiling it here says nothing about it elsewhere."""
    return types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


def chooser(policies: Sequence[Policy]) -> Callable[..., Any]:
    """A compiled `kernel.weigh` that asks the policy of the seat's group."""

    def no_policy(row: Any, groups: Any, params: Any, weights: Any, start: int) -> Any:
        return False, 0

    chain = rule(no_policy)
    for place in range(len(policies) - 1, -1, -1):
        chain = _link(place, mixture(policies[place]), chain)
    return chain


def _link(place: int, mix: Callable[..., Any], others: Callable[..., Any]) -> Callable[..., Any]:
    def weigh(row: Any, groups: Any, params: Any, weights: Any, start: int) -> Any:
        if groups[row[SEAT]] == place:
            return mix(row, params[place], weights, start)
        return others(row, groups, params, weights, start)

    return rule(weigh)


def kernel_for(
    seats: int, num_best: int, tie: float, policies: Sequence[Policy]
) -> Callable[..., bool]:
    """`kernel.run_level` compiled for a number of seats and a list of policies."""
    shapes = tuple(tuple(zip(p.params._fields, map(type, p.params), strict=True)) for p in policies)
    asked = tuple((p.stake, p.luck_ways) for p in policies)
    return _kernel(seats, num_best, tie, asked, shapes, _Hidden(policies))


class _Hidden:
    """An argument that a cache does not look at: equal to all others of its kind."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hidden)

    def __hash__(self) -> int:
        return 0


@cache
def _kernel(
    seats: int, num_best: int, tie: float, asked: Any, shapes: Any, hidden: _Hidden
) -> Callable[..., bool]:
    import numba
    from numba.extending import register_jitable

    functions = [function for pair in asked for function in pair]
    made_of = (sources_digest(functions), source_digest("seeds.py", "jit.py", "games/", "exact/"))
    key = f"{made_of} {numba.__version__} {sys.version} {seats} {num_best} {tie} {shapes}"
    scope: dict[str, Any] = {"__name__": kernel.__name__}
    exec(compile(inspect.getsource(kernel), str(kernel.__file__), "exec"), scope)
    scope.update(SEATS=seats, NUM_BEST=num_best, TIE=tie)
    scope.update(weigh=chooser(hidden.value), borrowed=borrowed())
    register_rules()
    for name in _TEMPLATE_FUNCTIONS:
        register_jitable(forceinline=True, error_model="numpy")(scope[name])
    with cache_folder(hashlib.blake2b(key.encode(), digest_size=12).hexdigest()) as usable:
        compiled: Callable[..., bool] = numba.njit(nogil=True, cache=usable, error_model="numpy")(
            scope["run_level"]
        )
    return compiled


def run(kernel_function: Callable[..., bool], names: Sequence[str], *arguments: Any) -> bool:
    """Call a kernel; a policy that does not compile is refused with what the compiler said.

    Raises: SpecError.
    """
    from numba.core.errors import NumbaError

    try:
        return kernel_function(*arguments)
    except NumbaError as error:
        said = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise SpecError(f"{', '.join(names)}: does not compile: {said[0]} ... {said[-1]}") from None
