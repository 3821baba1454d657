"""The command line: exit codes, JSON and CSV, help, interruptions, and terminals that are none."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ladder.cli import app
from tests.conftest import ROOT, Command
from tests.running import SMALL, rows_of

LADDER = [sys.executable, "-c", "from ladder.cli import main; main()"]
COMMANDS = sorted(
    command.name or command.callback.__name__  # type: ignore[union-attr]
    for command in app.registered_commands
)
HEAVY = ("numba", "numpy", "ray", "duckdb", "pyarrow", "pydantic", "yaml", "rich")
# A run promises to stop within 5 s; a loaded machine gets more before the test calls it hanging.
PATIENCE_S = 30
STANDING = {
    "rank", "bot", "version", "mu", "sigma", "conservative", "win_share", "win_share_low",
    "win_share_high", "matches", "mean_score", "faults",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SMALL)
    return tmp_path


def process(*words: str, **options: Any) -> subprocess.Popen[str]:
    """`ladder WORD ...` in a process of its own."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*LADDER, *words], text=True, env=surroundings, **pipes)


# --- help


def test_help_of_the_whole(ladder: Command) -> None:
    ended = ladder("--help")
    assert ended.code == 0
    assert ended.err == ""
    for name in COMMANDS:
        assert name in ended.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example(name: str, ladder: Command) -> None:
    ended = ladder(name, "--help")
    assert ended.code == 0
    assert f"Example: ladder {name}" in ended.out


