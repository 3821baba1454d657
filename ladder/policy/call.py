"""How compiled code calls compiled policies; importing this imports numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


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
