"""Bots that are not trusted: never imported here, told apart as well as if they were."""

import sys
from pathlib import Path

import pytest

from ladder import bots
from ladder.bots import load, load_word
from ladder.errors import BotLoadError
from ladder.isolate.portrait import Portrait, pack_portrait, parse_portrait
from ladder.sources import SHIPPED_FOLDER, bundle_of, is_shipped, locate
from tests.conftest import ROOT
from tests.running import planned, run_text

HEAD = "from ladder.games.pasa import PasaBot\n"
# Leaves a file where it is imported, if it can.
CANARY = (
    "try:\n    open({path!r}, 'w').close()\nexcept OSError:\n    pass\n"
    + HEAD
    + (
        "class Mine(PasaBot):\n    '''Mine.\n\n    More.'''\n"
        "    lead: int = 5\n    bold: bool = True\n"
        "    share: float = 0.5\n    word: str = 'x'\n    @staticmethod\n"
        "    def stake(view, params):\n        return view.legal[view.luck % view.num_legal]\n"
    )
)
SPEC = """\
name: strangers
game: pasa
table: {seats: 3, rounds: 1, chips: 100}
seed: 7
entrants: [Easy, Hard, ENTRANT]
format: {kind: round_robin, matches: 60}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write_canary(folder, name="mine.py"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(CANARY.format(path=str(folder / "canary")))
    return folder / "canary"


def test_a_run_never_imports_a_stranger_here(folder):
    canary = write_canary(folder)
    before = set(sys.modules)
    apart = run_text(SPEC.replace("ENTRANT", "'mine.py:Mine'"), folder / "a.duckdb")
    assert not canary.exists()
    new = set(sys.modules) - before
    assert not [name for name in new if name == "mine" or name.startswith("ladder_bot")]
    trusted = SPEC.replace("ENTRANT", "{bot: 'mine.py:Mine', trusted: true}")
    here = run_text(trusted + "compile: never\n", folder / "b.duckdb")
    assert canary.exists()
    assert apart.digest == here.digest
    assert apart.run == here.run  # the same bot, so the same matches


def test_modules_and_their_packages_are_not_imported(folder):
    canary = write_canary(folder, "strange/__init__.py")
    (folder / "strange" / "deep.py").write_text(HEAD + "class Mine(PasaBot):\n    pass\n")
    loaded = load("strange.deep:Mine", {}, "pasa")
    assert not loaded.is_trusted
    assert not canary.exists()
    assert "strange" not in sys.modules
    with pytest.raises(BotLoadError, match=r"No module named 'strange\.shallow'"):
        locate("strange.shallow")


@pytest.mark.parametrize("word", ["mine.py:Mine", "mine:Mine", "random.py:Mine", "my.bot.py:Mine"])
def test_both_ways_of_loading_give_the_same_bot(word, folder):
    write_canary(folder, word.split(":")[0].removesuffix(".py") + ".py")
    apart = load_word(f"{word}:lead=7", "pasa")
    here = load_word(f"{word}:lead=7", "pasa", is_trusted=True)
    assert (apart.version, apart.params, apart.about) == (here.version, here.params, here.about)
    assert apart.looks == here.looks
    assert apart.looks.policies == ("stake",)
    assert apart.portable().load().version == apart.version
    with pytest.raises(BotLoadError, match="is not trusted"):
        _ = apart.bot


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("x = 1\nraise ValueError('no')\n", "mine.py:Mine"),
        ("import sys\nsys.exit('bye')\n", "mine.py:Mine"),
        ("import nowhere\n", "mine.py:Mine"),
        ("def f(:\n", "mine.py:Mine"),
        (HEAD + "class Mini(PasaBot):\n    pass\n", "mine.py:Mine"),
        ("Mine = 5\n", "mine.py:Mine"),
        (HEAD + "Mine = PasaBot\n", "mine.py:Mine"),
        ("from ladder.games.pasha import PashaBot as Mine\n", "mine.py:Mine"),
        (HEAD + "class Mine(PasaBot):\n    lead: int = 'five'\n", "mine.py:Mine"),
        (HEAD + "class Mine(PasaBot):\n    lead: int = 5\n", "mine.py:Mine:laed=4"),
        (HEAD + "class Mine(PasaBot):\n    lead: int = 5\n", "mine.py:Mine:lead=x"),
        ("", "nowhere.py:Mine"),
        ("", "no_such_module.deep:Mine"),
        ("", "bots.pasa.nope:Mine"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_as_if_imported(source, word, folder):
    (folder / "mine.py").write_text(source)
    told = []
    for is_trusted in (False, True):
        with pytest.raises(BotLoadError) as problem:
            load_word(word, "pasa", is_trusted=is_trusted)
        told.append(problem.value.problems)
    assert told[0] == told[1]


def test_what_only_a_child_can_tell(folder):
    for text, expected in (
        ("import os\nos._exit(3)\n", "crash while it was imported: exited with code 3"),
        ("while True:\n    pass\n", "timeout_cpu while it was imported: took 2"),
        ("import os\nos.fork()\n", r"raised on import at line 2 of mine\.py: PermissionError"),
    ):
        (folder / "mine.py").write_text(text)
        with pytest.raises(BotLoadError, match=expected):
            load_word("mine.py:Mine", "pasa")


def test_shipped_bots_are_trusted_and_a_folder_of_their_name_is_not(folder, monkeypatch):
    assert load_word("Easy", "pasa").is_trusted
    assert is_shipped("bots.pasa.levels")
    assert is_shipped(str(SHIPPED_FOLDER / "pasa" / "levels.py"))
    write_canary(folder, "bots/__init__.py")
    (folder / "bots" / "evil.py").write_text("x = 1\n")
    assert not is_shipped("bots/evil.py")
    for name in [name for name in sys.modules if name.partition(".")[0] == "bots"]:
        monkeypatch.delitem(sys.modules, name)
    # Which of the two packages Python would import depends on how Ladder is installed.
    try:
        assert is_shipped(load_word("Easy", "pasa").source.module)
    except BotLoadError as problem:
        if "hides the bots" not in str(problem):
            raise
    assert not (folder / "canary").exists()


def test_a_stranger_may_build_on_shipped_bots(folder):
    (folder / "mine.py").write_text(
        "from bots.pasa.levels import Hard\nclass Mine(Hard):\n    per_turn: int = 30\n"
    )
    loaded = load_word("mine.py:Mine", "pasa")
    assert dict(loaded.params)["per_turn"] == 30
    assert [name for name, _ in loaded.source.files] == ["mine.py"]
    assert run_text(SPEC.replace("ENTRANT", "'mine.py:Mine'"), folder / "a.duckdb").faults == 0


def test_plug_ins_are_described_apart(folder, monkeypatch):
    from importlib.metadata import EntryPoint

    canary = write_canary(folder, "plugged.py")
    entry = EntryPoint("Plugged", "plugged:Mine", "ladder.bots")
    broken = EntryPoint("Broken", "plugged:Nothing", "ladder.bots")
    monkeypatch.setattr(bots, "entry_points", lambda **_: [entry, broken])
    listings, warnings = bots.available("pasa")
    assert [each.about for each in listings if each.name == "Plugged"] == ["Mine."]
    assert len(warnings) == 1
    assert "plug-in Broken (plugged:Nothing) is broken: plugged: has no class" in warnings[0]
    assert not load_word("Plugged", "pasa").is_trusted
    assert not canary.exists()
    assert "plugged" not in sys.modules


def test_bundles_are_the_same_without_an_import():
    source = bundle_of("bots.pasa.levels")
    assert source == load_word("bots.pasa.levels:Easy", "pasa").source
    assert bundle_of(str(ROOT / "bots/pasa/levels.py")).files[0][0] == "levels.py"


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"[]", b"[" * 60_000, b"5", b'["bot"]', b'{"kind": "bot"}',
        b'["bot", "A", [], "pasa", "", [["n", "int", [1]]], []]',
        b'["bot", "A", [], "pasa", "", [["n", "list", 1]], []]',
        b'["bot", "A", [], "pasa", "", [["n m", "int", 1]], []]',
        b'["bot", "A", [], "pasa", "", [["n", "int", 1' + b"0" * 30 + b"]], []]",
        b'["bot", "A", [], "pasa", "' + b"x" * 2000 + b'", [], []]',
        b'["bot", "A", "names", "pasa", "", [], []]',
        b'["else", "A", [], "pasa", "", [], []]',
        b"\xff\xfe",
    ],
)  # fmt: skip
def test_a_forged_description_is_refused(payload):
    with pytest.raises(ValueError):
        parse_portrait(payload)


def test_descriptions_go_there_and_back():
    portrait = Portrait(
        "bot",
        "A",
        ("A", "B"),
        "pasa",
        "Says é.",
        (("n", "int", 3), ("f", "float", 0.5)),
        ("stake",),
    )
    assert parse_portrait(pack_portrait(portrait)) == portrait
    shown = parse_portrait(pack_portrait(Portrait("bot", "A", about="a\x1b[31m\nb")))
    assert shown.about == "a?[31m?b"


def test_one_trusted_entrant_does_not_make_others_so(folder):
    write_canary(folder)
    (folder / "other.py").write_text(HEAD + "class Other(PasaBot):\n    pass\n")
    text = SPEC.replace("ENTRANT", "{bot: 'other.py:Other', trusted: true}, 'mine.py:Mine'")
    spec, plan = planned(text)
    assert spec.strangers == ("Mine",)
    assert plan.strangers == {3}
    assert not Path("canary").exists()
