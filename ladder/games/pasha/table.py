"""Pasha's table options (every [option] of the rules) and the state row they make."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from ladder.games import Table
from ladder.games.pasha import row

VALUES = (7, 5, 4, 3, 2, 1, -1)
SETS = ("A", "B", "C")
TILES_A_SET = 3
Effect = Literal["points", "discard", "cubes"]
EFFECTS: tuple[Effect, ...] = ("points", "discard", "cubes")
Special = Literal["extra_throw", "lamp"]


class Tile(BaseModel):
    """A bonus tile (rule 5)."""

    model_config = {"extra": "forbid", "strict": True, "frozen": True}

    set: Literal["A", "B", "C"]
    column: int = Field(ge=1, le=6)
    effect: Effect
    amount: int = Field(0, ge=0, le=99)


STANDARD_SPECIALS: dict[int, Special] = {1: "extra_throw", 2: "lamp"}
STANDARD_TILES = tuple(
    Tile(set=letter, column=column, effect=effect, amount=amount)  # type: ignore[arg-type]
    for letter, effect, places in (
        ("A", "points", ((1, 4), (2, 3), (4, 2))),
        ("B", "discard", ((3, 0), (5, 0), (6, 0))),
        ("C", "cubes", ((1, 3), (3, 2), (5, 1))),
    )
    for column, amount in places
)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _int_keys(value: Any) -> Any:
    """A mapping that went through JSON has its keys as text."""
    if not isinstance(value, dict):
        return value
    texts = {str(card): card for card in VALUES}
    return {texts.get(key, key) if isinstance(key, str) else key: v for key, v in value.items()}


class PashaTable(Table):
    """The options of a Pasha table; the defaults are the standard one."""

    seats: int = Field(4, ge=2, le=5, description="players")
    first_player: int | None = Field(
        None, ge=0, description="the seat that starts round one; left out: drawn by the seed"
    )
    special_cards: Annotated[dict[int, Special], BeforeValidator(_int_keys)] = Field(
        default_factory=lambda: dict(STANDARD_SPECIALS),
        description="which values of card are special: extra_throw, lamp",
    )
    cube_reroll: Literal["any", "one"] = Field("any", description="dice one cube may reroll")
    cubes_between_rolls: bool = Field(False, description="whether cubes are used between rolls too")
    tiles: Annotated[tuple[Tile, ...], BeforeValidator(_tuple)] = Field(
        STANDARD_TILES, description="the nine bonus tiles, three of each set A, B, C"
    )

    def __hash__(self) -> int:
        """A frozen model hashes its fields, and one of them is a mapping."""
        return hash(self.canonical())

    @model_validator(mode="after")
    def _is_consistent(self) -> PashaTable:
        problems = list(self._problems())
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Any:
        if self.first_player is not None and self.first_player >= self.seats:
            yield f"first_player: must be a seat, 0..{self.seats - 1} (got {self.first_player})"
        for value in self.special_cards:
            if value not in VALUES:
                yield f"special_cards: a card's value is one of {list(VALUES)} (got {value})"
        sets = Counter[str](tile.set for tile in self.tiles)
        if any(sets[letter] != TILES_A_SET for letter in SETS):
            shown = ", ".join(f"{letter}: {sets[letter]}" for letter in SETS)
            yield f"tiles: must be three of each set (got {shown})"
        for tile in self.tiles:
            if tile.effect != "discard" and tile.amount == 0:
                yield f"tiles: a tile of {tile.effect} needs an amount (got column {tile.column})"


def packed_tiles(table: PashaTable) -> list[int]:
    """The nine tiles as ints, set A first, in the order given within a set."""
    return [
        row.tile(tile.column, 1 + EFFECTS.index(tile.effect), tile.amount)
        for letter in SETS
        for tile in table.tiles
        if tile.set == letter
    ]


def _cards_with(table: PashaTable, special: Special) -> int:
    return sum(1 << row.play(card) for card, what in table.special_cards.items() if what == special)


def new_state(table: PashaTable) -> list[int]:
    """The state row of a table, before `start`."""
    state = [0] * row.WIDTH
    state[row.SEATS] = table.seats
    state[row.FIRST_PLAYER] = -1 if table.first_player is None else table.first_player
    state[row.EXTRA_CARDS] = _cards_with(table, "extra_throw")
    state[row.LAMP_CARDS] = _cards_with(table, "lamp")
    state[row.REROLL_ANY] = int(table.cube_reroll == "any")
    state[row.BETWEEN] = int(table.cubes_between_rolls)
    state[row.TILES : row.TILES + row.NUM_TILES] = packed_tiles(table)
    return state


def view_width(table: PashaTable) -> int:
    """Ints in a view's row: the open part of the state."""
    return row.VIEW_WIDTH
