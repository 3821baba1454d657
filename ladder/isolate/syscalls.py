"""The system calls a locked-down bot may make, as a seccomp filter (Linux on x86-64).

An allow list: whatever is not named here fails with EPERM. Where an argument decides (opening for
reading but not for writing, a signal to oneself but to nobody else), the filter looks at it.
"""

from __future__ import annotations

import errno
import signal
import struct
from collections.abc import Iterable, Sequence
from functools import cache

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant

# struct seccomp_data: nr at 0, arch at 4, args at 16, eight bytes each, low half first.
NR_AT, ARCH_AT, ARGS_AT = 0, 4, 16
X86_64 = 0xC000003E
PLACE_OF_PID = 0x5A5A5A5A  # stands for a process id until there is one

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL, NOTIFY = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000

ALLOWED = {
    "read": 0, "write": 1, "readv": 19, "writev": 20, "pread64": 17, "lseek": 8, "close": 3,
    "poll": 7, "ppoll": 271, "select": 23, "pselect6": 270, "dup": 32, "dup2": 33, "dup3": 292,
    "stat": 4, "fstat": 5, "lstat": 6, "newfstatat": 262, "statx": 332, "access": 21,
    "faccessat": 269, "faccessat2": 439, "readlink": 89, "readlinkat": 267, "getdents64": 217,
    "getcwd": 79, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "madvise": 28,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sigaltstack": 131,
    "restart_syscall": 219, "futex": 202, "set_robust_list": 273, "rseq": 334, "sched_yield": 24,
    "nanosleep": 35, "clock_nanosleep": 230, "clock_getres": 229, "gettimeofday": 96, "time": 201,
    "times": 100, "getrusage": 98, "getrlimit": 97, "sysinfo": 99, "uname": 63, "getcpu": 309,
    "sched_getaffinity": 204, "getrandom": 318, "getpid": 39, "getppid": 110, "gettid": 186,
    "getuid": 102, "geteuid": 107, "getgid": 104, "getegid": 108, "getresuid": 118,
    "getresgid": 120, "getgroups": 115, "getpgrp": 111, "getpgid": 121, "getsid": 124,
    "exit": 60, "exit_group": 231,
}  # fmt: skip

# Besides, for programs of any runtime: threads, event loops, timers of their own, and what C
# libraries and loaders do before a program's first line. `execve` is for the first line alone:
# launch.py sees to it. Which files may be opened for writing Landlock decides for them.
ALLOWED_PROGRAMS = {
    "execve": 59, "arch_prctl": 158, "set_tid_address": 218, "membarrier": 324, "mincore": 27,
    "msync": 26, "pkey_mprotect": 329, "pkey_alloc": 330, "pkey_free": 331, "get_mempolicy": 239,
    "epoll_create": 213, "epoll_create1": 291, "epoll_ctl": 233, "epoll_wait": 232,
    "epoll_pwait": 281, "epoll_pwait2": 441, "eventfd": 284, "eventfd2": 290, "pipe": 22,
    "pipe2": 293, "timerfd_create": 283, "timerfd_settime": 286, "timerfd_gettime": 287,
    "getitimer": 36, "setitimer": 38, "alarm": 37, "pause": 34, "rt_sigpending": 127,
    "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "wait4": 61, "waitid": 247, "umask": 95,
    "chdir": 80, "fchdir": 81, "statfs": 137, "fstatfs": 138, "fadvise64": 221, "pwrite64": 18,
    "preadv": 295, "pwritev": 296, "capget": 125, "getpriority": 140, "sched_getparam": 143,
    "sched_getscheduler": 145, "sched_get_priority_max": 146, "sched_get_priority_min": 147,
    "sched_getattr": 315,
}  # fmt: skip

OPEN, OPENAT, IOCTL, FCNTL, CLOCK_GETTIME, TGKILL, PRLIMIT = 2, 257, 16, 72, 228, 234, 302
CLONE3, OPENAT2 = 435, 437
CLONE, PRCTL = 56, 157
EXECS = (59, 322)  # execve, execveat

