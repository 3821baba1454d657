"""Which local variable of a function may be used before it is set.

Python raises there; compiled code goes on with whatever is in the register.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

_Names = frozenset[str]


class _Unset(Exception):
    pass


def unset_name(tree: ast.FunctionDef) -> str | None:
    """The first local variable that some path reads before it is set; None: there is none."""
    local = frozenset(
        node.id for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )  # fmt: skip
    given = frozenset(argument.arg for argument in tree.args.args)
    try:
        _Flow(local - given).block(tree.body, given)
    except _Unset as found:
        return str(found)
    return None


class _Flow:
    """Follows the statements; every method gives the names set after it, None: never after it."""

    def __init__(self, local: _Names) -> None:
        self._local = local

    def block(self, statements: Sequence[ast.stmt], known: _Names) -> _Names | None:
        after: _Names | None = known
        for statement in statements:
            if after is None:
                return None
            after = self._statement(statement, after)
        return after

    def _statement(self, node: ast.stmt, known: _Names) -> _Names | None:
        if isinstance(node, ast.If):
            self._reads(node.test, known)
            return _both(self.block(node.body, known), self.block(node.orelse, known))
        if isinstance(node, ast.While):
            self._reads(node.test, known)
            self.block(node.body, known)
            return known
        if isinstance(node, ast.For):
            self._reads(node.iter, known)
            self.block(node.body, known | _stored(node.target))
            return known
        if isinstance(node, ast.AugAssign):
            self._reads(node.value, known)
            if isinstance(node.target, ast.Name):
                self._read(node.target.id, known)
            return known
        if isinstance(node, ast.Assign | ast.AnnAssign):
            if node.value is not None:
                self._reads(node.value, known)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return known.union(*(_stored(target) for target in targets))
        self._reads(node, known)
        if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
            return None
        return known

    def _reads(self, node: ast.AST, known: _Names) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                self._read(part.id, known)

    def _read(self, name: str, known: _Names) -> None:
        if name in self._local and name not in known:
            raise _Unset(name)


def _both(one: _Names | None, other: _Names | None) -> _Names | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _stored(target: ast.AST) -> _Names:
    return frozenset(
        node.id for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )  # fmt: skip
