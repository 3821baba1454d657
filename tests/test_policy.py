"""What compiles to the same function, and what is refused, with the reason."""

from __future__ import annotations

import importlib.util
import itertools
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ladder.bots import load
from ladder.driver import LocalPlayer, play
from ladder.games import get_game
from ladder.playout import compile_bots, play_compiled
from ladder.record import COLUMNS, Segment
from ladder.seeds import deal_key, run_key

GAME = get_game("pasa")
KEY = deal_key(run_key(7), b"policy test")
_numbers = itertools.count()


def write_bot(folder: Path, body: str, before: str = "") -> Path:
    """A bot file whose `stake(view, params)` has this body."""
    path = folder / f"bot{next(_numbers)}.py"
    path.write_text(
        "import math\nfrom ladder.games.pasa import PasaBot\n\n"
        + textwrap.dedent(before)
        + "\n\nclass B(PasaBot):\n    lead: int = 50\n    share: float = 0.5\n\n"
        + "    @staticmethod\n    def stake(view, params):\n"
        + textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
        + "\n"
    )
    return path


def refusal_or_parity(path: Path, matches: int = 400, seats: int = 4) -> str | None:
    """The reason why a bot is not compiled; None where it is, and then it plays the same."""
    bots = [load(f"{path}:B", {}, "pasa", is_trusted=True), load("Uniform", {}, "pasa")]
    code = compile_bots(GAME, bots)
    if code.refused:
        return code.refused[0]
    table = GAME.table(seats=seats, chips=120)
    segments = [Segment((0,) + (1,) * (seats - 1), b"x", 0, matches)]
    fast = play_compiled(GAME, table, bots, code, segments, [KEY])
    players = [LocalPlayer(GAME, bot.bot, dict(bot.params)) for bot in bots]
    plain = play(GAME, table, players, segments, [KEY])
    for name in COLUMNS:
        assert (getattr(fast, name) == getattr(plain, name)).all(), name
    assert [(f.row, f.seat, f.decision, f.fault.cause) for f in fast.fault_rows] == [
        (f.row, f.seat, f.decision, f.fault.cause) for f in plain.fault_rows
    ]
    return None


