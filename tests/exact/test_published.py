"""The win shares of reference/pasa_exact.md, by a program that shares no code with us."""

import pytest

from ladder.exact import BEST, estimate, solve
from ladder.games.bot import bind
from ladder.games.pasa import PasaTable
from tests.exact.exact_bots import Bold, Least, Most, Uniform

BOTS = {
    "most": Most,
    "least": Least,
    "uniform": Uniform,
    "best": BEST,
    "bold:50": bind(Bold, {"lead": 50}),
}
# Every new set of policies is compiled, so only some of the rows are tried by default.
SMALL = """
2, 500, 2 | most, least | 0.576336 0.423664
2, 500, 2 | best, best | 0.580185 0.419815
2, 100, 1 | best, best | 0.609375 0.390625
3, 500, 2 | best, uniform, uniform | 0.540707 0.236403 0.222890
"""
MORE = """
2, 500, 2 | best, least | 0.910114 0.089886
2, 500, 2 | best, most | 0.626371 0.373629
2, 100, 1 | uniform, least | 0.624671 0.375329
3, 500, 2 | bold:50, least, most | 0.402737 0.267232 0.330032
"""
FOUR = """
4, 500, 2 | most, least, least, least | 0.401269 0.199652 0.199572 0.199507
4, 500, 2 | bold:50, least, least, least | 0.539904 0.165073 0.157256 0.137767
4, 100, 1 | best, uniform, least, most | 0.392119 0.195457 0.146585 0.265839
"""
LARGE = """
4, 500, 2 | best, uniform, uniform, uniform | 0.415564 0.195451 0.196608 0.192378
4, 500, 2 | uniform, best, uniform, uniform | 0.215483 0.407752 0.191014 0.185751
4, 500, 2 | uniform, uniform, uniform, best | 0.209575 0.222515 0.227691 0.340218
4, 500, 2 | least, uniform, uniform, uniform | 0.217831 0.260724 0.260723 0.260721
4, 500, 2 | best, least, least, least | 0.757223 0.069008 0.080264 0.093506
"""


def rows(text):
    return [pytest.param(*line.split(" | "), id=line) for line in text.split("\n") if line]


def check(table, policies, shares):
    seats, chips, rounds = map(int, table.split(", "))
    table = PasaTable(seats=seats, chips=chips, rounds=rounds)
    names = policies.split(", ")
    found = solve(table, [BOTS[name] for name in names])
    tolerance = 1e-6 if seats < 4 else 5e-6
    for name, got, expected in zip(names, found.win_share, map(float, shares.split()), strict=True):
        # Ties of a best seat touch the others in the reference's single precision.
        beside = 1e-5 if "best" in names and name != "best" and seats == 4 else tolerance
        assert got == pytest.approx(expected, abs=beside)
    assert found.dropped < 1e-6
    assert sum(found.win_share) == pytest.approx(1)
    # Rule 8: a settled throw is even money, so nobody's mean pile moves.
    assert found.mean_pile == pytest.approx([chips] * seats, abs=1e-4)


@pytest.mark.parametrize(("table", "policies", "shares"), rows(SMALL))
def test_two_and_three_seats(table, policies, shares):
    check(table, policies, shares)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "policies", "shares"), rows(MORE + FOUR))
def test_more_line_ups(table, policies, shares):
    check(table, policies, shares)


@pytest.mark.slow
def test_single_precision_where_memory_is_short():
    """Chosen by the solver where double precision would not fit; a row of the reference again."""
    table, seats = PasaTable(seats=3), [BEST, Uniform, Uniform]
    short = estimate(table, seats).memory_mb - 1
    assert not estimate(table, seats, memory_mb=short).is_double
    found = solve(table, seats, memory_mb=short)
    assert found.win_share == pytest.approx([0.540707, 0.236403, 0.222890], abs=1e-5)


@pytest.mark.slow
@pytest.mark.full_size
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("table", "policies", "shares"), rows(LARGE))
def test_four_seats_mixed_and_best(table, policies, shares):
    check(table, policies, shares)
