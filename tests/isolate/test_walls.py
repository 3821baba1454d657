"""No lock-down, no bot: refused where it cannot be had, attested where it can; and its end."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace

import pytest

from ladder.errors import InfraError, SpecError
from ladder.isolate import grounds, syscalls
from ladder.isolate.lockdown import ATTESTED
from ladder.isolate.nursery import Nurseries
from ladder.isolate.player import LANES
from ladder.isolate.probe import MIN_LANDLOCK_ABI, TRUST_OPTION, probe
from ladder.isolate.verdict import TIERS
from tests.isolate.conftest import REPOSITORY, ask, bundle, children_of, source_bundle


def test_this_machine():
    offer = probe()
    assert offer.missing == ()
    assert offer.tiers == TIERS
    assert set(LANES) == set(TIERS) - {"trusted"}
    assert offer.walls.startswith("landlock")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system": "Darwin"}, "needs Linux, this is Darwin"),
        ({"machine": "aarch64"}, "x86-64 only, this is aarch64"),
        ({"landlock_abi": 0}, "there is none"),
        ({"landlock_abi": MIN_LANDLOCK_ABI - 1}, "there is version 3"),
        ({"seccomp": False}, "seccomp"),
        ({"pidfd": False}, "pidfd"),
    ],
)
def test_refused_where_it_cannot_be_had(change, said, make_player):
    offer = replace(probe(), **change)
    assert offer.tiers == ("trusted",)
    nurseries = Nurseries(offer)
    for tier in LANES:
        with pytest.raises(SpecError) as refusal:
            make_player(bundle("Honest"), tier, nurseries=nurseries)
        assert said in str(refusal.value)
        assert TRUST_OPTION in str(refusal.value)
    nurseries.close()


def test_oldest_kernel_that_will_do(make_player):
    """What Landlock 4 lacks the filter refuses: the walls hold with the older rights."""
    nurseries = Nurseries(replace(probe(), landlock_abi=MIN_LANDLOCK_ABI))
    for name in ("Reads", "Writes", "Network", "OtherProcesses", "KernelCalls"):
        params = {"OtherProcesses": {"victim": os.getpid()}, "Network": {"port": 1}}.get(name, {})
        if name in ("Reads", "Writes"):
            params = {"canary": "/etc/hostname", "repository": str(REPOSITORY)}
        from ladder.isolate.verdict import Limits

        limits = Limits(decision_ms=5000, wall_ms=20_000)
        player = make_player(bundle(name, **params), limits=limits, nurseries=nurseries)
        player.start([0])
        assert isinstance(ask(player, [0])[0], int)
        player.close()
    nurseries.close()


# Says its own process number.
ALONE = """
import os
from ladder.games.pasa import PasaBot
class Mine(PasaBot):
    def stake(self, view):
        return os.getpid()
"""
# A zygote in which one step of the lock-down is skipped; `CODE` is what it runs.
DOCTORED = """
import sys; sys.path[:0] = sys.argv[3:]
from ladder.isolate import child, lockdown, zygote
{change}
zygote.main(int(sys.argv[1]), int(sys.argv[2]))
"""


NO_FILTER = "lockdown.filter_calls = lambda: None"
NO_WALLS = "child.enter = lambda walls: None"
FORGED = "\nchild.attest = lambda memory: child.ATTESTED"


@pytest.mark.parametrize(
    "change",
    [
        NO_FILTER,
        NO_WALLS,
        "lockdown.restrict_files = lambda ruleset: None",
        "lockdown._limit_resources = lambda memory: None",
        "import os; child.os.closerange = lambda a, b: None",
        NO_FILTER + FORGED,  # what the kernel shows can be seen from outside as well
        NO_WALLS + FORGED,
    ],
)
def test_a_wall_that_is_missing_is_noticed(change, make_player, monkeypatch, tmp_path):
    """By the child, which does not load the bot then, or by us where the child's word is false."""
    monkeypatch.setattr(grounds, "CODE", DOCTORED.format(change=change))
    nurseries = Nurseries(replace(probe(), bubblewrap=""))
    ran = tmp_path / "the_bot_ran"
    text = f"""
    open({str(ran)!r}, "w")
    from ladder.games.pasa import PasaBot
    class Mine(PasaBot):
        pass
    """
    player = make_player(source_bundle(textwrap.dedent(text)), nurseries=nurseries)
    with pytest.raises(InfraError, match="lock"):
        player.start([0])
    assert not ran.exists()
    nurseries.close()


