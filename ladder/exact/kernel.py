"""The compiled part of the exact solver: one level of positions of one turn, forward or backward.

This file is a template. `compiled.py` runs a copy of it with SEATS, NUM_BEST and TIE replaced,
gives it the two functions that only compiled code has, and compiles `run_level`.

Positions. Piles are counted in units and named round the table from the thrower: x0 is the
thrower's, x1 the next seat's, and so on; they add up to `total`. A *level* is all positions with
one x0. A paro moves a position to a higher level of the same turn, a tiro to the next turn, seen
from the next thrower: (x1, x2, x3, x0) after the payment. Bachyo moves nothing, so a staking is
settled by paro or tiro with 1/2 each (rule 5), and going through the levels in order solves a turn
in one pass: upwards for probabilities, downwards for values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ladder.games.nodes import CHANCE, LEGAL_AT, LUCK, NODE, NUM_LEGAL, SEAT
from ladder.games.pasa import rules
from ladder.games.pasa.rules import ASKED, COVER, PILES, STAKES, THROWER, TURN

SEATS = 4
NUM_BEST = 0
TIE = 1e-12  # values closer than this are equal, and the smaller stake is taken

SPREAD, FINISH, SOLVE, SOLVE_END = 0, 1, 2, 3


class Mat(NamedTuple):
    """The table and the turn that a level belongs to."""

    total: int  # units on the table
    unit: int  # chips in a unit
    per_unit: float  # 1 / unit
    level_start: Any  # rank of the first position of each level
    turn: int
    thrower: int
    seat1: int  # the seats after the thrower; any seat where there is none
    seat2: int
    seat3: int
    most1: int  # no reachable position of this turn has more units there
    most2: int
    most3: int


class Asked(NamedTuple):
    """The policies of a line-up, by group: seats with one policy and params are one group."""

    groups: Any  # by seat: the group, or -1 - k for the best seat k
    stakes: Any  # addresses of the compiled policies
    luck_ways: Any  # addresses of what declares their mixtures, 0 for none
    reads_mat: Any  # whether they can see the stakes put down before theirs
    params: Any  # a row each


class Work(NamedTuple):
    """One thread's scratch rows; a node of the staking tree is addressed by its depth."""

    options: int  # legal stakes there can be at one node
    row: Any  # the state row the rules and the policies work on
    seat: Any  # by depth: the seat that chooses
    asked: Any  # by depth, like the next two: the row's fields as they were at the node
    cover: Any
    stakes: Any
    count: Any  # by depth: legal stakes
    legal: Any  # by depth and option: the stake
    cap: Any  # by depth: the cap for which `weights` were asked in this position, or 0
    option: Any  # by depth: the option being looked at
    chance: Any  # by depth: probability of coming here, the best seats' own choices not counted
    first_leaf: Any  # by depth: leaves found before this node
    option_leaf: Any  # by depth: leaves found before this option
    weights: Any  # by depth and option: probability of the option
    value: Any  # by depth and best seat: value of the node so far
    result: Any  # by best seat: value of the node just left
    leaf_paro: Any  # rank of the position after a paro
    leaf_tiro: Any  # rank, one turn on, after a tiro
    leaf_chance: Any
    finals: Any  # win share by seat, draw, dropped, then the final piles' distribution by seat
    fault: Any  # the illegal stake, where there was one


def call_policy(address: int, row: Any, params: Any) -> int:
    """What the compiled policy at an address returns, see `ladder.policy.call`. Replaced."""
    raise NotImplementedError


def borrowed(array: Any) -> Any:
    """The array without its reference count, see `compiled.borrowed`. Replaced."""
    return array


def weigh(row: Any, asked: Any, group: int, weights: Any, start: int) -> tuple[bool, int]:
    """Write the probability a policy gives to each legal stake; (whether all are, the stake)."""
    count = row[NUM_LEGAL]
    first = row[LEGAL_AT]
    for option in range(count):
        weights[start + option] = 0.0
    row[LUCK] = 0
    ways = 1
    if asked.luck_ways[group] != 0:
        ways = call_policy(asked.luck_ways[group], row, asked.params[group])
    if ways < 1:
        return False, ways
    weight = 1.0 / ways
    for luck in range(ways):
        row[LUCK] = luck
        stake = call_policy(asked.stakes[group], row, asked.params[group])
        option = 0
        while option < count and row[first + option] != stake:
            option += 1
        if option == count:
            return False, stake
        weights[start + option] += weight
    return True, 0


