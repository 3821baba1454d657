"""What this machine offers, looked at and tried: what `ladder doctor` prints."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ladder.errors import LadderError
from ladder.execute import seconds_to_start_ray
from ladder.isolate.probe import MIN_LANDLOCK_ABI, Offer, probe
from ladder.isolate.verdict import Bundle
from ladder.store import Store

PACKAGES = ("duckdb", "numba", "numpy", "pyarrow", "pydantic", "ray", "trueskill")
LEAST_SHM_MB, LEAST_DISK_MB = 64, 500
TRIAL = Bundle("ladder_bot", (("trial.py", b"from ladder.games.pasa import PasaBot as Trial\n"),),
               "Trial")  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    is_good: bool
    value: str


def examine(db: Path, *, starts_ray: bool) -> Iterator[Finding]:
    """Everything, each as soon as it is known."""
    yield from _versions()
    offer = probe()
    yield from _walls(offer)
    yield Finding("tiers", not offer.missing, ", ".join(offer.tiers))
    yield _sandbox(offer)
    yield from _room(db)
    yield _store(db)
    yield _ray(starts_ray=starts_ray)


def _versions() -> Iterator[Finding]:
    yield Finding("python", True, platform.python_version())
    for package in ("pasa-ladder", *PACKAGES):
        try:
            yield Finding(package, True, version(package))
        except PackageNotFoundError:
            # Ladder itself may be run from its folder.
            yield Finding(package, package == "pasa-ladder", "not installed")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("cores", True, f"{cores} ({platform.machine()})")


def _walls(offer: Offer) -> Iterator[Finding]:
    yield Finding("kernel", offer.system == "Linux", f"{offer.system} {offer.kernel}")
    abi = offer.landlock_abi
    wanted = "" if abi >= MIN_LANDLOCK_ABI else f" (the sandbox needs {MIN_LANDLOCK_ABI})"
    found = f"version {abi}" if abi else "none"
    yield Finding("landlock", abi >= MIN_LANDLOCK_ABI, f"{found}{wanted}")
    yield Finding("seccomp", offer.seccomp, "yes" if offer.seccomp else "no")
    yield Finding("pidfd", offer.pidfd, "yes" if offer.pidfd else "no")
    spaces = "yes" if offer.user_namespaces else "no (only bubblewrap would use them)"
    yield Finding("user namespaces", True, spaces)
    bubblewrap = offer.bubblewrap or "none that works; strict does without"
    yield Finding("bubblewrap", True, bubblewrap)


def _sandbox(offer: Offer) -> Finding:
    """A bot described by a child that has attested its walls."""
    if offer.missing:
        return Finding("sandbox", False, "; ".join(offer.missing))
    from ladder.isolate.describe import describe
    from ladder.isolate.nursery import shared_nurseries

    begun = time.monotonic()
    try:
        describe(TRIAL, "trial", shared_nurseries())
        first = time.monotonic()
        describe(TRIAL, "trial", shared_nurseries())
    except LadderError as error:
        return Finding("sandbox", False, str(error).splitlines()[0])
    again = (time.monotonic() - first) * 1e3
    return Finding(
        "sandbox",
        True,
        f"{offer.walls}; a child is locked down and attests it in {again:.0f} ms"
        f" (the first in {(first - begun) * 1e3:.0f} ms)",
    )


def _room(db: Path) -> Iterator[Finding]:
    shm = Path("/dev/shm")
    if shm.is_dir():
        yield _free("shared memory", shm, LEAST_SHM_MB)
    folder = next(place for place in (db.absolute().parent, *db.absolute().parents)
                  if place.is_dir())  # fmt: skip
    yield _free("disk", folder, LEAST_DISK_MB)


def _free(name: str, place: Path, least_mb: int) -> Finding:
    try:
        free_mb = shutil.disk_usage(place).free >> 20
    except OSError as error:
        return Finding(name, False, f"{place}: {error.strerror}")
    short = "" if free_mb >= least_mb else f", {least_mb:,} MB is the least"
    return Finding(name, free_mb >= least_mb, f"{free_mb:,} MB free at {place}{short}")


def _store(db: Path) -> Finding:
    if not db.exists():
        folder = next(place for place in db.absolute().parents if place.is_dir())
        is_writable = os.access(folder, os.W_OK)
        told = "is made by the first run" if is_writable else f"{folder} cannot be written to"
        return Finding("store", is_writable, f"{db}: not there yet; {told}")
    if not (os.access(db, os.W_OK) and os.access(db.absolute().parent, os.W_OK)):
        return Finding("store", False, f"{db}: cannot be written to")
    try:
        [(runs,)] = Store(db).query("SELECT count(*) FROM runs")
    except LadderError as error:
        return Finding("store", False, str(error).splitlines()[0])
    return Finding("store", True, f"{db}: {runs} runs, {db.stat().st_size >> 20} MB, not locked")


def _ray(*, starts_ray: bool) -> Finding:
    if not starts_ray:
        return Finding("ray starts", True, "not tried")
    return _tried("ray starts", lambda: f"yes, in {seconds_to_start_ray():.1f} s")


def _tried(name: str, trial: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, trial())
    except LadderError as error:
        return Finding(name, False, str(error).splitlines()[0])
