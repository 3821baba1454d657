"""How compiled code calls compiled policies; importing this imports numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj


@intrinsic  # type: ignore[untyped-decorator]
def read_only(typing_context: Any, array: Any) -> Any:
    """The same array, of a type that cannot be written to."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return array.copy(readonly=True)(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Any, array: Any) -> Any:
    """The same array without its owner, whom the caller keeps alive.

    Arrays that go in and out of rules, and slices, count references: two locked instructions.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lent = arrayobj.make_array(array)(context, builder, arguments[0])
        lent.meminfo = cgutils.get_null_value(lent.meminfo.type)
        lent.parent = cgutils.get_null_value(lent.parent.type)
        return lent._getvalue()

    return array(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_policy(typing_context: Any, address: Any, row: Any, params: Any) -> Any:
    """Call the policy at an address: (address, row int64[:], params float64[:]) -> int64."""

    entry = types.int64(types.CPointer(types.int64), types.int64, types.CPointer(types.float64))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = context.make_array(signature.args[1])(context, builder, arguments[1])
        values = context.make_array(signature.args[2])(context, builder, arguments[2])
        kind = context.call_conv.get_function_type(entry.return_type, entry.args)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        answer = cgutils.alloca_once(builder, ir.IntType(64))
        raised = cgutils.alloca_once_value(builder, kind.args[1].pointee(None))
        size = builder.extract_value(rows.shape, 0)
        builder.call(function, [answer, raised, rows.data, size, values.data])
        return builder.load(answer)

    return types.int64(address, row, params), generate
