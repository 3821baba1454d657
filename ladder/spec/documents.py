"""YAML documents as plain values, with the line each one stands on.

YAML's traps are refused or disarmed: duplicate keys are an error, `no` and `12:30` are text,
only `true` and `false` are booleans, dates stay text, a tag changes nothing, numbers are finite.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ladder.errors import SpecError
from ladder.paths import content_of

Place = tuple[str | int, ...]  # keys and list positions from the top

MOST_MB = 16
MAX_DIGITS = 100
MAX_VALUES = 2_000_000  # aliases counted as often as they are used


@dataclass(frozen=True)
class Document:
    """A parsed file: its value, and the line of every place in it."""

    path: str
    value: Any
    lines: dict[Place, int]

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest thing around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def problem(self, place: Place, message: str) -> str:
        """One readable line: `path:LINE field: message`."""
        if not self.lines:  # not from a file
            return f"{place_text(place)}{message}"
        return f"{self.path}:{self.line(place)} {place_text(place)}{message}"


def place_text(place: Place) -> str:
    """
    A place as one writes it.

    >>> place_text(("entrants", 2, "params"))
    'entrants[2].params: '
    """
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        name = part if part.isprintable() else repr(part)
        text += f".{name}" if text else name
    return f"{text}: " if text else ""


class _Loader(yaml.SafeLoader):
    """SafeLoader without YAML 1.1's surprises."""


_TAG = "tag:yaml.org,2002:"
_SCALARS = {  # what is read as which kind, and how it can begin; the rest is text
    "bool": (r"true|false", "tf"),
    "int": (r"[-+]?[0-9]+", "-+0123456789"),
    "float": (
        r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?", "-+.0123456789"
    ),
    "null": (r"~|null|", ["~", "n", ""]),
    "merge": (r"<<", "<"),
}  # fmt: skip
_KINDS = (*_SCALARS, "str", "seq", "map")
_Loader.yaml_implicit_resolvers = {}
for _kind, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def read_document(path: Path) -> Document:
    """The YAML file at `path`. Raises: SpecError with one line a problem."""
    shown = str(path)
    try:
        text = content_of(path, MOST_MB).decode("utf-8-sig")
    except FileNotFoundError:
        raise SpecError(f"{shown}: no such file") from None
    except IsADirectoryError:
        raise SpecError(f"{shown}: is a directory, not a YAML file") from None
    except UnicodeDecodeError as error:
        raise SpecError(
            f"{shown}: is not UTF-8 text (byte {error.object[error.start]:#04x}"
            f" at position {error.start})"
        ) from None
    except OSError as error:
        raise SpecError(f"{shown}: cannot be read: {error.strerror}") from None
    return parse_document(text, shown)


def parse_document(text: str, path: str) -> Document:
    """Undo YAML. Raises: SpecError with one line a problem."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise SpecError(f"{path}: is empty")
        walk = _Walk(path)
        walk.visit(node, ())
        if walk.problems:
            raise SpecError(*walk.problems)
        return Document(path, loader.construct_document(node), walk.lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        raise SpecError(f"{path}:{line} not YAML: {reason}") from None
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise SpecError(f"{path}: not YAML: {reason}") from None
    except RecursionError:
        raise SpecError(f"{path}: is nested too deeply") from None
    except ValueError as error:
        raise SpecError(f"{path}: not YAML: {error}") from None


def _scalar_problem(node: yaml.Node) -> str | None:
    """What is wrong with the tag of a node, given or found, or with the number it makes."""
    kind = str(node.tag).removeprefix(_TAG)
    if kind not in _KINDS:
        return f"has the tag !!{kind}; values here go without a tag"
    if kind not in _SCALARS or not isinstance(node, yaml.ScalarNode):
        return None
    text = str(node.value)
    if not re.fullmatch(_SCALARS[kind][0], text):
        return f"is no {kind}, as its tag says (got {text!r})"
    if kind in ("int", "float") and len(text) > MAX_DIGITS:
        return f"a number of {len(text)} digits"
    if kind == "float" and not math.isfinite(float(text)):
        return f"should be a finite number (got {text})"
    return None


# Whole numbers too: some table options go by the value of a card.
_KEY_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "merge"))


class _Walk:
    """Collects lines and duplicate keys."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: dict[Place, int] = {}
        self.problems: list[str] = []
        self._open: set[int] = set()
        self._values = 0

    def visit(self, node: yaml.Node, place: Place) -> None:
        line = node.start_mark.line + 1
        self._values += 1
        if self._values > MAX_VALUES:
            raise SpecError(f"{self.path}: holds more than {MAX_VALUES:,} values")
        self.lines.setdefault(place, line)
        if id(node) in self._open:
            self.problems.append(f"{self.path}:{line} {place_text(place)}refers to itself")
            return
        if problem := _scalar_problem(node):
            self.problems.append(f"{self.path}:{line} {place_text(place)}{problem}")
        self._open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self._visit_mapping(node, place)
        elif isinstance(node, yaml.SequenceNode):
            for position, child in enumerate(node.value):
                self.visit(child, (*place, position))
        self._open.discard(id(node))

    def _visit_mapping(self, node: yaml.MappingNode, place: Place) -> None:
        first: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in _KEY_TAGS:
                shown = (
                    f" (got {key.value or 'nothing'})" if not isinstance(key.value, list) else ""
                )
                where = f"{self.path}:{line} {place_text(place)}"
                self.problems.append(f"{where}a key must be text or a whole number{shown}")
                continue
            name = str(key.value)
            if name in first and name != "<<":
                self.problems.append(
                    f"{self.path}:{line} {place_text((*place, name))}given twice"
                    f" (first on line {first[name]})"
                )
            first.setdefault(name, line)
            self.lines[(*place, name)] = line
            self.visit(child, (*place, name))
