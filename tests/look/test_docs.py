"""The bots, specs and scripts of the pages in docs/ do what the pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ladder.driver import LocalPlayer, Player, play
from ladder.games import get_game
from ladder.record import Segment
from ladder.script import replay_text
from tests.plain_play import KEY, loaded

DOCS = Path("docs")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("game_name", ["pasa", "pasha"])
def test_three_worked_bots(game_name: str, tmp_path: Path) -> None:
    game = get_game(game_name)
    words = []
    for number, block in enumerate(blocks(f"{game_name}.md", "python")):
        path = tmp_path / f"bot{number}.py"
        path.write_text(block)
        found = re.search(r"^class (\w+)", block, re.MULTILINE)
        assert found
        words.append(f"{path}:{found[1]}")
    assert len(words) == 3
    bots = loaded(game, words)
    players: list[Player] = [LocalPlayer(game, bot.bot, dict(bot.params)) for bot in bots]
    segment = Segment((0, 1, 2), b"", 0, 10)
    record = play(game, game.table(seats=3), players, [segment], [KEY])
    assert record.faults.sum() == 0, record.fault_rows[:1]


@pytest.mark.parametrize("page", ["pasa.md", "pasha.md"])
def test_scripts(page: str) -> None:
    [script] = blocks(page, "text")
    assert replay_text(script, page).states


@pytest.mark.parametrize("game_name", ["pasa", "pasha"])
def test_the_page_names_every_attribute(game_name: str) -> None:
    text = (DOCS / f"{game_name}.md").read_text()
    options = {"first_player", "extra_cards", "lamp_cards", "reroll_any", "cubes_between_rolls"}
    for name in get_game(game_name).view.attributes():
        assert f"`{name}`" in text or name in options, name
