"""Bots from file to store: checked, kept, found again; and what is said when something is wrong."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ladder.bots import PortableBot, load_word
from ladder.check import Finding, Verdict, check_contained, check_word
from ladder.errors import SpecError
from ladder.inbox import take_inbox
from ladder.sources import Source, bundle_of
from ladder.store import SubmissionStore
from ladder.submissions import enter, rename, submit, utc_now, withdraw
from tests.conftest import ROOT, Command

BOT = '''\
from rules_of_mine import chosen
from ladder.games.pasa import PasaBot

class Mine(PasaBot):
    """Stakes what its rule says."""

    lead: int = 50

    @staticmethod
    def stake(view, params):
        return chosen(view, params.lead)
'''
BESIDE = """\
def chosen(view, lead):
    return view.least_stake if view.lead > lead else view.most_stake
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(BOT)
    (tmp_path / "rules_of_mine.py").write_text(BESIDE)
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> SubmissionStore:
    store = SubmissionStore(tmp_path / "x.duckdb")
    store.create()
    return store


def passes(word: str, **options: object) -> Verdict:
    """A check that lets everything pass, without the seconds that a real one takes."""
    before, _, last = word.rpartition(":")
    reference, lead = (before, int(last.partition("=")[2])) if "=" in last else (word, 50)
    where, _, class_name = reference.rpartition(":")
    about = "Stakes what its rule says."
    return Verdict(reference, bundle_of(where), class_name, (), "pasa", about, (("lead", lead),))


def fails(word: str, **options: object) -> Verdict:
    verdict = passes(word)
    finding = Finding("legal", "fault", "stakes what it has not")
    return Verdict(verdict.reference, verdict.source, verdict.class_name, (finding,), "pasa")


# --- check


def test_a_good_bot_passes_every_check(folder: Path) -> None:
    checked = check_word(f"{folder}/mine.py:Mine:lead=20", matches=40)
    assert checked.reasons == []
    assert [finding.check for finding in checked.findings] == [
        "source", "loads", "contract", "legal", "time", "deterministic", "compiles", "plays",
        "memory", "prints",
    ]  # fmt: skip
    assert "mine.py, rules_of_mine.py" in checked.findings[0].detail
    assert (checked.game, dict(checked.params)) == ("pasa", {"lead": 20})
    assert [row["level"] for row in checked.table] == ["Easy", "Medium", "Hard", "Master"]
    assert all(0 <= row["win_share"] <= 1 and row["matches"] == 40 for row in checked.table)
    assert set(checked.figures) >= {"decision_ms_p50", "decision_ms_p99", "memory_mb"}


FAULTY = {
    "Raises": ("legal", "ValueError: I do not like this mat"),
    "IllegalStake": ("legal", "illegal: returned"),
    "RaisesInInit": ("legal", "cannot be made: RuntimeError: not today"),
    "NotAMethod": ("contract", "stake is not a function"),
    "Nobody": ("loads", "has no class 'Nobody'"),
}


def test_a_strangers_bot_is_checked_in_children_alone(folder: Path) -> None:
    path = folder / "mine.py"
    path.write_text(BOT + f"open('{folder}/touched', 'w')\n")
    verdict = check_contained(f"{path}:Mine", game="pasa", matches=8)
    assert "loads" in [finding.check for finding in verdict.findings]
    assert not verdict.is_passed
    assert not (folder / "touched").exists()
    path.write_text(BOT)
    assert check_contained(f"{path}:Mine:lead=20", game="pasa", matches=8).reasons == []
    raises = check_contained(f"{ROOT}/tests/faulty_bots.py:Raises", game="pasa", matches=8)
    assert "ValueError: I do not like this mat" in raises.reasons[0]


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_bot_fails_with_the_reason(name: str) -> None:
    verdict = check_word(f"{ROOT}/tests/faulty_bots.py:{name}", matches=8)
    check, reason = FAULTY[name]
    assert any(r.startswith(f"{check}: ") and reason in r for r in verdict.reasons)


