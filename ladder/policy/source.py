"""Reads a policy's source: refuses what would compile to something else, rewrites the rest.

What is left compiles to the same function. Integers that outgrow 64 bits, bad indices and whatever
is raised end as a fault of the compiled call, and the driver plays that match again in Python.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ladder.policy.flow import unset_name


class NotCompilableError(Exception):
    """A policy that has to be played in Python, and why."""


# Checked twins of the operators whose integers grow in Python and wrap in compiled code.
CHECKED = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.LShift: "shift_left",
    ast.RShift: "shift_right",
}
TWIN = "checked_"

_BUILTINS = {"abs", "min", "max", "len", "range", "int", "float", "bool", "sum", "enumerate", "zip"}
_MATH = {"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "atan", "fabs", "pi", "e",
         "inf", "erf", "erfc", "hypot"}  # fmt: skip
_ALLOWED = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign,
    ast.For, ast.While, ast.If, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp,
    ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant, ast.Attribute,
    ast.Subscript, ast.Name, ast.Tuple, ast.Slice, ast.Raise, ast.Assert, ast.keyword,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_NAMES = {
    "Dict": "a dict", "Set": "a set", "List": "a list", "ListComp": "a list comprehension",
    "DictComp": "a dict comprehension", "SetComp": "a set comprehension",
    "GeneratorExp": "a generator expression", "Lambda": "a lambda", "Try": "try", "With": "with",
    "Global": "global", "Nonlocal": "nonlocal", "JoinedStr": "an f-string", "Delete": "del",
    "Import": "import", "ImportFrom": "import", "Match": "match", "NamedExpr": "an assignment"
    " expression", "ClassDef": "a class", "Starred": "a starred expression",
}  # fmt: skip


@dataclass
class PolicySource:
    """A policy and the functions it calls, rewritten, as the text of a module.

    `reads` are the attributes that any of them reads of anything: what of the view is needed.
    """

    entry: str
    functions: dict[str, str] = field(default_factory=dict)  # name -> source
    constants: dict[str, Any] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)  # local name -> "module:name"
    reads: set[str] = field(default_factory=set)

    def text(self) -> str:
        """All of it, called functions first."""
        lines = [f"{name} = {value!r}" for name, value in sorted(self.constants.items())]
        for name, where in sorted(self.imports.items()):
            module, _, original = where.partition(":")
            lines.append(f"from {module} import {original} as {name}")
        return "\n".join([*lines, *self.functions.values()])


def read_policy(policy: Callable[..., Any]) -> PolicySource:
    """The rewritten source of a policy. Raises: NotCompilableError."""
    source = PolicySource(policy.__name__)
    _read(policy, source, ())
    return source


def _read(function: Callable[..., Any], source: PolicySource, above: Sequence[str]) -> None:
    name = function.__name__
    if name in above:
        raise NotCompilableError(f"{name} calls itself")
    if not isinstance(function, FunctionType):
        raise NotCompilableError(f"{name} is not a plain function")
    if function.__closure__:
        raise NotCompilableError(f"{name} uses variables of a function around it")
    tree = _parse(function)
    _check_nodes(tree, name)
    if unset := unset_name(tree):
        raise NotCompilableError(f"{name}: {unset} may be used before it is set")
    local = {arg.arg for arg in tree.args.args} | {
        node.id for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            source.reads.add(node.attr)
        if isinstance(node, ast.Name) and node.id not in local:
            _resolve(node.id, function, source, (*above, name))
    rewritten = ast.fix_missing_locations(_Rewrite(name).visit(tree))
    text = ast.unparse(rewritten)
    if source.functions.setdefault(name, text) != text:
        raise NotCompilableError(f"two different functions are called {name}")


def _parse(function: FunctionType) -> ast.FunctionDef:
    try:
        lines = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(lines).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        raise NotCompilableError(f"the source of {function.__name__} is not to be had") from None
    if not isinstance(tree, ast.FunctionDef):
        raise NotCompilableError(f"{function.__name__} is not a plain function")
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs:
        raise NotCompilableError(f"{function.__name__} has optional or starred arguments")
    tree.decorator_list = []
    tree.returns = None
    for argument in arguments.args:
        argument.annotation = None
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:] or [ast.Pass()]
    return tree


def _check_nodes(tree: ast.FunctionDef, name: str) -> None:
    for node in ast.walk(tree):
        kind = type(node).__name__
        if node is not tree and isinstance(node, ast.FunctionDef):
            raise NotCompilableError(f"{name} defines a function inside")
        if not isinstance(node, _ALLOWED):
            raise NotCompilableError(f"{name} uses {_NAMES.get(kind, kind)}")
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | bool | None):
            raise NotCompilableError(f"{name} uses the constant {node.value!r}")
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and _is_wide(node.value):
            raise NotCompilableError(f"{name} uses a number beyond 64 bits")
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            raise NotCompilableError(f"{name} writes to {ast.unparse(node)}")
        if isinstance(node, ast.For | ast.While) and node.orelse:
            raise NotCompilableError(f"{name} uses a loop with else")
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            raise NotCompilableError(f"{name} uses @")


def _is_wide(value: int) -> bool:
    return not -(2**63) < value < 2**63


def _resolve(name: str, function: FunctionType, source: PolicySource, above: Sequence[str]) -> None:
    scope = function.__globals__
    if name not in scope:
        if name in ("True", "False", "None") or name in _BUILTINS:
            return
        if isinstance(getattr(builtins, name, None), type) and issubclass(
            getattr(builtins, name), Exception
        ):
            return
        what = "the builtin " if hasattr(builtins, name) else "the unknown name "
        raise NotCompilableError(f"{above[-1]} uses {what}{name}")
    value = scope[name]
    if value is math:
        source.imports[name] = "ladder.policy.checked:math"
        return
    if isinstance(value, FunctionType):
        if value.__module__.startswith("ladder."):
            source.imports[name] = f"{value.__module__}:{value.__name__}"
        else:
            _read(value, source, above)
            if value.__name__ != name:
                raise NotCompilableError(f"{above[-1]} calls {value.__name__} by another name")
        return
    if not _is_constant(value):
        raise NotCompilableError(f"{above[-1]} reads the global {name}, a {type(value).__name__}")
    if not _is_assigned_once(name, function):
        raise NotCompilableError(f"{above[-1]} reads the global {name}, which may change")
    if source.constants.setdefault(name, value) != value:
        raise NotCompilableError(f"two different globals are called {name}")


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return len(value) > 0 and all(type(v) is type(value[0]) and _is_constant(v) for v in value)
    return isinstance(value, int | float) and not (isinstance(value, int) and _is_wide(value))


def _is_assigned_once(name: str, function: FunctionType) -> bool:
    """Whether a module sets a global in one place only, never from inside a function."""
    try:
        tree = ast.parse(inspect.getsource(inspect.getmodule(function)))  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError):
        return False
    stores = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Global) and name in node.names:
            return False
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            stores += 1
        if isinstance(node, ast.ImportFrom):
            stores += sum((alias.asname or alias.name) == name for alias in node.names)
    return stores == 1


class _Rewrite(ast.NodeTransformer):
    """Puts checked twins in place of operators, and refuses calls of unknown kind."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._twin(node.op, node.left, node.right) or node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            raise NotCompilableError(f"{self._name} writes to {ast.unparse(node.target)}")
        old = ast.Name(node.target.id, ast.Load())
        value = self._twin(node.op, old, node.value) or ast.BinOp(old, node.op, node.value)
        return ast.Assign([node.target], value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        return ast.Assign([node.target], node.value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            return self._call("sub", ast.Constant(0), node.operand)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if node.keywords:
            raise NotCompilableError(f"{self._name} calls with named arguments")
        called = node.func
        if isinstance(called, ast.Attribute):
            is_math = isinstance(called.value, ast.Name) and called.value.id == "math"
            if not is_math or called.attr not in _MATH:
                raise NotCompilableError(f"{self._name} calls {ast.unparse(called)}")
        elif not isinstance(called, ast.Name):
            raise NotCompilableError(f"{self._name} calls {ast.unparse(called)}")
        elif called.id == "int":
            return self._call("int", *node.args)
        return node

    def _twin(self, operator: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr | None:
        if isinstance(operator, ast.Pow):
            exponent = right.value if isinstance(right, ast.Constant) else None
            if isinstance(exponent, float):
                return None
            if type(exponent) is not int or not 0 <= exponent <= 64:
                raise NotCompilableError(f"{self._name} uses ** with an exponent that may vary")
            product: ast.expr = ast.Constant(1)
            for _ in range(exponent):
                product = self._call("mul", product, left)
            return product
        name = CHECKED.get(type(operator))
        return self._call(name, left, right) if name else None

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(TWIN + name, ast.Load()), list(arguments), [])
