"""Every hostile bot, in both tiers: contained, and with the verdict it deserves."""

import os
import re
import subprocess
import sys
import tempfile
import time

import pytest

from ladder.isolate.verdict import Limits, Unsettled
from ladder.record import Fault
from tests.isolate.conftest import FAST, REPOSITORY, SECRET, ask, bundle, children_of, source_bundle

TIERS = ("sandbox", "strict")

VERDICTS = {
    "Honest": "ok",
    # ends of the process
    "OsExit": "crash",
    "SysExit": "crash",
    "Abort": "crash",
    "Segfault": "crash",
    "StackOverflow": "crash",
    # time
    "Loop": "timeout_cpu",
    "LoopDeaf": "timeout_cpu",
    "Sleep": "timeout_wall",
    "StopItself": "ok",
    # processes
    "Processes": "ok",
    "Threads": "ok",
    # memory
    "Allocate": "memory",
    "Leak": "memory",
    "SwallowsMemoryErrors": "timeout_cpu",
    # files, network, environment, other processes
    "Reads": "ok",
    "Writes": "ok",
    "Network": "ok",
    "Environment": "ok",
    "OtherProcesses": "ok",
    "KernelCalls": "ok",
    "OtherCallingConvention": "crash",
    # what it sends
    "PrintsMuch": "ok",
    "Floods": "output",
    "Garbage": "protocol",
    "HugeLength": "protocol",
    "Prequeues": "protocol",
    "Pickles": "protocol",
    "DeepJson": "protocol",
    "FakesLoading": "protocol",
    "KnowsTheNonce": "protocol",
    "TooShort": "protocol",
    "BadFaults": "protocol",
    "BadCause": "protocol",
    "WrongKind": "protocol",
    "Drips": "timeout_wall",
    "ClosesPipes": "crash",
    "ClosesPipesAndStays": "crash",
    # what it returns
    "ReturnsText": "illegal",
    "ReturnsFloat": "illegal",
    "ReturnsNan": "illegal",
    "ReturnsTrue": "illegal",
    "ReturnsNone": "illegal",
    "ReturnsHuge": "illegal",
    "HostileRepr": "illegal",
    "Raises": "exception",
    "RaisesAtLength": "exception",
    "RaisesUnprintable": "exception",
    "Interrupts": "exception",
    "RaisesInInit": "init_failed",
    "LoopsInInit": "init_failed",
    # further attacks
    "SearchesMemory": "ok",
    "ReopensDescriptors": "ok",
}
# A child that says of itself what its bot did convicts it match by match.
TOLD = ("illegal", "exception")
LIMITS = {
    "StackOverflow": Limits(decision_ms=5000, wall_ms=10_000),
    "LoopsInInit": Limits(decision_ms=60, wall_ms=250, start_ms=200),
    "Floods": Limits(decision_ms=2000, wall_ms=4000, output_kb=4),
}
# These do a lot, all of it refused: no deadline shall hide what they find.
PATIENT = Limits(decision_ms=5000, wall_ms=20_000)
ATTACKS = (
    "StopItself", "Processes", "Threads", "Reads", "Writes", "Network", "Environment", "Allocate",
    "OtherProcesses", "KernelCalls", "SearchesMemory", "ReopensDescriptors", "PrintsMuch", "Leak",
    "KnowsTheNonce", "RaisesAtLength", "Abort", "Segfault", "OtherCallingConvention",
)  # fmt: skip


@pytest.fixture(scope="module")
def victim():
    """A process of the same user, to be attacked."""
    code = "import time; secret = 'SECRET-' + 'OF-A-VICTIM'; time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code])
    yield process
    assert process.poll() is None
    process.kill()
    process.wait()


@pytest.fixture
def case(request, canaries, victim):
    name = request.param
    params = {}
    if name in ("Reads", "Writes"):
        params = {"canary": str(canaries.file), "repository": str(REPOSITORY)}
    elif name == "Network":
        params = {
            "port": canaries.port, "unix": canaries.unix, "abstract": canaries.abstract,
        }  # fmt: skip
    elif name in ("OtherProcesses", "ReopensDescriptors"):
        params = {"victim": victim.pid}
    limits = PATIENT if name in ATTACKS else LIMITS.get(name, FAST)
    return name, bundle(name, **params), limits


def verdict_of(answer):
    return answer.cause if isinstance(answer, Fault) else "ok"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("case", VERDICTS, indirect=True)
def test_alone(case, tier, make_player):
    name, bot, limits = case
    player = make_player(bot, tier, limits)
    player.start([0])
    start = time.monotonic()
    (answer,) = ask(player, [0])
    assert verdict_of(answer) == VERDICTS[name], answer
    assert time.monotonic() - start < 20
    if isinstance(answer, Fault):
        assert "ESCAPED" not in answer.detail + answer.traceback
        assert SECRET not in answer.detail + answer.traceback
        assert len(answer.detail) <= 600
        assert len(answer.traceback) <= 4096
        assert "\x1b" not in answer.detail + answer.traceback
        assert "\x00" not in answer.detail + answer.traceback
    assert SECRET not in player.output.text()


