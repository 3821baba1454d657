"""One night: idempotent, locked, summed up; versions, authors, quarantine; stores, backups."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ladder.bots import load_word
from ladder.errors import InfraError, SpecError, StoreError
from ladder.execute import Workers
from ladder.nightly import NightLock, Outcome, run_nightly, summary_lines
from ladder.nightly.summary import diff_values, moves_of
from ladder.spec import Spec
from ladder.store import SCHEMA, NightEntrant, NightStore, Store
from ladder.submissions import enter, utc_now, withdraw
from tests.conftest import ROOT, Command
from tests.running import SMALL, run_text

FIRST = datetime(2026, 3, 1, 3, tzinfo=UTC)
SPEC = """\
name: örtlich
game: pasa
table: {{seats: 3, rounds: 1, chips: 100}}
seed: 7
entrants: [Easy, Hard, Uniform, Least]
format: {{kind: ladder, budget: {{matches: 240}}, matches: 6, rounds: 2, floor: 30, {more}}}
"""


def spec_of(more: str = "backups: 2") -> Spec:
    from ladder.spec import make_spec
    from ladder.spec.documents import parse_document

    return make_spec(parse_document(SPEC.format(more=more), "night.yaml"))


@pytest.fixture
def store(tmp_path: Path) -> NightStore:
    store = NightStore(tmp_path / "störe.duckdb")
    store.create()
    return store


def play(store: NightStore, day: int, spec: Spec | None = None, **options: Any) -> Outcome:
    at = FIRST + timedelta(days=day)
    return run_nightly(
        spec or spec_of(), store, Workers(0), lambda progress: None, clock=lambda: at, **options
    )


def hand_in(store: NightStore, word: str, name: str, author: str) -> None:
    loaded = load_word(word, "pasa")
    enter(
        store, loaded.portable(), game="pasa", name=name, author=author, about="", at=utc_now()
    )  # fmt: skip


# --- nights and days


def test_a_date_is_played_once_unless_again(store: NightStore) -> None:
    first = play(store, 0)
    assert (first.night.night, first.night.label, first.night.matches) == (1, "2026-03-01", 240)
    repeat = play(store, 0)
    assert repeat.is_repeat
    assert len(summary_lines(repeat)) == 1
    second = play(store, 0, is_again=True)
    assert (second.night.night, second.night.label) == (2, "2026-03-01.2")
    assert second.night.digest != first.night.digest, "another night, other dice"
    missed = play(store, 5)
    assert (missed.night.night, missed.night.label) == (3, "2026-03-06")
    back = play(store, 3)  # the clock was set back
    assert (back.night.night, back.night.label) == (4, "2026-03-04")


def test_two_stores_come_to_the_same(store: NightStore, tmp_path: Path) -> None:
    other = NightStore(tmp_path / "other.duckdb")
    for day in (0, 1):
        one, two = play(store, day), play(other, day)
        assert one.rows == two.rows
        assert one.night.digest == two.night.digest


def test_a_changed_spec_counts_from_the_next_night(
    store: NightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = play(NightStore(store.path.with_name("whole.duckdb")), 0)
    with monkeypatch.context() as patch:
        patch.setattr(NightStore, "finish_night", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            play(store, 0)
    changed = spec_of("backups: 0, floor: 60".replace(", floor: 60", ""))
    changed = replace(changed, format=changed.format.model_copy(update={"rounds": 7}))
    night = play(store, 4, changed).night
    assert (night.label, night.rounds, night.digest) == ("2026-03-01", 2, whole.night.digest)
    assert play(store, 4, changed).night.rounds == 7


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_another_games_ladder_of_that_name(store: NightStore) -> None:
    play(store, 0)
    from ladder.spec import make_spec
    from ladder.spec.documents import parse_document

    text = SPEC.format(more="backups: 1").replace("game: pasa", "game: pasha")
    text = text.replace(", rounds: 1, chips: 100", "").replace("Uniform, Least", "Medium, Random")
    with pytest.raises(SpecError, match=r"the ladder 'örtlich' in .* plays pasa"):
        play(store, 1, make_spec(parse_document(text, "night.yaml")))


# --- the lock


def test_a_second_start_says_who_runs_since_when(store: NightStore) -> None:
    with NightLock(store.path, lambda: FIRST), pytest.raises(InfraError) as error:
        play(store, 0)
    assert str(error.value).startswith(f"a night is being played by process {os.getpid()} on ")
    assert "since 2026-03-01 03:00:00 UTC" in str(error.value)
    assert not play(store, 0).is_repeat


def test_a_lock_of_a_dead_process_is_history(store: NightStore) -> None:
    lock = store.path.with_name(f"{store.path.name}.night")
    code = (
        "import os, sys; from pathlib import Path; from datetime import *;"
        "from ladder.nightly import NightLock;"
        "NightLock(Path(sys.argv[1]), lambda: datetime.now(UTC)).__enter__(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(store.path)], cwd=ROOT, check=False)
    assert "pid" in lock.read_text()
    assert play(store, 0).night.matches == 240
    assert lock.read_text() == ""


def test_another_machines_lock_has_to_be_believed(store: NightStore) -> None:
    lock = store.path.with_name(f"{store.path.name}.night")
    lock.write_text(json.dumps({"pid": 7, "host": "elsewhere", "since": FIRST.isoformat()}))
    with pytest.raises(InfraError, match=r"process 7 on elsewhere .* if that has ended, remove"):
        play(store, 0)


# --- who plays


def test_authors_are_kept_apart(store: NightStore) -> None:
    for lead in (1, 2, 3):
        hand_in(store, f"BoldUntilAhead:lead={lead}", f"anna {lead}", "anna")
    outcome = play(store, 0)
    anna = {row.version for row in outcome.rows if row.author == "anna"}
    assert len(anna) == 3
    for versions, _ in store.meetings([outcome.night.run]):
        assert len(anna & set(versions)) <= 1
    together = play(store, 1, spec_of("keep_apart: false"))
    met = [set(versions) for versions, _ in store.meetings([together.night.run])]
    assert any(len(anna & versions) > 1 for versions in met)


def test_a_new_version_takes_the_line_and_the_old_one_its_history(store: NightStore) -> None:
    hand_in(store, "BoldUntilAhead:lead=1", "mine", "anna")
    first = play(store, 0)
    hand_in(store, "BoldUntilAhead:lead=2", "mine", "anna")
    second = play(store, 1)
    (before,) = [row for row in first.rows if row.name == "mine"]
    (after,) = [row for row in second.rows if row.name == "mine"]
    assert before.version != after.version
    assert (after.nights, after.matches_before, after.mu_before) == (0, 0, 25.0)
    assert diff_values(second)["changed"] == ["mine"]
    history = store.history("örtlich", [before.version, after.version])
    assert [row.version for _, row in history] == [before.version, after.version]


def test_a_new_version_may_start_from_its_predecessor(store: NightStore) -> None:
    spec = spec_of("new_versions: predecessor, widen: 1.0")
    hand_in(store, "BoldUntilAhead:lead=1", "mine", "anna")
    (before,) = [row for row in play(store, 0, spec).rows if row.name == "mine"]
    hand_in(store, "BoldUntilAhead:lead=2", "mine", "anna")
    (after,) = [row for row in play(store, 1, spec).rows if row.name == "mine"]
    assert before.mu is not None
    assert before.sigma is not None
    assert after.mu_before == before.mu
    assert before.sigma < after.sigma_before <= before.sigma + 1.0


def test_a_faulty_version_is_taken_out_and_a_new_one_released(store: NightStore) -> None:
    hand_in(store, f"{ROOT}/tests/faulty_bots.py:Raises", "bad", "anna")
    outcome = play(store, 0, spec_of("quarantine: 5"))
    (bad,) = [row for row in outcome.rows if row.name == "bad"]
    assert bad.faults >= 5
    assert "most of them exception: ValueError: I do not like this mat" in bad.quarantine
    assert any(line.startswith("quarantined: bad of anna: ") for line in summary_lines(outcome))
    assert [row.state for row in store.submissions("pasa", "bad")] == ["quarantined"]
    assert "bad" not in [row.name for row in play(store, 1).rows]
    with pytest.raises(SpecError, match="is in quarantine"):
        hand_in(store, f"{ROOT}/tests/faulty_bots.py:Raises", "bad", "anna")
    hand_in(store, f"{ROOT}/tests/faulty_bots.py:Wasteful", "bad", "anna")
    assert "bad" in [row.name for row in play(store, 2).rows]


def test_who_is_withdrawn_is_named_once_and_gone(store: NightStore) -> None:
    hand_in(store, "Most", "mine", "anna")
    play(store, 0)
    withdraw(store, "mine")
    outcome = play(store, 1)
    assert diff_values(outcome)["withdrawn"] == ["mine"]
    assert "mine" not in [row.name for row in outcome.rows]
    assert diff_values(play(store, 2))["withdrawn"] == []


def test_too_few_bots(store: NightStore) -> None:
    spec = replace(spec_of(), entrants=spec_of().entrants[:2])
    with pytest.raises(SpecError, match=r"a table of 3 needs as many bots that may play \(got 2\)"):
        play(store, 0, spec)
    assert store.last_night("örtlich") is None


def test_a_budget_of_minutes_holds_the_floor(store: NightStore) -> None:
    spec = spec_of()
    part = spec.format.model_copy(
        update={"budget": spec.format.budget.model_copy(update={"matches": None, "minutes": 1e-9})}
    )
    outcome = play(store, 0, replace(spec, format=part))
    assert outcome.night.rounds == 1
    assert min(row.matches for row in outcome.rows) >= 30


# --- the summary


def test_the_summary_fits_a_mail(store: NightStore) -> None:
    for lead in range(60):
        hand_in(
            store, f"BoldUntilAhead:lead={lead}", f"a long name of a bot {lead} " + "पासा" * 9, ""
        )
    play(store, 0)
    lines = summary_lines(play(store, 1))
    assert len(lines) <= 40
    assert all(len(line) <= 100 for line in lines)
    assert lines[0].startswith("örtlich, night 2 (2026-03-02): 240 matches")


def test_a_move_is_as_real_as_the_ratings_are_sure() -> None:
    def row(name: str, mu: float) -> NightEntrant:
        return NightEntrant(name, name, "", 1, 25, 8, 0, mu, 1.0)

    (up, down) = moves_of([row("a", 30), row("b", 29)], [row("b", 34), row("a", 30)])
    assert (up.name, up.before, up.after) == ("b", 2, 1)
    assert 0.99 < up.is_real < 1
    assert up.is_real == down.is_real


# --- the store


def test_no_pair_is_over_repeated(store: NightStore) -> None:
    for lead in range(8):
        hand_in(store, f"BoldUntilAhead:lead={lead}", f"b{lead}", "")
    counts: dict[tuple[str, str], int] = {}
    runs = [play(store, day).night.run for day in range(3)]
    for versions, matches in store.meetings(runs):
        for a, b in combinations(sorted(versions), 2):
            counts[a, b] = counts.get((a, b), 0) + matches
    assert max(counts.values()) <= 4 * sum(counts.values()) / (12 * 11 / 2)


def test_an_older_store_is_carried_over_with_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    fresh = run_text(SMALL, tmp_path / "fresh.duckdb")
    with duckdb.connect(str(path)) as db:
        db.execute(files("ladder").joinpath("schema.sql").read_text())
        db.execute("INSERT INTO t_store VALUES (1)")
    assert Store(path).runs() == []
    assert path.with_name("old.duckdb.schema-1").exists()
    assert Store(path).query("SELECT schema FROM t_store") == [(SCHEMA,)]
    assert run_text(SMALL, path).digest == fresh.digest
    with duckdb.connect(str(path.with_name("old.duckdb.schema-1")), read_only=True) as db:
        assert db.execute("SELECT schema FROM t_store").fetchall() == [(1,)]


def test_a_backup_restores_and_the_ladder_goes_on(
    store: NightStore, ladder: Command, tmp_path: Path
) -> None:
    play(store, 0)
    backup = play(store, 1).backup
    assert backup is not None
    expected = play(store, 2).rows
    with duckdb.connect(str(store.path)) as db:
        db.execute("DELETE FROM t_night_entrants")
    ended = ladder("restore", backup, "--db", store.path)
    assert ended.code == 0
    assert store.path.with_name(f"{store.path.name}.before-restore-1").exists()
    assert play(store, 1).night.night == 2  # the backup was made before its night was closed
    assert play(store, 2).rows == expected
    (tmp_path / "no.txt").write_text("no store" * 100)
    ended = ladder("restore", tmp_path / "no.txt", "--db", store.path)
    assert ended.code == 3
    assert len(ended.err.splitlines()) == 1


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, method: str) -> Iterator[None]:
    def full(*_: object, **__: object) -> None:
        raise StoreError("x.duckdb: could not write: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(NightStore, method, full)
        yield


@pytest.mark.parametrize(
    "method",
    [
        "append",
        pytest.param("fold", marks=pytest.mark.slow),
        pytest.param("finish_night", marks=pytest.mark.slow),
        "back_up",
        pytest.param("close_night", marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_ends_the_night_and_the_next_start_goes_on(
    method: str, store: NightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of("keep_nights: 1")
    other = NightStore(store.path.with_name("other.duckdb"))
    play(store, 0, spec)
    play(other, 0, spec)
    with full_disk(monkeypatch, method), pytest.raises(StoreError, match="No space left"):
        play(store, 1, spec)
    assert play(store, 1, spec).rows == play(other, 1, spec).rows
    assert play(store, 1, spec).is_repeat


def test_a_reader_does_not_end_the_night(store: NightStore) -> None:
    play(store, 0)
    code = (
        "import duckdb, sys, time; db = duckdb.connect(sys.argv[1], read_only=True);"
        " print('open', flush=True); time.sleep(3)"
    )
    patient = NightStore(store.path, patience_s=60)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        assert play(patient, 1).night.matches == 240


def test_readers_get_in_while_a_night_is_played(store: NightStore, ladder: Command) -> None:
    play(store, 0)
    code = (
        "import sys; from pathlib import Path; from tests.nightly.test_nightly import *;"
        "print('begun', flush=True); play(NightStore(Path(sys.argv[1]), patience_s=60), 1)"
    )
    answered = 0
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as night:
        assert night.stdout is not None
        assert night.stdout.readline() == "begun\n"
        while night.poll() is None:
            ended = ladder("standings", "--ladder", "örtlich", "--db", store.path, "--json")
            if ended.code == 0:
                assert len(json.loads(ended.out)) == 4
                answered += 1
            else:
                assert "another process is using it" in ended.err
                assert len(ended.err.splitlines()) == 1
    assert night.returncode == 0
    assert answered


def test_a_reader_that_cannot_get_in_says_so_soon(store: NightStore, ladder: Command) -> None:
    play(store, 0)
    code = (
        "import duckdb, sys; db = duckdb.connect(sys.argv[1]); print('open', flush=True);"
        " sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        ended = ladder("standings", "--db", store.path)
        assert ended.code == 3
        assert f"PID {holder.pid}" in ended.err
        assert len(ended.err.splitlines()) == 1
        assert holder.stdin is not None
        holder.stdin.close()


# --- the commands


def test_nightly_history_and_standings_agree(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("night.yaml").write_text(SPEC.format(more="backups: 1"))
    words = ["nightly", "night.yaml", "--db", "x.duckdb", "--workers", "0"]
    first = ladder(*words, "--date", "2026-03-01")
    assert first.code == 0
    assert first.out.startswith("örtlich, night 1 (2026-03-01): 240 matches")
    told = ladder(*words, "--date", "2026-03-02", "--json", "--explain")
    night = json.loads(told.out)
    assert any("has not its floor of matches tonight" in line for line in told.err.splitlines())
    standings = json.loads(ladder("standings", "--db", "x.duckdb", "--json").out)
    history = json.loads(ladder("history", "--db", "x.duckdb", "--json").out)
    assert [(r["bot"], r["mu"], r["rank"]) for r in standings] == [
        (r["bot"], r["mu"], r["rank"]) for r in night["standings"]
    ]
    assert [r["mu"] for r in history[4:]] == [r["mu"] for r in standings]
    earlier = ladder("standings", "--night", "2026-03-01", "--db", "x.duckdb", "--json")
    assert [r["mu"] for r in json.loads(earlier.out)] == [r["mu"] for r in history[:4]]
    version = standings[0]["version"]
    at_version = ladder("standings", "--at-version", version, "--db", "x.duckdb", "--json")
    assert json.loads(at_version.out) == standings
    assert "▁" in ladder("history", "--db", "x.duckdb").out
    one = ladder("history", "Easy", "--db", "x.duckdb").out.splitlines()
    assert [line[:10] for line in one[2:]] == ["2026-03-01", "2026-03-02"]
    of_the_night = ladder("standings", "--db", "x.duckdb").out.splitlines()[0]
    rated_anew = ladder("rate", "--method", "online", "--db", "x.duckdb").out.splitlines()[0]
    assert "draw probability 0.0000" not in of_the_night
    assert of_the_night.rpartition(", ")[2] == rated_anew.rpartition(", ")[2]


MISTAKES = {
    "a date": (["nightly", "night.yaml", "--date", "31.12."], "should be a date", 2),
    "another format": (["nightly", "run.yaml"], "plays a ladder, `ladder run` the others", 2),
    "a ladder to run": (["run", "night.yaml"], "a ladder is played by `ladder nightly", 2),
    "no night": (["standings", "--night", "2020-01-01"], "has no night 2020-01-01", 3),
    "no ladder": (["history", "--ladder", "x"], "has no ladder 'x'; there are örtlich", 3),
    "no bot": (["history", "nobody"], "no bot of örtlich is called 'nobody'", 2),
    "no inbox": (["nightly", "inbox.yaml"], "format.inbox: there is no such folder", 2),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played")
    play(NightStore(path / "x.duckdb"), 0)
    (path / "night.yaml").write_text(SPEC.format(more="backups: 1"))
    (path / "inbox.yaml").write_text(SPEC.format(more="inbox: none"))
    (path / "run.yaml").write_text(SMALL)
    return path


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_a_line(
    name: str, ladder: Command, played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(played)
    words, message, code = MISTAKES[name]
    ended = ladder(*words, "--db", "x.duckdb")
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert "Traceback" not in ended.err
