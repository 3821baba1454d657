"""Arithmetic of compiled policies that raises where Python's integers would outgrow 64 bits.

Importing this imports numba. Every name `checked_x` stands for the operator x; on anything but
two integers it is that operator.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = [
    "checked_add",
    "checked_int",
    "checked_mul",
    "checked_shift_left",
    "checked_shift_right",
    "checked_sub",
    "math",
]


def checked_add(a: Any, b: Any) -> Any:
    """A sum."""
    return a + b


def checked_sub(a: Any, b: Any) -> Any:
    """A difference."""
    return a - b


def checked_mul(a: Any, b: Any) -> Any:
    """A product."""
    return a * b


def checked_shift_left(a: Any, b: Any) -> Any:
    """A number shifted up."""
    return a << b


def checked_shift_right(a: Any, b: Any) -> Any:
    """A number shifted down."""
    return a >> b


def checked_int(a: Any) -> Any:
    """A number without its fraction."""
    return int(a)


def _with_overflow(name: str) -> Any:
    """An LLVM operation on two int64 that also says whether the result did not fit."""

    @intrinsic  # type: ignore[untyped-decorator]
    def operation(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            wide = [
                context.cast(builder, value, given, types.int64)
                for value, given in zip(arguments, signature.args, strict=True)
            ]
            word = ir.IntType(64)
            pair = ir.LiteralStructType([word, ir.IntType(1)])
            kind = ir.FunctionType(pair, [word, word])
            function = cgutils.get_or_insert_function(
                builder.module, kind, f"llvm.{name}.with.overflow.i64"
            )
            both = builder.call(function, wide)
            parts = [builder.extract_value(both, 0), builder.extract_value(both, 1)]
            return context.make_tuple(builder, signature.return_type, parts)

        return types.Tuple([types.int64, types.boolean])(a, b), generate

    return operation


_add, _sub, _mul = _with_overflow("sadd"), _with_overflow("ssub"), _with_overflow("smul")


def _are_integers(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Integer | types.Boolean) for kind in kinds)


@overload(checked_add, strict=False)  # type: ignore[untyped-decorator]
def _overload_add(a: Any, b: Any) -> Any:
    if not _are_integers(a, b):
        return lambda a, b: a + b

    def add(a: Any, b: Any) -> Any:
        result, is_wide = _add(a, b)
        if is_wide:
            raise OverflowError
        return result

    return add


@overload(checked_sub, strict=False)  # type: ignore[untyped-decorator]
def _overload_sub(a: Any, b: Any) -> Any:
    if not _are_integers(a, b):
        return lambda a, b: a - b

    def sub(a: Any, b: Any) -> Any:
        result, is_wide = _sub(a, b)
        if is_wide:
            raise OverflowError
        return result

    return sub


@overload(checked_mul, strict=False)  # type: ignore[untyped-decorator]
def _overload_mul(a: Any, b: Any) -> Any:
    if not _are_integers(a, b):
        return lambda a, b: a * b

    def mul(a: Any, b: Any) -> Any:
        result, is_wide = _mul(a, b)
        if is_wide:
            raise OverflowError
        return result

    return mul


@overload(checked_shift_left, strict=False)  # type: ignore[untyped-decorator]
def _overload_shift_left(a: Any, b: Any) -> Any:
    def shift(a: Any, b: Any) -> Any:
        if b < 0 or b > 62:
            raise OverflowError
        result, is_wide = _mul(a, 1 << b)
        if is_wide:
            raise OverflowError
        return result

    return shift if _are_integers(a, b) else None


@overload(checked_shift_right, strict=False)  # type: ignore[untyped-decorator]
def _overload_shift_right(a: Any, b: Any) -> Any:
    def shift(a: Any, b: Any) -> Any:
        if b < 0 or b > 63:
            raise OverflowError
        return a >> b

    return shift if _are_integers(a, b) else None


@overload(checked_int, strict=False)  # type: ignore[untyped-decorator]
def _overload_int(a: Any) -> Any:
    if _are_integers(a):
        return lambda a: a * 1

    def whole(a: Any) -> Any:
        if not -9e18 < a < 9e18:
            raise OverflowError
        return int(a)

    return whole if isinstance(a, types.Float) else None
