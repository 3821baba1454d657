"""Every hostile bot in one `ladder run`, beside honest ones that do not notice."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ladder.store import Store
from tests.conftest import ROOT
from tests.guard.processes import Family
from tests.isolate import test_cunning, test_hostile
from tests.isolate.conftest import SECRET, canaries  # noqa: F401
from tests.isolate.test_hostile import ORDINARY_UID, reachable_python, site_folders, victim  # noqa: F401
from tests.running import run_text

HOSTILE, CUNNING = (f"{ROOT}/tests/isolate/{name}_bots.py" for name in ("faulty", "cunning"))
SPEC = """\
name: a rough night
game: pasa
table: {{seats: 2, rounds: 1, chips: 60}}
seed: 5
tier: {tier}
limits: {{decision_ms: 600, wall_ms: 1500, start_ms: 1000, memory_mb: 256, output_kb: 4}}
entrants: {entrants}
format: {{kind: gauntlet, challengers: {challengers}, matches: 2}}
"""
HONEST = ["Easy", "Hard", {"name": "Honest", "bot": f"{HOSTILE}:Honest"}]
# Where the run's limits or its many matches decide which of two ends comes first.
EITHER = {
    "StackOverflow": {"crash", "timeout_cpu", "memory", "exception"},
    "KnowsTheNonce": {"protocol", "timeout_wall"},
    "Leak": {"memory", "timeout_cpu"},
    "ChangesTheLoop": {"protocol", "illegal"},
}
# In `sandbox` a child serves several matches of its bot, which may sit elsewhere in another one.
OWN_MATCHES = {"SearchesMemory", "TracesTheLoop"}
MAIN = "import sys; from ladder.cli import main; sys.argv[0] = 'ladder'; main()"


def spec_of(tier, entrants):
    names = [e if isinstance(e, str) else e["name"] for e in entrants]
    return SPEC.format(tier=tier, entrants=json.dumps(entrants), challengers=json.dumps(names[1:]))


def hostile_entrants(canaries, victim):  # noqa: F811
    params = {
        "Reads": {"canary": str(canaries.file), "repository": str(ROOT)},
        "Writes": {"canary": str(canaries.file), "repository": str(ROOT)},
        "Network": {"port": canaries.port, "unix": canaries.unix, "abstract": canaries.abstract},
        "OtherProcesses": {"victim": victim.pid},
        "ReopensDescriptors": {"victim": victim.pid},
    }
    bots = {name: f"{HOSTILE}:{name}" for name in test_hostile.VERDICTS if name != "Honest"}
    bots |= {name: f"{CUNNING}:{name}" for name in test_cunning.VERDICTS}
    return [{"name": n, "bot": bot, "params": params.get(n, {})} for n, bot in bots.items()]


def honest_matches(db):
    """The matches of those that mean no harm, with their digests."""
    return Store(db).query(
        "SELECT match, digest FROM matches WHERE match NOT IN"
        " (SELECT match FROM results WHERE bot NOT IN ('Easy', 'Hard', 'Honest')) ORDER BY match"
    )


@pytest.fixture
def folder():
    """A folder of the run's user."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o777)
        yield Path(made)


def as_root():
    return {}


def as_somebody():
    """How to start a process as an ordinary user, where we can."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user already")
    return {"user": ORDINARY_UID, "group": ORDINARY_UID, "extra_groups": []}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tier", "who"),
    [
        ("sandbox", as_root),
        ("strict", as_somebody),
        pytest.param("sandbox", as_somebody, marks=pytest.mark.full_size),
        pytest.param("strict", as_root, marks=pytest.mark.full_size),
    ],
)
def test_all_of_them(tier, who, canaries, victim, folder, tmp_path):  # noqa: F811
    user = who()
    python = reachable_python() if user else sys.executable
    if python is None:
        pytest.skip("no interpreter of this version that any user may run")
    db, spec = folder / "x.duckdb", folder / "x.yaml"
    entrants = [*HONEST, *hostile_entrants(canaries, victim)]
    spec.write_text(spec_of(tier, entrants))
    settings = {
        **os.environ, "HOME": str(folder), "TMPDIR": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1", "LADDER_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *site_folders()]),
    }  # fmt: skip
    words = ["run", str(spec), "--db", str(db), "--workers", "0", "--json"]
    family = Family()
    log = tmp_path / "log"
    with log.open("wb") as out:
        run = subprocess.Popen(
            [python, "-c", MAIN, *words],
            stdout=out, stderr=subprocess.STDOUT, env=settings, cwd=folder, **user,
        )  # fmt: skip
        while True:
            family.look(run.pid)
            try:
                run.wait(0.05)
                break
            except subprocess.TimeoutExpired:
                continue
    assert run.returncode == 0, log.read_text()[-3000:]
    assert family.left_after(5) == []
    told = {}
    for bot, cause, detail in Store(db).query("SELECT bot, cause, detail FROM faults"):
        if tier == "sandbox" and bot in OWN_MATCHES and "views of seats {0, 1}" in detail:
            continue
        told.setdefault(bot, set()).add(cause)
        assert "ESCAPED" not in detail, detail
    expected = {**test_hostile.VERDICTS, **test_cunning.VERDICTS}
    for bot, verdict in expected.items():
        causes = set() if verdict == "ok" else {verdict}
        assert told.get(bot, set()) <= EITHER.get(bot, causes), (bot, told.get(bot))
        assert bool(told.get(bot)) is (verdict != "ok"), bot
    assert SECRET.encode() not in db.read_bytes() + log.read_bytes()
    calm = tmp_path / "calm.duckdb"
    run_text(spec_of(tier, HONEST), calm)
    assert honest_matches(db) == honest_matches(calm)
    assert len(honest_matches(calm)) == 4  # two challengers, a match at each seat
