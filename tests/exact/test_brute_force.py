"""The solver against the rules played out in full: every stake, throw and turn of tiny tables.

The brute force knows nothing of units, levels or ranks: it steps `rules.advance`. A paro makes the
thrower's pile grow, so the recursion ends.
"""

from fractions import Fraction
from functools import cache

import pytest

from ladder.exact import BEST, solve
from ladder.games.bot import params_tuple
from ladder.games.nodes import CHANCE, END, FORCED, LEGAL_AT, LUCK, NODE, NUM_LEGAL, SEAT
from ladder.games.pasa import PasaBot, PasaTable, PasaView, rules
from ladder.games.pasa.table import new_state
from tests.exact.exact_bots import Easy, Least, Most, Uniform

PARO, TIRO = 0b111111, 0b000000  # 6 6 6 and 1 1 1


class LooksAtMat(PasaBot):
    """A policy that depends on all that a view shows of the mat."""

    @staticmethod
    def stake(view, params):
        on_mat = 0
        for stake in view.stakes:
            on_mat += stake
        return view.legal[(on_mat + view.cover + view.thrower + view.turns_left) % view.num_legal]


def shares(row, seats):
    piles = row[rules.PILES : rules.PILES + seats]
    winners = [pile == max(piles) for pile in piles]
    return tuple(Fraction(won, sum(winners)) for won in winners)


def brute_force(table, lineup):
    """Win shares by recursion over actions; a best seat takes the first of equal stakes."""
    seats = table.seats
    params = [params_tuple(bot, {}) if bot is not BEST else None for bot in lineup]

    @cache
    def value(row):
        if row[NODE] == END:
            return tuple(map(float, shares(row, seats)))
        if row[NODE] == CHANCE:
            return mean([(after(row, PARO), 0.5), (after(row, TIRO), 0.5)])
        seat = row[SEAT]
        legal = row[row[LEGAL_AT] : row[LEGAL_AT] + row[NUM_LEGAL]]
        if lineup[seat] is BEST:
            options = [value(after(row, stake)) for stake in legal]
            best = options[0]
            for option in options[1:]:
                if option[seat] > best[seat] + 1e-12:
                    best = option
            return best
        bot, parts = lineup[seat], []
        ways = 12  # a multiple of every number of cases the bots of these tests declare
        for luck in range(ways):
            view = PasaView((*row[:LUCK], luck, *row[LUCK + 1 :]))
            parts.append((after(row, bot.stake(view, params[seat])), 1 / ways))
        return mean(parts)

    def mean(parts):
        values = [(value(row), p) for row, p in parts]
        return tuple(sum(v[i] * p for v, p in values) for i in range(seats))

    def after(row, action):
        state = list(row)
        rules.advance(state, action)
        state[FORCED] = 0  # how many stakes were forced is no part of a position
        return tuple(state)

    state = new_state(table)
    rules.start(state)
    state[FORCED] = 0
    return value(tuple(state))


TABLES = [
    PasaTable(seats=2, chips=4, rounds=2, least=1, most=2),
    PasaTable(seats=2, chips=10, rounds=1, least=2, most=6, sizes=[2, 4, 6], first_thrower=1),
    PasaTable(seats=3, chips=3, rounds=1, least=1, most=2, first_thrower=2),
    PasaTable(seats=3, chips=5, rounds=2, least=2, most=3),
    PasaTable(seats=4, chips=2, rounds=1, least=1, most=2, first_thrower=3),
    PasaTable(seats=4, chips=3, rounds=1, least=1, most=3),
]


LINEUPS = [
    (LooksAtMat, Easy, Uniform, Most),
    (Easy, BEST, Least, BEST),
    (BEST, BEST, BEST, BEST),
]


def check(table, names):
    lineup = names[: table.seats]
    found = solve(table, lineup)
    assert found.win_share == pytest.approx(brute_force(table, lineup), abs=1e-9)


@pytest.mark.parametrize("table", TABLES[3:], ids=PasaTable.canonical)
def test_agrees_with_brute_force(table):
    check(table, (BEST, LooksAtMat, Uniform, Easy))


@pytest.mark.slow
@pytest.mark.full_size
@pytest.mark.timeout(900)
@pytest.mark.parametrize("table", TABLES, ids=PasaTable.canonical)
@pytest.mark.parametrize("names", LINEUPS)
def test_agrees_with_brute_force_in_more_line_ups(table, names):
    check(table, names)
