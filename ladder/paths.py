"""Files that users name: their paths, read whatever the name turns out to be, written whole.

A name may be that of a pipe nobody writes into, of a device without end, a loop of links, no name
at all: each is an OSError with its reason, and nothing waits or fills the memory. What is written
is there complete or not at all: a full disk or a kill leaves what was there before.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

MOST_MB = 64


def user_path(word: str) -> Path:
    """A path as a user writes it; a `~` of nobody here stays as it is."""
    return Path(os.path.expanduser(word))


def is_file(path: Path) -> bool:
    """Whether it is a file, and no folder, pipe or device; what cannot be a name is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def content_of(path: Path, most_mb: int = MOST_MB) -> bytes:
    """What a file holds. Raises: OSError, with a reason in `strerror` whatever is wrong."""
    try:
        with open(path, "rb", opener=_open) as file:
            content = file.read(most_mb * 2**20 + 1)
    except ValueError:  # a null byte
        raise OSError(errno.EINVAL, "not the name of a file", str(path)) from None
    if len(content) > most_mb * 2**20:
        raise OSError(errno.EFBIG, f"is larger than {most_mb} MiB", str(path))
    return content


def _open(path: str, flags: int) -> int:
    """Open a pipe without waiting for somebody to write into it: `<(command)` has one already."""
    opened = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(opened, True)
    return opened


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears complete or not at all. Raises: OSError that names the file."""
    try:
        place = path.resolve()
        if place.exists() and not place.is_file():  # a pipe or a device: /dev/stdout
            place.write_bytes(content)
            return
        waiting = place.with_name(f".{place.name}.part")
        try:
            waiting.write_bytes(content)
            waiting.replace(place)
        finally:
            waiting.unlink(missing_ok=True)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    except (RuntimeError, ValueError) as error:  # a loop of links, a null byte
        raise OSError(errno.EINVAL, f"not the name of a file ({error})", str(path)) from None
