"""A tournament whose processes are killed at random, of every kind: it comes out as if nothing was.

The bots are strangers', in locked-down children of Ray's workers. After a kill the run either goes
on by itself or has ended, and then the same command goes on with it.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.isolate.conftest import children_of
from tests.running import rows_of, run_text

SPEC = f"""\
name: killed
game: pasa
table: {{seats: 3, rounds: 1, chips: 100}}
seed: 17
entrants:
  - Easy
  - {{bot: '{ROOT}/tests/guard/patient_bots.py:Patient', trusted: false}}
  - {{bot: '{ROOT}/tests/guard/patient_bots.py:Counting', trusted: false}}
format: {{kind: round_robin, matches: MATCHES}}
"""
CHUNK = 8
KINDS = ("driver", "worker", "raylet", "gcs_server", "helper", "zygote", "child")
BETWEEN_S = 2.0  # at most, from one kill to the next, where there is somebody to kill
GONE_S = 120  # helpers of Ray whose GCS was killed take their time


def kind_of(pid):
    """What a process of a run is there for."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] in "ZX":
        return None
    if name in ("raylet", "gcs_server"):
        return name
    if "ladder.isolate.zygote" in words:
        parent = Path(f"/proc/{fields[1]}/cmdline")
        is_child = parent.exists() and b"ladder.isolate.zygote" in parent.read_bytes()
        return "child" if is_child else "zygote"
    if name.startswith("ray::") and "Agent" not in name:
        return "worker"
    return "helper"


class Disturbance:
    """A run, and what was done to it."""

    def __init__(self, spec, db, luck):
        self.command = [sys.executable, "-m", "tests.running", str(spec), str(db), str(CHUNK), "2"]
        self.luck = luck
        self.kills = Counter()
        self.endings = Counter()
        self.seen = {}  # when each process started
        self.turns = luck.sample(KINDS, len(KINDS))
        self.driver = self.start()

    def start(self):
        return subprocess.Popen(
            self.command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def strike(self):
        """Kill a process of the kind whose turn it is, where there is one."""
        victims = [self.driver.pid] if self.turns[-1] == "driver" else []
        for pid in children_of(self.driver.pid):
            self.seen[pid] = started(pid)
            if kind_of(pid) == self.turns[-1]:
                victims.append(pid)
        if not victims:
            return False
        os.kill(self.luck.choice(victims), signal.SIGKILL)
        self.kills[self.turns.pop()] += 1
        if not self.turns:
            self.turns = self.luck.sample(KINDS, len(KINDS))
        return True

    def go_on(self):
        """Start the run anew where it has ended; whether it is done."""
        ending = self.driver.poll()
        if ending is None:
            return False
        self.endings[ending] += 1
        assert ending != 2, "a kill is nobody's mistake"
        if ending == 0:
            return True
        self.driver = self.start()
        return False

    def left(self):
        """Processes of the run that are still there."""
        return [p for p, when in self.seen.items() if when and started(p) == when and kind_of(p)]


def started(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "matches"),
    [
        (8, 801),
        pytest.param(100, 9999, marks=[pytest.mark.full_size, pytest.mark.timeout(3600)]),
    ],
)
def test_killed_at_random(kills, matches, tmp_path, monkeypatch, capsys):
    begun = time.monotonic()
    text = SPEC.replace("MATCHES", str(matches))
    calm, db, spec = tmp_path / "calm.duckdb", tmp_path / "x.duckdb", tmp_path / "x.yaml"
    spec.write_text(text)
    luck = random.Random(kills)
    run = Disturbance(spec, db, luck)
    try:
        while run.kills.total() < kills:
            time.sleep(luck.uniform(0, BETWEEN_S))
            while not run.strike():
                assert not run.go_on(), f"over after {run.kills}"
                time.sleep(0.05)
        struck = time.monotonic()
        while not run.go_on():
            time.sleep(0.1)
            assert sum(run.endings.values()) < kills + 5
    finally:
        run.driver.kill()
        run.driver.wait()
    ended = time.monotonic()
    while run.left() and time.monotonic() < ended + GONE_S:
        time.sleep(0.2)
    assert run.left() == []
    gone = time.monotonic()
    # Bots do the same in our own process as in a child, where they can be spared the nap.
    monkeypatch.setenv("LADDER_TEST_WAIT_S", "0")
    expected = run_text(text.replace("trusted: false", "trusted: true"), calm)
    again = run_text(text, db)
    assert (again.played, again.digest) == (0, expected.digest)
    assert rows_of(db) == rows_of(calm)
    assert rows_of(db, "matches") == rows_of(calm, "matches")
    with capsys.disabled():
        print(
            f"\n{run.kills.total()} kills {dict(run.kills)} in {struck - begun:.0f} s; processes"
            f" ended with {dict(run.endings)}; done {ended - struck:.0f} s later, the last process"
            f" gone after {gone - ended:.1f} s; {len(rows_of(db, 'matches'))} matches,"
            f" digest {again.digest}"
        )
