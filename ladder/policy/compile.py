"""Compiles policies, each once, to functions that the playout calls by address.

The compiled function takes a pointer to the row a bot sees, its length, and a pointer to the
params as float64; it builds the view inside, and returns the action, or FAULT where the policy
raised. Params are passed, not baked in: every value of a param shares one function.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ladder.games import Game, get_game
from ladder.games.bot import Bot, param_types, policy_of
from ladder.jit import cache_folder, cache_path, register_rules, source_digest
from ladder.policy.source import NotCompilableError, PolicySource, read_policy

FAULT = -(2**62)
MAX_PARAM = 2**53  # ints up to here are exact as float64


@dataclass(frozen=True)
class CompiledPolicy:
    """A policy in machine code. `keep` holds what must stay alive while it is called."""

    address: int
    reads_luck: bool
    keep: Any = field(compare=False)


def compile_bot(game_name: str, bot: type[Bot]) -> dict[int, CompiledPolicy]:
    """Every decision of a bot, compiled, by kind. Raises: NotCompilableError with the reason."""
    game = get_game(game_name)
    fields = tuple(param_types(bot).items())
    for name, kind in fields:
        if kind is str:
            raise NotCompilableError(f"param {name} is text")
    return {
        kind: compile_policy(game_name, _policy(bot, method), fields)
        for kind, method in game.decisions.items()
    }


def param_row(params: dict[str, Any]) -> list[float]:
    """A bot's params as compiled policies take them. Raises: NotCompilableError."""
    for name, value in params.items():
        if not isinstance(value, int | float) or abs(value) > MAX_PARAM:
            raise NotCompilableError(f"param {name} is not a number up to 2**53")
    return [float(value) for value in params.values()]


def _policy(bot: type[Bot], method: str) -> Any:
    policy = policy_of(bot, method)
    if policy is None:
        raise NotCompilableError(f"{method} is a method that may remember, not a static policy")
    return policy


@cache
def compile_policy(
    game_name: str, policy: Any, fields: tuple[tuple[str, type], ...]
) -> CompiledPolicy:
    """A policy function, compiled or read from the cache. Raises: NotCompilableError."""
    source = read_policy(policy)
    game = get_game(game_name)
    reads = tuple(name for name in game.view.attributes() if name in source.reads)
    text = _module_text(source, game, reads, fields)
    digest = hashlib.blake2b(digest_size=12)
    digest.update(text.encode())
    sources = ("policy/", "jit.py", "rows.py", f"games/{game_name}/", "games/view.py")
    digest.update(source_digest(*sources).encode())
    register_rules()
    with cache_folder(f"policies/{digest.hexdigest()}") as usable:
        folder = cache_path(f"policies/{digest.hexdigest()}")
        refusal = folder / "refused"
        if usable and refusal.exists():
            raise NotCompilableError(refusal.read_text(encoding="utf-8"))
        try:
            compiled = _compile(text, source.entry, folder if usable else None, digest.hexdigest())
        except NotCompilableError as error:
            if usable:
                refusal.write_text(str(error), encoding="utf-8")
            raise
    # Numba's own entry, which `call_policy` knows how to call; the shell for C costs a call more.
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return CompiledPolicy(address, "luck" in reads, compiled)


def _module_text(
    source: PolicySource, game: Game, reads: Sequence[str], fields: Sequence[tuple[str, type]]
) -> str:
    """The module that is compiled: the policy's functions and the wrapper around them."""
    params = []
    for number, (_, kind) in enumerate(fields):
        value = f"params[{number}]"
        params.append({int: f"int({value})", bool: f"{value} != 0.0", float: value}[kind])
    names = tuple(name for name, _ in fields)
    view = game.view
    return f'''\
"""Made by Ladder from the source of a policy; do not edit."""
from collections import namedtuple
from numba import carray, njit
from ladder.games.view import seen
from ladder.policy.checked import *
from ladder.rows import read_only
from {view.__module__} import {view.__name__} as ViewClass
Params = namedtuple("Params", {names!r})
see = seen(ViewClass, {tuple(reads)!r})
{source.text()}
{"".join(f"{name} = njit(boundscheck=True)({name}){chr(10)}" for name in source.functions)}
def wrapper(row_pointer, size, params_pointer):
    row = read_only(carray(row_pointer, (size,)))
    params = carray(params_pointer, ({max(1, len(fields))},))
    try:
        action = {source.entry}(see(row), Params({", ".join(params)}))
    except Exception:
        action = {FAULT}
    return action
'''


def _compile(text: str, entry: str, folder: Path | None, digest: str) -> Any:
    import numba
    from numba import types

    module = _module(text, folder, digest)
    register_rules()
    try:
        signature = types.int64(
            types.CPointer(types.int64), types.int64, types.CPointer(types.float64)
        )
        function = numba.njit(
            [signature], cache=folder is not None, no_cpython_wrapper=True, no_cfunc_wrapper=True
        )(module.wrapper)
        _check_result(getattr(module, entry))
        return function.overloads[signature.args]
    except numba.core.errors.NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        shown = next((line for line in lines if "Error" not in line and "step" not in line), "?")
        raise NotCompilableError(f"numba refuses it: {shown[:200]}") from None


def _check_result(entry: Any) -> None:
    """Refuse a policy that returns anything but an integer: compiled, it would be cut to one.

    What comes from the cache was compiled, and passed, in another process.
    """
    from numba import types

    for overload in entry.overloads.values():
        result = overload.signature.return_type
        if not isinstance(result, types.Integer) or result == types.uint64:
            raise NotCompilableError(f"it returns {result}, not an integer")


def _module(text: str, folder: Path | None, digest: str) -> ModuleType:
    name = f"ladder_policy_{digest}"
    if folder is None:
        module = ModuleType(name)
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
        return module
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        waiting = path.with_suffix(f".{id(text)}.tmp")
        waiting.write_text(text, encoding="utf-8")
        waiting.replace(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
