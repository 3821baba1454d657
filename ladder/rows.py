"""Rows as compiled code works on them; importing this imports numba.

A row is a 1-d array that is lent: whoever calls keeps it alive, so no references are counted (two
locked instructions at each slice), and it is never indexed from its end (numba turns every index
that may be negative; at Pasa that took a seventh of the time). Where compiled rules are checked,
an index below zero is out of bounds like one above. Slices of a row are ordinary arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, lower_builtin, register_model
from numba.np import arrayobj


class RowType(types.Array):  # type: ignore[misc]
    """The type of a row; as an array's, but for what happens at an index."""

    def __init__(self, dtype: Any, readonly: bool) -> None:
        super().__init__(dtype, 1, "C", readonly, name=f"row({dtype}, readonly={readonly})")


register_model(RowType)(models.ArrayModel)


def _without_owner(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
    lent = arrayobj.make_array(array_type)(context, builder, value)
    lent.meminfo = cgutils.get_null_value(lent.meminfo.type)
    lent.parent = cgutils.get_null_value(lent.parent.type)
    return lent._getvalue()


def _lend_row(readonly: bool | None) -> Any:
    def lend(typing_context: Any, array: Any) -> Any:
        row_type = RowType(array.dtype, not array.mutable if readonly is None else readonly)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _without_owner(context, builder, row_type, arguments[0])

        return row_type(array), build

    return lend


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Any, value: Any) -> Any:
    """An array of any shape, or a named tuple with arrays in it, lent but indexed as ever."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _lend(context, builder, signature.return_type, arguments[0])

    return value(value), build


def _lend(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseNamedTuple):
        for i, field in enumerate(kind):
            part = _lend(context, builder, field, builder.extract_value(value, i))
            value = builder.insert_value(value, part, i)
    elif isinstance(kind, types.Array):
        return _without_owner(context, builder, kind, value)
    return value


row = intrinsic(_lend_row(None))  # (contiguous 1-d array) -> the same as a row
read_only = intrinsic(_lend_row(True))  # the same as a row that cannot be written to


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    row_type, index_type = signature.args[:2]
    array = arrayobj.make_array(row_type)(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], index_type, types.intp)
    if context.enable_boundscheck:
        size = builder.extract_value(array.shape, 0)
        cgutils.do_boundscheck(context, builder, index, size)
    return builder.gep(array.data, [index])


@lower_builtin(operator.getitem, RowType, types.Integer)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.load(_place(context, builder, signature, arguments))


@lower_builtin(operator.setitem, RowType, types.Integer, types.Any)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    row_type, _, value_type = signature.args
    place = _place(context, builder, signature, arguments)
    builder.store(context.cast(builder, arguments[2], value_type, row_type.dtype), place)
    return context.get_dummy_value()
