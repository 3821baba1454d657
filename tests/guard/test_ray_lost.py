"""A raylet or GCS that is killed in the middle of a run: noticed in seconds, and played on."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from ladder.errors import InfraError
from ladder.execute import job, on_ray
from ladder.execute.lifeline import Lifeline, RayLostError, knock, parse_address
from ladder.store import Store
from tests.conftest import ROOT
from tests.isolate.conftest import children_of
from tests.running import rows_of, run_text

SPEC = f"""\
name: losing Ray
game: pasa
table: {{seats: 3, rounds: 1, chips: 100}}
seed: 3
entrants: [Easy, Hard, '{ROOT}/tests/faulty_bots.py:Counts']
format: {{kind: round_robin, matches: 3000}}
"""


def named(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def ray_processes(name):
    return [pid for pid in children_of(os.getpid()) if named(pid) == name]


def test_an_address_in_words():
    assert parse_address("10.0.0.5:6379") == ("10.0.0.5", 6379)
    assert parse_address("ray://head:10001") == ("head", 10001)
    assert parse_address("[::1]:80") == ("::1", 80)
    for word in ("auto", "head", "head:", ":80", "head:99999"):
        assert parse_address(word) is None


def test_a_port_that_is_closed_is_noticed():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        line = Lifeline({"raylet": address})
        line.check()
        knock(address)
    with pytest.raises(RayLostError, match="Ray is lost: its raylet is gone"):
        line.check()
    Lifeline({}).check()


@pytest.mark.slow
@pytest.mark.parametrize("vital", ["raylet", "gcs_server"])
def test_a_run_survives_the_loss_of(vital, tmp_path, capfd):
    killed = []

    def kill_once(progress):
        if progress.where == "on Ray" and progress.played > 200 and not killed:
            killed.append(time.monotonic())
            for pid in ray_processes(vital):
                os.kill(pid, signal.SIGKILL)
        if any("is lost" in note for note in progress.notes) and len(killed) == 1:
            killed.append(time.monotonic())

    db = tmp_path / "x.duckdb"
    outcome = run_text(SPEC, db, kill_once, count=2, chunk=20)
    assert len(killed) == 2
    assert killed[1] - killed[0] < on_ray.WATCHDOG_S / 2  # it waited for no watchdog
    calm = tmp_path / "y.duckdb"
    assert outcome.digest == run_text(SPEC, calm).digest
    assert rows_of(db) == rows_of(calm)
    end = time.monotonic() + 20
    while ray_processes(vital) and time.monotonic() < end:
        time.sleep(0.1)
    assert ray_processes(vital) == []
    assert capfd.readouterr().out == ""  # that is for results


def test_where_ray_is_lost_again_and_again_the_run_ends(tmp_path, monkeypatch):
    tries = []

    class Lost(job.OnRay):
        def __init__(self, *_):
            pass

        def play(self, chunks):
            tries.append(next(chunks))
            raise RayLostError("Ray is lost")

    monkeypatch.setattr(job, "OnRay", Lost)
    monkeypatch.setattr(job, "cluster_of", nullcontext)
    with pytest.raises(InfraError, match="Ray is lost") as ended:
        run_text(SPEC, tmp_path / "x.duckdb", count=2, chunk=20)
    assert ended.value.exit_code == 3
    assert len(tries) == job.MOST_LOST + 1
    assert Store(tmp_path / "x.duckdb").runs()[0].finished_at is None


@pytest.mark.slow
def test_a_run_survives_the_loss_of_a_node(tmp_path):
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1)]

    def lose_it(progress):
        if progress.where == "on Ray" and progress.played > 200 and nodes:
            cluster.remove_node(nodes.pop(), allow_graceful=False)

    db, calm = tmp_path / "x.duckdb", tmp_path / "y.duckdb"
    try:
        outcome = run_text(SPEC, db, lose_it, count=None, address=cluster.address, chunk=20)
        assert not nodes
    finally:
        cluster.shutdown()
    assert outcome.digest == run_text(SPEC, calm).digest
    assert rows_of(db) == rows_of(calm)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="file systems can be mounted by root alone")
def test_a_run_with_little_shared_memory(tmp_path):
    """Ray keeps its objects on disk then."""
    spec, db = tmp_path / "x.yaml", tmp_path / "x.duckdb"
    spec.write_text(SPEC.replace("3000", "300"))
    mount = "mount -t tmpfs -o size=32m tmpfs /dev/shm && exec"
    words = [sys.executable, "-m", "tests.running", str(spec), str(db), "20", "2"]
    call = ["unshare", "--mount", "sh", "-c", f'{mount} "$@"', "sh", *words]
    ended = subprocess.run(call, capture_output=True, text=True, cwd=ROOT, timeout=200)
    if "unshare" in ended.stderr or "mount:" in ended.stderr:
        pytest.skip(ended.stderr)
    assert ended.returncode == 0, ended.stderr[-2000:]
    calm = run_text(spec.read_text(), tmp_path / "y.duckdb")
    assert ended.stdout.split()[-1] == calm.digest
