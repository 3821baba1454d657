"""The compiled part of the exact solver: one level of positions of one turn, forward or backward.

Positions. Piles are counted in units and named by *place*, round the table from the thrower: x0 is
the thrower's, then x1, x2, x3 in the order of staking; at fewer than four seats the first of these
stay empty. They add up to `total`, so a position is (x1, x2, x3), ranked in that order. A throw
moves x3 along neighbouring ranks, which is what makes this fast: a row of them is in the cache.

Order. A paro makes x1 + x2, the *level*, smaller (or x3, where both are 0), a tiro goes to the next
turn. Bachyo moves nothing, so a staking is settled by paro or tiro with 1/2 each (rule 5), and one
pass over the levels does a turn: upwards for values, downwards for probabilities. `after`, what
comes after a tiro, is ranked by the piles as this turn names them; `hand_on` renames.

What is legal and what a throw moves is read from `menus`, which the rules filled.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from functools import cache
from typing import Any

from ladder import rows  # by module: numba's cache cannot name an intrinsic
from ladder.exact.arrays import FINISH, LANES, SOLVE, SOLVE_END, SPREAD, Span
from ladder.exact.stakings import look1, nth, put_piles, rank, spread1
from ladder.games.pasa import rules
from ladder.games.pasa.rules import PILES, STAKES, THROWER, TURN
from ladder.jit import compiled, rule


@rule
def is_top(mat, row, seat):
    """Whether no seat stands above this one (rule 6)."""
    mine = rules.standing(row, seat)
    for other in range(mat.seats):  # noqa: SIM110 - compiled code has no all()
        if rules.standing(row, other) > mine:
            return False
    return True


@rule
def num_top(mat, row):
    """How many seats share the largest pile."""
    sharing = 0
    for seat in range(mat.seats):
        sharing += is_top(mat, row, seat)
    return sharing


@rule
def count_final(mat, work, mass):
    """Add the final position in the row, of probability `mass`, to the totals (rule 6)."""
    sharing = num_top(mat, work.row)
    if sharing > 1:
        work.finals[mat.seats] += mass
    for seat in range(mat.seats):
        pile = work.row[PILES + seat] // mat.unit
        if is_top(mat, work.row, seat):
            work.finals[seat] += mass / sharing
        work.finals[mat.seats + 2 + seat * (mat.total + 1) + pile] += mass


@rule
def value_final(mat, work, asked, here, at):
    """Write the best seats' values of the final position in the row."""
    sharing = num_top(mat, work.row)
    for seat in range(mat.seats):
        group = asked.groups[seat]
        if group < 0:
            share = 1.0 / sharing if is_top(mat, work.row, seat) else 0.0
            here[(-1 - group) * mat.positions + at] = share


@rule
def solve(mat, menus, work, asked, here, after, at, span):
    """Write the best seats' values of the positions of a span."""
    for lane in range(span.size):
        work.masses[LANES + lane] = 1.0
    look1(mat, menus, work, asked, here, after, span)
    for k in range(mat.num_best):
        for lane in range(span.size):
            here[nth(k * mat.positions + at + lane)] = work.values[nth(k * LANES + lane)]


@rule
def move(mat, menus, work, asked, here, after, masses, masses_after, thread, at, span):
    """Move the probability of the positions of a span on, or drop what is negligible."""
    whole = 0.0
    for lane in range(span.size):
        mass = 0.0
        for i in range(masses.shape[0]):
            mass += masses[i, at + lane]
        if mass < mat.negligible:
            work.finals[mat.seats + 1] += mass
            mass = 0.0
        whole += mass
        work.masses[LANES + lane] = mass
    if whole > 0.0:
        spread1(
            mat, menus, work, asked, here, after, masses[thread], masses_after[thread], span
        )  # fmt: skip


@rule
def do_span(mode, thread, mat, menus, work, asked, here, after, masses, masses_after, at, span):
    """Do to the positions of a span what `mode` says."""
    put_piles(mat, work.row, span.x0, span.x1, span.x2, span.x3)
    work.now[0] += 1
    is_over = mode in (FINISH, SOLVE_END) or rules.is_one_pile_left(work.row)
    is_backward = mode in (SOLVE, SOLVE_END)
    if is_over and is_backward:
        value_final(mat, work, asked, here, at)
    elif is_over:
        for i in range(masses.shape[0]):
            count_final(mat, work, masses[i, at])
    elif span.x0 == 0 and is_backward:  # the turn of a seat that is out counts as held (rule 5)
        for k in range(mat.num_best):
            here[k * mat.positions + at] = after[k * mat.positions + at]
    elif span.x0 == 0:
        for i in range(masses.shape[0]):
            masses_after[thread, at] += masses[i, at]
    elif is_backward:
        solve(mat, menus, work, asked, here, after, at, span)
    else:
        move(mat, menus, work, asked, here, after, masses, masses_after, thread, at, span)


