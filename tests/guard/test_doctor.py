"""`ladder doctor`: looks, tries, and exits by whether strangers' bots can be contained."""

import json
from dataclasses import replace

import pytest

from ladder.doctor import examine
from ladder.isolate.probe import probe
from tests.running import SMALL, run_text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_doctor_as_json(folder, ladder):
    ended = ladder("doctor", "--no-ray", "--json")
    assert ended.code == 0
    found = {each["name"]: each for each in json.loads(ended.out)}
    assert {"python", "kernel", "landlock", "seccomp", "bubblewrap", "tiers", "sandbox", "disk",
            "shared memory", "store", "ray", "ray starts", "duckdb"} <= set(found)  # fmt: skip
    assert found["tiers"]["value"] == "trusted, sandbox, strict"
    assert "locked down and attests it" in found["sandbox"]["value"]
    assert "not there yet" in found["store"]["value"]
    assert not (folder / "results").exists()  # it only looks


def test_doctor_for_people_sees_the_store(folder, ladder):
    run_text(SMALL, folder / "x.duckdb")
    ended = ladder("doctor", "--no-ray", "--db", "x.duckdb")
    assert ended.code == 0
    assert "1 runs" in ended.out
    (folder / "bad.duckdb").write_text("no store")
    ended = ladder("doctor", "--no-ray", "--db", "bad.duckdb")
    assert ended.code == 0  # only the sandbox decides
    assert "!!  store" in ended.out


def test_doctor_exits_with_3_where_there_is_no_sandbox(folder, ladder, monkeypatch):
    old = replace(probe(), landlock_abi=3)
    monkeypatch.setattr("ladder.doctor.probe", lambda: old)
    ended = ladder("doctor", "--no-ray")
    assert ended.code == 3
    assert "Landlock version 4 or later is needed, there is version 3" in ended.out
    assert "!!  tiers            trusted\n" in ended.out


def test_strangers_are_refused_where_there_is_no_sandbox(folder, ladder, monkeypatch):
    from ladder.isolate import nursery

    none = nursery.Nurseries(replace(probe(), landlock_abi=0))
    monkeypatch.setattr(nursery, "shared_nurseries", lambda: none)
    (folder / "mine.py").write_text(
        "from ladder.games.pasa import PasaBot\nclass Mine(PasaBot):\n    pass\n"
    )
    words = ("match", "mine.py:Mine", "Easy", "--matches", "4", "--workers", "0")
    ended = ladder(*words)
    assert ended.code == 2
    assert "untrusted bots cannot be run on this machine: Landlock" in ended.err
    assert "--i-trust-these-bots" in ended.err
    assert "Traceback" not in ended.err
    assert ladder(*words, "--i-trust-these-bots").code == 0


@pytest.mark.slow
def test_ray_is_tried(tmp_path):
    [found] = [f for f in examine(tmp_path / "x.duckdb", starts_ray=True) if f.name == "ray starts"]
    assert found.is_good