@pytest.mark.skipif(not probe().bubblewrap, reason="no bubblewrap here")
@pytest.mark.parametrize("tier", ["sandbox", "strict"])
def test_a_zygote_in_bubblewrap(tier, make_player):
    """For `strict` alone; its processes are numbered apart from ours."""
    nurseries = Nurseries()
    player = make_player(source_bundle(ALONE), tier, nurseries=nurseries)
    assert player.walls.endswith("+bwrap") is (tier == "strict")
    player.start([0])
    assert (ask(player, [0])[0] in children_of(os.getpid())) is (tier == "sandbox")
    player.close()
    nurseries.close()


def test_attestation_missing(make_player, monkeypatch):
    monkeypatch.setattr(
        grounds, "CODE", DOCTORED.format(change="child.attest = lambda memory: bytes(8)")
    )
    nurseries = Nurseries(replace(probe(), bubblewrap=""))
    player = make_player(bundle("Honest"), nurseries=nurseries)
    with pytest.raises(InfraError, match="not locked down"):
        player.start([0])
    assert len(ATTESTED) == 8
    nurseries.close()


def test_zygote_that_does_not_start(make_player, monkeypatch):
    monkeypatch.setattr(grounds, "CODE", "raise SystemExit('no such luck')")
    nurseries = Nurseries(probe())
    with pytest.raises(InfraError, match="no such luck"):
        make_player(bundle("Honest"), nurseries=nurseries)
    nurseries.close()


def test_filter_names_no_call_twice():
    numbers = list(syscalls.ALLOWED.values())
    assert len(set(numbers)) == len(numbers)
    assert len(syscalls.seccomp_program(1)) == len(syscalls.seccomp_program(2**31 - 1))
    assert len(syscalls.seccomp_program(1)) % 8 == 0


def test_spawned_from_a_short_lived_thread(make_player, nurseries):
    """A death signal fires when the thread that started a process ends: not that thread."""
    nurseries.close()
    made = []
    thread = threading.Thread(target=lambda: made.append(make_player(bundle("Honest"))))
    thread.start()
    thread.join()
    time.sleep(0.2)
    made[0].start([0])
    assert isinstance(ask(made[0], [0])[0], int)


HOST = """
import sys, time
sys.path.insert(0, {repository!r})
from ladder.isolate.nursery import Nurseries
from tests.isolate.conftest import ask, bundle
from ladder.isolate.player import IsolatedPlayer
from ladder.isolate.verdict import Limits
nurseries = Nurseries()
slow = Limits(decision_ms=60_000, wall_ms=60_000)
players = []
for tier in ("sandbox", "strict"):
    for name in ("LoopDeaf", "Sleep"):
        player = IsolatedPlayer("pasa", bundle(name), nurseries=nurseries, tier=tier, limits=slow)
        player.start([0])
        players.append(player)
from tests.isolate.conftest import STAKE, rows
for player in players:
    player.post(STAKE, [0], rows(1))
print("playing", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_us(how):
    call = [sys.executable, "-c", HOST.format(repository=str(REPOSITORY))]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
        assert host.stdout.readline() == b"playing\n"
        left = children_of(host.pid)
        assert len(left) >= 6  # two zygotes, four children
        host.send_signal(how)
        host.wait(10)
        end = time.monotonic() + 5
        while any(map(is_running, left)) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(map(is_running, left))


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
