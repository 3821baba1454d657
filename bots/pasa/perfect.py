"""A bot that plays solved tables (see `ladder exact --save`)."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bots.pasa.levels import Master
from ladder.games.bot import params_tuple
from ladder.games.pasa import PasaBot, PasaView
from ladder.games.pasa.table import PasaTable

if TYPE_CHECKING:
    from ladder.exact.saved import Values

MOST_SEATS = 3  # that are solved at first use


class Perfect(PasaBot):
    """Plays a solved table: from `file`, or at 2 and 3 seats solved at first use.

    `{seat}` in `file` stands for the seat it sits in. Without a file every seat is taken to play
    as well as it can; at more than three seats, or with a house's cut, it then plays as Master.
    """

    file: str = ""

    def stake(self, view: PasaView) -> int:
        """The best reply's stake, the smallest of equals."""
        if self.file:
            values = _from_file(self.file.replace("{seat}", str(view.seat)))
        elif view.seats > MOST_SEATS or view.fifteen_cut_percent:
            return Master.stake(view, params_tuple(Master, {}))
        else:
            values = _solved(_table(view))
        return values.best_stake(list(view))


def _table(view: PasaView) -> PasaTable:
    names = ("seats", "rounds", "chips", "least", "most", "sizes", "first_thrower")
    return PasaTable(**{name: getattr(view, name) for name in names})


@cache
def _solved(table: PasaTable) -> Values:
    from ladder.exact.saved import solve_values

    sys.stderr.write(f"Perfect: solving {table.canonical()}, once\n")
    return solve_values(table, ["best"] * table.seats)


@cache
def _from_file(name: str) -> Values:
    from ladder.bots import load_word
    from ladder.exact.saved import load_values
    from ladder.games.bot import bind

    def opponent(word: str) -> type[PasaBot] | str:
        if word == "best":
            return word
        loaded = load_word(word, "pasa")
        return bind(loaded.bot, dict(loaded.params))  # type: ignore[return-value]

    return load_values(Path(name), opponent)  # type: ignore[arg-type]
