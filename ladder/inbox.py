"""Submissions dropped as files into a folder: `inbox/AUTHOR/my_bot.py`.

A file holds one bot class. Comments of its own line say what else there is to say:
`# name: Bold`, `# author: anna` (instead of the folder), `# params: lead=50`. Files stay where they
are; a file that did not pass gets a text beside it that says why, and is not looked at again until
it changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ladder.bots import split_word
from ladder.check import Verdict, check_contained
from ladder.errors import SpecError
from ladder.sources import Source, bundle_of
from ladder.store import SubmissionStore
from ladder.submissions import Clock, submit, utc_now

HEADER = re.compile(r"^#\s*(name|author|params)\s*:\s*(.+?)\s*$", re.MULTILINE)
REFUSED = ".refused.txt"


@dataclass(frozen=True)
class Dropped:
    """A file in the inbox, and what it says of itself."""

    path: Path
    class_name: str
    name: str
    author: str
    params: str
    source: Source

    @property
    def word(self) -> str:
        """The bot in one word."""
        return f"{self.path}:{self.class_name}" + (f":{self.params}" if self.params else "")


def take_inbox(
    store: SubmissionStore,
    folder: Path,
    game: str,
    *,
    clock: Clock = utc_now,
    check: Callable[..., Verdict] = check_contained,
) -> list[str]:
    """Enter what is new in a folder of submissions; a line for each file that was refused.

    Raises: SpecError where the folder cannot be read.
    """
    if not folder.is_dir():
        raise SpecError(f"format.inbox: there is no such folder (got {str(folder)!r})")
    lines = []
    for path in _files(folder):
        digest = ""
        try:
            dropped = read_dropped(path, folder)
            if dropped is None or _is_known(store, dropped, game) or _is_refused(dropped):
                continue
            digest = dropped.source.digest
            entered, verdict = submit(
                store, dropped.word, name=dropped.name, author=dropped.author, game=game,
                clock=clock, check=check,
            )  # fmt: skip
            problems = [] if entered else verdict.reasons
        except SpecError as error:
            problems = list(error.problems)
        except RecursionError:
            problems = ["is nested too deeply to be read"]
        if problems:
            lines.append(f"{_printable(path.relative_to(folder))}: {problems[0].splitlines()[0]}")
            _write_refusal(path, digest, problems)
        else:
            _refusal(path).unlink(missing_ok=True)
    return lines


def _printable(path: Path) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(path))


def read_dropped(path: Path, folder: Path) -> Dropped | None:
    """What a file says of itself; None where it has no bot class. Raises: SpecError."""
    source = bundle_of(str(path))
    text = source.files[0][1].decode("utf-8")
    said = dict(HEADER.findall(text))
    classes = [
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and any(ast.unparse(base).endswith("Bot") for base in node.bases)
    ]
    if not classes:
        return None
    if len(classes) > 1:
        raise SpecError(
            f"holds {len(classes)} bots, {', '.join(classes)}: one file a bot; a class that is"
            " none for entry begins with an underscore"
        )
    inside = path.relative_to(folder).parts
    author = said.get("author") or (inside[0] if len(inside) > 1 else "")
    if not author:
        raise SpecError("names no author: put it into a folder of that name, or `# author: ...`")
    return Dropped(
        path, classes[0], said.get("name") or classes[0], author, said.get("params", ""), source
    )


def _files(folder: Path) -> Iterator[Path]:
    """Bot files of the folder and its authors' folders, by name."""
    for path in sorted([*folder.glob("*.py"), *folder.glob("*/*.py")]):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "_")) for part in parts):
            yield path


def _is_known(store: SubmissionStore, dropped: Dropped, game: str) -> bool:
    """Whether this source was submitted before, whatever became of it since."""
    wanted = split_word(f"bot:{dropped.params}")[1] if dropped.params else {}
    return any(
        (row.source_hash, row.class_name) == (dropped.source.digest, dropped.class_name)
        and all(str(dict(row.params).get(name)) == value for name, value in wanted.items())
        for row in store.submissions(game)
    )


def _refusal(path: Path) -> Path:
    return path.with_name(path.name + REFUSED)


def _is_refused(dropped: Dropped) -> bool:
    try:
        first, _, _ = _refusal(dropped.path).read_text(encoding="utf-8").partition("\n")
    except OSError:
        return False
    return first == f"source {dropped.source.digest}"


def _write_refusal(path: Path, digest: str, problems: list[str]) -> None:
    try:
        _refusal(path).write_text(
            "\n".join([f"source {digest}", *problems]) + "\n", encoding="utf-8"
        )
    except OSError:
        return  # a folder that cannot be written: the summary says it all the same