BAD_FILES = {
    "random": (
        "import random\n{base}        return random.choice(view.legal)\n",
        "deterministic: stake: ",
    ),
    "endless": ("{base}        while True:\n            pass\n", "legal: not done after 4 s"),
    "dies": ("import os\n{base}        os._exit(3)\n", "legal: its process died"),
    "syntax": ("def (\n", "line 1: SyntaxError"),
    "needs a file": ("open(__file__ + '.txt')\n{base}        return 5\n", "FileNotFoundError"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_what_else_a_check_finds(name: str, tmp_path: Path) -> None:
    text, reason = BAD_FILES[name]
    base = (
        "from ladder.games.pasa import PasaBot\nclass Mine(PasaBot):\n    '''Is.'''\n"
        "    def stake(self, view):\n"
    )
    (tmp_path / "mine.py").write_text(text.replace("{base}", base))
    (tmp_path / "mine.py.txt").write_text("beside the bot, but no part of it")
    allowed_s = 4 if name == "endless" else 120
    try:
        reasons = check_word(f"{tmp_path}/mine.py:Mine", matches=8, allowed_s=allowed_s).reasons
    except SpecError as error:
        reasons = list(error.problems)
    assert any(reason in each for each in reasons), reasons


def test_a_check_says_which_decision_hangs(tmp_path: Path) -> None:
    lines = [
        "from ladder.games.pasa import PasaBot",
        "class Mine(PasaBot):",
        "    def stake(self, view):",
        "        while view.lead < 0:",
        "            pass",
        "        return view.legal[0]",
    ]
    (tmp_path / "mine.py").write_text("\n".join(lines))
    verdict = check_word(f"{tmp_path}/mine.py:Mine", matches=8, decision_s=0.5)
    (reason,) = verdict.reasons
    assert (
        "the first in stake: exception: TimeoutError: no answer after 0.5 s; at PasaView" in reason
    )
    assert "line 4, in stake" in reason or "line 5, in stake" in reason


# --- submit and its sisters


def test_a_stored_version_plays_without_its_files(folder: Path, store: SubmissionStore) -> None:
    word = f"{folder}/mine.py:Mine:lead=20"
    entered, _ = submit(store, word, name="Bôld पासा", author="anna", check=passes)
    assert entered is not None
    assert entered.is_new
    for name in ("mine.py", "rules_of_mine.py"):
        (folder / name).unlink()
    (row,) = store.submissions("pasa", "Bôld पासा")
    (portable,) = store.portable([row])
    for loaded in (portable.load(), replace(portable, is_trusted=True).load()):
        assert loaded.version == row.version
        assert dict(loaded.params) == {"lead": 20}


def test_a_stored_module_plays_beside_a_newer_one_of_that_name(store: SubmissionStore) -> None:
    hard = load_word("Hard", "pasa")
    files = tuple(
        (name, content.replace(b"per_turn: int = 75", b"per_turn: int = 76"))
        for name, content in hard.source.files
    )
    source = Source("bots.pasa.levels", files)
    old = PortableBot("bots.pasa.levels:Hard", "Hard", (("per_turn", 76),), source)
    enter(store, old, game="pasa", name="old", author="", about="", at=utc_now())
    (portable,) = store.portable(store.submissions("pasa"))
    kept = replace(portable, is_trusted=True).load().bot
    assert kept.per_turn == 76  # type: ignore[attr-defined]
    assert load_word("Hard", "pasa").bot.per_turn == 75  # type: ignore[attr-defined]


def test_the_same_again_says_so_and_a_change_is_a_new_version(
    folder: Path, store: SubmissionStore
) -> None:
    word, beside = f"{folder}/mine.py:Mine", folder / "rules_of_mine.py"

    def hand_in(name: str = "mine", author: str = "anna") -> str:
        entered, _ = submit(store, word, name=name, author=author, check=passes)
        assert entered is not None
        return entered.message

    assert "is entered (its first)" in hand_in()
    assert "is there already" in hand_in()
    with pytest.raises(SpecError, match="other: is the same bot as mine of anna"):
        hand_in(name="other")
    beside.write_text(BESIDE + "# changed\n")
    with pytest.raises(SpecError, match="mine belongs to anna; take another name"):
        hand_in(author="bob")
    assert "is entered (its 2nd)" in hand_in()
    beside.write_text(BESIDE)
    with pytest.raises(SpecError, match="to go back to it, change something"):
        hand_in()
    withdraw(store, "mine")
    beside.write_text(BESIDE + "# changed\n")
    assert "was withdrawn; it plays again" in hand_in()
    assert [row.state for row in store.submissions()] == ["active", "active"]


def test_a_bot_that_does_not_pass_is_not_stored(folder: Path, store: SubmissionStore) -> None:
    word = f"{folder}/mine.py:Mine"
    entered, verdict = submit(store, word, name="mine", author="anna", check=fails)
    assert entered is None
    assert verdict.reasons == ["legal: stakes what it has not"]
    assert store.submissions() == []


def test_a_file_that_changes_while_it_is_checked(folder: Path, store: SubmissionStore) -> None:
    def slowly(word: str, **options: object) -> Verdict:
        verdict = passes(word)
        (folder / "mine.py").write_text(BOT + "# later\n")
        return verdict

    with pytest.raises(SpecError, match="changed while it was checked"):
        submit(store, f"{folder}/mine.py:Mine", name="mine", author="anna", check=slowly)
    assert store.submissions() == []


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 65, "\x1b[31m"])
def test_a_name_that_cannot_be(name: str, folder: Path, store: SubmissionStore) -> None:
    with pytest.raises(SpecError, match="--name: should be 1 to 64 printable characters"):
        submit(store, f"{folder}/mine.py:Mine", name=name, author="anna", check=passes)


