"""Further attacks, written from the README and the bot API alone.

As in faulty_bots.py: a bot that gets what it must not have says so in a text, which is illegal.
"""

import atexit
import ctypes
import errno
import gc
import os
import resource
import select
import signal
import struct
import sys
import threading
import time
import weakref

from ladder.games.pasa import PasaBot

REFUSALS = (PermissionError, ValueError, RuntimeError, FileNotFoundError)


def attempts(*calls):
    """The first attempt that succeeds, as a text; None where each is refused."""
    for name, call in calls:
        try:
            got = call()
        except REFUSALS:
            continue
        except OSError as error:
            if error.errno == errno.EPERM:
                continue
            return f"{name}: {error!r}"
        return f"ESCAPED {name}: {str(got)[:60]}"
    return None


class Attacker(PasaBot):
    def stake(self, view):
        return self.attack(view) or view.least_stake


class FeignsOurFault(Attacker):
    """A match that is lost by no bot's fault is played again: so be killed, or seem to be."""

    def attack(self, view):
        me = threading.get_ident()
        signals = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
        return attempts(
            *((f"raise {n}", lambda n=n: signal.raise_signal(n)) for n in signals),
            *((f"thread {n}", lambda n=n: signal.pthread_kill(me, n)) for n in signals),
            ("timer", lambda: signal.setitimer(signal.ITIMER_REAL, 0.001)),
        )


class ExitsAsIfNotLocked(PasaBot):
    """With the codes that a child of ours would end with before a bot is loaded."""

    code: int = 78

    def stake(self, view):
        os._exit(self.code)


