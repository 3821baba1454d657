"""What Master knows before a match: how rounds go on average at a table.

All of it comes from the exact dice and nothing is typed in: sample rounds are laid out (who has
played what, who has marked what), each is planned exactly, and averages are taken for the marks
that seats reach, the worth of a cube with so many rounds left, and the worth of playing a card.
It takes a fraction of a second for a table and is made once a process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import fsum
from random import Random

import numpy as np
from numpy.typing import NDArray

from bots.pasha.worth import Weights, worth_of_marks
from ladder.games.nodes import SEAT
from ladder.games.pasha import row
from ladder.games.pasha.dice import Plan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

VALUES = (7, 5, 4, 3, 2, 1, -1)
MAX_CUBES = 12
_SET = (7, 5, 4, 3, 2, 1, -1, -1, -1)
_SAMPLES = 48
_USUAL_CUBES = 2  # what a seat has in the middle of a match


@dataclass(frozen=True)
class Prospects:
    """Averages over sample rounds of one table."""

    later: Floats  # [37] chances of a seat's final marks
    cube_worth: Floats  # [rounds left after this one, cubes]
    card_worth: dict[int, float]  # by value: a round's worth when that card is played


def rolls_of(card: int, extra_cards: int) -> int:
    """Rolls that a card gives."""
    return row.EXTRA_ROLLS if (extra_cards >> row.play(card)) & 1 else row.ROLLS


def sample_rounds(seats: int, later: Floats) -> list[tuple[Ints, int]]:
    """Rounds at the moment of seat 0's turn, and the card it plays; the same for every process."""
    rng = Random(20)  # no match depends on it: the averages do, and they are the same everywhere
    rounds = []
    for i in range(_SAMPLES):
        cells = np.zeros(row.VIEW_WIDTH, np.int64)
        cells[row.SEATS] = seats
        cells[row.WHITE] = row.WHITE_CUBES
        before = i % seats
        for seat in range(seats):
            cells[row.REMAINING + seat] = row.FULL_SET
            cells[row.MARKS + seat] = -1
            if 0 < seat <= before:
                cells[row.PLAYED + seat] = rng.choice(_SET)
                cells[row.MARKS + seat] = rng.choices(range(row.NUM_MARKS), later.tolist())[0]
        cells[SEAT] = 0
        rounds.append((cells, rng.choice(_SET)))
    return rounds


@cache
def prospects(
    seats: int, extra_cards: int, lamp_cards: int, reroll_any: int, between: int, weights: Weights
) -> Prospects:
    """The prospects of a table."""

    def plan(cells: Ints, card: int, cubes: int, later: Floats, worth: Floats) -> Plan:
        marks = worth_of_marks(cells, card, cubes, later, worth, weights)
        return Plan(
            marks,
            rolls=rolls_of(card, extra_cards),
            lamp=bool((lamp_cards >> row.play(card)) & 1),
            reroll_any=bool(reroll_any),
            between=bool(between),
            fewer_cubes=cubes == MAX_CUBES,
        )

    later = Plan([float(mark * mark) for mark in range(row.NUM_MARKS)]).distribution()[0]
    worth = np.zeros((row.NUM_ROUNDS, MAX_CUBES + 2))
    worth[0] = np.arange(MAX_CUBES + 2)
    for _ in range(2):
        rounds = sample_rounds(seats, later)
        for left in range(1, row.NUM_ROUNDS):
            total = np.zeros(MAX_CUBES + 1)
            for cells, card in rounds:
                total += plan(cells, card, MAX_CUBES, later, worth[left - 1]).values
            worth[left, :-1] = (total - total[0]) / len(rounds)
            worth[left, -1] = 2 * worth[left, -2] - worth[left, -3]
        middle = worth[row.NUM_ROUNDS // 2]
        plans = [plan(cells, card, _USUAL_CUBES, later, middle) for cells, card in rounds]
        later = sum(p.distribution().sum(0) for p in plans) / len(plans)
    card_worth = {}
    for value in VALUES:
        plans = [plan(cells, value, _USUAL_CUBES, later, middle) for cells, _ in rounds]
        card_worth[value] = fsum(p.value for p in plans) / len(plans)
    return Prospects(later, worth, card_worth)