def test_renaming(folder: Path, store: SubmissionStore) -> None:
    submit(store, f"{folder}/mine.py:Mine", name="mine", author="anna", check=passes)
    submit(store, f"{folder}/mine.py:Mine:lead=1", name="one", author="anna", check=passes)
    with pytest.raises(SpecError, match="the name 'one' is taken by anna"):
        rename(store, "mine", "one")
    with pytest.raises(SpecError, match="no submitted bot is called 'none'; there are mine, one"):
        rename(store, "none", "two")
    rename(store, "mine", "two")
    assert [row.name for row in store.submissions()] == ["two", "one"]


# --- the inbox


def test_the_inbox_takes_what_is_new_and_says_why_not(folder: Path, store: SubmissionStore) -> None:
    inbox = folder / "inbox"
    (inbox / "anna").mkdir(parents=True)
    (inbox / "anna" / "mine.py").write_text(BOT)
    (inbox / "anna" / "rules_of_mine.py").write_text(BESIDE)
    alone = BOT.replace("from rules", "#").replace("chosen(view, params.lead)", "view.legal[0]")
    (inbox / "bold.py").write_text("# name: Bold one\n# author: bob\n# params: lead=7\n" + alone)
    (inbox / "nobody.py").write_text(alone)
    (inbox / "_draft.py").write_text("no bot at all (")
    lines = take_inbox(store, inbox, "pasa", check=passes)
    assert len(lines) == 1
    assert lines[0].startswith("nobody.py: names no author")
    assert (inbox / "nobody.py.refused.txt").read_text().splitlines()[1].startswith("names no")
    rows = {row.name: row for row in store.submissions()}
    assert {name: row.author for name, row in rows.items()} == {"Mine": "anna", "Bold one": "bob"}
    assert dict(rows["Bold one"].params) == {"lead": 7}

    withdraw(store, "Mine")

    def never(word: str, **options: object) -> Verdict:
        raise AssertionError("checked again")

    assert len(take_inbox(store, inbox, "pasa", check=never)) == 1
    assert [row.state for row in store.submissions("pasa", "Mine")] == ["withdrawn"]


