"""Hostile programs (hostile.c): contained, and with the verdict that a Python bot would get."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ladder.commands import read_command
from ladder.errors import InfraError, SpecError
from ladder.foreign import ForeignPlayer
from ladder.games import get_game
from ladder.isolate import nursery, program
from ladder.isolate.probe import probe
from ladder.isolate.verdict import Limits, Unsettled
from ladder.record import Fault
from tests.isolate.conftest import REPOSITORY, SECRET, ask, children_of
from tests.isolate.test_hostile import (
    passed_as_ordinary_user,
    their_folder,  # noqa: F401 - a fixture
    victim,  # noqa: F401 - a fixture
)

PASA = get_game("pasa")
# What they try takes a while on a busy machine: no deadline shall hide what they find.
PATIENT = Limits(decision_ms=5000, wall_ms=20_000, start_ms=10_000, memory_mb=256)
SHORT = replace(PATIENT, decision_ms=100, wall_ms=400)

# kind -> (verdict, what is said); None: all it tries is refused, and it answers.
VERDICTS = {
    "reads": None, "writes": None, "connects": None, "forks": None, "execs": None,
    "others": None, "kernel": None, "few threads": None, "terminates": None,
    "many threads": ("memory", "threads, 128 are allowed"),
    "spins": ("timeout_cpu", "ms of CPU time, 100 allowed"),
    "spins in a thread": ("timeout_cpu", "ms of CPU time, 100 allowed"),
    "sleeps": ("timeout_wall", "no answer after"),
    "eats": ("memory", "MiB, 256 are allowed"),
    "gulps": ("memory", "MiB"),
    "floods": ("output", "printed more than"),
    "closes": ("crash", "closed its answer pipe"),
    "ends": ("crash", "exited with code 9"),
    "aborts": ("crash", "killed by SIGABRT"),
    "old calls": ("crash", "killed by SIGSYS"),
    "garbage": ("protocol", """answered '{"acti', not an action"""),
    "twice": ("protocol", "more lines than it was asked for"),
    "long": ("output", "a line of more than 65,536 bytes"),
    "deep": ("protocol", "not an action"),
    "zeros": ("protocol", "not an action"),
    "huge": ("protocol", "not an action"),
}  # fmt: skip
LIMITS = {
    "spins": SHORT, "spins in a thread": SHORT, "sleeps": SHORT,
    "floods": replace(PATIENT, output_kb=4),
}  # fmt: skip
ODD = {"large": 10**23 - 1, "text": "5", "null": None, "true": True, "list": [5]}


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    out = tmp_path_factory.mktemp("programs") / "hostile"
    source = Path(__file__).with_name("hostile.c")
    subprocess.run([compiler, "-O1", "-pthread", "-o", out, source], check=True)
    return str(out)


@pytest.fixture
def play_program():
    """Makes players of commands, and closes them."""
    players = []

    def make(*command, limits=PATIENT, tier="sandbox", is_trusted=False):
        source = read_command(command, [])
        player = ForeignPlayer(PASA, source, {}, is_trusted=is_trusted, tier=tier, limits=limits)
        players.append(player)
        return player

    yield make
    for player in players:
        player.close()


def answer_of(player):
    player.start([0])
    answers = ask(player, [0])
    return answers[0] if isinstance(answers[0], Fault) else ask(player, [0])[0]


@pytest.mark.parametrize("kind", VERDICTS)
def test_contained_and_convicted(kind, hostile, canaries, victim, play_program):  # noqa: F811
    argument = {"connects": canaries.port, "others": victim.pid, "gulps": 600}.get(
        kind, canaries.file
    )
    player = play_program(hostile, kind, f"={argument}", limits=LIMITS.get(kind, PATIENT))
    answer = answer_of(player)
    told = answer.detail + answer.traceback if isinstance(answer, Fault) else ""
    assert "ESCAPED" not in told + player.output.text()
    assert SECRET not in told + player.output.text()
    expected = VERDICTS[kind]
    if expected is None:
        assert answer == 5, answer
        return
    assert answer.cause == expected[0], answer
    assert expected[1] in answer.detail
    assert left_of(hostile) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="is one already")
def test_as_an_ordinary_user(hostile, their_folder):  # noqa: F811
    assert passed_as_ordinary_user(their_folder, __file__, "test_contained") == len(VERDICTS)


def left_of(path):
    """Processes that run this very file, or one unpacked from it."""
    left = []
    for child in children_of(os.getpid()):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        left += [child] if os.path.basename(words[0]) == os.path.basename(path).encode() else []
    return left


@pytest.mark.parametrize("kind", ODD)
def test_odd_actions_are_left_to_the_driver(kind, hostile, play_program):
    assert answer_of(play_program(hostile, kind)) == ODD[kind]


def test_a_burst_that_nobody_saw_is_known_in_the_end(hostile, play_program):
    """But what we held ourselves when it was started cannot be told from its own."""
    player = play_program(hostile, "ends")
    (talk,) = player.spawn(1)
    died = 9 << 8
    assert talk.child.cause_of(died, 257 << 10)[0] == "memory"
    assert talk.child.cause_of(died, 256 << 10) == ("crash", "exited with code 9")
    assert talk.child.cause_of(signal.SIGKILL, 1)[0] == "infra"
    talk.child.close()
    assert talk.child._wait_for(talk.child.number)[2] < 200 << 10


def test_a_burst_of_memory_has_a_bound(hostile, play_program):
    answer = answer_of(play_program(hostile, "gulps", "=8000"))
    assert (answer.cause, "SIGABRT" in answer.detail) == ("crash", True), answer


def test_who_shares_a_process_is_convicted_alone(hostile, play_program):
    """As with Python bots: one match at a time, each by a process of its own."""
    player = play_program(hostile, "ends")
    player.start([0, 8])
    with pytest.raises(Unsettled) as lost:
        ask(player, [0, 8])
    assert sorted(lost.value.keys) == [0, 8]
    fresh = player.fresh()
    fresh.start([0])
    assert ask(fresh, [0])[0].cause == "crash"
    fresh.close()


COUNTS = """\
n=0
while read -r line; do
  case $line in
    '{"protocol":'*) echo '{"protocol":1}' ;;
    '{"decide":'*) n=$((n + 1)); echo $n ;;
  esac