# O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_ASYNC, and the bit that marks O_TMPFILE.
WRITING = 0x1 | 0x2 | 0x40 | 0x200 | 0x400 | 0x2000 | 0x400000
TCGETS, FIOCLEX, FIONCLEX = 0x5401, 0x5451, 0x5450
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. Not F_SETFL (O_ASYNC), F_SETOWN or F_SETSIG:
# with those a pipe can be made to signal another process.
FCNTL_COMMANDS = (0, 1, 2, 3, 1030)
F_SETFL, O_ASYNC = 4, 0x2000
FIONBIO, FIONREAD = 0x5421, 0x541B
CLONE_THREAD, NEW_NAMESPACE = 0x10000, 0x7E020080
THREAD_NAMES = (15, 16, 0x53564D41)  # PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
FATAL = (9, 19, 15, 2)  # SIGKILL, SIGSTOP, SIGTERM, SIGINT: never a program's own doing
FEW_CLOCKS = 16  # larger and negative ids are the CPU clocks of other processes


def _refuse(error: int) -> Instruction:
    return (RETURN, 0, 0, REFUSE | error)


def _load(offset: int) -> Instruction:
    return (LOAD, 0, 0, offset)


_ALLOW: Instruction = (RETURN, 0, 0, ALLOW)


def _argument(index: int) -> int:
    return ARGS_AT + 8 * index