@pytest.mark.parametrize("case", VERDICTS, indirect=True)
def test_many_matches_in_one_child(case, make_player):
    """Who killed the child they share cannot be told; what the child itself tells can."""
    name, bot, limits = case
    player = make_player(bot, "sandbox", limits)
    keys = [8 * lane for lane in range(4)]
    player.start(keys)
    expected = VERDICTS[name]
    if expected == "ok" or expected in TOLD or name == "RaisesInInit":
        assert [verdict_of(answer) for answer in ask(player, keys)] == [expected] * 4
        return
    with pytest.raises(Unsettled) as lost:
        ask(player, keys)
    assert sorted(lost.value.keys) == keys
    for key in keys[:1]:  # replayed one by one, in fresh children, each is convicted
        fresh = make_player(bot, "sandbox", limits)
        fresh.start([key])
        assert verdict_of(ask(fresh, [key])[0]) == expected


@pytest.mark.parametrize("tier", TIERS)
def test_never_reads_and_we_do_not_hang(tier, make_player):
    player = make_player(bundle("NeverReads"), tier)
    player.start([0])
    assert verdict_of(ask(player, [0])[0]) == "ok"
    start = time.monotonic()
    assert verdict_of(ask(player, [0])[0]) == "timeout_wall"
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("tier", TIERS)
def test_pondering_is_charged(tier, make_player):
    player = make_player(bundle("Ponders"), tier)
    player.start([0])
    assert verdict_of(ask(player, [0])[0]) == "ok"
    time.sleep(0.4)
    (answer,) = ask(player, [0])
    assert answer.cause == "timeout_cpu"


@pytest.mark.parametrize("tier", TIERS)
def test_monkeypatching_hurts_only_itself(tier, make_player):
    honest, rude = make_player(bundle("Honest"), tier), make_player(bundle("Monkeypatches"), tier)
    for player in (honest, rude):
        player.start([0])
    expected = ask(honest, [0])
    assert isinstance(ask(rude, [0])[0], Fault)
    assert ask(honest, [0]) == expected


@pytest.mark.parametrize(("tier", "seen"), [("sandbox", [1, 2, 3]), ("strict", [1, 1, 1])])
def test_memory_across_matches_ends_with_the_child(tier, seen, make_player):
    """Kept in `sandbox`, and said so; gone in `strict`."""
    player = make_player(bundle("Remembers"), tier)
    found = []
    for _ in range(3):
        player.start([0])
        found += ask(player, [0])
    assert found == seen


def test_seats_of_one_match_do_not_share_a_child(make_player):
    player = make_player(bundle("Remembers"))
    player.start([0, 1, 2])
    assert ask(player, [0, 1, 2]) == [1, 1, 1]


@pytest.mark.parametrize("tier", TIERS)
def test_other_bots_source_is_not_in_memory(tier, make_player):
    text = """
from ladder.games.pasa import PasaBot
PLAN = "SECRET-OF-ANOTHER-BOT"
class Mine(PasaBot):
    def stake(self, view):
        return view.least_stake
"""
    secret = make_player(source_bundle(text), tier)
    thief = make_player(bundle("SearchesMemory"), tier, PATIENT)
    secret.start([0])
    assert verdict_of(ask(secret, [0])[0]) == "ok"
    thief.start([0])
    assert verdict_of(ask(thief, [0])[0]) == "ok"


@pytest.mark.parametrize("tier", TIERS)
def test_nothing_is_left(tier, make_player, nurseries):
    before = len(children_of(os.getpid()))
    player = make_player(bundle("Honest"), tier)
    player.start([8 * lane for lane in range(5)])
    player.close()
    end = time.monotonic() + 5
    while len(children_of(os.getpid())) > before + 1 and time.monotonic() < end:
        time.sleep(0.05)
    assert len(children_of(os.getpid())) <= before + 1  # at most a new zygote


ORDINARY_UID = 60_001


@pytest.fixture
def their_folder():
    """A folder of the ordinary user's, outside of ours."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, ORDINARY_UID, ORDINARY_UID)
        yield folder


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests above ran as an ordinary user already")
def test_as_an_ordinary_user(their_folder):
    """The same again, host and bots both unprivileged, where we are root and Python is for all."""
    assert passed_as_ordinary_user(their_folder, __file__, "test_alone") == 2 * len(VERDICTS)


def passed_as_ordinary_user(their_folder, file, chosen):
    """How many of the chosen tests pass there; none may fail."""
    python = reachable_python()
    if python is None:
        pytest.skip("no interpreter of this version that any user may run")
    settings = {
        "PATH": os.environ["PATH"],
        "HOME": their_folder,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *site_folders()]),
        "TMPDIR": their_folder,
    }
    call = [python, "-m", "pytest", "-o", "addopts=--strict-markers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*call, file, "-k", chosen, "-W", "ignore"],
        env=settings, cwd=REPOSITORY, user=ORDINARY_UID, group=ORDINARY_UID, extra_groups=[],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return int(re.search(r"(\d+) passed", done.stdout)[1])


def site_folders():
    return [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]


def reachable_python():
    """An interpreter of our version that an ordinary user can run, with our packages."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    trial = f"import numpy, pydantic, pytest; import sys; sys.path.append({str(REPOSITORY)!r})"
    for found in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            subprocess.run(
                [found, "-c", trial + "; import ladder.games.pasa"],
                user=ORDINARY_UID, group=ORDINARY_UID, extra_groups=[], check=True, cwd="/",
                env={"PYTHONPATH": os.pathsep.join(site_folders()), "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True, timeout=30,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            continue
        return found
    return None
