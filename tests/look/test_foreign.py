"""Bots that are programs: the same play, the same verdicts, nobody else's match disturbed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ladder.bots import load_program
from ladder.commands import read_command
from ladder.driver import LocalPlayer, Player, play
from ladder.errors import BotLoadError
from ladder.execute import player_for
from ladder.foreign import ForeignPlayer
from ladder.games import get_game
from ladder.isolate.probe import probe
from ladder.isolate.verdict import Limits
from ladder.record import Record, Segment
from ladder.store import Store
from tests.conftest import Command
from tests.plain_play import KEY, loaded
from tests.running import run_text

PASA = get_game("pasa")
TABLE = PASA.table(seats=3, rounds=1, chips=100)  # type: ignore[call-arg]
HERE = Path(__file__).parent
# Generous where nothing is to be caught: the machine may be busy.
LIMITS = Limits(decision_ms=5_000, wall_ms=20_000, start_ms=10_000, memory_mb=200)
SHORT = replace(LIMITS, wall_ms=400)

pytestmark = pytest.mark.skipif(bool(probe().missing), reason="no sandbox here")


def program(kind: str, limits: Limits = LIMITS) -> ForeignPlayer:
    python = str(Path(sys.executable).resolve())
    source = read_command([python, str(HERE / "programs.py"), kind], [])
    return ForeignPlayer(PASA, source, {}, is_trusted=False, limits=limits)


def played(player: Player, matches: int, lanes: int, on_fault: str = "forfeit") -> Record:
    [easy] = loaded(PASA, ["Easy"])
    players: list[Player] = [player, LocalPlayer(PASA, easy.bot, {})]
    segments = [Segment((0, 1, 1), b"", 0, matches), Segment((1, 0, 1), b"", 0, matches)]
    record = play(PASA, TABLE, players, segments, [KEY, KEY], on_fault=on_fault, lanes=lanes)
    player.close()
    return record


FAULTS = {
    "hangs": ("timeout_wall", "400 allowed"),
    "dies": ("crash", "killed by SIGABRT"),
    "grows": ("memory", "200 are allowed"),
    "babbles": ("protocol", "answered 'twenty chips', not an action"),
    "floods": ("output", "wrote a line of more than"),
    "illegal": ("illegal", "returned 7 (int); legal are"),
    "float": ("illegal", "returned 5.0 (float), not an integer"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_program_is_convicted_and_nobody_else(kind: str) -> None:
    cause, detail = FAULTS[kind]
    limits, matches = (SHORT, 2) if kind == "hangs" else (LIMITS, 4)
    one = played(program(kind, limits), matches, 1)
    many = played(program(kind, limits), matches, 64)
    honest = played(program("honest"), matches, 64)
    assert np.array_equal(one.digest, many.digest)
    assert np.array_equal(one.places, many.places)
    assert {fault.fault.cause for fault in many.fault_rows} == {cause}
    assert all(detail in fault.fault.detail for fault in many.fault_rows)
    assert {fault.seat for fault in many.fault_rows} <= {0, 1}
    clean = many.faults.sum(axis=1) == 0
    assert np.array_equal(many.digest[clean], honest.digest[clean])
    assert (~clean).any()
    if kind == "dies":
        assert "farewell" in many.fault_rows[0].fault.traceback


@pytest.mark.parametrize(
    ("kind", "detail"),
    [("silent", "no answer after"), ("wrong", "to the greeting"), ("quits", "code 1")],
)
def test_a_program_that_does_not_start(kind: str, detail: str) -> None:
    limits = replace(LIMITS, start_ms=500) if kind == "silent" else LIMITS
    record = played(program(kind, limits), 2, 64)
    assert {fault.fault.cause for fault in record.fault_rows} == {"init_failed"}
    assert detail in record.fault_rows[0].fault.detail
    if kind == "quits":
        assert "cannot find my book" in record.fault_rows[0].fault.traceback


def test_a_program_may_remember_within_its_match() -> None:
    local = loaded(PASA, ["tests/faulty_bots.py:Counts"])[0]
    wanted = played(LocalPlayer(PASA, local.bot, {}), 10, 64)
    got = played(program("counts"), 10, 7)
    assert wanted.faults.sum() == got.faults.sum() == 0
    assert len(got) == 20


def test_after_a_death_the_others_go_on() -> None:
    """With `default` as if nothing had been."""
    dies = played(program("dies"), 6, 64, on_fault="default")
    again = played(program("dies"), 6, 1, on_fault="default")
    assert np.array_equal(dies.digest, again.digest)


def compiled_c(tmp_path: Path) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    out = tmp_path / "bold"
    subprocess.run([compiler, "-O2", "-o", out, "docs/programs/bold.c"], check=True)
    return str(out)


@pytest.mark.parametrize("language", ["node", "c", "bash"])
def test_a_thousand_matches_in_another_language(language: str, tmp_path: Path) -> None:
    """The examples play as their twins in Python do, to the last action."""
    if language != "c" and shutil.which(language) is None:
        pytest.skip(f"{language} is not installed")
    word, command = {
        "node": ("Hard", ["node", "docs/programs/hard.js"]),
        "c": ("BoldUntilAhead", [compiled_c(tmp_path)] if language == "c" else []),
        "bash": ("Least", ["bash", "docs/programs/default.sh"]),
    }[language]
    bot = load_program(command, [], {}, "pasa", is_trusted=False)
    got = played(player_for(PASA, bot, limits=LIMITS), 500, 256)
    [twin] = loaded(PASA, [word])
    wanted = played(LocalPlayer(PASA, twin.bot, dict(twin.params)), 500, 256)
    assert got.faults.sum() == 0
    assert np.array_equal(got.digest, wanted.digest)


def test_pasha_in_bash_is_legal() -> None:
    game = get_game("pasha")
    bot = load_program(["bash", "docs/programs/default.sh"], [], {}, "pasha", is_trusted=False)
    players: list[Player] = [player_for(game, bot, limits=LIMITS)]
    table = game.table(seats=2)  # type: ignore[call-arg]
    record = play(game, table, players, [Segment((0, 0), b"", 0, 3)], [KEY])
    players[0].close()
    assert record.faults.sum() == 0


def spec_with(entrant: str) -> str:
    return (
        "name: programs\ngame: pasa\ntable: {seats: 2, rounds: 1, chips: 60}\nseed: 1\n"
        f"entrants: [{entrant}, Easy]\nformat: {{kind: round_robin, matches: 4}}\n"
    )


def test_in_a_spec_and_again_from_the_store(ladder: Command, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy("docs/programs/default.sh", folder / "mine.sh")
    db = tmp_path / "x.duckdb"
    run_text(spec_with(f"{{command: [bash, {folder}/mine.sh]}}"), db)
    shutil.rmtree(folder)
    assert Store(db).query("SELECT DISTINCT bot FROM results ORDER BY bot") == [
        ("Easy",), ("mine",),
    ]  # fmt: skip
    for trust in ((), ("--i-trust-these-bots",)):
        ended = ladder("verify", "--db", db, "--all", *trust)
        assert ended.code == 0, ended.out + ended.err


def test_a_changed_file_is_another_version(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    versions = set()
    for content in ("# one", "# two"):
        path.write_text(content)
        for params in ({}, {"lead": 3}):
            versions.update(
                load_program(["bash", str(path)], [], params, "pasa", is_trusted=trusted).version
                for trusted in (True, False)
            )
    assert len(versions) == 4


@pytest.mark.parametrize(
    ("entrant", "told"),
    [
        ("{command: [no-such-program-here]}", "no such program on this machine"),
        ("{command: [bash], bot: Easy}", "either bot or command"),
        ("{name: x}", "bot: is missing"),
        ("{command: [bash], files: [gone.js]}", "gone.js: no such file"),
        ("{command: []}", "must not be empty"),
        ("{bot: Easy, files: [README.md]}", "files belong to a command"),
    ],
)
def test_mistakes_in_a_spec(ladder: Command, tmp_path: Path, entrant: str, told: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(spec_with(entrant))
    ended = ladder("run", path, "--dry-run")
    assert ended.code == 2
    assert told in ended.err


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(BotLoadError):
        load_program([], [], {}, "pasa", is_trusted=True)


def test_check_of_a_program(ladder: Command, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    words = ("--command", "bash docs/programs/default.sh", "--transcript", lines)
    ended = ladder("check", *words)
    assert ended.code == 0, ended.out
    assert "repeats: twice from one seed" in ended.out
    said = lines.read_text().splitlines()
    assert said[:2] == [
        '> {"protocol":1,"game":"pasa","decisions":["stake"],"params":{}}',
        '< {"protocol":1}',
    ]
    assert '> {"start":1}' in said
    assert any(line.startswith('> {"decide":"stake","match":1,"view":{"seat":') for line in said)
    assert "< 5" in said


def test_check_names_what_is_wrong(ladder: Command) -> None:
    python = Path(sys.executable).resolve()
    ended = ladder("check", "--command", f"{python} tests/look/programs.py babbles")
    assert ended.code == 1
    assert "FAULT" in ended.out
    for words, told in (("no-such-thing", "no such program"), ("'x", "No closing quotation")):
        ended = ladder("check", "--command", words)
        assert ended.code == 2
        assert told in ended.err


def test_a_program_in_two_seats_is_two_processes_in_a_walk(ladder: Command) -> None:
    """`check` plays a match action by action, and keeps seats apart as the driver does."""
    python = Path(sys.executable).resolve()
    ended = ladder("check", "--command", f"{python} tests/look/programs.py counts")
    assert ended.code == 0, ended.out


NIGHTLY = """\
name: mixed
game: pasa
table: {seats: 2, rounds: 1, chips: 60}
seed: 3
entrants: [Easy, Hard, {name: least, command: [bash, default.sh]}]
format: {kind: ladder, budget: {matches: 60}, rounds: 2, floor: 4}
"""


def test_programs_on_a_ladder(ladder: Command, tmp_path: Path) -> None:
    """Submitted or listed in the spec, stored with their files, and played without them."""
    shutil.copy("docs/programs/default.sh", tmp_path / "default.sh")
    (tmp_path / "mine.sh").write_text("# mine\n" + (tmp_path / "default.sh").read_text())
    (tmp_path / "n.yaml").write_text(NIGHTLY.replace("default.sh", f"{tmp_path}/default.sh"))
    db = tmp_path / "x.duckdb"
    words = ("--name", "mine", "--author", "anna", "--params", "lead=3", "--db", db)
    ended = ladder("submit", "--command", f"bash {tmp_path}/mine.sh", *words)
    assert (ended.code, "entered (its first)" in ended.out) == (0, True), ended.err
    (tmp_path / "mine.sh").unlink()
    shown = ladder("show", "mine", "--db", db).out
    assert "# mine" in shown
    assert "params lead=3" in shown
    ended = ladder("nightly", tmp_path / "n.yaml", "--db", db, "--workers", 0)
    assert ended.code == 0, ended.err
    played_by = dict(Store(db).query("SELECT bot, count(*) FROM results GROUP BY bot"))
    assert {"Easy", "Hard", "least", "mine"} == set(played_by)
    assert Store(db).query("SELECT count(*) FROM faults") == [(0,)]


def test_a_program_that_does_not_pass_is_not_stored(ladder: Command, tmp_path: Path) -> None:
    python = Path(sys.executable).resolve()
    command = f"{python} tests/look/programs.py babbles"
    words = ("--name", "mine", "--author", "anna", "--db", tmp_path / "x.duckdb")
    ended = ladder("submit", "--command", command, *words)
    assert (ended.code, "FAULT" in ended.out) == (1, True)
    assert ladder("show", "mine", "--db", tmp_path / "x.duckdb").code == 2
