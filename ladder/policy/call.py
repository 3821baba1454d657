"""How compiled code calls compiled policies; importing this imports numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def read_only(typing_context: Any, array: Any) -> Any:
    """The same array, of a type that cannot be written to."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return array.copy(readonly=True)(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_policy(typing_context: Any, address: Any, row: Any, params: Any) -> Any:
    """Call the policy at an address: (address, row int64[:], params float64[:]) -> int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = context.make_array(signature.args[1])(context, builder, arguments[1])
        values = context.make_array(signature.args[2])(context, builder, arguments[2])
        word, real = ir.IntType(64), ir.DoubleType()
        kind = ir.FunctionType(word, [word.as_pointer(), word, real.as_pointer()])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        size = builder.extract_value(rows.shape, 0)
        return builder.call(function, [rows.data, size, values.data])

    return types.int64(address, row, params), generate