@pytest.mark.parametrize(
    ("commands", "heavy"),
    [([[]], HEAVY), ([[name] for name in COMMANDS], set(HEAVY) - {"pydantic"})],  # Typer's own
    ids=["ladder", "commands"],
)
def test_no_help_imports_what_is_heavy(commands: list[list[str]], heavy: set[str]) -> None:
    code = f"""
import sys
from ladder.cli import main
for words in {commands!r}:
    sys.argv = ["ladder", *words, "--help"]
    try:
        main()
    except SystemExit as leaving:
        assert leaving.code == 0
print(sorted(set({sorted(heavy)!r}) & set(sys.modules)), file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ended.stderr.strip() == "[]"


# --- exit codes


def test_exit_0_and_the_table(ladder: Command) -> None:
    ended = ladder("run", "small.yaml", "--workers", "0")
    assert ended.code == 0
    for word in ("Easy", "Hard", "Uniform", "Least", "results digest", "mu-3s", "95 % interval"):
        assert word in ended.out
    assert "small: pasa, 4 line-ups of 3, 240 matches, store results/ladder.duckdb" in ended.err
    again = ladder("run", "small.yaml", "--workers", "0")
    assert again.code == 0
    assert "nothing to play: all 240 matches are in results/ladder.duckdb" in again.out


@pytest.mark.parametrize(
    ("words", "code"), [((), 0), (("--strict",), 1)], ids=["lenient", "strict"]
)
def test_exit_1_where_a_bot_faulted_and_strict(
    words: tuple[str, ...], code: int, ladder: Command
) -> None:
    bot = f"{ROOT}/tests/faulty_bots.py:Raises"
    ended = ladder("match", bot, "Easy", "--matches", "4", "--workers", "0", *words)
    assert ended.code == code
    assert "faults" in ended.out
    shown = ladder("standings", "--faults")
    assert "Raises: 4 x exception" in shown.out
    assert "I do not like this mat" in shown.out


def test_exit_1_where_a_fault_aborts(ladder: Command, folder: Path) -> None:
    bot = f"{ROOT}/tests/faulty_bots.py:Float"
    text = SMALL.replace("Least]", f"'{bot}']") + "limits: {on_fault: abort}\n"
    (folder / "small.yaml").write_text(text)
    ended = ladder("run", "small.yaml", "--workers", "0")
    assert ended.code == 1
    assert "Float at seat " in ended.err
    assert "not an integer (on_fault: abort)" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "Missing argument"),
        (["fly"], "No such command 'fly'"),
        (["run", "small.yaml", "--wrkers", "2"], "No such option: --wrkers"),
        (["run", "small.yaml", "--workers", "-1"], "--workers"),
        (["run", "none.yaml"], "none.yaml: no such file"),
        (["match", "Easy"], "table.seats: should be at least 2 (got 1)"),
        (["match", "Esy", "Easy"], "no bot of that name plays pasa; did you mean Easy?"),
        (["match", "Easy", "Hard", "--matches", "3"], "must be a multiple of the 2 seats"),
        (["match", "Easy", "Hard", "--game", "chess"], "unknown game, there are pasa"),
        (["match", "Easy", "Hard", "--table", "chips"], "options are written as chips=500"),
        (["match", "Easy", "Hard", "--table", "chip=5"], "did you mean chips?"),
        (["match", "Easy", "Hard", "--table", "seats=3"], "2 bots are given, one a seat"),
        (["games", "chess"], "unknown game, there are pasa"),
        (["bots", "--game", "chess"], "unknown game, there are pasa"),
        (["replay", "--actions", "none.txt"], "none.txt: cannot be read"),
        (["match", "my_bot.py", "Easy"], "name the class too, as in my_bot.py:MyBot"),
        (["match", "b.py:B:lead", "Easy"], "params are written as name=value"),
        (["rate", "--game", "chess"], "unknown game, there are pasa"),
        (["replay"], "give one of a match's id (`ladder report` and the view `matches`"),
        (["replay", "--actions", "x.txt", "--from", "3"], "--from: does not go with --actions"),
        (["verify", "--exact", "x.yaml", "--sample", "9"], "--sample: does not go with --exact"),
        (["compare", "x.yaml", "--seed", "3"], "--seed: does not go with a spec"),
        (["compare", "x.yaml", "--matches", "9"], "--matches: does not go with a spec"),
        (["check", "Easy", "--transcript", "t"], "--transcript: does not go with a Python bot"),
        (["check", "--command", "cat", "--matches", "8"], "--matches: does not go with --command"),
        (["standings", "--faults", "--csv"], "--csv: does not go with --faults"),
        (["standings", "--pairs", "--by-seat"], "--by-seat: does not go with --pairs"),
        (["standings", "--run", "a", "--night", "1"], "--night: does not go with --run"),
        (["rate", "--check", "--pairs"], "--pairs: does not go with --check"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exit_2_for_a_mistake_of_the_user(words: list[str], message: str, ladder: Command) -> None:
    ended = ladder(*words)
    assert ended.code == 2
    assert ended.out == ""
    assert message in " ".join(ended.err.split())
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["standings"], "results/ladder.duckdb: no such store; `ladder run SPEC` makes one"),
        (["rate", "--db", "none.duckdb"], "none.duckdb: no such store"),
        (["restore", "none.duckdb"], "none.duckdb: no such backup"),
        (["standings", "--db", "small.yaml"], "not a valid DuckDB database file"),
        (["run", "small.yaml", "--workers", "0", "--db", "."], ".: is a directory, not a store"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exit_3_for_the_store(words: list[str], message: str, ladder: Command) -> None:
    ended = ladder(*words)
    assert ended.code == 3
    assert ended.out == ""
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_exit_3_for_a_run_that_is_not_there(ladder: Command) -> None:
    ladder("run", "small.yaml", "--workers", "0")
    ended = ladder("standings", "--run", "large")
    assert ended.code == 3
    assert "has no run 'large'; the latest are" in ended.err
    assert "small" in ended.err


def test_exit_3_for_a_cluster_that_is_not_there(ladder: Command) -> None:
    ended = ladder("run", "small.yaml", "--ray", "127.0.0.1:1")
    assert ended.code == 3
    assert "Traceback" not in ended.err
    assert "cannot start Ray 127.0.0.1:1" in ended.err


# --- JSON and CSV


def test_json_of_a_run_and_its_standings(ladder: Command) -> None:
    run = ladder("run", "small.yaml", "--workers", "0", "--json")
    told = json.loads(run.out)
    assert set(told) == {"run", "matches", "seconds", "digest", "standings"}
    assert told["matches"] == 240
    assert [row["rank"] for row in told["standings"]] == [1, 2, 3, 4]
    shown = json.loads(ladder("standings", "--json").out)
    assert shown == told["standings"]
    for row in shown:
        assert set(row) >= STANDING
        assert row["conservative"] == pytest.approx(row["mu"] - 3 * row["sigma"])
        assert row["win_share_low"] < row["win_share"] < row["win_share_high"]
        assert row["matches"] == 180
    assert sum(row["win_share"] for row in shown) / 4 == pytest.approx(1 / 3)
    assert json.loads(ladder("rate", "--json").out) == shown
    placing = json.loads(ladder("rate", "--json", "--rank-by", "placing").out)
    assert {row["bot"] for row in placing} == {row["bot"] for row in shown}


def test_json_by_seat(ladder: Command) -> None:
    ladder("run", "small.yaml", "--workers", "0")
    for row in json.loads(ladder("standings", "--json", "--by-seat").out):
        assert len(row["win_share_by_seat"]) == 3
        assert 0 <= row["draw_share"] <= 1
        assert sum(row["win_share_by_seat"]) / 3 == pytest.approx(row["win_share"])


def test_csv_says_what_json_says(ladder: Command) -> None:
    ladder("run", "small.yaml", "--workers", "0")
    for words in ([], ["--by-seat"]):
        rows = list(csv.DictReader(io.StringIO(ladder("standings", "--csv", *words).out)))
        told = json.loads(ladder("standings", "--json", *words).out)
        assert [row["bot"] for row in rows] == [row["bot"] for row in told]
        for row, values in zip(rows, told, strict=True):
            assert {name for name, value in row.items() if value} >= STANDING
            assert float(row["mu"]) == values["mu"]


def test_json_of_the_published_shares(ladder: Command, folder: Path) -> None:
    (folder / "small.yaml").write_text(SMALL + "expect: {Easy: 0.25}\n")
    told = json.loads(ladder("run", "small.yaml", "--workers", "0", "--json").out)
    assert {row["bot"]: row.get("expected") for row in told["standings"]}["Easy"] == 0.25
    table = ladder("standings")
    assert "published %" in table.out
    assert "25.00" in table.out


def test_json_of_a_match(ladder: Command) -> None:
    words = ["match", "Easy", "Easy", "Hard", "--matches", "30", "--workers", "0", "--json"]
    told = json.loads(ladder(*words).out)
    assert told["matches"] == 30
    assert [row["bot"] for row in told["standings"]] in (["Hard", "Easy"], ["Easy", "Hard"])


def test_json_of_bots_games_and_replay(ladder: Command, folder: Path) -> None:
    bots = json.loads(ladder("bots", "--json").out)
    assert {"name", "reference", "game", "about", "params"} == set(bots[0])
    assert {"Easy", "Medium", "Hard", "Master", "Least"} <= {bot["name"] for bot in bots}
    games = json.loads(ladder("games", "--json").out)
    assert "pasa" in [game["name"] for game in games]
    pasa = json.loads(ladder("games", "pasa", "--json").out)
    assert {option["option"]: option["default"] for option in pasa["options"]}["chips"] == 500
    (folder / "match.txt").write_text("pasa seats=2 chips=50\nstake 50\nthrow 6 6 1\n")
    replay = json.loads(ladder("replay", "--actions", "match.txt", "--json").out)
    assert set(replay) == {"states", "piles", "win_share"}
    assert (replay["piles"], replay["win_share"]) == ([100, 0], [1.0, 0.0])


def test_the_schema_is_json_and_knows_the_table(ladder: Command) -> None:
    schema = json.loads(ladder("games", "pasa", "--schema").out)
    assert "entrants" in schema["properties"]
    assert "chips" in schema["properties"]["table"]["properties"]


@pytest.mark.slow
def test_json_of_bench(ladder: Command) -> None:
    rows = json.loads(ladder("bench", "--quick", "--json").out)
    assert {"name", "value", "unit"} == set(rows[0])
    names = {row["name"] for row in rows}
    assert {"pasa_python_matches_per_s", "store_rows_per_s"} <= names


# --- dry run


def test_a_dry_run_plays_nothing_and_makes_no_store(ladder: Command, folder: Path) -> None:
    told = json.loads(ladder("run", "small.yaml", "--dry-run", "--json").out)
    assert told["matches"] == 240
    assert told["lineups"] == 4
    assert [(each["bot"], each["matches"]) for each in told["entrants"]] == [
        ("Easy", 180), ("Hard", 180), ("Uniform", 180), ("Least", 180),
    ]  # fmt: skip
    assert told["estimated_seconds"] > 0
    shown = ladder("run", "small.yaml", "--dry-run")
    assert "nothing played" in shown.out
    assert "Easy + Hard + Uniform: 60" in shown.out
    assert sorted(path.name for path in folder.iterdir()) == ["small.yaml"]


# --- names and places


def test_names_and_paths_of_any_alphabet(ladder: Command, folder: Path) -> None:
    here = folder / "पासा folder with blanks"
    here.mkdir()
    spec, db = here / "spéc file.yaml", here / "störe.duckdb"
    spec.write_text(SMALL.replace("Hard", "{bot: Hard, name: 'Ørsted ✓ vs प'}"), encoding="utf-8")
    ended = ladder("run", spec, "--db", db, "--workers", "0", "--json")
    assert ended.code == 0
    assert "Ørsted ✓ vs प" in [row["bot"] for row in json.loads(ended.out)["standings"]]
    assert "Ørsted ✓ vs प" in ladder("standings", "--db", db).out
    assert "Ørsted ✓ vs प" in ladder("standings", "--db", db, "--csv").out


def test_a_name_is_text_and_no_markup(ladder: Command, folder: Path) -> None:
    (folder / "small.yaml").write_text(
        SMALL.replace(
            "[Easy, Hard", "[{bot: Easy, name: '[/b] [red]'}, {bot: Hard, name: ':1234:'}"
        )
    )
    shown = [ladder(*words) for words in (
        ["run", "small.yaml", "--dry-run"], ["run", "small.yaml", "--workers", "0"],
        ["standings", "--pairs"], ["rate", "--spread"],
    )]  # fmt: skip
    for ended in shown:
        assert ended.code == 0
        assert "[/b] [red]" in ended.out
        assert ":1234:" in ended.out


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("run small.yaml --workers 0 >&- 2>&- <&-", 0),
        ("games >&-", 0),
        ("games >/dev/full", 3),
        ("run none.yaml 2>&-", 2),
        ("run none.yaml 2>/dev/full", 2),
        ("games; exit $?", 0),
    ],
)
def test_streams_that_are_closed_or_full(shell: str, code: int, folder: Path) -> None:
    command = f"{shlex.join(LADDER)} {shell}"
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], env=surroundings, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if "small" in shell:  # no stream of ours went into the store
        assert len(rows_of(folder / "results" / "ladder.duckdb")) == 4 * 60 * 3


def test_a_folder_that_is_gone(folder: Path) -> None:
    command = f"mkdir gone; cd gone; rmdir ../gone; {shlex.join(LADDER)} run none.yaml"
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], env=surroundings, capture_output=True, text=True)
    assert done.returncode == 2
    assert "none.yaml: no such file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_message_moves_no_cursor(ladder: Command) -> None:
    ended = ladder("run", "no\x1b[2J\u202e.yaml")
    assert ended.code == 2
    assert ended.err == "no\\x1b[2J\\u202e.yaml: no such file\n"


def test_a_terminal_that_cannot_show_a_name(folder: Path) -> None:
    (folder / "small.yaml").write_text(
        SMALL.replace("Hard", "{bot: Hard, name: 'Ørsted ✓'}"), encoding="utf-8"
    )
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    with process("run", "small.yaml", "--workers", "0", env=ascii_only) as running:
        out, err = running.communicate(timeout=240)
    assert running.returncode == 0, err
    assert "?rsted ?" in out


def test_nothing_of_a_terminal_where_there_is_none(folder: Path) -> None:
    with process("run", "small.yaml", "--workers", "0") as running:
        out, err = running.communicate(timeout=240)
    assert running.returncode == 0
    assert "\x1b" not in out + err
    assert "\r" not in out + err


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_narrow_terminal_loses_no_name_and_no_digit(
    width: int, ladder: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    ladder("run", "small.yaml", "--workers", "0")
    monkeypatch.setattr(
        "ladder.printing.standings.console",
        lambda: Console(width=width, highlight=False, no_color=True),
    )
    told = ladder("standings").out
    assert "…" not in told
    for row in json.loads(ladder("standings", "--json").out):
        line = next(line for line in told.splitlines() if f" {row['bot']} " in line)
        assert f"{100 * row['win_share']:.2f}" in line
        assert f"{row['conservative']:.2f}" in line
    assert ("too narrow for: mean score" in told) == (width < 100)


def test_a_bot_file_beside_the_command(ladder: Command, folder: Path) -> None:
    (folder / "my_bot.py").write_text(
        "from ladder.games.pasa import PasaBot\n\n\n"
        "class MyBot(PasaBot):\n"
        '    """Mine."""\n\n'
        "    lead: int = 50\n\n"
        "    @staticmethod\n"
        "    def stake(view, params):\n"
        "        return view.least_stake if view.lead > params.lead else view.most_stake\n"
    )
    words = ["match", "my_bot.py:MyBot:lead=20", "Easy", "--matches", "20", "--workers", "0"]
    ended = ladder(*words, "--json")
    assert ended.code == 0, ended.err
    assert "MyBot:lead=20" in [row["bot"] for row in json.loads(ended.out)["standings"]]


# --- pipes and interruptions


@pytest.mark.parametrize("words", [["bots", "--json"], ["games", "--schema"], ["--help"]])
def test_a_closed_pipe_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with process(*words, stdout=writing) as running:
        os.close(writing)
        _, err = running.communicate(timeout=120)
    assert err == ""
    assert running.returncode == 0


SLOW_BOT = """\
import sys
from ladder.games.pasa import PasaBot