@rule
def span_size(mode, mat, menus, level, x0, x3, rest):
    """How many positions from here on have the same stakings and need none of each other."""
    cover = (mat.seats - 1) * menus.most  # never used up
    if mode in (FINISH, SOLVE_END) or level == 0 or x3 < menus.most or x0 < cover:
        return 1
    return min(LANES, x0 - cover + 1, rest)


def run_level(
    mode, level, thread, threads, mat, menus, work, asked, here, after, masses, masses_after
):
    """One thread's part of a level; False after an illegal stake.

    SPREAD moves probability on and FINISH counts what is left after the last turn; SOLVE works out
    the best seats' values and SOLVE_END those after the last turn. `here` and `after` are the
    values of this turn and the next, a best seat after the other; `masses` and `masses_after` the
    probabilities, one row a thread, which is the only one it writes.
    """
    mat, menus, work, asked = (
        rows.borrowed(mat), rows.borrowed(menus), rows.borrowed(work), rows.borrowed(asked)
    )  # fmt: skip
    here, after = rows.borrowed(here), rows.borrowed(after)
    masses, masses_after = rows.borrowed(masses), rows.borrowed(masses_after)
    work.row[TURN] = mat.turn
    work.row[THROWER] = mat.seat[0]
    work.row[STAKES + mat.seat[0]] = 0
    steps = min(mat.total - level, mat.most[3]) + 1
    for x1 in range(max(0, level - mat.most[2]) + thread, min(level, mat.most[1]) + 1, threads):
        first = rank(mat, x1, level - x1)
        step = 0
        while step < steps:
            # At level 0 a paro leads down the row.
            x3 = steps - 1 - step if level == 0 and mode == SPREAD else step
            x0 = mat.total - level - x3
            size = span_size(mode, mat, menus, level, x0, x3, steps - step)
            if size == 1:  # compiled once more, without loops over lanes
                do_span(
                    mode, thread, mat, menus, work, asked, here, after, masses, masses_after,
                    first + x3, Span(1, x0, x1, level - x1, x3),
                )  # fmt: skip
            else:
                do_span(
                    mode, thread, mat, menus, work, asked, here, after, masses, masses_after,
                    first + x3, Span(size, x0, x1, level - x1, x3),
                )  # fmt: skip
            if work.fault[0]:
                return False
            step += size
    return True


BLOCK = 8  # positions in a cache line


def hand_on(is_backward, thread, threads, mat, values, after, masses, masses_after):
    """Rename from one thrower to the next: values backward, probabilities forward.

    (x0, x1, x2, x3) becomes (x1, x2, x3, x0), empty places left out. In blocks, since what lies
    together under one name does not under the other.
    """
    high1 = mat.total if mat.seats == 4 else 0
    for block in range(thread, high1 // BLOCK + 1, threads):
        begin = block * BLOCK
        high2 = mat.total - begin if mat.seats > 2 else 0
        for x2 in range(high2 + 1):
            for x3 in range(mat.total - begin - x2 + 1):
                for x1 in range(begin, min(begin + BLOCK, high1 + 1, mat.total - x2 - x3 + 1)):
                    x0 = mat.total - x1 - x2 - x3
                    mine = rank(mat, x1, x2) + x3
                    next1 = x2 if mat.seats == 4 else 0
                    next2 = x3 if mat.seats > 2 else 0
                    theirs = rank(mat, next1, next2) + x0
                    if is_backward:
                        for k in range(0, mat.num_best * mat.positions, mat.positions):
                            after[k + mine] = values[k + theirs]
                    else:
                        mass = 0.0
                        for i in range(masses.shape[0]):
                            mass += masses_after[i, mine]
                            masses_after[i, mine] = 0.0
                            masses[i, theirs] = 0.0
                        masses[0, theirs] = mass


@cache
def kernels() -> tuple[Any, Any]:
    """(run_level, hand_on), compiled or read from the cache."""
    ours = [f"exact/{name}.py" for name in ("arrays", "levels", "stakings")]
    sources = (*ours, "rows.py", "games/pasa/", "games/nodes.py", "policy/call.py")
    return tuple(compiled(kernel, *sources) for kernel in (run_level, hand_on))
