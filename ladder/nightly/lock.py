"""One night at a time on a store: a lock file that says who holds it, where, since when."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ladder.errors import InfraError
from ladder.submissions import Clock


class NightLock:
    """Held from entering to leaving.

    The kernel lets go of it when its process ends, however that ends; so what a dead process left
    in the file is history. Only another machine's entry on a shared disk has to be believed.

    Raises: InfraError naming the process that runs, its host, and since when.
    """

    def __init__(self, store: Path, clock: Clock) -> None:
        self.path = store.with_name(f"{store.name}.night")
        self.left_by = ""  # who died holding it
        self._clock = clock
        self._file = -1

    def __enter__(self) -> NightLock:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InfraError(f"{self.path}: cannot be written: {error.strerror}") from None
        held = self._read()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise InfraError(
                f"a night is being played by {_shown(held)}; try again later"
            ) from None
        held = self._read()
        if held and held.get("host") != socket.gethostname():
            os.close(self._file)
            raise InfraError(
                f"a night is being played by {_shown(held)}; if that has ended, remove {self.path}"
            )
        self.left_by = _shown(held) if held else ""
        since = self._clock().isoformat(timespec="seconds")
        entry = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        self._write(json.dumps(entry))
        return self

    def __exit__(self, *_: object) -> None:
        self._write("")
        os.close(self._file)

    def _read(self) -> dict[str, Any]:
        try:
            value = json.loads(os.pread(self._file, 4096, 0))
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def _write(self, text: str) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)


def _shown(held: dict[str, Any]) -> str:
    if not held:
        return "another process"
    since = str(held.get("since"))
    with suppress(ValueError):
        since = f"{datetime.fromisoformat(since):%Y-%m-%d %H:%M:%S}"
    return f"process {held.get('pid')} on {held.get('host')} since {since} UTC"
