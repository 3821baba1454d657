"""Zygotes from outside: started when first needed, kept for the life of this process."""

from __future__ import annotations

import atexit
import json
import os
import resource
import socket
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from ladder.errors import InfraError
from ladder.isolate import grounds, warm
from ladder.isolate.probe import Offer, probe, require
from ladder.isolate.process import ChildProcess, Output
from ladder.isolate.verdict import LostError
from ladder.isolate.zygote import KILL, MESSAGE, REAP, REAPED, SPAWN, SPAWNED, UP

START_S = 30.0  # interpreter start and imports, on a busy machine
REPLY_S = 10.0
MAX_MESSAGE = 64
FDS_A_CHILD = 4
FDS_KEPT_FREE = 200
MAX_IN_FLIGHT = 64  # children on their way to us; the kernel bounds descriptors in flight

_spawners: dict[int, ThreadPoolExecutor] = {}
_spawners_lock = threading.Lock()


T = TypeVar("T")


def in_lasting_thread(call: Callable[[], T]) -> T:
    """Start a process from a thread that lives as long as we do.

    A death signal fires when the *thread* that started the process ends, and we may be called
    from a short-lived one.
    """
    with _spawners_lock:
        spawner = _spawners.get(os.getpid())
        if spawner is None:
            spawner = _spawners[os.getpid()] = ThreadPoolExecutor(1, "ladder-spawner")
    return spawner.submit(call).result()


class Nursery:
    """One zygote, and the children it forks for us.

    Raises: InfraError from every method where the zygote is lost.
    """

    def __init__(self, offer: Offer, *, strict: bool, preload: tuple[str, ...], core: int | None):
        require(offer)
        found = grounds.survey()
        bubblewrap = offer.bubblewrap if strict else ""
        self.walls = f"landlock{offer.landlock_abi}+seccomp" + ("+bwrap" if bubblewrap else "")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # What is compiled for children is cached; the zygote alone gets there.
        settings = warm.settings() if any(":" in name for name in preload) else {}
        cache = settings.get("LADDER_CACHE_DIR")
        call = grounds.command(found, theirs.fileno(), bubblewrap, cache)
        self._control = ours
        self._process = in_lasting_thread(
            lambda: subprocess.Popen(
                call,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env=grounds.WHITELIST,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for us to deal with
            )
        )
        theirs.close()
        boot = {
            "preload": [*grounds.PRELOADED, *preload],
            "child_path": found.child_path,
            "readable": found.readable,
            "abi": offer.landlock_abi,
            # In bubblewrap the folders on the way are closed to other users.
            "uid": None if bubblewrap else found.uid,
            "core": core,
            "settings": settings,
        }
        self._start(json.dumps(boot).encode())

    def _start(self, boot: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(boot)
            self._process.stdin.close()
        self._control.settimeout(START_S)
        try:
            up = self._control.recv(MAX_MESSAGE)
        except OSError:
            up = b""
        self._control.settimeout(REPLY_S)
        if up != UP:
            said = self._said()
            self.close()
            raise InfraError(f"the sandbox did not start: {said or 'no reason given'}")

    def _said(self) -> str:
        """What the zygote printed last."""
        assert self._process.stderr is not None
        self._process.kill()
        with suppress(OSError):
            os.set_blocking(self._process.stderr.fileno(), False)
            text = self._process.stderr.read() or b""
            return text.decode("utf-8", "replace").strip()[-2000:]
        return ""

    def is_alive(self) -> bool:
        """Whether the zygote still runs."""
        return self._process.poll() is None

    def spawn(self, count: int, memory_mb: int, keep: Output) -> list[ChildProcess]:
        """Fork children, each locking itself down. Raises: InfraError."""
        _make_room(count * FDS_A_CHILD)
        children: list[ChildProcess] = []
        while len(children) < count:
            some = min(count - len(children), MAX_IN_FLIGHT)
            self._tell(SPAWN, some, memory_mb << 20)
            children += [self._adopt(keep) for _ in range(some)]
        return children

    def _adopt(self, keep: Output) -> ChildProcess:
        try:
            reply, files, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, FDS_A_CHILD)
        except OSError as error:
            raise InfraError(f"the sandbox gave no child: {error}") from error
        if len(reply) != SPAWNED.size or len(files) != FDS_A_CHILD:
            for descriptor in files:
                os.close(descriptor)
            raise InfraError("the sandbox gave no child: its zygote is gone")
        requests, answers, output, handle = files
        (pid,) = SPAWNED.unpack(reply)
        try:
            return ChildProcess(
                pid,
                requests=requests,
                answers=answers,
                output=output,
                handle=handle,
                reap=self._reap,
                keep=keep,
            )
        except (OSError, LostError) as error:
            for descriptor in files:
                os.close(descriptor)
            raise InfraError(f"a sandboxed child was lost at once: {error}") from error

    def _reap(self, number: int) -> tuple[int, int, int]:
        self._tell(REAP, number, 0)
        try:
            reply = self._control.recv(MAX_MESSAGE)
        except OSError as error:
            raise InfraError(f"the sandbox's zygote does not answer: {error}") from error
        if len(reply) != REAPED.size:
            raise InfraError("the sandbox's zygote is gone")
        status, cpu_us, peak_kib = REAPED.unpack(reply)
        return status, cpu_us, peak_kib

    def dismiss(self, child: ChildProcess) -> None:
        """Kill a child and have it waited for."""
        child.close()
        with suppress(InfraError):  # a zygote that is gone took its children along
            self._tell(KILL, child.number, 0)

    def _tell(self, what: bytes, number: int, value: int) -> None:
        try:
            self._control.send(MESSAGE.pack(what, number, value))
        except OSError as error:
            raise InfraError(f"the sandbox's zygote is gone: {error}") from error

    def close(self) -> None:
        """End the zygote and every child of it."""
        self._control.close()  # it kills and waits for its children, then ends
        try:
            self._process.wait(REPLY_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _make_room(descriptors: int) -> None:
    """Raise our own limit of open files, which is often 1,024, where it would not do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if descriptors > FDS_A_CHILD else 0
    wanted = used + descriptors + FDS_KEPT_FREE
    if soft < wanted:
        limit = min(max(wanted, 2 * soft), hard) if hard != resource.RLIM_INFINITY else 2 * wanted
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


class Nurseries:
    """The zygotes of this process, by what they are needed for. Not for several threads at once."""

    def __init__(self, offer: Offer | None = None, *, core: int | None = None) -> None:
        self.offer = offer if offer is not None else probe()
        self._core = core  # pin zygotes and children to this CPU
        self._open: dict[tuple[bool, tuple[str, ...]], Nursery] = {}
        atexit.register(self.close)

    def get(self, *, strict: bool, preload: tuple[str, ...] = ()) -> Nursery:
        """A live zygote with these modules imported. Raises: SpecError, InfraError."""
        key = (strict, preload)
        nursery = self._open.get(key)
        if nursery is not None and not nursery.is_alive():
            nursery.close()
            nursery = None
        if nursery is None:
            nursery = Nursery(self.offer, strict=strict, preload=preload, core=self._core)
            self._open[key] = nursery
        return nursery

    def close(self) -> None:
        """End them all."""
        while self._open:
            self._open.popitem()[1].close()
        atexit.unregister(self.close)


_shared: dict[int, Nurseries] = {}


def shared_nurseries() -> Nurseries:
    """The nurseries of this process, made when first asked for."""
    found = _shared.get(os.getpid())
    if found is None:
        found = _shared[os.getpid()] = Nurseries()
    return found
