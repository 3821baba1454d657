"""Ctrl-C and SIGTERM, told apart from a bot that raises KeyboardInterrupt in our own process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_asked: list[int] = []  # the signals that asked us to stop


def is_asked() -> bool:
    """Whether somebody asked us to stop, whatever the code made of it that just ran."""
    return bool(_asked)


@contextmanager
def stoppable(*numbers: int) -> Iterator[None]:
    """Let these signals raise KeyboardInterrupt, and be remembered until they have.

    In another thread than the main one nothing changes: no signal is handled there.
    """
    before = []
    try:
        for number in numbers:
            before.append((number, signal.signal(number, _stop)))
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    except Exception as error:
        if _asked:  # a library's word for it: DuckDB says that its query was interrupted
            raise KeyboardInterrupt from error
        raise
    finally:
        _asked.clear()
        for number, handler in before:
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    _asked.append(number)
    raise KeyboardInterrupt