done
"""


@pytest.mark.parametrize(("tier", "seen"), [("sandbox", [1, 1, 2]), ("strict", [1, 1, 1])])
def test_two_seats_never_share_a_process(tier, seen, tmp_path, play_program):
    script = tmp_path / "counts.sh"
    script.write_text(COUNTS)
    player = play_program("bash", str(script), tier=tier)
    player.start([0, 1])
    first = ask(player, [0, 1])
    player.finish([0, 1])
    player.start([0])
    assert first + ask(player, [0]) == seen


def test_a_script_that_names_its_interpreter(tmp_path, play_program):
    script = tmp_path / "counts.sh"
    script.write_text("#!/bin/bash\n" + COUNTS)
    assert answer_of(play_program(str(script))) == 2
    script.write_text("#!/usr/bin/env bash\n" + COUNTS)
    assert answer_of(play_program(str(script))).cause == "init_failed"


def test_a_file_that_is_no_program(tmp_path, play_program):
    path = tmp_path / "bot"
    path.write_bytes(bytes(100))
    answer = answer_of(play_program(str(path)))
    assert answer.cause == "init_failed"
    assert "it cannot be started: Exec format error" in answer.detail


def test_no_process_is_started_by_a_shell(tmp_path, play_program):
    script = tmp_path / "forks.sh"
    script.write_text(COUNTS.replace("echo $n", "echo $(echo $n)"))
    answer = answer_of(play_program("bash", str(script), limits=SHORT))
    assert isinstance(answer, Fault)


def test_root_comes_back_with_no_exec(hostile, play_program):
    player = play_program(hostile, "honest")
    player.start([0])
    ask(player, [0])
    (pid,) = left_of(hostile)
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_pondering_is_charged(hostile, play_program):
    source = "spins in a thread"
    player = play_program(hostile, source, limits=replace(SHORT, decision_ms=200))
    player.start([0])
    assert ask(player, [0])[0].cause == "timeout_cpu"


@pytest.mark.parametrize(
    "change",
    [
        "lockdown.restrict_files = lambda ruleset: None",
        "lockdown.is_refused = lambda trial: False",
        "launch._limits = lambda memory: {}; launch.NUM_HOLDS = 0; lockdown.TRIALS = ()",
        "launch.seccomp_program = lambda pid, is_program: launch.exec_notifier()",
        "launch._lock = lambda control, boot: None",
    ],
)
def test_a_wall_that_is_missing_is_noticed(change, hostile, play_program, monkeypatch):
    doctored = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        f"from ladder.isolate import launch, lockdown\n{change}\nlaunch.main()"
    )
    monkeypatch.setattr(program, "CODE", doctored)
    player = play_program(hostile, "honest")
    with pytest.raises(InfraError, match="lock-down failed"):
        player.start([0])


def test_refused_where_it_cannot_be_had(hostile, play_program, monkeypatch):
    none = nursery.Nurseries(replace(probe(), landlock_abi=0))
    monkeypatch.setitem(nursery._shared, os.getpid(), none)
    with pytest.raises(SpecError, match=r"Landlock version 4 or later is needed.*\n?.*I|i-trust"):
        play_program(hostile, "honest")
    trusted = play_program(hostile, "honest", is_trusted=True)
    assert answer_of(trusted) == 5
    none.close()


def test_trusted_means_without_walls(hostile, canaries, play_program):
    player = play_program(hostile, "reads", f"={canaries.file}", is_trusted=True)
    answer = answer_of(player)
    assert answer.cause == "crash"
    assert "ESCAPED" in answer.traceback


def test_what_a_trusted_program_started_ends_with_it(tmp_path, play_program):
    script = tmp_path / "starts.sh"
    script.write_text("sleep 600 & echo $! >&2\n" + COUNTS)
    player = play_program("bash", str(script), is_trusted=True)
    player.start([0])
    ask(player, [0])
    started = int(player.output.text())
    player.close()
    end = time.monotonic() + 10
    while Path(f"/proc/{started}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_running(started)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


HOST = """
import sys, time
sys.path.insert(0, {repository!r})
from tests.isolate.test_programs import PASA, PATIENT, ForeignPlayer, read_command
from tests.isolate.conftest import STAKE, rows
player = ForeignPlayer(PASA, read_command([{hostile!r}, "sleeps"], []), {{}}, is_trusted=False,
                       limits=PATIENT)
player.start([0])
player.post(STAKE, [0], rows(1))
print("playing", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_program_outlives_us(how, hostile):
    code = HOST.format(repository=str(REPOSITORY), hostile=hostile)
    call = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
        assert host.stdout.readline() == b"playing\n"
        left = children_of(host.pid)
        assert left
        host.send_signal(how)
        host.wait(10)
        end = time.monotonic() + 5
        while any(map(is_running, left)) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(map(is_running, left))


def test_its_surroundings(tmp_path, play_program, canaries):
    script = tmp_path / "tells.sh"
    script.write_text("export -p >&2\npwd >&2\n" + COUNTS)
    player = play_program("bash", str(script))
    player.start([0])
    ask(player, [0])
    told = player.output.text()
    assert SECRET not in told
    assert "LANG" in told
    assert "USER" not in told
