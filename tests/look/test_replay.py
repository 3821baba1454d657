"""A stored match comes out of its seed again, in words, and says so when it does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ladder.proof.replays import open_replay
from ladder.store import Store
from tests.conftest import Command
from tests.running import run_text


def matches_of(db: Path, game: str) -> list[str]:
    rows = Store(db).query("SELECT match FROM matches WHERE game = ? ORDER BY match", [game])
    return [match for (match,) in rows]


@pytest.mark.parametrize("game", ["pasa", "pasha"])
def test_every_stored_match_comes_out_the_same(played: Path, game: str) -> None:
    store = Store(played)
    for match in matches_of(played, game)[::7]:
        replay = open_replay(store, match)
        moves = list(replay.moves())
        assert replay.is_same, match
        assert tuple(replay.walk.faults) == replay.match.faults
        assert [move.step.number for move in moves] == list(range(1, len(moves) + 1))
        assert all(move.words for move in moves)


def test_words_of_a_pasa_match(ladder: Command, played: Path) -> None:
    told = ""
    for match in matches_of(played, "pasa")[:4]:
        ended = ladder("replay", match, "--db", played)
        assert ended.code == 0, ended.err
        assert ended.out.rstrip().endswith("as it is stored")
        told += ended.out
    for words in (") stakes ", "of cover", "throws", ": paro, takes ", ": tiro, pays ", "piles"):
        assert words in told


def test_a_fault_is_told_where_it_happened(ladder: Command, played: Path) -> None:
    kinds = json.loads(
        ladder("standings", "--run", "seen", "--faults", "--db", played, "--json").out
    )
    ended = ladder("replay", kinds[0]["match"], "--db", played)
    assert "faults (exception: RuntimeError: the third time) and so stakes" in ended.out


def test_json_and_from(ladder: Command, played: Path) -> None:
    match = matches_of(played, "pasha")[0]
    whole = json.loads(ladder("replay", match, "--db", played, "--json").out)
    part = json.loads(ladder("replay", match, "--db", played, "--json", "--from", 10).out)
    assert whole["is_same"] is True
    assert whole["digest"] == whole["stored_digest"]
    assert part["moves"] == whole["moves"][9:]
    assert whole["moves"][-1]["scores"] == whole["scores"]


def test_a_bot_file_may_be_gone(ladder: Command, tmp_path: Path) -> None:
    """Sources are kept: the match replays without the files it was played from."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "beside.py").write_text("ADD = 0\n")
    (folder / "mine.py").write_text(
        "from beside import ADD\nfrom ladder.games.pasa import PasaBot\n\n\n"
        "class Mine(PasaBot):\n    def stake(self, view):\n        return view.legal[ADD]\n"
    )
    db = tmp_path / "x.duckdb"
    spec = (
        "name: gone\ngame: pasa\ntable: {seats: 2, rounds: 1, chips: 60}\nseed: 1\n"
        f'entrants: ["{folder}/mine.py:Mine", Easy]\nformat: {{kind: round_robin, matches: 4}}\n'
    )
    run_text(spec, db)
    shutil.rmtree(folder)
    ended = ladder("replay", matches_of(db, "pasa")[0], "--db", db)
    assert ended.code == 0, ended.err


def test_a_changed_byte_is_seen(ladder: Command, played: Path, tmp_path: Path) -> None:
    import duckdb

    db = tmp_path / "flipped.duckdb"
    shutil.copy(played, db)
    with duckdb.connect(str(db)) as raw:
        raw.execute("UPDATE t_matches SET digest = xor(digest, 1)")
    ended = ladder("replay", matches_of(db, "pasa")[0], "--db", db)
    assert ended.code == 1
    assert "NOT as it is stored" in ended.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x"], "a match is 16 hex digits"),
        (["00000000000000ff:3"], "has no match 00000000000000ff:3; it has"),
        (["00000000000000ff:3", "--run", "nobody"], "has no run 'nobody'"),
        ([], "give one of a match's id"),
        (["00000000000000ff:3", "--from", "0"], "--from"),
    ],
)
def test_mistakes_are_one_line(ladder: Command, played: Path, words: list[str], told: str) -> None:
    ended = ladder("replay", *words, "--db", played)
    assert ended.code in (2, 3)
    assert told in ended.err
    assert "Traceback" not in ended.err
