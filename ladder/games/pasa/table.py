"""Pasa's table options (rule 3) and the state row they make."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from ladder.games import Table
from ladder.games.pasa import rules

MAX_SIZES = 32
MAX_CHIPS = 10**9


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class PasaTable(Table):
    """The options of a Pasa table; the defaults are the standard one."""

    seats: int = Field(4, ge=2, le=6, description="players")
    rounds: int = Field(2, ge=1, le=10**6, description="times the dice go round the table")
    chips: int = Field(500, ge=1, le=MAX_CHIPS, description="chips each at the start")
    least: int = Field(5, ge=1, le=MAX_CHIPS, description="least stake")
    most: int = Field(50, ge=1, le=MAX_CHIPS, description="most stake")
    sizes: Annotated[tuple[int, ...], BeforeValidator(_tuple)] = Field(
        (), max_length=MAX_SIZES, description="stake sizes; left out: 1-2-5 steps, least to most"
    )
    first_thrower: int = Field(0, ge=0, description="the seat that throws first")
    fifteen_cut_percent: int = Field(
        0, ge=0, le=100, description="the house's cut of the stakes on a paro of 15"
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_sizes(cls, options: Any) -> Any:
        if not isinstance(options, dict) or options.get("sizes") not in (None, [], ()):
            return options
        least, most = options.get("least", 5), options.get("most", 50)
        if isinstance(least, int) and isinstance(most, int) and 1 <= least <= most <= MAX_CHIPS:
            options = {**options, "sizes": default_sizes(least, most)}
        return options

    @model_validator(mode="after")
    def _is_consistent(self) -> PasaTable:
        problems = list(self._problems())
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Any:
        if self.least > self.most:
            yield f"least: must not exceed most (got least {self.least}, most {self.most})"
            return
        if self.first_thrower >= self.seats:
            yield (f"first_thrower: must be a seat, 0..{self.seats - 1} (got {self.first_thrower})")
        sizes = self.sizes
        if any(a >= b for a, b in pairwise(sizes)):
            yield f"sizes: must be strictly increasing (got {list(sizes)})"
        elif sizes[0] != self.least or sizes[-1] != self.most:
            yield (
                f"sizes: must start at least {self.least} and end at most {self.most}"
                f" (got {list(sizes)})"
            )

    def advice(self) -> list[str]:
        """Rule 3: at 5 or 6 seats a thousand chips each are advised."""
        if self.seats >= 5 and self.chips < 1000:
            return [
                f"table.chips: at {self.seats} seats 1,000 chips each are advised,"
                f" one tiro can cost {(self.seats - 1) * self.most} (got {self.chips})"
            ]
        return []


def default_sizes(least: int, most: int) -> tuple[int, ...]:
    """The 1-2-5 series strictly between least and most, plus both ends (rule 3)."""
    series = [step * 10**power for power in range(10) for step in (1, 2, 5)]
    return tuple(sorted({least, most, *(size for size in series if least < size < most)}))


def new_state(table: PasaTable) -> list[int]:
    """The state row of a table, before `start`."""
    state = [0] * (rules.SIZES + 2 * len(table.sizes))
    state[rules.SEATS] = table.seats
    state[rules.ROUNDS] = table.rounds
    state[rules.CHIPS] = table.chips
    state[rules.LEAST] = table.least
    state[rules.MOST] = table.most
    state[rules.FIRST_THROWER] = table.first_thrower
    state[rules.CUT_PERCENT] = table.fifteen_cut_percent
    state[rules.NUM_SIZES] = len(table.sizes)
    state[rules.SIZES : rules.SIZES + len(table.sizes)] = table.sizes
    return state


def view_width(table: PasaTable) -> int:
    """Ints in a view's row: all of the state."""
    return rules.SIZES + 2 * len(table.sizes)


def fair_total(table: PasaTable) -> int:
    """All chips at the table: every settled throw is even money, unless the house takes a cut."""
    return 0 if table.fifteen_cut_percent else table.seats * table.chips