def rank(mat: Any, x0: int, x1: int, x2: int) -> int:
    """The place of a position among all, level by level; the last pile follows from the rest."""
    if SEATS == 2:
        return x0
    start = int(mat.level_start[x0])
    if SEATS == 4:
        start += x1 * (int(mat.total) - x0 + 1) - ((x1 * (x1 - 1)) >> 1)
        return start + x2
    return start + x1


def units(mat: Any, chips: int) -> int:
    """Chips in units; a multiplication, since a division costs more than the rest of a leaf."""
    return int(chips * mat.per_unit + 0.5)


def place(mat: Any, row: Any, x0: int, x1: int, x2: int, x3: int) -> None:
    """Put the piles of a position into the row."""
    row[TURN] = mat.turn
    row[THROWER] = mat.thrower
    row[PILES + mat.thrower] = x0 * mat.unit
    row[PILES + mat.seat1] = x1 * mat.unit
    if SEATS > 2:
        row[PILES + mat.seat2] = x2 * mat.unit
    if SEATS > 3:
        row[PILES + mat.seat3] = x3 * mat.unit


def after_throw(
    mat: Any, x0: int, x1: int, x2: int, x3: int, u1: int, u2: int, u3: int
) -> tuple[int, int]:
    """Ranks after a paro and after a tiro, for stakes u1, u2, u3 (`rules.settle`, in units)."""
    paro = rank(mat, x0 + u1 + u2 + u3, x1 - u1, x2 - u2)
    tiro = rank(mat, x1 + u1, x2 + u2, x3 + u3)
    return paro, tiro


def play_stakings(
    mat: Any,
    work: Any,
    asked: Any,
    here: Any,
    after: Any,
    x0: int,
    x1: int,
    x2: int,
    x3: int,
    is_recording: bool,
) -> int:
    """Every way the staking of a position can go.

    Depth first through the seats' choices, with the rules' own functions. The best seats' values
    stand in `work.result` at the end and, if recording, the leaves that can happen in
    `work.leaf_*`. A policy that does not look at the mat is asked once for all stakings with the
    same cap. Gives the number of leaves, or -1 after an illegal stake.
    """
    row = work.row
    groups = asked.groups
    options = work.options
    place(mat, row, x0, x1, x2, x3)
    for depth in range(SEATS):
        work.cap[depth] = 0
    rules.open_staking(row)
    depth = -1
    chance = 1.0
    leaves = 0
    while True:
        rules.ask_next(row)
        is_choice = row[NODE] != CHANCE
        is_last = row[ASKED] == SEATS - 1 or not is_choice
        seat = row[SEAT]
        group = groups[seat]
        if is_choice and group >= 0:
            at = SEATS - 1 if is_last else depth + 1
            cap = row[row[LEGAL_AT] + row[NUM_LEGAL] - 1]
            if asked.reads_mat[group] or work.cap[at] != cap or work.seat[at] != seat:
                legal, stake = weigh(row, asked, group, work.weights, at * options)
                if not legal:
                    work.fault[0] = stake
                    return -1
                work.cap[at] = cap
                work.seat[at] = seat
        if is_last:
            leaves = last_choice(
                mat, work, group, here, after, x0, x1, x2, x3, chance, leaves, is_recording
            )
        else:
            depth += 1
            work.seat[depth] = seat
            work.asked[depth] = row[ASKED]
            work.cover[depth] = row[COVER]
            for i in range(SEATS):
                work.stakes[depth * SEATS + i] = row[STAKES + i]
            work.count[depth] = row[NUM_LEGAL]
            for i in range(row[NUM_LEGAL]):
                work.legal[depth * options + i] = row[row[LEGAL_AT] + i]
            work.option[depth] = -1
            work.chance[depth] = chance
            work.first_leaf[depth] = leaves
            for k in range(NUM_BEST):
                work.value[depth * NUM_BEST + k] = 0.0 if group >= 0 else -1.0
        is_new = not is_last
        while depth >= 0:
            group = groups[work.seat[depth]]
            if not is_new:
                leaves = take_in(work, group, depth, leaves)
            option = work.option[depth] + 1
            if group >= 0:
                while option < work.count[depth] and work.weights[depth * options + option] == 0.0:
                    option += 1
            if option < work.count[depth]:
                work.option[depth] = option
                work.option_leaf[depth] = leaves
                chance = work.chance[depth]
                if group >= 0:
                    chance *= work.weights[depth * options + option]
                row[SEAT] = work.seat[depth]
                row[ASKED] = work.asked[depth]
                row[COVER] = work.cover[depth]
                for i in range(SEATS):
                    row[STAKES + i] = work.stakes[depth * SEATS + i]
                rules.put_down(row, work.legal[depth * options + option])
                break
            for k in range(NUM_BEST):
                work.result[k] = work.value[depth * NUM_BEST + k]
            depth -= 1
            is_new = False
        if depth < 0:
            return leaves


