"""Bots of strangers who mean harm, or know no better. Each runs in a locked-down child only.

A bot that gets something it must not have returns a text that says so (which is an illegal answer);
one whose attempts are all refused plays its least stake.
"""

import ctypes
import errno
import gc
import mmap
import os
import signal
import struct
import sys
import threading
import time
from typing import ClassVar

from ladder.games.pasa import PasaBot

REFUSALS = (PermissionError, FileNotFoundError, ProcessLookupError)


def attempts(*calls):
    """The first attempt that succeeds, as a text; None where each is refused."""
    for name, call in calls:
        try:
            got = call()
        except REFUSALS:
            continue
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
                continue
            return f"{name}: {error!r}"
        return f"ESCAPED {name}: {str(got)[:60]}"
    return None


class Attacker(PasaBot):
    def attack(self, view):
        return None

    def stake(self, view):
        return self.attack(view) or view.least_stake


class Honest(PasaBot):
    def stake(self, view):
        return view.most_stake if view.lead > 0 else view.least_stake


# Ends of the process.


class OsExit(PasaBot):
    def stake(self, view):
        os._exit(0)


class SysExit(PasaBot):
    def stake(self, view):
        sys.exit(3)


class Abort(PasaBot):
    def stake(self, view):
        os.abort()


class Segfault(PasaBot):
    def stake(self, view):
        return ctypes.string_at(0)


class StackOverflow(PasaBot):
    def stake(self, view):
        sys.setrecursionlimit(10**9)
        f = lambda n: sorted([n], key=lambda m: f(m + 1))  # noqa: E731
        return f(0)


# Time.


class Loop(PasaBot):
    def stake(self, view):
        while True:
            pass


class LoopDeaf(PasaBot):
    def stake(self, view):
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                continue
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


class Sleep(PasaBot):
    def stake(self, view):
        time.sleep(600)


class StopItself(Attacker):
    def attack(self, view):
        return attempts(
            ("SIGSTOP", lambda: os.kill(os.getpid(), signal.SIGSTOP)),
            ("SIGKILL", lambda: os.kill(os.getpid(), signal.SIGKILL)),
        )


# Processes and threads.


