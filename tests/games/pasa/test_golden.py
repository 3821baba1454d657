"""Golden playthroughs of Pasa: whole matches as scripts, with every state, that must not change.

A change of a game's behaviour changes them and must raise the game's `version`; write them anew
with `pytest tests/games/pasa --update-golden`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ladder.games import get_game
from ladder.games.nodes import NODE
from ladder.script import replay_text
from tests.plain_play import loaded, play_plainly

FOLDER = Path(__file__).parent / "golden"

# name: game, table options, bots by seat
MATCHES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "pasa_standard": ("pasa", {}, ["Easy", "Hard", "Uniform", "Least"]),
    "pasa_two": ("pasa", {"seats": 2, "chips": 60, "rounds": 3}, ["Uniform", "Most"]),
    "pasa_six_with_cut": (
        "pasa",
        {"seats": 6, "chips": 90, "rounds": 1, "first_thrower": 4, "fifteen_cut_percent": 10},
        ["Most", "Uniform", "Easy", "Least", "FractionOfPile", "CopyTheLeader"],
    ),
    "pasa_odd_sizes": (
        "pasa",
        {"seats": 3, "chips": 40, "rounds": 2, "least": 3, "most": 30, "sizes": [3, 4, 11, 30]},
        ["Uniform", "LastTurnGambler", "BoldUntilAhead"],
    ),
}


def test_every_playthrough_has_its_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(MATCHES)


@pytest.mark.parametrize("name", MATCHES)
def test_playthrough_is_as_it_was(name: str, update_golden: bool) -> None:
    path = FOLDER / f"{name}.txt"
    script = script_of(*MATCHES[name])
    replay = replay_text(script, name)
    told = [f"#     {line}" for line in replay.lines]
    shown = f"{script}\n# what a replay of the script above prints\n" + "\n".join(told) + "\n"
    if update_golden:
        path.write_text(shown)
    assert shown == path.read_text()


@pytest.mark.parametrize("name", MATCHES)
def test_a_golden_file_is_a_script_that_replays_without_a_seed(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text()
    replay = replay_text(text, name)
    told = [line.removeprefix("#     ") for line in text.splitlines() if line.startswith("#     ")]
    assert replay.lines == told
    assert replay.win_share is not None
    assert sum(replay.win_share) == pytest.approx(1)


def script_of(game_name: str, options: dict[str, Any], words: list[str]) -> str:
    """A match of these bots as a script."""
    game = get_game(game_name)
    table = game.table(**{"seats": len(words), **options})
    match = play_plainly(game, table, loaded(game, words))
    state = game.new_state(table)
    game.start(state)
    written = {"seats": len(words), **options}
    flow = {
        k: yaml.safe_dump(v, default_flow_style=True).split("\n")[0] for k, v in written.items()
    }
    header = " ".join(f"{k}={v}" for k, v in flow.items())
    lines = [f"{game.name} {header}"]
    for action in match.actions:
        assert state[NODE]
        lines.append(game.text.action_text(state, action))
        game.advance(state, action)
    return "\n".join(lines) + "\n"