def take_in(work: Any, group: int, depth: int, leaves: int) -> int:
    """Count the option just looked at into its node; a best seat keeps the better one's leaves."""
    start = depth * NUM_BEST
    if group >= 0:
        weight = work.weights[depth * work.options + work.option[depth]]
        for k in range(NUM_BEST):
            work.value[start + k] += weight * work.result[k]
        return leaves
    begin = work.option_leaf[depth]
    if not is_better(work.result[-1 - group], work.value[start - 1 - group]):
        return int(begin)
    for k in range(NUM_BEST):
        work.value[start + k] = work.result[k]
    to = work.first_leaf[depth]
    for i in range(begin, leaves):
        work.leaf_paro[to] = work.leaf_paro[i]
        work.leaf_tiro[to] = work.leaf_tiro[i]
        work.leaf_chance[to] = work.leaf_chance[i]
        to += 1
    return int(to)


def is_better(value: float, best: float) -> bool:
    """Whether a larger stake is worth more than the best so far; see TIE."""
    return value > best + TIE


def last_choice(
    mat: Any,
    work: Any,
    group: int,
    here: Any,
    after: Any,
    x0: int,
    x1: int,
    x2: int,
    x3: int,
    chance: float,
    leaves: int,
    is_recording: bool,
) -> int:
    """The leaves below a node that no further choice follows: the last seat's, or the throw."""
    row = work.row
    u1 = units(mat, row[STAKES + mat.seat1])
    u2 = units(mat, row[STAKES + mat.seat2]) if SEATS > 2 else 0
    u3 = units(mat, row[STAKES + mat.seat3]) if SEATS > 3 else 0
    is_choice = row[NODE] != CHANCE
    is_best = is_choice and group < 0
    start = (SEATS - 1) * work.options
    first = row[LEGAL_AT]
    best = -1.0
    # The first best seat's value is kept in a variable: adding up in memory costs twice as much.
    value0 = 0.0
    for k in range(1, NUM_BEST):
        work.result[k] = 0.0
    for option in range(row[NUM_LEGAL] if is_choice else 1):
        weight = 1.0
        if is_choice:
            if not is_best:
                weight = work.weights[start + option]
                if weight == 0.0:
                    continue
            stake = units(mat, row[first + option])
            if SEATS == 2:
                u1 = stake
            elif SEATS == 3:
                u2 = stake
            else:
                u3 = stake
        paro, tiro = after_throw(mat, x0, x1, x2, x3, u1, u2, u3)
        if is_best:
            mine = -1 - group
            value = 0.5 * (here[paro * NUM_BEST + mine] + after[tiro * NUM_BEST + mine])
            if not is_better(value, best):
                continue
            best = value
            value0 = 0.0
            for k in range(1, NUM_BEST):
                work.result[k] = 0.0
        if is_recording:
            work.leaf_paro[leaves] = paro
            work.leaf_tiro[leaves] = tiro
            work.leaf_chance[leaves] = chance * weight
            if not is_best:
                leaves += 1
        if NUM_BEST > 0:
            value0 += weight * 0.5 * (here[paro * NUM_BEST] + after[tiro * NUM_BEST])
        for k in range(1, NUM_BEST):
            value = 0.5 * (here[paro * NUM_BEST + k] + after[tiro * NUM_BEST + k])
            work.result[k] += weight * value
    if NUM_BEST > 0:
        work.result[0] = value0
    return leaves + 1 if is_best and is_recording else leaves


def win_shares(mat: Any, work: Any, x0: int, x1: int, x2: int, x3: int) -> int:
    """How many seats share the largest pile of a final position; the piles go into the row."""
    place(mat, work.row, x0, x1, x2, x3)
    sharing = 0
    for seat in range(SEATS):
        if is_top(mat, work.row, seat):
            sharing += 1
    return sharing