class Processes(Attacker):
    def attack(self, view):
        import _posixsubprocess  # noqa: F401
        import subprocess

        def daemon():
            if os.fork() == 0:
                os.setsid()
                time.sleep(3)
                os._exit(0)
            return "forked"

        def multiprocess():
            import multiprocessing

            process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3,))
            process.start()
            return process.pid

        return attempts(
            ("fork", daemon),
            ("vfork", lambda: subprocess.run(["/bin/true"], check=False)),
            ("system", lambda: _must_fail(os.system("/bin/true"))),
            ("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {})),
            ("exec", lambda: os.execv("/bin/true", ["true"])),
            ("multiprocessing", multiprocess),
        )


def _must_fail(status):
    if status != 0:
        raise PermissionError
    return status


class Threads(Attacker):
    def attack(self, view):
        try:
            threading.Thread(target=time.sleep, args=(1,)).start()
        except RuntimeError:
            return None
        return "ESCAPED thread"


# Memory.


class Allocate(PasaBot):
    def stake(self, view):
        return len(bytearray(10 << 30))


class Leak(PasaBot):
    kept: ClassVar = []

    def stake(self, view):
        for _ in range(100):
            self.kept.append(bytearray(8 << 20))
        return view.least_stake


class SwallowsMemoryErrors(PasaBot):
    def stake(self, view):
        kept = []
        while True:
            try:
                kept.append(bytearray(1 << 20))
            except MemoryError:
                continue


# Files.


class Reads(Attacker):
    canary: str = ""
    repository: str = ""

    def attack(self, view):
        paths = [
            self.canary, "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/mem",
            "/proc/1/cmdline", f"/proc/{os.getppid()}/environ", f"/proc/{os.getppid()}/mem",
            "/proc/self/maps", "/dev/mem", "/dev/random", f"{self.repository}/pyproject.toml",
            f"{self.repository}/README.md", f"{self.repository}/tests/isolate/faulty_bots.py",
        ]  # fmt: skip
        folders = ["/", "/root", "/home", "/tmp", "/proc", "/etc", self.repository, "/dev/shm"]
        return attempts(
            *((path, lambda path=path: open(path, "rb").read(64)) for path in paths),
            *((folder, lambda folder=folder: os.listdir(folder)) for folder in folders),
            ("sqlite", lambda: _sqlite(self.canary)),
        )


def _sqlite(path):
    import sqlite3

    try:
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("select 1").fetchall()
    except sqlite3.Error:
        raise PermissionError from None


class Writes(Attacker):
    canary: str = ""
    repository: str = ""

    def attack(self, view):
        import ladder

        inside = os.path.dirname(ladder.__file__)
        new = [
            f"{folder}/dropped_by_a_bot"
            for folder in ("/tmp", "/dev/shm", "/var/tmp", "/", self.repository, inside)
        ]
        old = [self.canary, f"{inside}/errors.py", f"{self.repository}/pyproject.toml"]
        flags = os.O_CREAT | os.O_RDWR
        return attempts(
            *((path, lambda path=path: os.close(os.open(path, flags))) for path in new),
            *((path, lambda path=path: open(path, "ab").close()) for path in old),
            *((f"truncate {p}", lambda p=p: os.truncate(p, 0)) for p in old),
            *((f"unlink {p}", lambda p=p: os.unlink(p)) for p in old),
            *((f"rename {p}", lambda p=p: os.rename(p, p + "2")) for p in old),
            *((f"chmod {p}", lambda p=p: os.chmod(p, 0o777)) for p in old),
            *((f"utime {p}", lambda p=p: os.utime(p)) for p in old),
            *((f"link {p}", lambda p=p: os.link(p, "/tmp/linked_by_a_bot")) for p in old),
            ("symlink", lambda: os.symlink("/etc/passwd", "/tmp/linked_by_a_bot")),
            ("mkdir", lambda: os.mkdir("/tmp/made_by_a_bot")),
            ("mkdir", lambda: os.makedirs(f"{inside}/__pycache__/bot")),
            ("mkfifo", lambda: os.mkfifo("/tmp/made_by_a_bot")),
            ("tmpfile", lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR)),
            ("memfd", lambda: os.memfd_create("bot")),
            ("chdir", lambda: os.chdir("/tmp")),
            ("own pipe", lambda: os.open("/proc/self/fd/1", os.O_WRONLY)),
        )


# Network.


