"""How a zygote is started, and what its children may read: the interpreter, Ladder, numpy."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from ladder import errors
from ladder.games import GAMES
from ladder.isolate.lockdown import FILE, LIST, TREE
from ladder.isolate.probe import BWRAP_NAMESPACES

PACKAGES = ("numpy",)  # installed packages that bots may import
PRELOADED = (  # standard modules that the child's own loop or many bots use
    "ladder.isolate.child", "ladder.isolate.portrait", "_socket", "collections", "ctypes",
    "dataclasses", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools",
    "json", "linecache", "math", "random", "statistics", "time", "typing",
    *(f"ladder.games.{game}" for game in GAMES),
)  # fmt: skip
WHITELIST = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
UNUSED_UID = 60_000  # who a bot becomes where we are root
CODE = (
    "import sys; sys.path[:0] = sys.argv[3:]; from ladder.isolate.zygote import main;"
    " main(int(sys.argv[1]), int(sys.argv[2]))"
)

Readable = list[tuple[str, str]]


@dataclass(frozen=True)
class Grounds:
    """The interpreter, its import path and the readable places."""

    interpreter: str
    zygote_path: tuple[str, ...]  # beside the standard library
    child_path: tuple[str, ...]
    readable: tuple[tuple[str, str], ...]
    uid: int | None


def survey() -> Grounds:
    """The grounds of this interpreter."""
    ours = str(Path(errors.__file__).resolve().parent)
    stdlib = _stdlib_path()
    readable: Readable = [(path, TREE) for path in stdlib if os.path.isdir(path)]
    readable.append((ours, TREE))
    sites: list[str] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            site = str(Path(place).resolve().parent)
            sites.append(site)
            readable += [(site, LIST), (str(Path(place).resolve()), TREE)]
            readable.append((os.path.join(site, f"{package}.libs"), TREE))
    pydantic = importlib.util.find_spec("pydantic")  # the zygote imports it with the games
    if pydantic is not None and pydantic.origin is not None:
        sites.append(str(Path(pydantic.origin).resolve().parents[1]))
    sites = list(dict.fromkeys(sites))
    readable += [(path, TREE) for path in _library_folders()]
    readable.append(("/etc/ld.so.cache", FILE))
    return Grounds(
        interpreter=os.path.realpath(sys.executable),
        zygote_path=(os.path.dirname(ours), *sites),
        child_path=(*stdlib, *sites),
        readable=tuple(dict.fromkeys(readable)),
        uid=UNUSED_UID if os.geteuid() == 0 and _is_reachable([*stdlib, ours, *sites]) else None,
    )


def _stdlib_path() -> list[str]:
    """Where the standard library lies, its compiled modules too; not a virtual environment."""
    compiled = sysconfig.get_config_var("DESTSHARED")
    places = [os.path.dirname(os.__file__), *([compiled] if compiled else [])]
    return [str(Path(place).resolve()) for place in places]


def _library_folders() -> list[str]:
    """Where the shared libraries of this interpreter lie, those of packages left out."""
    folders = {str(sysconfig.get_config_var("LIBDIR") or "")}
    packages: tuple[str, ...] = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    if sys.prefix != sys.base_prefix:  # a virtual environment
        packages += (sys.prefix,)
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.partition("/")[1] + line.partition("/")[2]
        name = os.path.basename(path)
        if name.startswith(("libc.", "libm.", "ld-linux", "libpython")) and ".so" in name:
            folders.add(os.path.dirname(os.path.realpath(path)))
    return sorted(f for f in folders if os.path.isdir(f) and not f.startswith(packages))


def _is_reachable(paths: list[str]) -> bool:
    """Whether any user could read there: every folder on the way can be searched by all."""
    for path in paths:
        for place in (Path(path), *Path(path).parents):
            if place.exists() and not place.stat().st_mode & 0o001:
                return False
    return True


def command(
    grounds: Grounds, control_fd: int, bubblewrap: str, writable: str | None = None
) -> list[str]:
    """The command line of a zygote, in bubblewrap where its path is given."""
    parent = 0 if bubblewrap else os.getpid()
    python = [grounds.interpreter, "-s", "-P", "-B", "-S", "-c", CODE]
    call = [*python, str(control_fd), str(parent), *grounds.zygote_path]
    if not bubblewrap:
        return call
    # Of the folder that holds Ladder, only Ladder: it may be a repository with results in it.
    sites = grounds.zygote_path[1:]
    places = {path for path, _ in grounds.readable} | {grounds.interpreter, *sites}
    links: list[str] = []
    for link in ("/lib", "/lib64"):  # where programs look for their loader
        if os.path.islink(link):
            links += ["--symlink", os.readlink(link), link]
            places |= {os.path.realpath(link)} if link == "/lib64" else set()
        else:
            places.add(link)
    binds = []
    for place in sorted(place for place in places if os.path.exists(place)):
        binds += ["--ro-bind", place, place]
    binds += links
    if writable is not None and os.path.isdir(writable):
        binds += ["--bind", writable, writable]
    return [bubblewrap, *BWRAP_NAMESPACES, *binds, "--chdir", "/", *call]
