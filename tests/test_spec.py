"""Bad specs: every one gets a readable line a problem, all at once, and never a traceback."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ladder.bots import find
from ladder.cli import main
from ladder.commands import read_command
from ladder.errors import BotLoadError, SpecError, StoreError
from ladder.lab.grid import grid_specs
from ladder.paths import write_whole
from ladder.script import replay_file
from ladder.spec import SpecPart, load_spec
from ladder.spec.documents import read_document
from ladder.store import Store
from tests.conftest import ROOT

GOOD = """\
name: x
game: pasa
seed: 1
entrants: [Easy, Hard, Most, Least]
format: {kind: round_robin, matches: 8}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Specs and bot files stand in the folder the command runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(text: str | bytes) -> list[str]:
    """What is wrong with a spec, line by line; nothing where it is good."""
    path = Path("x.yaml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        load_spec(path)
    except SpecError as error:
        return [line.removeprefix("x.yaml:") for line in error.problems]
    return []


def without(line: str) -> str:
    """The good spec without one of its lines."""
    assert line in GOOD
    return "".join(each for each in GOOD.splitlines(keepends=True) if line not in each)


def with_format(words: str) -> str:
    return without("format") + f"format: {{{words}}}\n"


def with_entrants(words: str) -> str:
    return without("entrants") + f"entrants: [{words}]\n"


def with_table(words: str) -> str:
    return GOOD + f"table: {{{words}}}\n"


def with_seed(word: str) -> str:
    return without("seed") + f"seed: {word}\n"


FIELDS = (
    "name, game, table, seed, entrants, format, rating, limits, tier, expect, compile, record,"
    " rated, db"
)  # fmt: skip
KINDS = "round_robin, gauntlet, random, lineup, compare, swiss, knockout, ladder"

# The expected lines lack their beginning, "x.yaml:".
BAD: dict[str, tuple[str | bytes, list[str]]] = {
    # not YAML, or YAML of something else
    "empty file": ("", [" is empty"]),
    "only a comment": ("# later\n", [" is empty"]),
    "a list": ("- a\n- b\n", ["1 a spec is a mapping (name: value) (got ['a', 'b'])"]),
    "a word": ("hello\n", ["1 a spec is a mapping (name: value) (got 'hello')"]),
    "nothing": ("~\n", ["1 a spec is a mapping (name: value) (got nothing)"]),
    "unclosed bracket": (
        "name: [x\ngame: pasa\n",
        ["2 not YAML: while parsing a flow sequence, expected ',' or ']', but got ':'"],
    ),
    "a tab": (
        "name:\n\tx: 1\n",
        ["2 not YAML: while scanning for the next token, found character '\\t' that cannot start"
         " any token"],
    ),
    "two colons": ("name: a: b\n", ["1 not YAML: mapping values are not allowed here"]),
    "two documents": (
        f"{GOOD}---\n{GOOD}",
        ["6 not YAML: expected a single document in the stream, but found another document"],
    ),
    "an unknown alias": (
        GOOD + "db: *nope\n", ["6 not YAML: found undefined alias 'nope'"],
    ),
    "an object of Python": (
        GOOD + "db: !!python/object:os.system {}\n",
        ["6 db: has the tag !!python/object:os.system; values here go without a tag"],
    ),
    **{
        f"a tag {tag}": (
            GOOD + f"db: !!{tag} x\n", [f"6 db: has the tag !!{tag}; values here go without a tag"]
        )
        for tag in ("timestamp", "binary", "set", "omap", "pairs", "nosuch")
    },
    **{
        f"a tag {kind} of something else": (
            GOOD + f"db: !!{kind} {word}\n", [f"6 db: is no {kind}, as its tag says (got {got})"]
        )
        for kind, word, got in (
            ("int", "x", "'x'"), ("int", '""', "''"), ("float", "x", "'x'"),
            ("float", ".nan", "'.nan'"), ("float", ".", "'.'"), ("bool", "maybe", "'maybe'"),
            ("null", "x", "'x'"),
        )
    },
    "a number that overflows": (
        GOOD + "rating: {tau: 1e400}\n", ["6 rating.tau: should be a finite number (got 1e400)"],
    ),
    "a control character": (
        "name: \x01\n",
        [" not YAML: unacceptable character #x0001: special characters are not allowed"],
    ),
    "not UTF-8": (
        "name: caf\xe9\n".encode("latin-1"), [" is not UTF-8 text (byte 0xe9 at position 9)"],
    ),
    "nested too deeply": ("a: " + "[" * 3000 + "]" * 3000, [" is nested too deeply"]),
    "refers to itself": (
        GOOD + "table: &a {seats: *a}\n", ["6 table.seats: refers to itself"],
    ),
    "a number without end": (
        with_seed("9" * 5000), ["5 seed: a number of 5000 digits"],
    ),
    "a key that is a list": ("? [a, b]\n: 3\n", ["1 a key must be text or a whole number"]),
    "a key that is no word": (
        GOOD + "true: 6\n", ["6 a key must be text or a whole number (got true)"],
    ),
    # keys
    "duplicate key": (GOOD + "seed: 2\n", ["6 seed: given twice (first on line 3)"]),
    "duplicate key inside": (
        with_format("kind: round_robin, matches: 8, matches: 9"),
        ["5 format.matches: given twice (first on line 5)"],
    ),
    "two duplicates": (
        GOOD + "seed: 2\nname: y\n",
        ["6 seed: given twice (first on line 3)", "7 name: given twice (first on line 1)"],
    ),
    "unknown field": (
        GOOD + "entrant: 3\n", ["6 entrant: unknown field; did you mean entrants? (got 3)"],
    ),
    "quite unknown field": (
        GOOD + "zzz: 3\n", [f"6 zzz: unknown field; there are {FIELDS} (got 3)"],
    ),
    "unknown field inside": (
        GOOD + "limits: {on_falt: abort}\n",
        ["6 limits.on_falt: unknown field; did you mean on_fault? (got 'abort')"],
    ),
    "missing fields": (
        "name: x\n",
        [f"1 {name}: is missing" for name in ("entrants", "format", "game", "seed")],
    ),
    # game, name, seed
    "unknown game": (
        GOOD.replace("game: pasa", "game: pasta"),
        ["2 game: unknown game; did you mean pasa? (got 'pasta')"],
    ),
    "game is a list": (
        GOOD.replace("game: pasa", "game: [pasa]"), ["2 game: should be text (got ['pasa'])"],
    ),
    "empty name": (GOOD.replace("name: x", "name: ''"), ["1 name: must not be empty"]),
    "name is a number": (
        GOOD.replace("name: x", "name: 5"), ["1 name: should be text (got 5)"],
    ),
    "name with a line break": (
        GOOD.replace("name: x", 'name: "x\\ny"'),
        ["1 name: should be printable, without blanks around (got 'x\\ny')"],
    ),
    "name too long": (
        GOOD.replace("name: x", f"name: {'x' * 81}"),
        [f"1 name: should be at most 80 characters long (got '{'x' * 56}...)"],
    ),
    "seed is text": (with_seed("abc"), ["5 seed: should be a whole number, or secret (got 'abc')"]),
    "seed is negative": (with_seed("-1"), ["5 seed: should be at least 0 (got -1)"]),
    "seed is a fraction": (
        with_seed("1.5"), ["5 seed: should be a whole number, or secret (got 1.5)"],
    ),
    "seed is true": (with_seed("true"), ["5 seed: should be a whole number, or secret (got true)"]),
    "seed is not there": (
        with_seed(""), ["5 seed: should be a whole number, or secret (got nothing)"],
    ),
    "seed is too large": (
        with_seed("99999999999999999999"),
        ["5 seed: should be less than 18446744073709551616 (got 99999999999999999999)"],
    ),
    # table
    "1 seat": (with_table("seats: 1"), ["6 table.seats: should be at least 2 (got 1)"]),
    "7 seats": (with_table("seats: 7"), ["6 table.seats: should be at most 6 (got 7)"]),
    "least above most": (
        with_table("least: 60"), ["6 table.least: must not exceed most (got least 60, most 50)"],
    ),
    "sizes not increasing": (
        with_table("sizes: [5, 20, 10, 50]"),
        ["6 table.sizes: must be strictly increasing (got [5, 20, 10, 50])"],
    ),
    "sizes that miss an end": (
        with_table("sizes: [5, 20]"),
        ["6 table.sizes: must start at least 5 and end at most 50 (got [5, 20])"],
    ),
    "sizes is no list": (with_table("sizes: 5"), ["6 table.sizes: should be a list (got 5)"]),
    "first thrower is no seat": (
        with_table("first_thrower: 4"), ["6 table.first_thrower: must be a seat, 0..3 (got 4)"],
    ),
    "unknown table option": (
        with_table("round: 3"),
        ["6 table.round: unknown option of pasa; did you mean rounds? (got 3)"],
    ),
    "a time of day for chips": (
        with_table("chips: 12:30"), ["6 table.chips: should be a whole number (got '12:30')"],
    ),
    "several table problems": (
        with_table("seats: 9, chips: 0, rounds: no, least: 5.5"),
        ["6 table.chips: should be at least 1 (got 0)",
         "6 table.least: should be a whole number (got 5.5)",
         "6 table.rounds: should be a whole number (got 'no')",
         "6 table.seats: should be at most 6 (got 9)"],
    ),
    "table is a list": (
        GOOD + "table: [4]\n", ["6 table: should be a mapping (name: value) (got [4])"],
    ),
    # entrants
    "unknown bot": (
        with_entrants("Easy, Hard, Most, Leest"),
        ["5 entrants[3]: no bot of that name plays pasa; did you mean Least? (got 'Leest')"],
    ),
    "unknown bots beside a wrong shape": (
        with_entrants("Esy, 5, {name: x}, {bott: Most}, Mosst"),
        ["5 entrants[0]: no bot of that name plays pasa; did you mean Easy? (got 'Esy')",
         "5 entrants[1]: should be a bot in one word or a mapping with bot, name, params (got 5)",
         "5 entrants[2].bot: is missing",
         "5 entrants[3].bot: is missing",
         "5 entrants[3].bott: unknown field; did you mean bot? (got 'Most')",
         "5 entrants[4]: no bot of that name plays pasa; did you mean Most? (got 'Mosst')"],
    ),
    "unknown module": (
        with_entrants("Easy, Hard, Most, 'nope.bots:X'"),
        ["5 entrants[3]: nope.bots: cannot be imported: No module named 'nope'"
         " (got 'nope.bots:X')"],
    ),
    "unknown class": (
        with_entrants("Easy, Hard, Most, 'bots.pasa.levels:Eesy'"),
        ["5 entrants[3]: bots.pasa.levels: has no class 'Eesy'; did you mean Easy?"
         " (got 'bots.pasa.levels:Eesy')"],
    ),
    "not a bot": (
        with_entrants("Easy, Hard, Most, 'ladder.games.pasa:PasaView'"),
        ["5 entrants[3]: ladder.games.pasa: PasaView is not a bot: it should be a subclass of"
         " PasaBot (got 'ladder.games.pasa:PasaView')"],
    ),
    "the base of bots": (
        with_entrants("Easy, Hard, Most, 'ladder.games.pasa:PasaBot'"),
        ["5 entrants[3]: ladder.games.pasa: PasaBot is the base of bots, and no bot itself"
         " (got 'ladder.games.pasa:PasaBot')"],
    ),
    "a class without a name": (
        with_entrants("Easy, Hard, Most, 'bots.pasa.levels:'"),
        ["5 entrants[3]: a bot is NAME, module:Class or file.py:Class (got 'bots.pasa.levels:')"],
    ),
    "missing bot file": (
        with_entrants("Easy, Hard, Most, 'nope.py:X'"),
        ["5 entrants[3]: nope.py: no such file (got 'nope.py:X')"],
    ),
    "unknown param": (
        with_entrants("Easy, Hard, Most, {bot: BoldUntilAhead, params: {led: 5}}"),
        ["5 entrants[3]: BoldUntilAhead has no param 'led'; did you mean lead?"
         " (got 'BoldUntilAhead')"],
    ),
    "param of a wrong type": (
        with_entrants("Easy, Hard, 'BoldUntilAhead:lead=x', {bot: Hard, params: {per_turn: 1.5}}"),
        ["5 entrants[2]: BoldUntilAhead: param lead should be a whole number (got 'x')",
         "5 entrants[3]: Hard: param per_turn should be a whole number (got 1.5)"],
    ),
    "params of a bot that has none": (
        with_entrants("Easy, Hard, Most, {bot: Least, params: {lead: 5}}"),
        ["5 entrants[3]: Least has no param 'lead'; it has none (got 'Least')"],
    ),
    "params in two places": (
        with_entrants("Easy, Hard, Most, {bot: 'Hard:per_turn=5', params: {per_turn: 6}}"),
        ["5 entrants[3]: has params both in bot and in params; give them in one place"
         " (got 'Hard:per_turn=5')"],
    ),
    "params badly written": (
        with_entrants("Easy, Hard, Most, 'BoldUntilAhead:lead=5,'"),
        ["5 entrants[3]: params are written as name=value,name=value (got 'lead=5,')"],
    ),
    "params is no mapping": (
        with_entrants("Easy, Hard, Most, {bot: Least, params: 5}"),
        ["5 entrants[3].params: should be a mapping (name: value) (got 5)"],
    ),
    "a name taken": (
        with_entrants("Easy, Hard, Most, {bot: Least, name: Easy}"),
        ["5 entrants[3]: the name 'Easy' is taken by entrants[0]"],
    ),
    "the same bot twice": (
        with_entrants("Easy, Hard, Most, {bot: Easy, name: other}"),
        ["5 entrants[3]: other is the same bot as entrants[0]: same source, class and params"],
    ),
    "an entrant with an empty name": (
        with_entrants("Easy, Hard, Most, {bot: Least, name: ''}"),
        ["5 entrants[3].name: must not be empty"],
    ),
    "an entrant with blanks around": (
        with_entrants("Easy, Hard, Most, {bot: Least, name: ' a'}"),
        ["5 entrants[3].name: should be printable, without blanks around (got ' a')"],
    ),
    "entrants is a word": (
        without("entrants") + "entrants: Easy\n", ["5 entrants: should be a list (got 'Easy')"],
    ),
    # format
    "too few entrants": (
        with_entrants("Easy, Hard"),
        ["5 entrants: round_robin at 4 seats needs at least 4 entrants (got 2)"],
    ),
    "matches not a multiple of seats": (
        with_format("kind: round_robin, matches: 9"),
        ["5 format.matches: must be a multiple of the 4 seats, next is 12 (got 9)"],
    ),
    "no matches": (
        with_format("kind: round_robin, matches: 0"),
        ["5 format.matches: should be at least 1 (got 0)"],
    ),
    "matches missing": (
        with_format("kind: round_robin"), ["5 format.matches: is missing"],
    ),
    "unknown format": (
        with_format("kind: robin, matches: 8"),
        ["5 format: unknown kind; did you mean round_robin? (got 'robin')"],
    ),
    "a swiss without rounds": (
        with_format("kind: swiss, matches: 8"), ["5 format.rounds: is missing"],
    ),
    "a knockout that nobody leaves": (
        with_format("kind: knockout, matches: 8, advance: 4"),
        ["5 format.advance: must be less than the 4 seats (got 4)"],
    ),
    "a ladder without a budget": (
        with_format("kind: ladder, matches: 8"), ["5 format.budget: is missing"],
    ),
    "a ladder with two budgets": (
        with_format("kind: ladder, budget: {matches: 100, minutes: 1}"),
        ["5 format.budget: give matches or minutes, one of them"],
    ),
    "a ladder with a small budget": (
        with_format("kind: ladder, budget: {matches: 10}"),
        ["5 format.budget.matches: must be at least the 20 of one line-up (got 10)"],
    ),
    "a misspelt budget": (
        with_format("kind: ladder, budget: {match: 10}"),
        ["5 format.budget.match: unknown field; did you mean matches? (got 10)"],
    ),
    "a ladder rated in batch": (
        with_format("kind: ladder, budget: {matches: 100}") + "rating: {method: batch}\n",
        ["6 rating.method: a ladder is rated match by match (got 'batch')"],
    ),
    "an author outside of ladders": (
        without("entrants") + "entrants: [Easy, Hard, Most, {bot: Least, author: anna}]\n",
        ["5 entrants[3].author: is for ladders (got 'anna')"],
    ),
    "kind missing": (
        with_format("matches: 8"), [f"5 format: kind is missing; there are {KINDS}"],
    ),
    "kind is a list": (
        with_format("kind: [round_robin], matches: 8"),
        ["5 format: unknown kind; did you mean round_robin? (got ['round_robin'])"],
    ),
    "format is a word": (
        without("format") + "format: round_robin\n",
        ["5 format: should be a mapping (name: value) (got 'round_robin')"],
    ),
    "unknown field of a format": (
        with_format("kind: round_robin, matches: 8, selfplay: true"),
        ["5 format.selfplay: unknown field; did you mean self_play? (got true)"],
    ),
    "yes for true": (
        with_format("kind: round_robin, matches: 8, self_play: yes"),
        ["5 format.self_play: should be true or false (got 'yes')"],
    ),
    "unknown challenger": (
        with_format("kind: gauntlet, challengers: [Esy], matches: 8"),
        ["5 format.challengers[0]: no entrant of that name; did you mean Easy? (got 'Esy')"],
    ),
    "a challenger twice, an unknown field entrant": (
        with_format("kind: gauntlet, challengers: [Easy, Easy], field: [Nope], matches: 8"),
        ["5 format.challengers[1]: is listed twice (got 'Easy')",
         "5 format.field[0]: no entrant of that name; there are Easy, Hard, Most, Least"
         " (got 'Nope')"],
    ),
    "nobody left for the field": (
        with_format("kind: gauntlet, challengers: [Easy, Hard, Most, Least], matches: 8"),
        ["5 format.challengers: leaves nobody for the field; give field or more entrants"],
    ),
    "a challenger that meets itself alone": (
        with_format("kind: gauntlet, challengers: [Easy], field: [Easy], matches: 8"),
        ["5 format.challengers[0]: meets nobody but itself: the field is Easy (got 'Easy')"],
    ),
    "a line-up too short": (
        with_format("kind: lineup, bots: [Easy, Hard], matches: 8"),
        ["5 format.bots: needs one name a seat, 4 (got 2)"],
    ),
    "rounds missing": (
        with_format("kind: random, matches: 8"), ["5 format.rounds: is missing"],
    ),
    # rating, limits, expect
    "unknown rank_by": (
        GOOD + "rating: {rank_by: points}\n",
        ["6 rating.rank_by: should be 'winner' or 'placing' (got 'points')"],
    ),
    "ratings without digits": (
        GOOD + "rating: {sigma: 1e-300, beta: 1e18, tau: 1e9, mu: -1e30, anchor: {Easy: 1e300}}\n",
        ["6 rating.anchor.Easy: should be at most 1000000 (got 1e+300)",
         "6 rating.beta: should be at most 10000 (got 1e+18)",
         "6 rating.mu: should be at least -1000000 (got -1e+30)",
         "6 rating.sigma: should be at least 0.001 (got 1e-300)",
         "6 rating.tau: should be at most 10000 (got 1000000000.0)"],
    ),
    "an anchor that does not play": (
        GOOD + "rating: {anchor: {Esy: 25}}\n",
        ["6 rating.anchor.Esy: no entrant of that name; did you mean Easy? (got 'Esy')"],
    ),
    "a key that is two lines": (
        GOOD + '"a\\nb": 1\n', [f"6 'a\\nb': unknown field; there are {FIELDS} (got 1)"],
    ),
    "a bot of two lines": (
        with_entrants('"a\\nb.py:X", Hard, Most, Least'),
        ["5 entrants[0]: a bot is named without control characters (got 'a\\nb.py:X')"],
    ),
    "a word with a null byte": (
        with_entrants('{name: a, command: ["a\\0b"]}, Hard, Most, Least'),
        ["5 entrants[0]: command: no word of a command holds a null byte (got 'a\\x00b')"],
    ),
    "somebody's home": (
        with_entrants('"~nobody-here/x.py:X", Hard, Most, Least'),
        ["5 entrants[0]: ~nobody-here/x.py: no such file (got '~nobody-here/x.py:X')"],
    ),
    "a command's home": (
        with_entrants('{name: a, command: [cat, "~nobody-here/x"], files: ["~nobody-here/y"]},'
                      " Hard, Most, Least"),
        ["5 entrants[0]: files: ~nobody-here/y: no such file (got ['cat', '~nobody-here/x'])"],
    ),
    "impossible ratings": (
        GOOD + "rating: {sigma: 0, tau: -1, beta: x, draw_probability: 0}\n",
        ["6 rating.beta: should be a number (got 'x')",
         "6 rating.draw_probability: should be auto or a number above 0 and at most 0.999999"
         " (got 0)",
         "6 rating.sigma: should be at least 0.001 (got 0)",
         "6 rating.tau: should be at least 0 (got -1)"],
    ),
    "unknown on_fault": (
        GOOD + "limits: {on_fault: explode}\n",
        ["6 limits.on_fault: should be 'forfeit', 'default' or 'abort' (got 'explode')"],
    ),
    "limits is a list": (
        GOOD + "limits: [1]\n", ["6 limits: should be a mapping (name: value) (got [1])"],
    ),
    "expected of nobody": (
        GOOD + "expect: {Esy: 0.25}\n",
        ["6 expect.Esy: no entrant of that name; did you mean Easy? (got 'Esy')"],
    ),
    "expected in percent": (
        GOOD + "expect: {Easy: 25}\n", ["6 expect.Easy: should be at most 1 (got 25)"],
    ),
    "expected in words": (
        GOOD + "expect: {Easy: high}\n", ["6 expect.Easy: should be a number (got 'high')"],
    ),
    # all at once
    "everything": (
        "name: ''\ngame: pasa\nseed: x\ntable: {seats: 9}\nentrants: [Esy, 3]\n"
        "format: {kind: robin}\nbudgit: 3\n",
        ["1 name: must not be empty",
         "3 seed: should be a whole number, or secret (got 'x')",
         "4 table.seats: should be at most 6 (got 9)",
         "5 entrants[0]: no bot of that name plays pasa; did you mean Easy? (got 'Esy')",
         "5 entrants[1]: should be a bot in one word or a mapping with bot, name, params (got 3)",
         "6 format: unknown kind; did you mean round_robin? (got 'robin')",
         f"7 budgit: unknown field; there are {FIELDS} (got 3)"],
    ),
    "a wrong seed beside wrong counts": (
        with_seed("x").replace("matches: 8", "matches: 9").replace("Least", "Leest"),
        ["3 entrants[3]: no bot of that name plays pasa; did you mean Least? (got 'Leest')",
         "4 format.matches: must be a multiple of the 4 seats, next is 12 (got 9)",
         "5 seed: should be a whole number, or secret (got 'x')"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_spec(name: str) -> None:
    text, expected = BAD[name]
    assert problems(text) == expected


@pytest.mark.parametrize("name", BAD)
def test_a_problem_is_one_line_in_plain_english(name: str) -> None:
    for line in problems(BAD[name][0]):
        assert len(line.splitlines()) == 1
        for word in ("Traceback", "pydantic", "instance of", "Part", "dictionary", "Error:"):
            assert word not in line


# --- bot files

BOT = "from ladder.games.pasa import PasaBot\nclass Mine(PasaBot):\n    '''Mine.'''\n"
BAD_BOTS: dict[str, tuple[str, str]] = {
    "raises on import": (
        "x = 1\nraise ValueError('no')\n",
        "raised on import at line 2 of mine.py: ValueError: no",
    ),
    "exits on import": (
        "import sys\nsys.exit('bye')\n",
        "raised on import at line 2 of mine.py: SystemExit: bye",
    ),
    "syntax error": ("def f(:\n", "line 1: SyntaxError: invalid syntax"),
    "imports what is not there": (
        "import nowhere\n",
        "cannot be imported: No module named 'nowhere'",
    ),
    "no such class": ("x = 1\n", "has no class 'Mine'"),
    "not a class": ("Mine = 5\n", "Mine is not a bot: it should be a subclass of PasaBot"),
    "no subclass": (
        "class Mine:\n    pass\n",
        "Mine is not a bot: it should be a subclass of PasaBot",
    ),
    "an annotation of nothing": (
        f"{BOT}    lead: 'Nothing' = 5\n",
        "NameError: name 'Nothing' is not defined",
    ),
    "a default of another type": (
        f"{BOT}    lead: int = 'five'\n",
        "Mine: param lead should be a whole number (got 'five')",
    ),
    "a class that cannot be subclassed": (
        f"{BOT}    def __init_subclass__(cls):\n        raise TypeError('final')\n",
        "TypeError: final",
    ),
    "null byte": ("x = '\0'\n", "mine.py"),
}


@pytest.mark.parametrize("name", BAD_BOTS)
def test_bad_bot_file(name: str, folder: Path) -> None:
    source, expected = BAD_BOTS[name]
    (folder / "mine.py").write_text(source)
    (line,) = problems(with_entrants("Easy, Hard, Most, 'mine.py:Mine'"))
    assert line.startswith("5 entrants[3]: ")
    assert expected in line
    assert "mine.py" in line or name == "a default of another type"


def test_a_bot_file_that_is_no_text(folder: Path) -> None:
    (folder / "mine.py").write_bytes(b"# \xff\n")
    (line,) = problems(with_entrants("Easy, Hard, Most, 'mine.py:Mine'"))
    assert "mine.py: cannot be read as UTF-8 Python source" in line


def test_a_bot_file_that_is_a_folder(folder: Path) -> None:
    (folder / "mine.py").mkdir()
    (line,) = problems(with_entrants("Easy, Hard, Most, 'mine.py:Mine'"))
    assert "mine.py: is a directory, not a Python file" in line


def test_what_a_bot_prints_on_import_goes_to_standard_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text(f"print('hello')\n{BOT}")
    assert problems(with_entrants("Easy, Hard, Most, 'mine.py:Mine'")) == []
    out, err = capsys.readouterr()
    assert (out, err) == ("", "")  # a stranger's words are none of ours
    loaded = load_spec(Path("x.yaml"), trusts_all=True)
    assert loaded.strangers == ()
    out, err = capsys.readouterr()
    assert out == ""
    assert "hello" in err


# --- the file itself


@pytest.mark.parametrize(
    ("path", "expected"),
    [("nope.yaml", "nope.yaml: no such file"), (".", ".: is a directory, not a YAML file")],
)
def test_no_such_spec(path: str, expected: str) -> None:
    with pytest.raises(SpecError) as error:
        load_spec(Path(path))
    assert str(error.value) == expected


@pytest.mark.parametrize("name", ["everything", "empty file", "duplicate key", "not UTF-8"])
def test_the_command_exits_with_2_and_no_traceback(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, expected = BAD[name]
    Path("x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    monkeypatch.setattr("sys.argv", ["ladder", "run", "x.yaml"])
    with pytest.raises(SystemExit) as leaving:
        main()
    out, err = capsys.readouterr()
    assert leaving.value.code == 2
    assert out == ""
    assert err.splitlines() == [f"x.yaml:{line}" for line in expected]


# --- good ones


def test_the_good_spec_is_good() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    "text",
    [
        "﻿" + GOOD,  # a byte order mark
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("name: x", "name: 2026-01-01"),  # a date is text
        GOOD.replace("name: x", "name: no"),  # and so is `no`
        GOOD.replace("name: x", "name: पासा"),
        GOOD + "table: {<<: {rounds: 3}, chips: 600}\n",
        with_table("sizes: [5, 7, 50]"),
        with_entrants("Easy, {bot: Hard}, 'Hard:per_turn=50', {bot: Hard, params: {per_turn: 1}}"),
    ],
    ids=["bom", "crlf", "date", "no", "unicode", "merge", "sizes", "params"],
)
def test_good_spec(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda p: p.name)
def test_shipped_specs_load(path: Path) -> None:
    """A grid is many specs: one a table, its candidates one a value."""
    for _, spec in grid_specs(read_document(path)):
        assert spec.name


@pytest.mark.parametrize(
    ("table", "lead", "told"),
    [
        ("{seats: 2}", list(range(201)), "params: makes a grid of 201, at most 200"),
        (
            f"{{seats: [2, 3, 4], chips: {list(range(100, 168))}}}",
            [0],
            "table: makes a grid of 204",
        ),
        ("{seats: []}", [0], "table.seats: must not be empty"),
        ("{seats: 2}", [], "params.lead: must not be empty"),
    ],
)
def test_a_grid_drops_no_value_unsaid(
    table: str, lead: list[int], told: str, tmp_path: Path
) -> None:
    path = tmp_path / "grid.yaml"
    path.write_text(
        f"name: x\ngame: pasa\ntable: {table}\nseed: 1\nentrants:\n  - Easy\n"
        f"  - {{name: bold, bot: BoldUntilAhead, params: {{lead: {lead}}}}}\n"
        "format: {kind: compare, candidates: [bold], field: [Easy], matches: 1000}\n"
    )
    with pytest.raises(SpecError) as refused:
        list(grid_specs(read_document(path)))
    assert told in str(refused.value)


def test_every_field_of_a_spec_is_in_its_schema() -> None:
    schema = SpecPart.model_json_schema()
    assert set(schema["properties"]) == set(FIELDS.split(", "))


def test_too_many_problems_are_counted() -> None:
    told = problems(with_entrants(", ".join(["Easy"] * 200)))
    assert len(told) == 51
    assert told[-1] == " and 149 problems more"


@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "long name", "null byte"])
@pytest.mark.timeout(60)
def test_what_is_no_file_is_told(kind: str) -> None:
    """A spec, a script, a bot, a program's file, a store: nothing waits, nothing fills memory."""
    name = {"device": "/dev/zero", "long name": "x" * 300, "null byte": "x\0y"}.get(kind, "it")
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "loop":
        Path(name).symlink_to(name)
    for read in (load_spec, replay_file):
        with pytest.raises(SpecError, match=r"cannot be read|is empty"):
            read(Path(name))
    with pytest.raises(BotLoadError, match=r"no such file|cannot be read|pipe or a device|control"):
        find(f"./{name}:X" if kind != "device" else f"{name}:X", "pasa")
    with pytest.raises(BotLoadError, match=r"no such file|null byte"):
        read_command(["cat"], [name])
    for use in (Store(Path(name)).create, Store(Path(name)).runs):
        with pytest.raises(StoreError, match=r"no such store|pipe or a device|cannot be"):
            use()


def test_what_is_written_is_there_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, link = folder / "page.html", folder / "link.html"
    link.symlink_to(page)
    write_whole(page, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half_written)
        with pytest.raises(OSError, match="No space left") as caught:
            write_whole(link, b"new")
    assert caught.value.filename == str(link)
    assert page.read_bytes() == b"old"
    assert sorted(folder.iterdir()) == [link, page]
    write_whole(link, b"new")
    assert page.read_bytes() == b"new"
    assert link.is_symlink()
    write_whole(Path(os.devnull), b"new")
    assert not Path(os.devnull).is_file()


def half_written(path: Path, content: bytes) -> None:
    path.open("wb").write(content[:1])
    raise OSError(errno.ENOSPC, "No space left on device")
