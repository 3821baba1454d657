"""Counts of nodes by kind, from a by-hand count and from a second, independent Pasa."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ladder.games.nodes import CHANCE, END, NODE
from ladder.games.pasa import GAME, PasaTable
from tests.games.pasa.plain_pasa import Options, Position, opening

KINDS = {END: "end", CHANCE: "throw", 2: "stake"}


def count(depth: int, **options: Any) -> Counter[str]:
    """Nodes of each kind after `depth` actions, over all of them, by Ladder's rules."""
    state = GAME.new_state(PasaTable(**options))
    GAME.start(state)
    return _count(state, depth)


def _count(state: list[int], depth: int) -> Counter[str]:
    if depth == 0 or state[NODE] == END:
        return Counter({KINDS[state[NODE]]: 1} if depth == 0 else {})
    counts: Counter[str] = Counter()
    for action in range(64) if state[NODE] == CHANCE else GAME.legal(state):
        following = list(state)
        GAME.advance(following, action)
        counts += _count(following, depth - 1)
    return counts


def plain_count(position: Position, depth: int) -> Counter[str]:
    """The same by the second Pasa."""
    if depth == 0:
        return Counter([position.kind()])
    counts: Counter[str] = Counter()
    for choice in position.choices():
        counts += plain_count(position.after(choice), depth - 1)
    return counts


# Two seats, two chips each, one round, stakes 1 or 2. By hand: after a stake of 1, the 36 bachyos
# are thrown again, 14 paros (piles 3:1) and 14 tiros (1:3) meet a forced stake of 1 and are thrown
# at; after a stake of 2, 36 are thrown again and the other 28 leave one pile.
# One throw on: from 3:1, 14 end and 14 come to 2:2 with a choice; from 1:3, all 28 end, for the
# last turn is over.
TINY = {"seats": 2, "chips": 2, "rounds": 1, "least": 1, "most": 2}


@pytest.mark.parametrize(
    ("depth", "counts"),
    [
        (0, {"stake": 1}),
        (1, {"throw": 2}),
        (2, {"throw": 36 + 14 + 14 + 36, "end": 28}),
        (
            3,
            {
                "throw": 36 * 64 + 14 * 36 + 14 * 36 + 36 * 36,
                "stake": 14 * 14,
                "end": 14 * 14 + 14 * 28 + 36 * 28,
            },
        ),
    ],
)
def test_counts_of_a_tiny_table_made_by_hand(depth: int, counts: dict[str, int]) -> None:
    assert count(depth, **TINY) == counts


@pytest.mark.parametrize(
    ("depth", "options", "counts"),
    [  # from the second Pasa; the standard table's are 4 * 4 * 4, then 28 and 36 of 64
        (3, {}, {"throw": 64}),
        (4, {}, {"stake": 28 * 64, "throw": 36 * 64}),
        (4, TINY, {"throw": 202_568, "stake": 14_112, "end": 78_624}),
        (3, {"seats": 3, "chips": 6, "least": 2, "most": 4}, {"stake": 1064, "throw": 1424}),
    ],
)
def test_pinned_counts(depth: int, options: dict[str, int], counts: dict[str, int]) -> None:
    assert count(depth, **options) == counts


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    ("options", "plain"),
    [
        (TINY, Options(2, 1, 2, 2, (1, 2))),
        ({"seats": 3, "chips": 6, "least": 2, "most": 4}, Options(3, 2, 6, 4, (2, 4))),
        (
            {"seats": 3, "chips": 7, "first_thrower": 1, "fifteen_cut_percent": 100},
            Options(3, 2, 7, first_thrower=1, cut_percent=100),
        ),
        ({"seats": 5, "chips": 9, "rounds": 1}, Options(5, 1, 9)),
    ],
)
def test_counts_equal_those_of_the_second_pasa(
    options: dict[str, int], plain: Options, depth: int
) -> None:
    assert count(depth, **options) == plain_count(opening(plain), depth)
