"""Arrays lent to compiled code; importing this imports numba."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Any, value: Any) -> Any:
    """An array, or a named tuple with arrays in it, that counts no references.

    A reference counted costs a locked instruction; the solver would spend most of its time on them.
    Whoever calls compiled code keeps the arrays alive.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _lend(context, builder, signature.return_type, arguments[0])

    return value(value), build


def _lend(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseNamedTuple):
        for i, field in enumerate(kind):
            part = _lend(context, builder, field, builder.extract_value(value, i))
            value = builder.insert_value(value, part, i)
    elif isinstance(kind, types.Array):
        made = arrayobj.make_array(kind)(context, builder, value)
        made.meminfo = cgutils.get_null_value(made.meminfo.type)
        made.parent = cgutils.get_null_value(made.parent.type)
        return made._getvalue()
    return value
