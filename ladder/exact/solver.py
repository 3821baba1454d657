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
from ladder.exact.arrays import FINISH, LANES, PLACES, SOLVE, SOLVE_END, SPREAD, Asked, Mat, Work
from ladder.exact.layout import Layout
from ladder.exact.menus import menus
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
_LEAF_S = 5e-9


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
    valued = sum(layout.touched(turn) for turn in range(layout.turns + 1)) + layout.positions
    needed = {
        is_double: (carried + valued * num_best * size) / 2**20 + 200
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
        self.menus = menus(table, self.layout.unit)
        self._asked = self._addresses()
        self.works = [self._work() for _ in range(self.threads)]
        self._kept = np.float64 if self.estimate.is_double else np.float32
        self.values = np.zeros((self.layout.turns + 1, 0), self._kept)
        self._after = np.zeros(0, self._kept)  # the next turn's values, by this turn's names
        self._masses = self._masses_after = np.zeros((self.threads, 0))
        self._progress = progress
        self._done = 0

    def solve(self) -> Exact:
        """The exact outcome."""
        begun = time.perf_counter()
        layout = self.layout
        passes = 2 if self.best_seats else 1
        self._to_do = passes * sum(len(layout.levels(turn)) for turn in range(layout.turns + 1))
        with ThreadPoolExecutor(self.threads) as pool:
            self._pool = pool
            if self.best_seats:
                self._solve_best()
            self._spread()
        return self._result(time.perf_counter() - begun)

    def _solve_best(self) -> None:
        """Fill `values[turn]`, the best seats' win shares by best seat and rank."""
        turns = self.layout.turns
        numbers = self.layout.positions * len(self.best_seats)
        self.values = np.empty((turns + 1, numbers), self._kept)
        self._after = np.empty(numbers, self._kept)
        self._levels(SOLVE_END, turns)
        for turn in range(turns - 1, -1, -1):
            self._hand_on(turn, is_backward=True)
            self._levels(SOLVE, turn)

    def _spread(self) -> None:
        """Carry the probability of every position from the start to the end."""
        layout = self.layout
        self._masses = np.zeros((self.threads, layout.positions))
        self._masses_after = np.zeros_like(self._masses)
        self._masses[0, layout.rank([layout.chips] * layout.seats)] = 1.0
        for turn in range(layout.turns):
            if self.best_seats:
                self._hand_on(turn, is_backward=True)
            self._levels(SPREAD, turn)
            self._hand_on(turn, is_backward=False)
        self._levels(FINISH, layout.turns)

    def _levels(self, mode: int, turn: int) -> None:
        """Go through the levels of a turn, each shared out among the threads."""
        from ladder.exact.levels import kernels  # imports numba

        run_level, _ = kernels()
        levels = self.layout.levels(turn)
        mat = self._mat(turn)
        arrays = (self.values[turn], self._after, self._masses, self._masses_after)
        for level in levels if mode in (SOLVE, SOLVE_END) else reversed(levels):
            # Waking a thread costs more than a small level is worth.
            threads = self.threads if self.layout.level_size(level) > 300 else 1
            parts = [
                (mode, level, thread, threads, mat, self.menus, work, self._asked, *arrays)
                for thread, work in enumerate(self.works[:threads])
            ]
            for work, is_legal in zip(self.works, self._share(run_level, parts), strict=False):
                if not is_legal:
                    self._refuse(work)
            self._done += 1
            if self._progress is not None and level % 16 == 0:
                self._progress(self._done, self._to_do)

    def _hand_on(self, turn: int, *, is_backward: bool) -> None:
        """Rename the values after a turn to its names, or its probabilities to the next one's."""
        from ladder.exact.levels import kernels

        _, hand_on = kernels()
        arrays = (self.values[turn + 1], self._after, self._masses, self._masses_after)
        parts = [
            (is_backward, thread, self.threads, self._mat(turn), *arrays)
            for thread in range(self.threads)
        ]
        self._share(hand_on, parts)

    def _share(self, kernel: Callable[..., Any], parts: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run each thread's part, the first one here."""
        others = [self._pool.submit(kernel, *part) for part in parts[1:]]
        return [kernel(*parts[0]), *(other.result() for other in others)]

    def _mat(self, turn: int) -> Mat:
        layout = self.layout
        return Mat(
            layout.seats,
            layout.total,
            layout.positions,
            layout.unit,
            layout.plane,
            np.array(layout.seat_by_place(turn), np.int64),
            np.array(layout.most_units(turn), np.int64),
            turn,
            len(self.best_seats),
            # In single precision, stakes that are worth the same come out this far apart.
            tie=1e-12 if self.estimate.is_double else 1e-6,
            negligible=NEGLIGIBLE if layout.seats == PLACES else 0.0,
        )

    def _refuse(self, work: Work) -> None:
        row = work.row
        seat = int(row[SEAT])
        player = self.players[seat]
        assert player is not None
        start = row[LEGAL_AT]
        legal = [int(stake) for stake in row[start : start + row[NUM_LEGAL]]]
        piles = [int(pile) for pile in row[rules.PILES : rules.PILES + self.layout.seats]]
        stake = int(work.fault[1])
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
        groups = np.zeros(rules.MAX_SEATS, np.int64)
        for seat, player in enumerate(self.players):
            best = -1 - self.best_seats.index(seat) if player is None else 0
            groups[seat] = self.policies.index(player) if player else best
        ways = [p.compiled_ways.address if p.compiled_ways else 0 for p in self.policies]
        return Asked(
            groups,
            np.array([policy.compiled.address for policy in self.policies], np.int64),
            np.array(ways, np.int64),
            np.array([policy.reads_mat for policy in self.policies], np.bool_),
            params,
        )

    def _work(self) -> Work:
        table, seats = self.layout.table, self.layout.seats
        row = np.array(new_state(table), np.int64)
        row[LEGAL_AT] = rules.SIZES + len(table.sizes)
        slots, options = len(self.menus.stake), len(table.sizes)
        weights = np.zeros((PLACES, slots, LANES))
        weights[:, self.menus.count == 1] = 1.0  # where nobody is asked
        return Work(
            slots,
            options,
            row,
            now=np.zeros(1, np.int64),
            known=np.zeros(PLACES * slots, np.int64),
            is_used=np.array([self.menus.count == 1] * PLACES, np.int64).ravel(),
            weights=weights.ravel(),
            values=np.zeros(PLACES * options * len(self.best_seats) * LANES),
            masses=np.zeros(PLACES * LANES),
            best=np.zeros(LANES),
            choice=np.zeros(LANES),
            finals=np.zeros(seats + 2 + seats * (self.layout.total + 1)),
            fault=np.zeros(2, np.int64),
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