class Tells(PasaBot):
    '''Tells on standard error when it has made 2,000 decisions.'''

    asked = [0]

    def stake(self, view):
        self.asked[0] += 1
        if self.asked[0] == 2000:
            sys.stderr.write('far enough\\n')
            sys.stderr.flush()
        return view.least_stake
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(
    number: signal.Signals, folder: Path, ladder: Command
) -> None:
    (folder / "tells.py").write_text(SLOW_BOT)
    text = SMALL.replace("Least]", "{bot: 'tells.py:Tells', trusted: true}]").replace(
        "matches: 60", "matches: 30000"
    )
    (folder / "long one.yaml").write_text(text)
    words = ["run", "long one.yaml", "--db", "the store.duckdb", "--workers", "0"]
    with process(*words) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "far enough" in line:
                break
        running.send_signal(number)
        out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    told = err.strip().splitlines()[-1]
    assert told.startswith("interrupted: ")
    assert "of 120,000 matches are in the store.duckdb; to go on: " in told
    again = shlex.split(told.partition("to go on: ")[2])
    assert again[:3] == ["ladder", "run", "long one.yaml"]
    assert again[again.index("--db") + 1] == "the store.duckdb"


@pytest.mark.slow
def test_an_interrupted_run_on_ray_stops_too(folder: Path) -> None:
    text = SMALL.replace("matches: 60", "matches: 30000000") + "compile: never\n"
    (folder / "long.yaml").write_text(text)
    with process("run", "long.yaml", "--workers", "1") as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "on Ray" in line:
                break
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130
    assert "to go on: ladder run long.yaml" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "standings"])
def test_ctrl_c_at_any_other_moment_exits_with_130(
    command: str, ladder: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ladder.spec.load_spec", interrupted)
    monkeypatch.setattr("ladder.store.Store.__init__", interrupted)
    words = [command, "small.yaml"] if command == "run" else [command]
    ended = ladder(*words)
    assert ended.code == 130
    assert "Traceback" not in ended.err