def test_a_refused_file_is_looked_at_again_once_it_changes(
    folder: Path, store: SubmissionStore
) -> None:
    path = folder / "inbox" / "anna" / "mine.py"
    path.parent.mkdir(parents=True)
    path.write_text(BOT.replace("from rules", "#"))
    inbox = folder / "inbox"
    reason = "anna/mine.py: legal: stakes what it has not"
    assert take_inbox(store, inbox, "pasa", check=fails) == [reason]
    assert take_inbox(store, inbox, "pasa", check=passes) == []
    path.write_text(path.read_text() + "# better\n")
    assert take_inbox(store, inbox, "pasa", check=passes) == []
    assert [row.name for row in store.submissions()] == ["Mine"]
    assert not path.with_name("mine.py.refused.txt").exists()


def test_no_file_of_an_inbox_ends_the_night(folder: Path, store: SubmissionStore) -> None:
    """A parser that gives up, a pipe, a device, a child that goes down with many matches."""
    inbox = folder / "inbox" / "anna"
    inbox.mkdir(parents=True)
    head = "from ladder.games.pasa import PasaBot\n\nclass X"
    (inbox / "deep.py").write_text("x = " + "+".join("1" * 20_000))
    (inbox / "base.py").write_text(f"{head}({'a.' * 600}PasaBot):\n    pass\n")
    gone = "    def stake(self, view):\n        import os\n        os._exit(3)\n"
    (inbox / "gone.py").write_text(f"{head}(PasaBot):\n{gone}")
    os.mkfifo(inbox / "pipe.py")
    (inbox / "zero.py").symlink_to("/dev/zero")
    (inbox / "loop.py").symlink_to("loop.py")
    base, deep, gone = take_inbox(store, inbox.parent, "pasa", check=check_contained)
    assert base == "anna/base.py: is nested too deeply to be read"
    assert deep.startswith("anna/deep.py: ")
    assert deep.endswith("is nested too deeply to be read")
    assert "legal: 1 faults at" in gone
    assert "crash" in gone


def test_no_inbox(store: SubmissionStore, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"format\.inbox: there is no such folder"):
        take_inbox(store, tmp_path / "none", "pasa")


# --- the commands


def test_from_new_bot_to_show(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for game in ("pasa", "pasha"):
        name = f"first_{game}_bot"
        made = ladder("new-bot", name, "--game", game)
        word = made.out.split()[-1]
        assert (made.code, word) == (0, f"{name}.py:First{game.title()}Bot")
    verdict = ladder("check", "first_pasa_bot.py:FirstPasaBot", "--json", "--matches", 8)
    assert (verdict.code, json.loads(verdict.out)["game"]) == (0, "pasa")
    assert "is there already" in ladder("new-bot", "first_pasa_bot").err
    assert ladder("new-bot", "a b").code == 2

    words = ["submit", "first_pasa_bot.py:FirstPasaBot", "--name", "mine", "--author", "anna",
             "--params", "lead=20", "--db", "x.duckdb"]  # fmt: skip
    assert "mine version" in ladder(*words).out
    assert "is there already" in ladder(*words).out
    (listed,) = json.loads(ladder("bots", "--db", "x.duckdb", "--json").out)
    assert (listed["name"], listed["author"], listed["params"]) == ("mine", "anna", {"lead": 20})
    Path("first_pasa_bot.py").unlink()
    assert "class FirstPasaBot(PasaBot):" in ladder("show", "mine", "--db", "x.duckdb").out
    assert ladder("rename", "mine", "ours", "--db", "x.duckdb").code == 0
    assert ladder("withdraw", "ours", "--db", "x.duckdb").out == "ours is withdrawn\n"
    gone = ladder("show", "mine", "--db", "x.duckdb")
    assert (gone.code, gone.err) == (2, "no submitted bot is called 'mine'; there are ours\n")


@pytest.mark.slow
def test_a_new_pasha_bot_passes(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ladder("new-bot", "MyBot", "--game", "pasha")
    verdict = ladder("check", "my_bot.py:MyBot", "--json", "--matches", 8)
    assert (verdict.code, json.loads(verdict.out)["game"]) == (0, "pasha"), verdict.out


def test_a_check_that_fails_exits_with_1(ladder: Command) -> None:
    ended = ladder("check", f"{ROOT}/tests/faulty_bots.py:Raises")
    assert ended.code == 1
    assert "FAULT legal" in ended.out
    assert "Traceback" not in ended.err
