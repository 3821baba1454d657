"""Compiled: every way the stakings of a span of positions can go, seat by seat.

`look` gives what the best seats win, and `spread` moves probability; both go down the same tree,
place 1 to place 3, and at its leaves a paro leads to a lower rank of this turn, a tiro to `after`,
with 1/2 each. All positions of a span have the same tree, so each step is one loop over lanes
that lie side by side in memory. A policy that does not look at the mat is asked once for all
stakings with the same menu. Every function is copied into its caller: passing the arrays would
cost more than the work.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from ladder.exact.arrays import LANES, PLACES
from ladder.games.nodes import LEGAL_AT, LUCK, NUM_LEGAL, SEAT
from ladder.games.pasa import rules
from ladder.games.pasa.rules import ASKED, COVER, PILES, STAKES
from ladder.jit import rule
from ladder.policy import call  # by module: numba's cache cannot name an intrinsic


@rule
def nth(index):
    """An index that is not negative; compiled, one that might be keeps a loop from being packed."""
    return np.uint64(index)


@rule
def rank(mat, x1, x2):
    """The place of (x1, x2, 0) among all positions."""
    return mat.plane[x1] + x2 * (mat.total - x1 + 1) - ((x2 * (x2 - 1)) >> 1)


@rule
def put_piles(mat, row, x0, x1, x2, x3):
    """Put the piles of a position into the row."""
    row[PILES + mat.seat[1]] = x1 * mat.unit
    row[PILES + mat.seat[2]] = x2 * mat.unit
    row[PILES + mat.seat[3]] = x3 * mat.unit
    row[PILES + mat.seat[0]] = x0 * mat.unit


@rule
def menu_for(menus, cover, pile):
    """The menu of a seat with so large a pile and so much cover left."""
    return menus.menu[nth(min(cover, menus.most)), nth(min(pile, menus.most))]


@rule
def is_best(mat, menus, asked, place, menu):
    """Whether it is a best seat that has a choice."""
    return asked.groups[nth(mat.seat[place])] < 0 and menus.count[nth(menu)] > 1


@rule
def ask(mat, menus, work, asked, span, place, menu, cover):
    """Make `work.weights` what the seat at a place does; a best seat's are what `fold` chose."""
    known = nth(place * work.slots + menu)
    if work.known[known] == work.now[0]:
        return
    seat = mat.seat[place]
    group = asked.groups[seat]
    if menus.count[menu] == 1 or group < 0 or work.fault[0]:
        return
    if not asked.reads_mat[group]:
        work.known[known] = work.now[0]
    row = work.row
    row[SEAT] = seat
    row[ASKED] = place
    for later in range(place, PLACES):
        row[STAKES + mat.seat[later]] = 0
    rules.list_stakes(row, menus.stake[menu + menus.count[menu] - 1] * mat.unit)
    first = place * work.slots + menu
    for slot in range(first, first + row[NUM_LEGAL]):
        work.is_used[slot] = 0
        for lane in range(span.size):
            work.weights[slot * LANES + lane] = 0.0
    for lane in range(span.size):
        if work.masses[LANES + lane] != 0.0 and not work.fault[0]:
            put_piles(mat, row, span.x0 - lane, span.x1, span.x2, span.x3 + lane)
            row[COVER] = (cover - lane) * mat.unit
            weigh(work, asked, group, first, lane)


@rule
def weigh(work, asked, group, first, lane):
    """Ask a policy once for each of the equally likely cases that its luck makes."""
    row = work.row
    count = row[NUM_LEGAL]
    legal = row[LEGAL_AT]
    row[LUCK] = 0
    ways = 1
    if asked.luck_ways[group] != 0:
        ways = call.call_policy(asked.luck_ways[group], row, asked.params[group])
    if ways < 1:
        work.fault[0] = 1
        work.fault[1] = ways
    weight = 1.0 / ways
    for luck in range(ways):
        row[LUCK] = luck
        stake = call.call_policy(asked.stakes[group], row, asked.params[group])
        option = 0
        while option < count and row[nth(legal + option)] != stake:
            option += 1
        if option == count:
            work.fault[0] = 1
            work.fault[1] = stake
            return
        work.weights[nth((first + option) * LANES + lane)] += weight
        work.is_used[nth(first + option)] = 1


