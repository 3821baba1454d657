"""Canaries that no bot may touch, and bots to play against them."""

import hashlib
import os
import platform
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

LINUX = sys.platform == "linux" and platform.machine() == "x86_64"
if not LINUX:
    collect_ignore_glob = ["test_*.py"]  # the sandbox needs Linux on x86-64

import numpy as np  # noqa: E402

from ladder.games import get_game  # noqa: E402
from ladder.isolate.nursery import Nurseries  # noqa: E402
from ladder.isolate.player import IsolatedPlayer  # noqa: E402
from ladder.isolate.probe import probe  # noqa: E402
from ladder.isolate.verdict import Bundle, Limits  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = (Path(__file__).parent / "faulty_bots.py").read_bytes()
SECRET = "canary-" + "5a1c93f0e7"
STAKE = 2
FAST = Limits(decision_ms=60, wall_ms=250, start_ms=1500, memory_mb=256)


def pytest_collection_modifyitems(items):
    missing = probe().missing
    for item in items:
        if missing and item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.skip(reason="no sandbox here: " + "; ".join(missing)))


def bundle(bot, **params):
    return Bundle("faulty_bots", (("faulty_bots.py", SOURCE),), bot, tuple(params.items()))


def source_bundle(text, bot="Mine", **params):
    return Bundle("mine", (("mine.py", text.encode()),), bot, tuple(params.items()))


def rows(count):
    """Views of a seat that has to stake, `luck` numbered through."""
    game = get_game("pasa")
    table = game.table()
    state = game.new_state(table)
    game.start(state)
    while state[0] != STAKE:
        game.advance(state, 5)
    views = np.tile(np.array(state[: game.view_width(table)], np.int64), (count, 1))
    views[:, 4] = np.arange(count)
    return views


def ask(player, keys):
    player.post(STAKE, keys, rows(len(keys)))
    return player.collect()


@pytest.fixture(scope="session")
def nurseries():
    found = Nurseries()
    yield found
    found.close()


@pytest.fixture
def make_player(nurseries):
    players = []

    def make(bot_bundle, tier="sandbox", limits=FAST, nurseries=nurseries):
        player = IsolatedPlayer("pasa", bot_bundle, nurseries=nurseries, tier=tier, limits=limits)
        players.append(player)
        return player

    yield make
    for player in players:
        player.close()


@dataclass
class Canaries:
    """What is to be untouched."""

    file: Path
    port: int
    unix: str
    abstract: str
    touched: list = field(default_factory=list)


def tree_hash(folder):
    """Of all files but those in places where tools write."""
    digest = hashlib.blake2b(digest_size=16)
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        for path in (Path(place) / name for name in sorted(files) if not name.startswith(".")):
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def canaries(tmp_path_factory):
    """A secret file, listeners, an environment variable, and the repository."""
    folder = tmp_path_factory.mktemp("canaries")
    file = folder / "secret.txt"
    file.write_text(SECRET)
    before = tree_hash(REPOSITORY), file.stat().st_mtime_ns, file.stat().st_mode
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    tcp.bind(("127.0.0.1", 0))
    udp.bind(("127.0.0.1", tcp.getsockname()[1]))
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    unix.bind(str(folder / "s"))
    name = f"ladder-canary-{os.getpid()}"
    abstract.bind("\0" + name)
    found = Canaries(file, tcp.getsockname()[1], str(folder / "s"), name)
    for listener in (tcp, unix, abstract):
        listener.listen()
    over = threading.Event()

    def watch():
        listeners = (tcp, udp, unix, abstract)
        for listener in listeners:
            listener.setblocking(False)
        while not over.wait(0.02):
            for listener in listeners:
                try:
                    listener.recv(10) if listener is udp else listener.accept()
                    found.touched.append(listener)
                except BlockingIOError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    os.environ["CANARY"] = os.environ["RAY_AUTH_TOKEN"] = SECRET
    yield found
    time.sleep(0.1)
    over.set()
    watcher.join()
    del os.environ["CANARY"], os.environ["RAY_AUTH_TOKEN"]
    for listener in (tcp, udp, unix, abstract):
        listener.close()
    assert found.touched == []
    after = tree_hash(REPOSITORY), file.stat().st_mtime_ns, file.stat().st_mode
    assert after == before
    assert file.read_text() == SECRET
    for name in ("dropped_by_a_bot", "made_by_a_bot", "linked_by_a_bot", "unpickled_by_host"):
        for place in ("/tmp", "/dev/shm", "/var/tmp", "/"):
            assert not os.path.lexists(os.path.join(place, name))


def children_of(pid):
    """Process ids of all descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        born = parents.get(todo.pop(), [])
        found += born
        todo += born
    return found
