"""Secret run keys: drawn, kept, reused, published; and why: a small public seed can be guessed."""

import re

import pytest

from ladder import seeds
from ladder.errors import SpecError
from ladder.execute import Progress
from ladder.plan import make_plan
from ladder.spec import make_spec
from ladder.spec.documents import parse_document
from ladder.store import Store
from ladder.tournament import run_key_for
from tests.running import rows_of

SPEC = """\
name: hidden
game: pasa
table: {seats: 3, rounds: 1, chips: 100}
seed: secret
entrants: [Easy, Hard, Uniform]
format: {kind: round_robin, matches: 600}
"""
GUESSES = 3000


def guess_seed(plan, seen):
    """The attack: which small seed gives the private integers that a bot has seen?

    A bot knows the table and who plays, so it can work a pairing's digest out as we do.
    """
    (pairing, *_) = plan.pairings(0)
    for seed in range(GUESSES):
        key = seeds.deal_key(seeds.run_key(seed), pairing.digest)
        if lucks(key, plan.table.seats) == seen:
            return seed
    return None


def lucks(key, seats):
    source = seeds.new_source(key, 0, seats)
    return [seeds.draw_luck(source, 0) for _ in range(2)]


@pytest.mark.parametrize(("seed", "found"), [("2026", 2026), ("secret", None)])
def test_brute_force(seed, found):
    plan = make_plan(make_spec(parse_document(SPEC.replace("secret", seed), "x.yaml")))
    (pairing, *_) = plan.pairings(0)
    seen = lucks(plan.deal_key(pairing.digest), plan.table.seats)
    assert guess_seed(plan, seen) == found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hidden.yaml").write_text(SPEC)
    return tmp_path


RUN = ("run", "hidden.yaml", "--workers", "0")


def keys_of(db):
    return Store(db).query("SELECT key, tier, kernel, walls, finished_at FROM runs")


def test_the_key_is_published_and_reproduces(folder, ladder):
    first = ladder(*RUN, "--db", "a.duckdb")
    assert first.code == 0
    [(key, tier, kernel, walls, _)] = keys_of(folder / "a.duckdb")
    assert len(key) == 64
    assert f"--key {key}" in " ".join(first.out.split())
    assert (tier, walls) == ("trusted", "none")
    assert kernel
    digest = re.search(r"digest (\w+)", first.out).group(1)
    again = ladder(*RUN, "--db", "b.duckdb", "--key", key)
    assert digest in again.out
    assert rows_of(folder / "a.duckdb") == rows_of(folder / "b.duckdb")
    # A new run draws a new key.
    assert digest not in ladder(*RUN, "--db", "a.duckdb").out
    assert len({row[0] for row in keys_of(folder / "a.duckdb")}) == 2


def test_an_interrupted_run_goes_on_with_its_key_and_tells_nothing(folder, ladder, monkeypatch):
    add = Progress.add

    def stop_early(self, matches):
        add(self, matches)
        if self.done > 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "add", stop_early)
    stopped = ladder(*RUN, "--db", "a.duckdb")
    assert stopped.code == 130
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    db = folder / "a.duckdb"
    assert [row[0] for row in keys_of(db)] == [None]
    assert Store(db).query("SELECT DISTINCT seed FROM matches") == [(None,)]
    spec = make_spec(parse_document(SPEC, "hidden.yaml"))
    kept = run_key_for(spec, Store(db))
    assert kept.hex() not in stopped.out + stopped.err
    assert ladder(*RUN, "--db", "a.duckdb").code == 0
    assert [row[0] for row in keys_of(db)] == [kept.hex()]
    assert Store(db).query("SELECT count(DISTINCT seed) FROM matches")[0][0] == 600
    assert run_key_for(spec, Store(db)) != kept  # retired


@pytest.mark.parametrize("key", ["", "abc", "0" * 63, "g" * 64])
def test_a_key_that_is_none(key, folder, ladder):
    ended = ladder(*RUN, "--key", key)
    assert (ended.code, ended.err) == (
        2, f"--key: should be 64 hex digits (got {key!r})\n",
    )  # fmt: skip


def test_strangers_at_a_public_seed_are_advised_against(folder, ladder):
    (folder / "mine.py").write_text(
        "from ladder.games.pasa import PasaBot\nclass Mine(PasaBot):\n    pass\n"
    )
    text = SPEC.replace("Uniform", "'mine.py:Mine'")
    for seed, is_advised in (("7", True), ("secret", False)):
        (folder / "x.yaml").write_text(text.replace("secret", seed).replace("600", "6"))
        ended = ladder("run", "x.yaml", "--workers", "0")
        assert ended.code == 0
        assert ("advice: a bot that is not trusted" in ended.err) is is_advised
    rows = Store(folder / "results/ladder.duckdb").query("SELECT DISTINCT tier, walls FROM runs")
    assert [row[0] for row in rows] == ["sandbox"]
    assert "landlock" in rows[0][1]


def test_limits_are_part_of_a_match_only_where_they_bind():
    def pairing(entrants, limits):
        text = SPEC.replace("secret", "1").replace("[Easy, Hard, Uniform]", entrants)
        plan = make_plan(make_spec(parse_document(f"{text}limits: {limits}\n", "x.yaml")))
        return plan.pairings(0)[0].digest

    shipped = "[Easy, Hard, Uniform]"
    assert pairing(shipped, "{}") == pairing(shipped, "{decision_ms: 7}")
    stranger = "[Easy, Hard, 'tests/faulty_bots.py:Raises']"
    trusted = "[Easy, Hard, {bot: 'tests/faulty_bots.py:Raises', trusted: true}]"
    assert pairing(stranger, "{}") == pairing(trusted, "{}") == pairing(trusted, "{wall_ms: 7}")
    assert pairing(stranger, "{}") != pairing(stranger, "{wall_ms: 7}")


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ("{decision_ms: 0}", "limits.decision_ms: should be at least 1 (got 0)"),
        ("{memory_mb: 8}", "limits.memory_mb: should be at least 64 (got 8)"),
        ("{output_kb: 1.5}", "limits.output_kb: should be a whole number (got 1.5)"),
        ("{wal_ms: 5}", "limits.wal_ms: unknown field; did you mean wall_ms? (got 5)"),
    ],
)
def test_bad_limits(limits, problem):
    with pytest.raises(SpecError) as found:
        make_spec(parse_document(f"{SPEC}limits: {limits}\n", "x.yaml"))
    assert found.value.problems[0].endswith(problem)


def test_bad_tier():
    with pytest.raises(SpecError, match="tier: should be 'auto', 'sandbox' or 'strict'"):
        make_spec(parse_document(f"{SPEC}tier: trusted\n", "x.yaml"))
