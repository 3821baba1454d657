"""Locks the calling process down, for good, and attests from inside that it is.

Two walls that do not lean on each other: Landlock (no file but the readable ones, no TCP, no
signal or abstract socket out) and a seccomp allow list (syscalls.py: no process, thread, socket,
signal, no file opened for writing). Resource limits, dropped capabilities and a death signal
besides. Plain ctypes: neither root nor a package is needed.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ladder.isolate.syscalls import seccomp_program

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
SYS_CAPSET, SYS_SECCOMP = 126, 317
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
CAPABILITY_VERSION = 0x20080522
O_PATH = 0o10000000

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
FS_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # Landlock ABI -> how many file rights it knows
MAX_OPEN_FILES = 16

# How a path may be used: a tree or a file may be read, a folder listed (not its files read); what
# is to run may be executed too, and a sink written to.
TREE, FILE, LIST, RUN, SINK = "tree", "file", "list", "run", "sink"

_libc = ctypes.CDLL(None, use_errno=True)


class LockdownError(OSError):
    """A step of the lock-down that the kernel refused."""


@dataclass(frozen=True)
class Walls:
    """What a child is locked down with; all but `memory_bytes` is the same for every child."""

    ruleset: int  # file descriptor of a Landlock ruleset
    parent: int  # process id; when it dies, so does the child
    memory_bytes: int
    uid: int | None = None  # an unused user to become, where we are root


def syscall(number: int, *arguments: object) -> int:
    """A raw system call. Raises: LockdownError."""
    wrapped = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *wrapped))
    if result < 0:
        code = ctypes.get_errno()
        raise LockdownError(code, f"system call {number}: {os.strerror(code)}")
    return result


def die_with_parent(parent: int) -> None:
    """Ask for SIGKILL when the thread that started this process ends.

    Raises: LockdownError where the parent is gone already.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise LockdownError(0, "the parent process is gone")


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise LockdownError(code, f"prctl {option}: {os.strerror(code)}")


def landlock_abi() -> int:
    """The version of Landlock this kernel offers; 0 for none."""
    version_flag = 1
    try:
        return syscall(SYS_LANDLOCK_CREATE_RULESET, None, 0, version_flag)
    except (OSError, AttributeError):
        return 0


def make_ruleset(readable: Iterable[tuple[str, str]], abi: int) -> int:
    """A Landlock ruleset that allows what is listed as (path, TREE | FILE | LIST | RUN | SINK).

    A path that is not there is left out: what is not allowed is refused.
    """
    files = (1 << FS_RIGHTS[min(abi, max(FS_RIGHTS))]) - 1
    net = 3 if abi >= 4 else 0  # bind and connect TCP
    scoped = 3 if abi >= 6 else 0  # abstract sockets and signals
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    attributes = struct.pack("<QQQ", files, net, scoped)[:size]
    ruleset = syscall(SYS_LANDLOCK_CREATE_RULESET, attributes, size, 0)
    allowed = {
        TREE: READ_FILE | READ_DIR, FILE: READ_FILE, LIST: READ_DIR,
        RUN: READ_FILE | READ_DIR | EXECUTE, SINK: READ_FILE | WRITE_FILE,
    }  # fmt: skip
    path_beneath = 1
    for path, use in readable:
        try:
            place = os.open(path, O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rights = allowed[use] if os.path.isdir(path) else allowed[use] & ~READ_DIR
        rule = struct.pack("<Qi", rights, place)
        syscall(SYS_LANDLOCK_ADD_RULE, ruleset, path_beneath, rule, 0)
        os.close(place)
    return ruleset


def enter(walls: Walls) -> None:
    """Lock this process down; there is no way back.

    The order matters: a changed user clears the death signal, and seccomp refuses every step.
    Raises: LockdownError, OSError.
    """
    os.setsid()
    if walls.uid is not None:
        os.setgroups([])
        os.setresgid(walls.uid, walls.uid, walls.uid)
        os.setresuid(walls.uid, walls.uid, walls.uid)
    drop_capabilities()
    die_with_parent(walls.parent)
    _limit_resources(walls.memory_bytes)
    forbid_new_privileges()
    restrict_files(walls.ruleset)
    filter_calls()


def drop_capabilities() -> None:
    """Give up what root may do; with no new privileges an exec does not bring it back."""
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    syscall(SYS_CAPSET, header, bytes(24))


def _limit_resources(memory_bytes: int) -> None:
    # No RLIMIT_CPU: with it the kernel rounds the CPU clock that we judge by to 4 ms.
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_NPROC: 0,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))


def forbid_new_privileges() -> None:
    """No exec shall give more than there is; Landlock and seccomp ask for this."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def restrict_files(ruleset: int) -> None:
    """Put up the Landlock wall, and give the ruleset's descriptor away."""
    syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def filter_calls() -> None:
    """Put up the seccomp wall."""
    add_filter(seccomp_program(os.getpid()))


def add_filter(program: bytes, flags: int = 0) -> int:
    """Add a seccomp filter; with the flag that asks for one, gives its listener's descriptor."""
    steps = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(steps))
    set_mode_filter = 1
    return syscall(SYS_SECCOMP, set_mode_filter, flags, fprog)


def attest(memory_bytes: int) -> bytes:
    """One byte a wall, 1 where it holds: tries what must be refused, before any bot is loaded."""
    trials = (*TRIALS, _open_for_writing)
    holds = [is_refused(trial) for trial in trials]
    holds.append(resource.getrlimit(resource.RLIMIT_AS) == (memory_bytes, memory_bytes))
    holds.append(_holds_no_more_than_five_files())
    return bytes(holds)


ATTESTED = bytes([1] * 8)  # what `attest` gives where every wall holds


def is_refused(trial: Callable[[], None]) -> bool:
    """Whether a wall refuses what `trial` does."""
    try:
        trial()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _socket() -> None:
    import _socket

    _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM).close()


def _list_root() -> None:
    os.close(os.open("/", os.O_RDONLY | os.O_DIRECTORY))


def _open_for_writing() -> None:
    os.close(os.open("/", os.O_WRONLY))  # elsewhere EISDIR: only the filter says EPERM


def _signal_parent() -> None:
    os.kill(os.getppid(), 0)


def _undo_death_signal() -> None:
    if _libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


# What no child may do, of whatever language its bot is.
TRIALS = (_fork, _socket, _list_root, _signal_parent, _undo_death_signal)


def _holds_no_more_than_five_files() -> bool:
    for descriptor in range(5, 64):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        return False
    return True