@rule
def choose(mat, menus, work, asked, span, place, menu):
    """A best seat's choice, lane by lane: the best option, and the first of equals, gets weight 1.

    Option by option, not lane by lane: so compiled code does several lanes at once.
    """
    count = menus.count[menu]
    mine = -1 - asked.groups[mat.seat[place]]
    for lane in range(span.size):
        work.best[nth(lane)] = -1.0
        work.choice[nth(lane)] = 0.0
    for option in range(count):
        value = ((place * work.options + option) * mat.num_best + mine) * LANES
        for lane in range(span.size):
            is_better = work.values[nth(value + lane)] > work.best[nth(lane)] + mat.tie
            work.choice[nth(lane)] = option if is_better else work.choice[nth(lane)]
            work.best[nth(lane)] = (
                work.values[nth(value + lane)] if is_better else work.best[nth(lane)]
            )
    for option in range(count):
        slot = place * work.slots + menu + option
        chosen = 0.0
        for lane in range(span.size):
            weight = 1.0 if work.choice[nth(lane)] == option else 0.0
            work.weights[nth(slot * LANES + lane)] = weight
            chosen += weight
        work.is_used[slot] = chosen > 0.0


@rule
def fold(mat, menus, work, asked, span, place, menu, option_before):
    """The value of a staking: the mean of its options' values, or the best of them."""
    if is_best(mat, menus, asked, place, menu):
        choose(mat, menus, work, asked, span, place, menu)
    for k in range(mat.num_best):
        to = (((place - 1) * work.options + option_before) * mat.num_best + k) * LANES
        for lane in range(span.size):
            work.values[nth(to + lane)] = 0.0
        for option in range(menus.count[menu]):
            slot = place * work.slots + menu + option
            if work.is_used[nth(slot)]:
                value = ((place * work.options + option) * mat.num_best + k) * LANES
                for lane in range(span.size):
                    weight = work.weights[nth(slot * LANES + lane)]
                    work.values[nth(to + lane)] += weight * work.values[nth(value + lane)]


@rule
def look3(mat, menus, work, asked, here, after, span, cover, x1, x2, t1, t2, before):
    """The values of the last seat's staking; x1, x2 are the piles after a paro, t1, t2 a tiro."""
    menu = menu_for(menus, cover, span.x3)
    ask(mat, menus, work, asked, span, 3, menu, cover)
    any_option = is_best(mat, menus, asked, 3, menu)
    paro = rank(mat, x1, x2) + span.x3
    tiro = rank(mat, t1, t2) + span.x3
    for option in range(menus.count[nth(menu)]):
        slot = menu + option
        if any_option or work.is_used[nth(3 * work.slots + slot)]:
            for k in range(mat.num_best):
                to = ((3 * work.options + option) * mat.num_best + k) * LANES
                one = k * mat.positions + paro + menus.paro[nth(slot)]
                other = k * mat.positions + tiro + menus.tiro[nth(slot)]
                for lane in range(span.size):
                    value = here[nth(one + lane)] + after[nth(other + lane)]
                    work.values[nth(to + lane)] = 0.5 * value
    fold(mat, menus, work, asked, span, 3, menu, before)


@rule
def look2(mat, menus, work, asked, here, after, span, cover, x1, t1, before):
    """The values of the staking at place 2."""
    menu = menu_for(menus, cover, span.x2)
    ask(mat, menus, work, asked, span, 2, menu, cover)
    any_option = is_best(mat, menus, asked, 2, menu)
    for option in range(menus.count[nth(menu)]):
        slot = menu + option
        if any_option or work.is_used[nth(2 * work.slots + slot)]:
            work.row[STAKES + mat.seat[2]] = menus.stake[slot] * mat.unit
            look3(
                mat, menus, work, asked, here, after, span, cover + menus.covered[slot],
                x1, span.x2 + menus.paro[slot], t1, span.x2 + menus.tiro[slot], option,
            )  # fmt: skip
    fold(mat, menus, work, asked, span, 2, menu, before)


