"""Exact values of Pasa line-ups, by induction over (turn, piles).

Policies being given, the probability of every position is carried forward from the start to the
end, which gives every statistic of the final piles at once. Where a seat is `best`, its win share
is first worked out backward from the end, and its stakes are the ones that maximize it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ladder.errors import SpecError
from ladder.exact.compiled import kernel_for
from ladder.exact.kernel import FINISH, SOLVE, SOLVE_END, SPREAD, Asked, Mat, Work
from ladder.exact.policies import Seat, line_up
from ladder.games.nodes import LEGAL_AT, NUM_LEGAL, SEAT
from ladder.games.pasa import rules
from ladder.games.pasa.table import PasaTable, new_state
from ladder.policy.compile import FAULT

Progress = Callable[[int, int], None]
MAX_THREADS = 4
# A position less likely than this is dropped, four seats only; `Exact.dropped` adds them up.
NEGLIGIBLE = 1e-13
# Seconds for one staking's leaf, one core; measured.
_LEAF_S = 8e-9


@dataclass(frozen=True)
class Estimate:
    """What a line-up will take."""

    states: int  # positions that can be reached, all turns
    memory_mb: int
    seconds: float
    is_double: bool  # whether the best seats' values are kept in double precision


@dataclass(frozen=True)
class Exact:
    """The exact outcome of a line-up; lists are by seat."""

    win_share: list[float]
    draw: float  # probability of a shared largest pile
    mean_pile: list[float]
    variance_pile: list[float]
    bust: list[float]  # probability of an empty pile at the end
    states: int
    seconds: float
    dropped: float  # probability not followed: no figure is further off than this allows
    notes: list[str]


class Layout:
    """How the positions of a table are counted and ordered."""

    def __init__(self, table: PasaTable) -> None:
        self.table = table
        self.seats = table.seats
        self.turns = table.seats * table.rounds
        self.unit = math.gcd(table.chips, *table.sizes)
        self.chips = table.chips // self.unit
        self.total = self.chips * self.seats
        sizes = [self.level_size(x0) for x0 in range(self.total + 1)]
        self.level_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.positions = int(self.level_start[-1])

    def level_size(self, x0: int) -> int:
        """Positions with x0 units at the thrower."""
        return math.comb(self.total - x0 + self.seats - 2, self.seats - 2)

    def rank(self, units: Sequence[int]) -> int:
        """The place of a position, its piles round the table from the thrower (`kernel.rank`)."""
        x0, x1, x2 = (*units, 0)[:3]
        if self.seats == 2:
            return x0
        start = int(self.level_start[x0])
        if self.seats == 3:
            return start + x1
        return start + x1 * (self.total - x0 + 1) - x1 * (x1 - 1) // 2 + x2

    def most_units(self, turn: int, place: int) -> int:
        """The most units that the seat `place` after the thrower can hold in a turn.

        A seat that has not thrown yet gains only at the tiros of those before it.
        """
        if place >= self.seats:
            return 0
        if place == 0 or turn + place >= self.seats:
            return self.total
        return min(self.total, self.chips + turn * (self.table.most // self.unit))

    def reachable(self) -> int:
        """An upper bound of the positions that the solver visits in all turns."""
        return sum(self._reachable(turn) for turn in range(self.turns))

    def _reachable(self, turn: int) -> int:
        counts = np.ones(1)
        for place in range(1, self.seats):
            piles = np.ones(self.most_units(turn, place) + 1)
            counts = np.convolve(counts, piles)[: self.total + 1]
        return round(float(counts.sum()))

    def mat(self, turn: int) -> Mat:
        """What a kernel needs to know of a turn."""
        thrower = (self.table.first_thrower + turn) % self.seats
        after = [(thrower + place) % self.seats for place in (1, 2, 3)]
        most = [self.most_units(turn, place) for place in (1, 2, 3)]
        return Mat(
            self.total, self.unit, 1.0 / self.unit, self.level_start, turn, thrower, *after, *most
        )


def estimate(
    table: PasaTable, seats: Sequence[Seat], *, memory_mb: int = 2048, threads: int | None = None
) -> Estimate:
    """States, memory and time of a line-up, before anything is started.

    Raises: SpecError for one that needs more than `memory_mb`.
    """
    layout = Layout(table)
    num_best = sum(not isinstance(seat, type) for seat in seats)
    workers = num_threads(table, threads)
    carried = 2 * workers * layout.positions * 8
    needed = {
        is_double: (carried + (layout.turns + 1) * layout.positions * num_best * size) / 2**20 + 100
        for is_double, size in ((True, 8), (False, 4))
    }
    is_double = num_best == 0 or needed[True] <= memory_mb
    states = layout.reachable()
    is_mixed = num_best or any(
        isinstance(seat, type) and getattr(seat, "luck_ways", None) is not None for seat in seats
    )
    leaves = len(table.sizes) ** (table.seats - 1) if is_mixed else 4
    seconds = states * leaves * _LEAF_S * (1 + bool(num_best)) / workers
    found = Estimate(states, math.ceil(needed[is_double]), seconds, is_double)
    if found.memory_mb > memory_mb:
        raise SpecError(
            f"exact: this line-up needs {found.memory_mb} MB ({states:,} states,"
            f" about {seconds:.0f} s); allow it with --memory (got {memory_mb} MB)"
        )
    return found


def num_threads(table: PasaTable, threads: int | None) -> int:
    """Threads worth using: the small tables are done before a second one has woken up."""
    if table.seats < 4:
        return 1
    return max(1, min(MAX_THREADS, threads or os.cpu_count() or 1))


class Solver:
    """One line-up at one table; `solve` runs it, `values` holds the best seats' win shares."""

    def __init__(
        self,
        table: PasaTable,
        seats: Sequence[Seat],
        *,
        memory_mb: int = 2048,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.players = line_up(table, seats)
        self.estimate = estimate(table, seats, memory_mb=memory_mb, threads=threads)
        self.layout = Layout(table)
        self.threads = num_threads(table, threads)
        self.best_seats = [seat for seat, player in enumerate(self.players) if player is None]
        self.policies = list(dict.fromkeys(player for player in self.players if player))
        self._asked = self._addresses()
        self._best = np.array(self.best_seats, np.int64)
        self.works = [self._work() for _ in range(self.threads)]
        # In single precision, stakes that are worth the same come out this far apart.
        tie = 1e-12 if self.estimate.is_double else 1e-6
        self.kernel = kernel_for(table.seats, len(self.best_seats), tie)
        self.values = np.zeros((self.layout.turns + 1, 0))
        self._progress = progress
        self._done = 0

    def solve(self) -> Exact:
        """The exact outcome."""
        begun = time.perf_counter()
        passes = 2 if self.best_seats else 1
        self._to_do = passes * (self.layout.turns + 1) * (self.layout.total + 1)
        with ThreadPoolExecutor(self.threads) as pool:
            self._pool = pool
            if self.best_seats:
                self.solve_best()
            self._spread()
        return self._result(time.perf_counter() - begun)

    def solve_best(self) -> None:
        """Fill `values[turn]`, the best seats' win shares by rank and best seat."""
        layout = self.layout
        kept = np.float64 if self.estimate.is_double else np.float32
        self.values = np.empty((layout.turns + 1, layout.positions * len(self.best_seats)), kept)
        for turn in range(layout.turns, -1, -1):
            here = self.values[turn]
            after = self.values[min(turn + 1, layout.turns)]
            for x0 in range(layout.total, -1, -1):
                mode = SOLVE_END if turn == layout.turns else SOLVE
                self._level(mode, turn, x0, here, after, _NO_MASS, _NO_MASS)

    def _spread(self) -> None:
        """Carry the probability of every position from the start to the end."""
        layout = self.layout
        masses = np.zeros((self.threads, layout.positions))
        masses_after = np.zeros_like(masses)
        masses[0, layout.rank([layout.chips] * layout.seats)] = 1.0
        for turn in range(layout.turns + 1):
            here = self.values[turn]
            after = self.values[min(turn + 1, layout.turns)]
            for x0 in range(layout.total + 1):
                self._level(
                    FINISH if turn == layout.turns else SPREAD,
                    *(turn, x0, here, after, masses, masses_after),
                )
            masses, masses_after = masses_after, masses
            masses_after[:] = 0.0

    def _level(
        self, mode: int, turn: int, x0: int, here: Any, after: Any, masses: Any, masses_after: Any
    ) -> None:
        layout = self.layout
        # Waking a thread costs more than a small level is worth.
        threads = self.threads if layout.level_size(x0) > 300 else 1
        mat = layout.mat(turn)

        def part(thread: int) -> bool:
            return self.kernel(
                *(mode, x0, thread, threads, mat, self.works[thread], self._asked, self._best),
                *(here, after, masses, masses_after),
                NEGLIGIBLE if layout.seats == 4 else 0.0,
            )

        others = [self._pool.submit(part, thread) for thread in range(1, threads)]
        is_legal = [part(0), *(other.result() for other in others)]
        for thread, legal in enumerate(is_legal):
            if not legal:
                self._refuse(self.works[thread])
        self._done += 1
        if self._progress is not None and x0 % 16 == 0:
            self._progress(self._done, self._to_do)

    def _refuse(self, work: Work) -> None:
        row = work.row
        seat = int(row[SEAT])
        player = self.players[seat]
        assert player is not None
        start = row[LEGAL_AT]
        legal = [int(stake) for stake in row[start : start + row[NUM_LEGAL]]]
        piles = [int(pile) for pile in row[rules.PILES : rules.PILES + self.layout.seats]]
        stake = int(work.fault[0])
        did = "raised an exception" if stake == FAULT else f"stakes {stake}"
        raise SpecError(
            f"{player.name}: {did} at seat {seat} with piles {piles}, turn"
            f" {int(row[rules.TURN])}, thrower {int(row[rules.THROWER])}; legal are {legal}"
        )

    def _addresses(self) -> Asked:
        most_params = max([1, *(len(policy.params) for policy in self.policies)])
        params = np.zeros((len(self.policies), most_params))
        for number, policy in enumerate(self.policies):
            params[number, : len(policy.params)] = policy.params
        groups = [
            self.policies.index(player) if player else -1 - self.best_seats.index(seat)
            for seat, player in enumerate(self.players)
        ]
        ways = [p.compiled_ways.address if p.compiled_ways else 0 for p in self.policies]
        return Asked(
            np.array(groups, np.int64),
            np.array([policy.compiled.address for policy in self.policies], np.int64),
            np.array(ways, np.int64),
            np.array([policy.reads_mat for policy in self.policies], np.bool_),
            params,
        )

    def _work(self) -> Work:
        table, seats = self.layout.table, self.layout.seats
        row = np.array(new_state(table), np.int64)
        row[LEGAL_AT] = rules.SIZES + len(table.sizes)
        options = len(table.sizes)
        leaves = options ** (seats - 1) + 1
        num_best = len(self.best_seats)
        return Work(
            options,
            row,
            seat=np.zeros(seats, np.int64),
            asked=np.zeros(seats, np.int64),
            cover=np.zeros(seats, np.int64),
            stakes=np.zeros(seats * seats, np.int64),
            count=np.zeros(seats, np.int64),
            legal=np.zeros(seats * options, np.int64),
            cap=np.zeros(seats, np.int64),
            option=np.zeros(seats, np.int64),
            chance=np.zeros(seats),
            first_leaf=np.zeros(seats, np.int64),
            option_leaf=np.zeros(seats, np.int64),
            weights=np.zeros(seats * options),
            value=np.zeros(seats * num_best),
            result=np.zeros(num_best),
            leaf_paro=np.zeros(leaves, np.int64),
            leaf_tiro=np.zeros(leaves, np.int64),
            leaf_chance=np.zeros(leaves),
            finals=np.zeros(seats + 2 + seats * (self.layout.total + 1)),
            fault=np.zeros(1, np.int64),
        )

    def _result(self, seconds: float) -> Exact:
        layout = self.layout
        seats = layout.seats
        finals = np.sum([work.finals for work in self.works], axis=0)
        piles = finals[seats + 2 :].reshape(seats, layout.total + 1)
        chips = np.arange(layout.total + 1) * layout.unit
        reached = 1.0 - finals[seats + 1]
        mean = piles @ chips / reached
        variance = piles @ (chips.astype(float) ** 2) / reached - mean**2
        return Exact(
            win_share=_floats(finals[:seats] / reached),
            draw=float(finals[seats] / reached),
            mean_pile=_floats(mean),
            variance_pile=_floats(variance),
            bust=_floats(piles[:, 0] / reached),
            states=self.estimate.states,
            seconds=round(seconds, 3),
            dropped=float(finals[seats + 1]),
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        if len(self.best_seats) > 1 and self.layout.seats > 2:
            return [
                "several best seats at three or more seats have no unique value: where two stakes"
                " are worth the same to one of them, the smaller is taken, and others gain or lose"
            ]
        return []


_NO_MASS = np.zeros((1, 1))


def _floats(values: Any) -> list[float]:
    return [float(value) for value in values]


def solve(
    table: PasaTable,
    seats: Sequence[Seat],
    *,
    memory_mb: int = 2048,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Exact:
    """The exact outcome of a line-up, one bot class or `best` a seat.

    Raises: SpecError for a line-up that cannot be solved, or not within `memory_mb`.
    """
    solver = Solver(table, seats, memory_mb=memory_mb, threads=threads, progress=progress)
    return solver.solve()
