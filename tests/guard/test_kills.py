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

import pytest

from tests.conftest import ROOT
from tests.guard.processes import Family, kind_of
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


class Disturbance:
    """A run, and what was done to it."""

    def __init__(self, spec, db, luck):
        self.command = [sys.executable, "-m", "tests.running", str(spec), str(db), str(CHUNK), "2"]
        self.luck = luck
        self.kills = Counter()
        self.endings = Counter()
        self.family = Family()
        self.is_over = False
        self.turns = luck.sample(KINDS, len(KINDS))
        self.driver = self.start()

    def start(self):
        return subprocess.Popen(
            self.command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def strike(self):
        """Kill a process of the kind whose turn it is, where there is one."""
        victims = [self.driver.pid] if self.turns[-1] == "driver" else []
        for pid in self.family.look(self.driver.pid):
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
        if ending is None or self.is_over:
            return self.is_over
        self.is_over = ending == 0
        self.endings[ending] += 1
        assert ending != 2, "a kill is nobody's mistake"
        if not self.is_over:
            self.driver = self.start()
        return self.is_over


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "matches"),
    [
        (8, 501),
        pytest.param(100, 6000, marks=[pytest.mark.full_size, pytest.mark.timeout(3600)]),
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
            while not (run.go_on() or run.strike()):
                time.sleep(0.05)
            if run.is_over:  # we were kept from killing for so long
                break
        assert run.kills.total() > kills / 2
        struck = time.monotonic()
        while not run.go_on():
            time.sleep(0.1)
            assert sum(run.endings.values()) < kills + 5
    finally:
        run.driver.kill()
        run.driver.wait()
    ended = time.monotonic()
    assert run.family.left_after(GONE_S) == []
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