class Network(Attacker):
    port: int = 0
    unix: str = ""
    abstract: str = ""

    def attack(self, view):
        import socket

        def tcp():
            return socket.create_connection(("127.0.0.1", self.port), timeout=1)

        def udp():
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            return sock.sendto(b"hello", ("127.0.0.1", self.port))

        def unix(address):
            sock = socket.socket(socket.AF_UNIX)
            return sock.connect(address)

        def listen():
            sock = socket.socket()
            sock.bind(("127.0.0.1", 0))
            return sock.listen()

        return attempts(
            ("tcp", tcp),
            ("udp", udp),
            ("unix", lambda: unix(self.unix)),
            ("abstract", lambda: unix("\0" + self.abstract)),
            ("listen", listen),
            ("ipv6", lambda: socket.socket(socket.AF_INET6)),
            ("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)),
            ("socketpair", lambda: socket.socketpair()),
        )


class Environment(Attacker):
    def attack(self, view):
        allowed = {
            "PATH", "LANG", "PYTHONHASHSEED", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LC_CTYPE",
            "PWD",
        }  # fmt: skip
        extra = set(os.environ) - allowed
        return f"ESCAPED environment: {extra}" if extra else None


# Other processes.


class OtherProcesses(Attacker):
    victim: int = 0

    def attack(self, view):
        libc = ctypes.CDLL(None, use_errno=True)

        def syscall(number, *arguments):
            result = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
            if result < 0:
                raise OSError(ctypes.get_errno(), "refused")
            return result

        def owned_pipe():
            import fcntl

            fcntl.fcntl(3, fcntl.F_SETOWN, self.victim)

        def asynchronous():
            import fcntl

            fcntl.fcntl(3, fcntl.F_SETFL, os.O_ASYNC)

        def signalled():
            import fcntl

            fcntl.fcntl(3, fcntl.F_SETSIG, signal.SIGUSR1)

        def peek():
            buffer = ctypes.create_string_buffer(64)
            vector = struct.pack("<QQ", ctypes.addressof(buffer), 64)
            place = ctypes.create_string_buffer(vector, 16)
            return syscall(310, self.victim, ctypes.addressof(place), 1, id(self), 1, 0)

        victims = (self.victim, os.getppid())
        return attempts(
            *(
                (f"kill {pid}", lambda pid=pid: os.kill(pid, signal.SIGUSR1))
                for pid in (*victims, -1, 0, 1)
            ),
            *((f"killpg {pid}", lambda pid=pid: os.killpg(pid, signal.SIGUSR1)) for pid in victims),
            *((f"pidfd {pid}", lambda pid=pid: os.pidfd_open(pid)) for pid in victims),
            *((f"ptrace {pid}", lambda pid=pid: syscall(101, 16, pid, 0, 0)) for pid in victims),
            *((f"tgkill {p}", lambda p=p: syscall(234, p, p, signal.SIGABRT)) for p in victims),
            *((f"tkill {p}", lambda p=p: syscall(200, p, signal.SIGABRT)) for p in victims),
            *((f"sigqueue {p}", lambda p=p: syscall(129, p, 10, 0)) for p in victims),
            ("process_vm_readv", peek),
            ("F_SETOWN", owned_pipe),
            ("F_SETSIG", signalled),
            ("O_ASYNC", asynchronous),
            ("priority", lambda: os.setpriority(os.PRIO_PROCESS, self.victim, 19)),
            ("affinity", lambda: os.sched_setaffinity(self.victim, {0})),
            ("own affinity", lambda: os.sched_setaffinity(0, {0})),
            ("clock", lambda: time.clock_gettime((~self.victim << 3) | 2)),
            ("prlimit", lambda: syscall(302, self.victim, 7, 0, 0)),
            ("undo death signal", lambda: syscall(157, 1, 0)),
        )


class KernelCalls(Attacker):
    numbers: ClassVar = {
        "unshare": 272, "setns": 308, "mount": 165, "umount": 166, "pivot_root": 155,
        "chroot": 161, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298, "keyctl": 250,
        "add_key": 248, "memfd_create": 319, "shmget": 29, "msgget": 68, "semget": 64,
        "personality": 135, "userfaultfd": 323, "ptrace": 101, "kexec_load": 246,
        "init_module": 175, "reboot": 169, "sethostname": 170, "setuid": 105, "setgid": 106,
        "capset": 126, "iopl": 172, "ioperm": 173, "swapon": 167, "settimeofday": 164,
        "clone": 56, "clone3": 435, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322,
        "open_by_handle_at": 304, "name_to_handle_at": 303, "fanotify_init": 300,
        "inotify_init1": 294, "eventfd2": 290, "signalfd4": 289, "timerfd_create": 283,
        "epoll_create1": 291, "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440,
        "seccomp": 317, "landlock_create_ruleset": 444, "prctl": 157, "arch_prctl": 158,
        "modify_ldt": 154, "openat2": 437, "socket": 41, "socketpair": 53, "splice": 275,
        "vmsplice": 278, "tee": 276, "sendfile": 40, "copy_file_range": 326, "mknod": 133,
        "setrlimit": 160, "sched_setscheduler": 144, "setpriority": 141, "mlock": 149,
        "mlockall": 151, "kill": 62, "alarm": 37, "setitimer": 38, "timer_create": 222,
        "kcmp": 312, "x32 getpid": 0x40000027,
    }  # fmt: skip

    def attack(self, view):
        libc = ctypes.CDLL(None, use_errno=True)
        for name, number in self.numbers.items():
            result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 5)
            code = ctypes.get_errno()
            if result >= 0 or code not in (errno.EPERM, errno.ENOSYS):
                return f"ESCAPED {name}: {result} {errno.errorcode.get(code)}"
        return None


