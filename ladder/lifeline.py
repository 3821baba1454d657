"""Whether the processes a Ray cluster lives by are still there, seen from outside of Ray.

Ray itself does not say: waiting for a task never ends once its raylet is dead, and a driver whose
GCS is dead is ended by Ray after a minute without a Python exception. Both listen on TCP ports,
and the kernel refuses a connection to a process that is gone at once, however busy the machine is.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ladder.errors import InfraError

CONNECT_S = 10.0

Address = tuple[str, int]


class RayLostError(InfraError):
    """A process that a Ray cluster cannot do without is gone: all that was in flight is lost."""


class Lifeline:
    """The ports of a cluster's vital processes, by name."""

    def __init__(self, vital: dict[str, Address]) -> None:
        self._vital = vital

    def check(self) -> None:
        """Raises: RayLostError where one of the processes is gone."""
        for name, address in self._vital.items():
            try:
                knock(address)
            except (ConnectionError, TimeoutError) as error:
                raise RayLostError(f"Ray is lost: its {name} is gone ({error})") from None


def knock(address: Address) -> None:
    """Connect and hang up. Raises: OSError where nobody listens."""
    socket.create_connection(address, CONNECT_S).close()


def parse_address(word: str) -> Address | None:
    """`[ray://]host:port` as an address; None for a name of Ray's own, such as `auto`."""
    host, _, port = word.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or int(port) > 0xFFFF:
        return None
    return host.strip("[]"), int(port)


class Orphans:
    """Helpers of our own Ray that stay for a minute where their raylet is killed.

    They are found under /proc and held by handles, so that no other process of the same number is
    ever meant; where a system has neither, they go in their own time.
    """

    def __init__(self, starter: int | None) -> None:
        """Those of the raylet that the process `starter` started; None: none are ours."""
        children = _children(starter) if starter is not None else ()
        raylets = [pid for pid in children if _name(pid) == "raylet"]
        self._handles = [
            os.pidfd_open(pid)
            for raylet in raylets
            for pid in _children(raylet)
            if hasattr(os, "pidfd_open")
        ]

    def end(self) -> None:
        """Kill those that are left."""
        for handle in self._handles:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        self._handles = []


def _children(pid: int) -> Iterable[int]:
    """The children of all threads of a process."""
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, listing.read_text().split())
    return found


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
