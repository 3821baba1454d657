"""Whether the processes a Ray cluster lives by are still there, seen from outside of Ray.

Ray itself does not say: waiting for a task never ends once its raylet is dead, and a driver whose
GCS is dead is ended by Ray after a minute without a Python exception. Both listen on TCP ports,
and the kernel refuses a connection to a process that is gone at once, however busy the machine is.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ladder.errors import InfraError

CONNECT_S = 10.0
LOOK_S = 0.5
DEAD_S = 5.0  # for Ray to say itself that a process of its start is dead
RAYLET, GCS = "raylet", "gcs_server"  # as the programs are called

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


@contextmanager
def ended_if_held(seconds: float) -> Iterator[None]:
    """End this process, as an InfraError would, where Ray does not let go of it.

    While Ray starts or stops there is nothing of ours that could look after it: it waits for ever
    for a raylet, and for a GCS that died it waits a minute and then ends the process itself.
    """
    known = set(_children(os.getpid()))
    end = time.monotonic() + seconds
    is_over = threading.Event()

    def watch() -> None:
        dead_since = end
        while not is_over.wait(LOOK_S):
            dead = [pid for pid in _children(os.getpid()) if pid not in known and _is_dead(pid)]
            if dead:
                dead_since = min(dead_since, time.monotonic())
            if time.monotonic() > min(end, dead_since + DEAD_S):
                why = f"its {_name(dead[0])} is gone" if dead else f"it hung for {seconds:.0f} s"
                told = f"Ray is lost: {why}; what was played is stored: the same command goes on\n"
                os.write(2, told.encode())
                os._exit(InfraError.exit_code)

    watcher = threading.Thread(target=watch, name="ladder-ray-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


class Orphans:
    """Helpers of our own Ray that stay for a minute where their raylet is killed.

    They are found under /proc and held by handles, so that no other process of the same number is
    ever meant; where a system has neither, they go in their own time.
    """

    def __init__(self, starter: int | None) -> None:
        """Those of the raylet that the process `starter` started; None: none are ours."""
        children = _children(starter) if starter is not None else ()
        raylets = [pid for pid in children if _name(pid) == RAYLET]
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


def _is_dead(pid: int) -> bool:
    """Whether a vital child is dead and was not yet asked after."""
    if _name(pid) not in (RAYLET, GCS):
        return False
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "Z"
    return False