class OtherCallingConvention(PasaBot):
    """Machine code that calls the kernel as a 32-bit program: other numbers for the same calls."""

    def stake(self, view):
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        return f"ESCAPED int 0x80: {ctypes.CFUNCTYPE(ctypes.c_int)(address)()}"


# What it sends.


class PrintsMuch(PasaBot):
    def stake(self, view):
        print("x" * 300_000)
        sys.stderr.write("y" * 300_000)
        return view.least_stake


class Floods(PasaBot):
    def stake(self, view):
        while True:
            os.write(1, b"z" * 65536)


def wire(payload, kind=14, nonce=0):
    return struct.pack("<IBQ", len(payload), kind, nonce) + payload


class Writes4(PasaBot):
    """Base of those that write to the answers' pipe themselves."""

    message = b""

    def stake(self, view):
        os.write(4, self.message)
        return view.least_stake


class Garbage(Writes4):
    message = b"\xff" * 1000


class HugeLength(Writes4):
    message = struct.pack("<IBQ", 2**31, 14, 0)


class Prequeues(Writes4):
    message = b"".join(wire(struct.pack("<q", 5), nonce=n) for n in range(50))


class Pickles(Writes4):
    message = wire(b"cos\nsystem\n(S'touch /tmp/unpickled_by_host'\ntR.")


class DeepJson(Writes4):
    message = b"[" * 60_000


class FakesLoading(Writes4):
    message = wire(b"\x01", kind=13) + wire(b"", kind=15)


class KnowsTheNonce(PasaBot):
    """Finds the nonce of its question in the loop above it, and answers at length with it."""

    kind = 14
    payload = b"\0" * 100_000_000

    def stake(self, view):
        frame = sys._getframe()
        while frame is not None and "nonce" not in frame.f_locals:
            frame = frame.f_back
        message = memoryview(wire(self.payload, self.kind, frame.f_locals["nonce"]))
        while message:
            message = message[os.write(4, message) :]
        return view.least_stake


class TooShort(KnowsTheNonce):
    payload = b"\0" * 4


class BadFaults(KnowsTheNonce):
    payload = b"\0" * 8 + struct.pack("<IBHH", 7, 0, 0, 0)


class BadCause(KnowsTheNonce):
    payload = b"\0" * 8 + struct.pack("<IBHH", 0, 99, 0, 0)


class WrongKind(KnowsTheNonce):
    kind, payload = 15, b"\0" * 9


class Drips(KnowsTheNonce):
    def stake(self, view):
        frame = sys._getframe()
        while frame is not None and "nonce" not in frame.f_locals:
            frame = frame.f_back
        for byte in wire(b"\0" * 8, 14, frame.f_locals["nonce"])[:-1]:
            os.write(4, bytes([byte]))
            time.sleep(0.02)
        time.sleep(600)


class ClosesPipes(PasaBot):
    def stake(self, view):
        os.close(3)
        os.close(4)
        return view.least_stake


class ClosesPipesAndStays(PasaBot):
    def stake(self, view):
        os.close(3)
        os.close(4)
        time.sleep(600)


class NeverReads(PasaBot):
    """Answers once, then stays away from its pipe."""

    def stake(self, view):
        frame = sys._getframe()
        while frame is not None and "nonce" not in frame.f_locals:
            frame = frame.f_back
        nonce, keys = frame.f_locals["nonce"], len(frame.f_locals["keys"])
        os.write(4, wire(struct.pack("<q", view.least_stake) * keys, 14, nonce))
        time.sleep(600)


class Ponders(PasaBot):
    """As before, but computes on in its opponents' time."""

    def stake(self, view):
        frame = sys._getframe()
        while frame is not None and "nonce" not in frame.f_locals:
            frame = frame.f_back
        nonce, keys = frame.f_locals["nonce"], len(frame.f_locals["keys"])
        os.write(4, wire(struct.pack("<q", view.least_stake) * keys, 14, nonce))
        while True:
            pass