SAME = {
    "arithmetic": "x = view.lead * 3 - view.turns_left\n"
    "return view.least_stake if x > 7 else view.most_stake",
    "floats inside": "bold = view.pile * params.share > 60.5\n"
    "return view.least_stake if bold else view.most_stake",
    "floor of a float": "return view.legal[int(view.luck / 2**31 * view.num_legal)]",
    "a loop": "s = view.least_stake\nfor x in view.legal:\n    if x < 30:\n        s = x\nreturn s",
    "a while loop": "i = 0\nwhile i < view.num_legal - 1 and view.legal[i] < 10:\n    i += 1\n"
    "return view.legal[i]",
    "negative remainder": "return view.legal[(view.lead - 999) % view.num_legal]",
    "negative floor division": "return view.legal[-((-view.luck) // 3) % view.num_legal]",
    "negative index": "return view.legal[-1]",
    "a slice": "return view.legal[1:][0]",
    "length": "return view.legal[len(view.legal) - 1]",
    "raises": "if view.turns_left < 6:\n    raise ValueError\nreturn view.least_stake",
    "asserts": "assert view.turns_left > 5\nreturn view.least_stake",
    "index out of range": "return view.legal[view.turns_left - 4]",
    "division by zero": "return view.legal[view.luck // (view.turns_left - 5) % view.num_legal]",
    "illegal stake": "return view.most_stake + (1 if view.turns_left == 3 else 0)",
    "outgrows 64 bits": "x = view.luck * view.luck * view.luck + 1\n"
    "return view.legal[x % view.num_legal]",
    "shifts out": "return view.legal[((view.luck << 40) >> 3) % view.num_legal]",
    "powers": "return view.legal[(view.luck ** 3) % view.num_legal]",
    "math": "return view.legal[int(math.sqrt(view.luck)) % view.num_legal]",
    "params": "return view.most_stake if view.lead < params.lead else view.least_stake",
    "booleans": "bold = view.lead < 0 or view.turns_left == 1\n"
    "return view.most_stake if bold else view.least_stake",
    "luck untouched": "return view.legal[view.turns_left % view.num_legal]",
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_compiled_plays_as_python_plays(tmp_path: Path, name: str) -> None:
    assert refusal_or_parity(write_bot(tmp_path, SAME[name])) is None


REFUSED = {
    "a float": ("return 5.0", "returns float64"),
    "a float sometimes": (
        "return view.least_stake if view.lead > 0 else view.pile * 0.5", "returns float64"),
    "a bool": ("return view.lead > 0", "returns bool"),
    "nothing": ("pass", ""),
    "a dict": ("d = {1: 5}\nreturn d[1]", "a dict"),
    "a list": ("return [5, 10][0]", "a list"),
    "a comprehension": ("return [x for x in view.legal][0]", "a list comprehension"),
    "try": ("try:\n    return view.legal[9]\nexcept IndexError:\n    return view.legal[0]", "try"),
    "writes to the view": ("view.piles[0] = 9\nreturn view.least_stake", "writes to view.piles[0]"),
    "sets an attribute": ("view.pile = 9\nreturn view.least_stake", "writes to view.pile"),
    "writes through a name": (
        "p = view.piles\np[0] = 9\nreturn view.least_stake", "writes to p[0]"),
    "prints": ("print(view)\nreturn view.least_stake", "the builtin print"),
    "used before it is set": (
        "if view.lead > 0:\n    x = view.least_stake\nreturn x", "x may be used before it is set"),
    "set in a loop only": (
        "for s in view.legal:\n    x = s\nreturn x", "x may be used before it is set"),
    "imports": ("import random\nreturn random.choice(view.legal)", "import"),
    "text": ("return 'five'", "constant"),
    "unknown attribute": ("return view.nothing", ""),
    "varying exponent": ("return view.legal[2 ** view.turns_left % 3]", "exponent"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_compile_to_something_else_is_refused(tmp_path: Path, name: str) -> None:
    body, reason = REFUSED[name]
    refusal = refusal_or_parity(write_bot(tmp_path, body))
    assert refusal is not None
    assert reason in refusal


def test_a_global_that_changes_is_refused_and_a_constant_is_not(tmp_path: Path) -> None:
    constant = write_bot(tmp_path, "return view.legal[LAST]", "LAST = -1")
    assert refusal_or_parity(constant) is None
    body = "return view.legal[count % view.num_legal]"
    twice = write_bot(tmp_path, body, "count = 0\ncount = 1")
    assert "may change" in str(refusal_or_parity(twice))
    stated = write_bot(
        tmp_path, body, "count = 0\ndef bump():\n    global count\n    count = count + 1"
    )
    assert "may change" in str(refusal_or_parity(stated))
    container = write_bot(tmp_path, "return memory[0]", "memory = [5]")
    assert "a list" in str(refusal_or_parity(container))


def test_functions_that_a_policy_calls_compile_with_it(tmp_path: Path) -> None:
    helper = """
        def bold(view, params):
            return view.lead < params.lead * half(view.turns_left)

        def half(x):
            return x // 2
    """
    body = "return view.most_stake if bold(view, params) else view.least_stake"
    assert refusal_or_parity(write_bot(tmp_path, body, helper)) is None
    looping = "def again(x):\n    return again(x - 1) if x else 0"
    assert "calls itself" in str(refusal_or_parity(write_bot(tmp_path, "return again(3)", looping)))


def test_a_policy_that_remembers_is_played_in_python(tmp_path: Path) -> None:
    path = tmp_path / "remembers.py"
    path.write_text(
        "from ladder.games.pasa import PasaBot\nclass B(PasaBot):\n"
        "    def stake(self, view):\n        return view.least_stake\n"
    )
    assert "may remember" in str(refusal_or_parity(path))


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_edit_of_a_policy_or_of_what_it_imports_is_never_served_stale(tmp_path: Path) -> None:
    """Same file name, same length: a cache that looks at names, sizes or times would be fooled."""

    def piles_after(chosen: str, helper: str) -> Any:
        folder = tmp_path / f"{chosen}{helper}"
        folder.mkdir()
        (folder / "aside.py").write_text(f"def pick(view):\n    return view.{helper}\n")
        path = folder / "edited.py"
        path.write_text(
            "from aside import pick\nfrom ladder.games.pasa import PasaBot\n"
            "class B(PasaBot):\n    @staticmethod\n    def stake(view, params):\n"
            f"        return pick(view) if view.lead > 0 else view.{chosen}\n"
        )
        bots = [load(f"{path}:B", {}, "pasa", is_trusted=True), load("Least", {}, "pasa")]
        code = compile_bots(GAME, bots)
        assert not code.refused
        table = GAME.table()
        record = play_compiled(GAME, table, bots, code, [Segment((0, 1, 1, 1), b"", 0, 50)], [KEY])
        return record.scores.tolist()

    first = piles_after("least_stake", "least_stake")
    assert piles_after("most_stake", "least_stake") != first
    assert piles_after("least_stake", "most_stake") != first
    assert piles_after("least_stake", "least_stake" + " ") == first
