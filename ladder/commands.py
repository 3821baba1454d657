"""Bots that are programs: the command of one, the files it is made of, and how it travels.

A word of the command that names a file here is part of the bot: its content goes into the version,
the store and the other processes, and there the word stands for the unpacked file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ladder.errors import BotLoadError
from ladder.games import get_game
from ladder.games.bot import Bot
from ladder.isolate.portrait import Portrait
from ladder.paths import MOST_MB, content_of, is_file, user_path
from ladder.sources import Source, unpacked

OWN_FILE = "(command).json"  # the first file of such a bot's source, no name of a Python file
CLASS_NAME = "Program"


def is_program(source: Source) -> bool:
    """Whether a source is a command with its files."""
    return source.files[0][0] == OWN_FILE


def read_command(command: Sequence[str], files: Sequence[str]) -> Source:
    """A command and its files as a source. Raises: BotLoadError."""
    if not command or not all(isinstance(word, str) and word for word in command):
        raise BotLoadError("command: is a list of words, the program first")
    if bad := [word for word in (*command, *files) if "\0" in word]:
        raise BotLoadError(f"command: no word of a command holds a null byte (got {bad[0]!r})")
    contents: dict[str, bytes] = {}
    words: list[Any] = []
    for number, word in enumerate(command):
        path = user_path(word)
        if is_file(path) and (number or "/" in word):
            words.append({"file": _add(contents, path)})
        else:
            words.append(word)
    for word in files:
        path = user_path(word)
        if not is_file(path):
            raise BotLoadError(f"files: {word}: no such file")
        _add(contents, path)
    own = json.dumps({"command": words}, sort_keys=True).encode()
    return Source(OWN_FILE, ((OWN_FILE, own), *sorted(contents.items())))


def _add(contents: dict[str, bytes], path: Path) -> str:
    """Take a file in under a relative name of its own; gives the name."""
    is_inside = not path.is_absolute() and ".." not in path.parts
    name = PurePosixPath(path).as_posix() if is_inside else path.name
    try:
        content = content_of(path)
    except OSError as error:
        raise BotLoadError(f"{path}: cannot be read: {error.strerror}") from None
    if contents.get(name, content) != content:
        raise BotLoadError(f"{path}: two files of one bot are called {name}")
    contents[name] = content
    if sum(map(len, contents.values())) > MOST_MB * 2**20:
        raise BotLoadError(f"{path}: a bot's files are at most {MOST_MB} MiB together")
    return name


def command_of(source: Source) -> tuple[tuple[str, ...], str]:
    """The words of a command on this machine, and the folder that its files are unpacked in."""
    folder = Path(unpacked(source))
    for name, _ in source.files[1:]:
        folder.joinpath(*PurePosixPath(name).parts).chmod(0o755)
    words = json.loads(source.files[0][1])["command"]
    return tuple(
        word if isinstance(word, str) else str(folder.joinpath(*PurePosixPath(word["file"]).parts))
        for word in words
    ), str(folder)


def require_program(source: Source) -> None:
    """Refuse a command whose first word is neither a file of its own nor found on this machine.

    Raises: BotLoadError.
    """
    first = json.loads(source.files[0][1])["command"][0]
    if isinstance(first, str) and shutil.which(first) is None:
        raise BotLoadError(f"command: {first}: no such program on this machine")


def program_of(source: Source, game: str) -> type[Bot]:
    """The bot class that stands for a trusted program."""
    methods = dict.fromkeys(get_game(game).decisions.values(), _is_asked_elsewhere)
    about = {"__doc__": _about(source)}
    return type(CLASS_NAME, (get_game(game).bot,), {**methods, **about})


def portrait_of_program(source: Source, game: str) -> Portrait:
    """What is known of a program that is not trusted: it is not started for it."""
    return Portrait("bot", CLASS_NAME, game=game, about=_about(source))


def _about(source: Source) -> str:
    words = json.loads(source.files[0][1])["command"]
    return f"The program {' '.join(w if isinstance(w, str) else w['file'] for w in words)}."


def _is_asked_elsewhere(self: Any, view: Any) -> int:
    """In place of a decision: a method, so that nobody takes it for a policy to compile."""
    raise NotImplementedError("a program decides in its own process")