# What it returns.


class ReturnsText(PasaBot):
    def stake(self, view):
        return "ten\x1b[31m\u202e<script>"


class ReturnsFloat(PasaBot):
    def stake(self, view):
        return 10.0


class ReturnsNan(PasaBot):
    def stake(self, view):
        return float("nan")


class ReturnsTrue(PasaBot):
    def stake(self, view):
        return True


class ReturnsNone(PasaBot):
    def stake(self, view):
        return None


class ReturnsHuge(PasaBot):
    def stake(self, view):
        return 10**5000


class HostileRepr(PasaBot):
    def stake(self, view):
        class Thing:
            def __repr__(self):
                raise KeyboardInterrupt

            def __index__(self):
                raise GeneratorExit

        return Thing()


class Raises(PasaBot):
    def stake(self, view):
        secret_plan = {}
        return secret_plan["no such key"]


class RaisesAtLength(PasaBot):
    def stake(self, view):
        raise ValueError("\x00\x1b]0;title\x07" + "z" * 10_000_000)


class RaisesUnprintable(PasaBot):
    def stake(self, view):
        class Rude(BaseException):
            def __str__(self):
                raise SystemError

        raise Rude


class Interrupts(PasaBot):
    def stake(self, view):
        raise KeyboardInterrupt


class RaisesInInit(PasaBot):
    def __init__(self):
        raise ValueError("no weights")

    def stake(self, view):
        return view.least_stake


class LoopsInInit(PasaBot):
    def __init__(self):
        while True:
            pass

    def stake(self, view):
        return view.least_stake


# What it changes.


class Monkeypatches(PasaBot):
    def stake(self, view):
        import json
        import random

        from ladder.games.pasa import rules
        from ladder.isolate import protocol

        for module in (random, json, struct, rules, time):
            for name in list(vars(module)):
                if not name.startswith("__"):
                    setattr(module, name, None)
        protocol.pack_answers = lambda *_: b""
        sys.modules.clear()
        return view.least_stake


class Remembers(PasaBot):
    """Tells, in its stake, how many matches this process served before."""

    seen: ClassVar = []

    def __init__(self):
        self.seen.append(1)

    def stake(self, view):
        return len(self.seen)


class SearchesMemory(Attacker):
    """Looks for another bot's source, another seat's view, and the keys of the dice."""

    def attack(self, view):
        mark = "-".join(["SECRET", "OF", "ANOTHER", "BOT"])  # not to find itself
        for thing in gc.get_objects():
            found = [thing] if isinstance(thing, (str, bytes)) else []
            if isinstance(thing, dict):
                found = [v for v in thing.values() if isinstance(v, (str, bytes))]
            elif isinstance(thing, (list, tuple)):
                found = [v for v in thing if isinstance(v, (str, bytes))]
            for text in found:
                if mark in (text if isinstance(text, str) else text.decode("latin-1")):
                    return f"ESCAPED found {str(text)[:40]}"
        seats = {v.seat for v in gc.get_objects() if type(v) is type(view)}
        return f"ESCAPED views of seats {seats}" if len(seats) > 1 else None


class ReopensDescriptors(Attacker):
    """Its own pipes can be opened anew, which gains nothing; those of others must not be."""

    victim: int = 0

    def attack(self, view):
        open_files = []
        for number in range(5, 1024):
            try:
                os.fstat(number)
                open_files.append(number)
            except OSError:
                continue
        if open_files:
            return f"ESCAPED open descriptors {open_files}"
        calls = []
        for pid in (os.getppid(), self.victim, 1):
            calls.append((f"fds of {pid}", lambda pid=pid: os.listdir(f"/proc/{pid}/fd")))
            for n in range(16):
                path = f"/proc/{pid}/fd/{n}"
                calls.append((path, lambda path=path: os.open(path, os.O_RDONLY)))
                calls.append((path, lambda path=path: os.readlink(path)))
        return attempts(*calls, ("writes", lambda: os.open("/proc/self/fd/3", os.O_WRONLY)))