def is_top(mat: Any, row: Any, seat: int) -> bool:
    """Whether no seat stands above this one (rule 6)."""
    mine = rules.standing(row, seat)
    for other in range(SEATS):  # noqa: SIM110 - compiled code has no all()
        if rules.standing(row, other) > mine:
            return False
    return True


def count_final(mat: Any, work: Any, sharing: int, mass: float) -> None:
    """Add the final position in the row, of probability `mass`, to the totals (rule 6)."""
    if sharing > 1:
        work.finals[SEATS] += mass
    for seat in range(SEATS):
        pile = units(mat, work.row[PILES + seat])
        if is_top(mat, work.row, seat):
            work.finals[seat] += mass / sharing
        work.finals[SEATS + 2 + seat * (mat.total + 1) + pile] += mass


def run_level(
    mode: int,
    x0: int,
    thread: int,
    threads: int,
    mat: Any,
    lent: Any,
    policies: Any,
    best_seats: Any,
    here: Any,
    after: Any,
    masses: Any,
    masses_after: Any,
    negligible: float,
) -> bool:
    """One thread's part of a level; False after an illegal stake.

    SPREAD moves probability on and FINISH counts what is left after the last turn; SOLVE works out
    the best seats' values and SOLVE_END those after the last turn. `here` and `after` are the
    values of this turn and the next, `masses` and `masses_after` the probabilities, one row a
    thread, which is the only one it writes.
    """
    row = borrowed(lent.row)
    work = Work(
        lent.options,
        row,
        borrowed(lent.seat),
        borrowed(lent.asked),
        borrowed(lent.cover),
        borrowed(lent.stakes),
        borrowed(lent.count),
        borrowed(lent.legal),
        borrowed(lent.cap),
        borrowed(lent.option),
        borrowed(lent.chance),
        borrowed(lent.first_leaf),
        borrowed(lent.option_leaf),
        borrowed(lent.weights),
        borrowed(lent.value),
        borrowed(lent.result),
        borrowed(lent.leaf_paro),
        borrowed(lent.leaf_tiro),
        borrowed(lent.leaf_chance),
        borrowed(lent.finals),
        borrowed(lent.fault),
    )
    here = borrowed(here)
    after = borrowed(after)
    masses = borrowed(masses)
    masses_after = borrowed(masses_after)
    asked = Asked(
        borrowed(policies.groups),
        borrowed(policies.stakes),
        borrowed(policies.luck_ways),
        borrowed(policies.reads_mat),
        borrowed(policies.params),
    )
    rest = mat.total - x0
    top1 = min(rest, mat.most1)
    for x1 in range(thread if SEATS > 2 else rest, top1 + 1, threads):
        high2 = min(rest - x1, mat.most2)
        low2 = max(0, rest - x1 - mat.most3) if SEATS > 3 else rest - x1
        for x2 in range(low2, high2 + 1):
            x3 = rest - x1 - x2
            at = rank(mat, x0, x1, x2)
            mass = 1.0
            if mode in (SPREAD, FINISH):
                mass = 0.0
                for i in range(masses.shape[0]):
                    mass += masses[i, at]
                if mass == 0.0:
                    continue
            is_over = max(max(x0, x1), max(x2, x3)) == mat.total
            if is_over or mode in (FINISH, SOLVE_END):
                sharing = win_shares(mat, work, x0, x1, x2, x3)
                if mode in (SPREAD, FINISH):
                    count_final(mat, work, sharing, mass)
                else:
                    for k in range(NUM_BEST):
                        share = 1.0 / sharing if is_top(mat, row, best_seats[k]) else 0.0
                        here[at * NUM_BEST + k] = share
            elif x0 == 0:
                to = rank(mat, x1, x2, x3)
                if mode == SPREAD:
                    masses_after[thread, to] += mass
                else:
                    for k in range(NUM_BEST):
                        here[at * NUM_BEST + k] = after[to * NUM_BEST + k]
            elif mass < negligible:
                work.finals[SEATS + 1] += mass
            else:
                leaves = play_stakings(
                    *(mat, work, asked, here, after),
                    *(x0, x1, x2, x3, mode == SPREAD),
                )
                if leaves < 0:
                    return False
                if mode == SPREAD:
                    for i in range(leaves):
                        half = 0.5 * mass * work.leaf_chance[i]
                        masses[thread, work.leaf_paro[i]] += half
                        masses_after[thread, work.leaf_tiro[i]] += half
                else:
                    for k in range(NUM_BEST):
                        here[at * NUM_BEST + k] = work.result[k]
    return True
