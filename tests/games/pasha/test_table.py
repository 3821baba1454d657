"""Table options and what is refused."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from ladder.games.pasha import PashaTable, row
from ladder.games.pasha.table import new_state


def test_the_standard_table() -> None:
    """Rule 5's default: columns and effects; the cubes add up to the six white ones."""
    table = PashaTable()
    assert (table.seats, table.first_player, table.cube_reroll) == (4, None, "any")
    assert table.special_cards == {1: "extra_throw", 2: "lamp"}
    shown = [(tile.set, tile.column, tile.effect, tile.amount) for tile in table.tiles]
    assert shown == [
        ("A", 1, "points", 4), ("A", 2, "points", 3), ("A", 4, "points", 2),
        ("B", 3, "discard", 0), ("B", 5, "discard", 0), ("B", 6, "discard", 0),
        ("C", 1, "cubes", 3), ("C", 3, "cubes", 2), ("C", 5, "cubes", 1),
    ]  # fmt: skip
    assert sum(t.amount for t in table.tiles if t.effect == "cubes") == row.WHITE_CUBES


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seats": 6}, "less than or equal to 5"),
        ({"seats": 2, "first_player": 2}, r"first_player: must be a seat, 0\.\.1 \(got 2\)"),
        ({"special_cards": {6: "lamp"}}, "special_cards: a card's value"),
        ({"special_cards": {1: "wand"}}, "extra_throw"),
        ({"cube_reroll": "two"}, "any"),
        ({"tiles": []}, "three of each set"),
        ({"tiles": [{"set": s, "column": 1, "effect": "points"} for s in "AAABBBCCC"]}, "amount"),
        ({"rounds": 3}, "Extra inputs"),
    ],
)
def test_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        PashaTable(**options)  # type: ignore[arg-type]


def test_the_canonical_form_reads_back() -> None:
    table = PashaTable(special_cards={2: "extra_throw", -1: "lamp"}, cubes_between_rolls=True)
    assert PashaTable(**json.loads(table.canonical())) == table


def test_options_are_in_the_row() -> None:
    state = new_state(PashaTable(seats=3, first_player=1, cube_reroll="one"))
    assert state[row.SEATS : row.TILES] == [3, 1, 1 << 2, 1 << 3, 0, 0]


def test_equal_tables_hash_alike() -> None:
    assert hash(PashaTable()) == hash(PashaTable())
    assert PashaTable(cube_reroll="one") not in {PashaTable()}