@rule
def look1(mat, menus, work, asked, here, after, span):
    """The values of the positions: those of the first staking."""
    cover = span.x0
    menu = menu_for(menus, cover, span.x1)
    ask(mat, menus, work, asked, span, 1, menu, cover)
    any_option = is_best(mat, menus, asked, 1, menu)
    for option in range(menus.count[nth(menu)]):
        slot = menu + option
        if any_option or work.is_used[nth(work.slots + slot)]:
            work.row[STAKES + mat.seat[1]] = menus.stake[slot] * mat.unit
            look2(
                mat, menus, work, asked, here, after, span, cover + menus.covered[slot],
                span.x1 + menus.paro[slot], span.x1 + menus.tiro[slot], option,
            )  # fmt: skip
    fold(mat, menus, work, asked, span, 1, menu, 0)


@rule
def part(work, span, place, slot):
    """The probability of an option: that of its node times its weight."""
    one, other = place * LANES, (place + 1) * LANES
    weights = (place * work.slots + slot) * LANES
    for lane in range(span.size):
        weight = work.weights[nth(weights + lane)]
        work.masses[nth(other + lane)] = work.masses[nth(one + lane)] * weight


@rule
def spread3(
    mat, menus, work, asked, here, after, masses, masses_after, span, cover, x1, x2, t1, t2
):
    """Move probability through the last seat's staking and the throw."""
    menu = menu_for(menus, cover, span.x3)
    if is_best(mat, menus, asked, 3, menu):
        look3(mat, menus, work, asked, here, after, span, cover, x1, x2, t1, t2, 0)
    ask(mat, menus, work, asked, span, 3, menu, cover)
    paro = rank(mat, x1, x2) + span.x3
    tiro = rank(mat, t1, t2) + span.x3
    for option in range(menus.count[nth(menu)]):
        slot = menu + option
        if work.is_used[nth(3 * work.slots + slot)]:
            one = paro + menus.paro[nth(slot)]
            other = tiro + menus.tiro[nth(slot)]
            weights = (3 * work.slots + slot) * LANES
            for lane in range(span.size):
                weight = work.weights[nth(weights + lane)]
                half = 0.5 * work.masses[nth(3 * LANES + lane)] * weight
                masses[nth(one + lane)] += half
                masses_after[nth(other + lane)] += half


@rule
def spread2(mat, menus, work, asked, here, after, masses, masses_after, span, cover, x1, t1):
    """Move probability through the staking at place 2 and what follows."""
    menu = menu_for(menus, cover, span.x2)
    if is_best(mat, menus, asked, 2, menu):
        look2(mat, menus, work, asked, here, after, span, cover, x1, t1, 0)
    ask(mat, menus, work, asked, span, 2, menu, cover)
    for option in range(menus.count[nth(menu)]):
        slot = menu + option
        if work.is_used[nth(2 * work.slots + slot)]:
            part(work, span, 2, slot)
            work.row[STAKES + mat.seat[2]] = menus.stake[slot] * mat.unit
            spread3(
                mat, menus, work, asked, here, after, masses, masses_after, span,
                cover + menus.covered[slot], x1, span.x2 + menus.paro[slot],
                t1, span.x2 + menus.tiro[slot],
            )  # fmt: skip


@rule
def spread1(mat, menus, work, asked, here, after, masses, masses_after, span):
    """Move the probability of the positions, `work.masses` at place 1, to those after a throw."""
    cover = span.x0
    menu = menu_for(menus, cover, span.x1)
    if is_best(mat, menus, asked, 1, menu):
        look1(mat, menus, work, asked, here, after, span)
    ask(mat, menus, work, asked, span, 1, menu, cover)
    for option in range(menus.count[nth(menu)]):
        slot = menu + option
        if work.is_used[nth(work.slots + slot)]:
            part(work, span, 1, slot)
            work.row[STAKES + mat.seat[1]] = menus.stake[slot] * mat.unit
            spread2(
                mat, menus, work, asked, here, after, masses, masses_after, span,
                cover + menus.covered[slot], span.x1 + menus.paro[slot],
                span.x1 + menus.tiro[slot],
            )  # fmt: skip