def _one_of(index: int, values: Sequence[int]) -> list[Instruction]:
    """Allow where the argument is one of `values`."""
    tests = [(JUMP_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [_load(_argument(index)), *tests, _refuse(errno.EPERM), _ALLOW]


def _rules(pid: int) -> Iterable[tuple[int, list[Instruction]]]:
    """Calls whose arguments decide, each with a block that ends in a verdict."""
    for number, index in ((OPENAT, 2), (OPEN, 1)):
        reading = [_load(_argument(index)), (JUMP_ANY_BIT, 0, 1, WRITING)]
        yield number, [*reading, _refuse(errno.EACCES), _ALLOW]
    yield FCNTL, _one_of(1, FCNTL_COMMANDS)
    yield IOCTL, _one_of(1, (TCGETS, FIOCLEX, FIONCLEX))
    clock = [_load(_argument(0)), (JUMP_AT_LEAST, 0, 1, FEW_CLOCKS)]
    yield CLOCK_GETTIME, [*clock, _refuse(errno.EPERM), _ALLOW]
    # abort() in C signals its own thread; nothing else may signal, not even itself: so a SIGKILL
    # is never a bot's own doing.
    own = [_load(_argument(0)), (JUMP_EQUAL, 0, 2, pid), _load(_argument(2))]
    aborts = (JUMP_EQUAL, 1, 0, int(signal.SIGABRT))
    yield TGKILL, [*own, aborts, _refuse(errno.EPERM), _ALLOW]
    # Reading its own limits: pid 0, no new limit (a null pointer, both halves).
    zeros = [_argument(0), _argument(2), _argument(2) + 4]
    block: list[Instruction] = []
    for i, offset in enumerate(zeros):
        block += [_load(offset), (JUMP_EQUAL, 0, 2 * (len(zeros) - 1 - i) + 1, 0)]
    yield PRLIMIT, [*block, _ALLOW, _refuse(errno.EPERM)]
    for number in (CLONE3, OPENAT2):  # C libraries then fall back to the older call
        yield number, [_refuse(errno.ENOSYS)]


def _program_rules(pid: int) -> Iterable[tuple[int, list[Instruction]]]:
    """Where programs are judged otherwise than Python bots."""
    for number, index in ((OPENAT, 2), (OPEN, 1)):
        signals = [_load(_argument(index)), (JUMP_ANY_BIT, 0, 1, O_ASYNC)]
        yield number, [*signals, _refuse(errno.EPERM), _ALLOW]
    # Threads, but no processes.
    flags = [_load(_argument(0)), (JUMP_ANY_BIT, 0, 2, CLONE_THREAD)]
    no_more = (JUMP_ANY_BIT, 1, 0, NEW_NAMESPACE)
    yield CLONE, [*flags, no_more, _ALLOW, _refuse(errno.EPERM)]
    # A pipe may be told not to block, but not to signal.
    is_setting = [_load(_argument(1)), (JUMP_EQUAL, 0, 4, F_SETFL)]
    value = [_load(_argument(2)), (JUMP_ANY_BIT, 0, 1, O_ASYNC)]
    set_flags = [*is_setting, *value, _refuse(errno.EPERM), _ALLOW]
    yield FCNTL, [*set_flags, *_one_of(1, FCNTL_COMMANDS)]
    yield IOCTL, _one_of(1, (TCGETS, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD))
    yield PRCTL, _one_of(0, THREAD_NAMES)
    # Signals to its own threads, which runtimes need to stop them.
    own = [_load(_argument(0)), (JUMP_EQUAL, 0, len(FATAL) + 2, pid), _load(_argument(2))]
    fatal = [(JUMP_EQUAL, len(FATAL) - i, 0, number) for i, number in enumerate(FATAL)]
    yield TGKILL, [*own, *fatal, _ALLOW, _refuse(errno.EPERM)]


def _verdicts(pid: int, *, is_program: bool) -> dict[int, list[Instruction]]:
    """What to do, by call number; calls that are not here are refused."""
    names = ALLOWED | ALLOWED_PROGRAMS if is_program else ALLOWED
    allowed: dict[int, list[Instruction]] = {number: [_ALLOW] for number in names.values()}
    return allowed | dict(_rules(pid)) | (dict(_program_rules(pid)) if is_program else {})


def _segments(verdicts: dict[int, list[Instruction]]) -> list[tuple[int, list[Instruction]]]:
    """The number line cut where the verdict changes: (first number, verdict)."""
    refused = [_refuse(errno.EPERM)]
    segments = [(0, verdicts.get(0, refused))]
    for number in sorted({n + step for n in verdicts for step in (0, 1)} - {0}):
        verdict = verdicts.get(number, refused)
        if verdict != segments[-1][1]:
            segments.append((number, verdict))
    return segments


def _search(segments: Sequence[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """A binary search for the segment of the loaded number.

    A list would do, but the kernel tries every call number when it takes a filter: 0.3 ms.
    """
    if len(segments) == 1:
        return segments[0][1]
    middle = len(segments) // 2
    below, above = _search(segments[:middle]), _search(segments[middle:])
    return [(JUMP_AT_LEAST, len(below), 0, segments[middle][0]), *below, *above]


@cache
def _template(*, is_program: bool) -> tuple[bytes, bytes]:
    """The filter up to the place of the process id, and from there on."""
    program = _build(_verdicts(PLACE_OF_PID, is_program=is_program))
    before, _, after = program.partition(struct.pack("<I", PLACE_OF_PID))
    return before, after


def seccomp_program(pid: int, *, is_program: bool = False) -> bytes:
    """The filter for the process `pid`, as an array of struct sock_filter."""
    before, after = _template(is_program=is_program)
    return before + struct.pack("<I", pid) + after


def exec_notifier() -> bytes:
    """A filter that asks its listener about every exec, and lets all else be."""
    tests = [(JUMP_EQUAL, len(EXECS) - i, 0, number) for i, number in enumerate(EXECS)]
    return _packed([_load(NR_AT), *tests, _ALLOW, (RETURN, 0, 0, NOTIFY)])


def _build(verdicts: dict[int, list[Instruction]]) -> bytes:
    return _packed([
        _load(ARCH_AT),
        (JUMP_EQUAL, 1, 0, X86_64),
        (RETURN, 0, 0, KILL),
        _load(NR_AT),
        *_search(_segments(verdicts)),  # x32 numbers lie above all of them
    ])  # fmt: skip


def _packed(program: Iterable[Instruction]) -> bytes:
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
