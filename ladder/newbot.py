"""A first bot file with a test beside it."""

from __future__ import annotations

import re
from pathlib import Path

from ladder.errors import SpecError
from ladder.games import get_game

BOTS = {
    "pasa": '''\
"""{title}: a Pasa bot."""

from __future__ import annotations

from typing import Any

from ladder.games.pasa import PasaBot, PasaView


class {name}(PasaBot):
    """Stakes the most until it leads by `lead` chips, then the least."""

    lead: int = 50  # annotated attributes are params

    @staticmethod
    def stake(view: PasaView, params: Any) -> int:
        """One of `view.legal`; this is a policy, a function of the view alone."""
        return view.least_stake if view.lead > params.lead else view.most_stake
''',
    "pasha": '''\
"""{title}: a Pasha bot."""

from __future__ import annotations

from typing import Any

from ladder.games.pasha import PashaBot, PashaView


class {name}(PashaBot):
    """Uses the lamp whenever it may, and leaves every other decision to the base."""

    @staticmethod
    def lamp(view: PashaView, params: Any) -> int:
        """1 rolls all five dice anew, 0 goes on; this is a policy, a function of the view alone.

        The other decisions are card, reroll, cube and column; each returns one of `view.legal`.
        """
        return view.legal[-1]
''',
}

TEST = '''\
"""{title} loads, decides legally, and plays the same twice."""

from pathlib import Path

from ladder.check import check_word


def test_it_may_enter() -> None:
    bot = Path(__file__).with_name("{module}.py")
    verdict = check_word(f"{{bot}}:{name}", game="{game}", matches=40)
    assert verdict.reasons == []
'''


def write_new_bot(name: str, game: str, folder: Path) -> tuple[Path, Path]:
    """Write a bot file that plays, and its test; a file that is there is never touched.

    Raises: SpecError.
    """
    get_game(game)
    if not name.isidentifier() or name.startswith("_"):
        raise SpecError(f"NAME: should be a Python name such as MyBot or my_bot (got {name!r})")
    words = [word for word in re.split(r"_|(?<=[a-z0-9])(?=[A-Z])", name) if word]
    class_name = "".join(word[:1].upper() + word[1:] for word in words)
    module = "_".join(word.lower() for word in words)
    values = {"name": class_name, "module": module, "game": game, "title": " ".join(words)}
    files = {
        folder / f"{module}.py": BOTS[game].format(**values),
        folder / f"test_{module}.py": TEST.format(**values),
    }
    for path in files:
        if path.exists():
            raise SpecError(f"{path}: is there already")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError(f"{folder}: cannot be written: {error.strerror}") from None
    bot, test = files
    return bot, test
