"""Solved tables to play from: a best seat's win share by turn and piles, kept in a file.

`Values` answers for one position at a time, in plain Python on the rules themselves; a file is
memory-mapped, so that a player reads the few pages it needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ladder.errors import StoreError
from ladder.exact.layout import Layout
from ladder.exact.policies import Policy, Seat, line_up
from ladder.exact.solver import Solver
from ladder.games.nodes import CHANCE, END, LEGAL_AT, LUCK, NODE, NUM_LEGAL, SEAT
from ladder.games.pasa import rules
from ladder.games.pasa.table import PasaTable
from ladder.games.pasa.view import PasaView

PARO, TIRO = 0b111111, 0b000000  # 6 6 6 and 1 1 1, as throws of the rules
_TIE = 1e-12
_ORDER = 2  # how `Layout` ranks positions; a file of another order is refused

Opponents = Callable[[str], Seat]


class Values:
    """The win shares of the best seats of a line-up, from a solver or a file."""

    def __init__(self, table: PasaTable, players: Sequence[Policy | None], values: Any) -> None:
        self.table = table
        self.players = players
        self.best_seats = [seat for seat, player in enumerate(players) if player is None]
        self.layout = Layout(table)
        self._values = values  # [turn, best seat * positions + rank]

    def best_stake(self, row: Sequence[int]) -> int:
        """The best reply's stake at a best seat's decision: the smallest of the best ones."""
        place = self.best_seats.index(row[SEAT])
        best, chosen = -1.0, 0
        for stake in _legal(row):
            value = self.shares(_after(row, stake))[place]
            if value > best + _TIE:
                best, chosen = value, stake
        return chosen

    def shares(self, row: Sequence[int]) -> Any:
        """The best seats' win shares from any node of a match on."""
        if row[NODE] == END:
            return self._final(row)
        if row[NODE] == CHANCE:
            return (self._at_turn(_after(row, PARO)) + self._at_turn(_after(row, TIRO))) / 2
        player = self.players[row[SEAT]]
        if player is None:
            return self.shares(_after(row, self.best_stake(row)))
        seen = list(row)
        seen[LUCK] = 0
        ways = player.ways(PasaView(seen))
        total = np.zeros(len(self.best_seats))
        for seen[LUCK] in range(ways):
            stake = player.stake(PasaView(seen), player.params)
            total += self.shares(_after(row, stake))
        return total / ways

    def _at_turn(self, row: Sequence[int]) -> Any:
        """What is stored for the position in which a staking opens."""
        if row[NODE] == END:
            return self._final(row)
        seats = self.table.seats
        piles = [row[rules.PILES + (row[rules.THROWER] + j) % seats] for j in range(seats)]
        at = self.layout.rank([pile // self.layout.unit for pile in piles])
        return self._values[row[rules.TURN], at :: self.layout.positions].astype(float)

    def _final(self, row: Sequence[int]) -> Any:
        standings = [rules.standing(row, seat) for seat in range(self.table.seats)]
        top = [standing == max(standings) for standing in standings]
        return np.array([top[seat] / sum(top) for seat in self.best_seats])


def _legal(row: Sequence[int]) -> Sequence[int]:
    return row[row[LEGAL_AT] : row[LEGAL_AT] + row[NUM_LEGAL]]


def _after(row: Sequence[int], action: int) -> list[int]:
    state = list(row)
    rules.advance(state, action)
    return state


def solve_values(table: PasaTable, seats: Sequence[Seat], **options: Any) -> Values:
    """The best seats' values of a line-up, worked out now. Raises: SpecError."""
    solver = Solver(table, seats, **options)
    solver.solve()
    return Values(table, solver.players, solver.values)


def save_values(path: Path, found: Values, names: Sequence[str]) -> None:
    """Write values to a file; `names` say who sits where, as `load_values` will ask for them."""
    with path.open("wb") as file:
        header = {
            "order": _ORDER,
            "table": found.table.model_dump(mode="json"),
            "seats": list(names),
        }
        line = json.dumps(header).encode()
        file.write(line + b" " * (-len(line) - 1 & 63) + b"\n")  # the numbers start aligned
        np.save(file, found._values)


def load_values(path: Path, opponents: Opponents) -> Values:
    """Values from a file, memory-mapped; `opponents` turns a name into a bot class or `best`.

    Raises: StoreError for a file that is not one of ours.
    """
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline())
            if header.get("order") != _ORDER:
                raise ValueError("it was saved by an older version; save it again")
            np.lib.format.read_magic(file)
            shape, _, kind = np.lib.format.read_array_header_1_0(file)
            values = np.memmap(path, kind, "r", file.tell(), shape)
        table = PasaTable(**header["table"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path}: not a table of exact values ({error})") from None
    return Values(table, line_up(table, [opponents(name) for name in header["seats"]]), values)
