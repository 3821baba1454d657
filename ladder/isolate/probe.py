"""What this machine offers for keeping strangers' bots apart; `ladder doctor` prints it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ladder.errors import SpecError

# Landlock 4 covers all file access and TCP; what 5 and 6 add (device ioctls, signals, abstract
# sockets) the seccomp filter refuses by itself.
MIN_LANDLOCK_ABI = 4
TRUST_OPTION = "--i-trust-these-bots"


@dataclass(frozen=True)
class Offer:
    """What one machine offers."""

    system: str
    machine: str
    kernel: str
    landlock_abi: int  # 0: none
    seccomp: bool
    pidfd: bool  # handles for processes (Linux 5.3)
    user_namespaces: bool
    bubblewrap: str  # path of a bwrap that works here, else ""
    root: bool

    @property
    def missing(self) -> tuple[str, ...]:
        """What keeps untrusted bots from being run here; empty where they can be."""
        if self.system != "Linux":
            return (f"the sandbox needs Linux, this is {self.system}",)
        if self.machine != "x86_64":
            return (f"the sandbox knows the system calls of x86-64 only, this is {self.machine}",)
        problems = []
        if self.landlock_abi < MIN_LANDLOCK_ABI:
            found = f"version {self.landlock_abi}" if self.landlock_abi else "none"
            problems.append(
                f"Landlock version {MIN_LANDLOCK_ABI} or later is needed, there is {found}"
                f" (kernel {self.kernel}; Linux 6.7 or later, with landlock in its lsm= list)"
            )
        if not self.seccomp:
            problems.append("seccomp filters are not available")
        if not self.pidfd:
            problems.append("process handles (pidfd, Linux 5.3) are not available")
        return tuple(problems)

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers that can be had here."""
        return ("trusted",) if self.missing else ("trusted", "sandbox", "strict")

    @property
    def walls(self) -> str:
        """The walls of a strict child in one word, for the row of a run."""
        if self.missing:
            return "none"
        return f"landlock{self.landlock_abi}+seccomp" + ("+bwrap" if self.bubblewrap else "")


def probe() -> Offer:
    """Look at this machine."""
    system, machine = platform.system(), platform.machine()
    can = system == "Linux" and machine == "x86_64"
    return Offer(
        system=system,
        machine=machine,
        kernel=platform.release(),
        landlock_abi=_landlock_abi() if can else 0,
        seccomp=can and _has_seccomp(),
        pidfd=can and hasattr(os, "pidfd_open") and hasattr(time, "clock_gettime"),
        user_namespaces=can and _has_user_namespaces(),
        bubblewrap=bubblewrap() if can else "",
        root=hasattr(os, "geteuid") and os.geteuid() == 0,
    )


def require(offer: Offer) -> None:
    """Refuse where untrusted bots cannot be contained. Raises: SpecError saying what to do."""
    if offer.missing:
        raise SpecError(
            "untrusted bots cannot be run on this machine: " + "; ".join(offer.missing),
            "run them on Linux x86-64 as above, or, if you know who wrote them and would run their"
            f" code as your own, say {TRUST_OPTION}; `ladder doctor` shows what is there",
        )


def _landlock_abi() -> int:
    from ladder.isolate.lockdown import landlock_abi

    return landlock_abi()


def _has_seccomp() -> bool:
    try:
        actions = Path("/proc/sys/kernel/seccomp/actions_avail").read_text().split()
    except OSError:
        return False
    return {"errno", "allow", "kill_process"} <= set(actions)


def _has_user_namespaces() -> bool:
    def number(path: str, default: int) -> int:
        try:
            return int(Path(path).read_text())
        except (OSError, ValueError):
            return default

    allowed = number("/proc/sys/kernel/unprivileged_userns_clone", 1)
    restricted = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0)
    return number("/proc/sys/user/max_user_namespaces", 0) > 0 and allowed == 1 and not restricted


@cache
def bubblewrap() -> str:
    """The path of a bubblewrap that can make its namespaces here, else ""."""
    found = shutil.which("bwrap")
    if found is None:
        return ""
    trial = [found, *BWRAP_NAMESPACES, "--ro-bind", "/", "/", sys.executable, "-S", "-c", ""]
    try:
        subprocess.run(trial, check=True, timeout=10, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found


BWRAP_NAMESPACES = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
