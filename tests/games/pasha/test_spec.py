"""Pasha's table options in a spec, as rules/pasha.md writes them."""

from __future__ import annotations

from ladder.spec import make_spec
from ladder.spec.documents import parse_document

SPEC = """
name: x
game: pasha
table:
  seats: 3
  special_cards: {1: lamp, 2: extra_throw}
  cube_reroll: one
  cubes_between_rolls: true
  first_player: 2
seed: 1
entrants: [Simple, Random, Easy]
format: {kind: round_robin, matches: 30}
"""


def test_every_option_can_be_written_in_a_spec() -> None:
    table = make_spec(parse_document(SPEC, "x.yaml")).table.model_dump()
    assert table["special_cards"] == {1: "lamp", 2: "extra_throw"}
    assert table["cube_reroll"] == "one"
    assert table["cubes_between_rolls"] is True
    assert table["first_player"] == 2