class RaisesItsLimits(Attacker):
    def attack(self, view):
        names = ("AS", "NOFILE", "FSIZE", "CORE", "MEMLOCK", "NPROC", "CPU", "STACK", "DATA")
        numbers = [getattr(resource, f"RLIMIT_{name}") for name in names]
        free = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        return attempts(
            *((f"limit {n}", lambda n=n: resource.setrlimit(n, free)) for n in numbers),
            *((f"prlimit {n}", lambda n=n: resource.prlimit(0, n, free)) for n in numbers),
            ("nice", lambda: os.nice(-5)),
            ("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
            ("all CPUs", lambda: os.sched_setaffinity(0, range(64))),
            ("root again", lambda: os.setuid(0)),
            ("groups", lambda: os.setgroups([0])),
        )


class WritesItsMemory(Attacker):
    """Out of its own address space, or into it by ways that go round the filter."""

    def attack(self, view):
        return attempts(
            ("own memory", lambda: open("/proc/self/mem", "r+b")),
            ("thread's memory", lambda: open(f"/proc/self/task/{os.getpid()}/mem", "rb")),
            ("memory by pid", lambda: open(f"/proc/{os.getpid()}/mem", "rb")),
            ("core pattern", lambda: open("/proc/sys/kernel/core_pattern", "w")),
            ("out of memory score", lambda: open("/proc/self/oom_score_adj", "w")),
            ("a device", lambda: open("/dev/zero", "rb")),
            ("a terminal", lambda: open("/dev/tty", "r+b")),
            ("memory file", lambda: os.memfd_create("x")),
            ("and run it", lambda: os.execve(3, ["x"], {})),
            ("shared memory", shared_memory),
            ("message queue", lambda: os.open("/dev/mqueue/x", os.O_CREAT | os.O_RDWR)),
        )


def shared_memory():
    import _posixshmem

    return _posixshmem.shm_open("/ladder", os.O_CREAT | os.O_RDWR, 0o600)


class ReadsAhead(Attacker):
    """Its next question, before it is asked; there is none."""

    def attack(self, view):
        poll = select.poll()
        poll.register(3, select.POLLIN)
        if poll.poll(20):
            return f"ESCAPED a question: {os.read(3, 100)!r}"
        return None


class TracesTheLoop(Attacker):
    """Through the frames above it: other seats' views, other matches' dice, keys."""

    def attack(self, view):
        found = []
        frame = sys._getframe()
        while frame is not None:
            found += frame.f_locals.values()
            frame = frame.f_back
        views = [v for v in (*found, *gc.get_objects()) if type(v) is type(view)]
        seats = {v.seat for v in views}
        if seats != {view.seat}:
            return f"ESCAPED views of seats {seats}"
        keys = [v for v in found if isinstance(v, bytes) and len(v) == 32]
        return f"ESCAPED a key: {keys}" if keys else None


class ChangesTheLoop(PasaBot):
    """Traces the loop that asks it, and makes every answer one that it likes."""

    def stake(self, view):
        frame = sys._getframe()
        while frame is not None:
            if "actions" in frame.f_locals:
                frame.f_locals["actions"][:] = [50] * 1000
            frame = frame.f_back
        return view.least_stake


class EvilIndex(PasaBot):
    """An integer that is another one whenever it is asked."""

    def stake(self, view):
        class Changing(int):
            asked = 0

            def __index__(self):
                Changing.asked += 1
                return 10**9 if Changing.asked > 1 else 7

            __int__ = __hash__ = __index__

            def __eq__(self, other):
                return True

        return Changing(5)


class PrintsIntoItsAnswers(PasaBot):
    def stake(self, view):
        os.dup2(4, 1)
        print("50", flush=True)
        return view.least_stake


class ClosesAndSwaps(PasaBot):
    """Questions where answers go, and the other way round."""

    def stake(self, view):
        copy = os.dup(3)
        os.dup2(4, 3)
        os.dup2(copy, 4)
        return view.least_stake


class TakesAllDescriptors(PasaBot):
    def stake(self, view):
        try:
            while True:
                os.dup(0)
        except OSError:
            return view.least_stake


class PrintsControls(PasaBot):
    """For whoever looks at what it printed."""

    def stake(self, view):
        print("\x1b]0;owned\x07\x1b[2J\u202e\x00 standings: 1. PrintsControls", flush=True)
        return view.least_stake


class ClaimsOurFault(PasaBot):
    """A forged answer with the right nonce that tells of a fault of a kind that is none of its."""

    def stake(self, view):
        frame = sys._getframe()
        while "nonce" not in frame.f_locals:
            frame = frame.f_back
        detail = b"the machine is at fault"
        for cause in range(4, 30):  # whatever number a failure of ours may have
            claim = struct.pack("<IBHH", 0, cause, len(detail), 0) + detail
            payload = bytes(8) + claim
            nonce = frame.f_locals["nonce"]
            os.write(4, struct.pack("<IBQ", len(payload), 14, nonce) + payload)
        return view.least_stake


class LeavesThingsBehind(PasaBot):
    """What runs when nobody looks: at the end of an object, of a match, of the process."""

    def __init__(self):
        atexit.register(time.sleep, 600)
        weakref.finalize(self, time.sleep, 600)
        gc.callbacks.append(lambda *_: None)
        sys.excepthook = lambda *_: time.sleep(600)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def stake(self, view):
        return view.least_stake

    def __del__(self):
        while True:
            pass


class CallsTheKernelByHand(Attacker):
    """Machine code may call what it likes; the filter asks no library."""

    def attack(self, view):
        libc = ctypes.CDLL(None, use_errno=True)
        calls = {
            "io_uring_setup": 425, "io_uring_enter": 426, "userfaultfd": 323, "keyctl": 250,
            "request_key": 249, "memfd_secret": 447, "process_vm_writev": 311, "pkey_alloc": 330,
            "clone": 56, "pidfd_send_signal": 424, "mq_open": 240, "io_setup": 206, "bpf": 321,
            "landlock_restrict_self": 446, "set_mempolicy": 238, "membarrier": 324,
            "quotactl": 179, "acct": 163, "syslog": 103, "lookup_dcookie": 212, "ustat": 136,
        }  # fmt: skip
        for name, number in calls.items():
            if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 5) >= 0:
                return f"ESCAPED {name}"
            if ctypes.get_errno() not in (1, 38):  # EPERM, ENOSYS
                return f"ESCAPED {name}: error {ctypes.get_errno()}"
        return None
