"""Confidence sequences: never undefined, unbiased, and as wide as they must be."""

import math

import numpy as np
import pytest

from ladder.lab.race import Decision, Race, decide
from ladder.stats import Moments, Sequence, moments, pasa_widest, share_interval


def paired(draws, n, difference, correlation):
    """Win shares of two candidates that share dice, and piles that go with them.

    Both win a quarter; with probability `both` they win the same matches. The pile of all chips
    is 0.45 for a winner and 0.55 / 3 for a loser, plus noise: mean 1/4 for a share of 1/4.
    """
    base = draws.random(n) < 0.25
    own = draws.random((2, n)) < 0.25
    same = draws.random(n) < correlation
    won = np.where(same, base, own).astype(float)
    flips = draws.random(n) < difference / 0.75
    won_a = np.where(flips, 1.0, won[0])
    # The covariate follows the shared luck only, so its mean is 0 whatever the policies are.
    pile_a = 0.25 + 0.2 * (won[0] - 0.25) + 0.02 * draws.standard_normal(n)
    pile_b = 0.25 + 0.2 * (won[1] - 0.25) + 0.02 * draws.standard_normal(n)
    return won_a, won[1], pile_a, pile_b


@pytest.mark.parametrize("value", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("batch", [1, 1000])
def test_all_wins_and_all_losses_stay_finite(value, batch):
    sequence = Sequence()
    assert sequence.interval == (-1, 1)
    for _ in range(200 if batch == 1 else 20):
        sequence.add(moments(np.full(batch, value)))
    low, high = sequence.interval
    assert low <= value <= high
    assert high - low < (0.1 if batch == 1000 else 1.5)
    assert all(map(math.isfinite, (low, high, sequence.estimate, sequence.e_value())))
    assert (
        decide(sequence.interval)
        is {1.0: Decision.A_BETTER, -1.0: Decision.B_BETTER, 0.0: Decision.UNDECIDED}[value]
    )


def test_gain_is_not_told_from_too_few_matches():
    draws = np.random.default_rng(1)
    plain, adjusted = Sequence(), Sequence()
    for n in (200, 200):
        d = draws.choice([-1.0, 0.0, 1.0], n)
        plain.add(moments(d))
        adjusted.add(moments(d, d / 2))
    assert plain.gain == 1  # there is no covariate
    assert adjusted.gain is None


def test_moments_are_an_algebra():
    draws = np.random.default_rng(1)
    d, x = draws.choice([-1.0, 0, 1], 100), draws.standard_normal(100)
    whole, parts = moments(d, x), moments(d[:30], x[:30]) + moments(d[30:], x[30:])
    assert vars(whole).keys() == vars(Moments()).keys()
    for name in vars(whole):
        assert getattr(whole, name) == pytest.approx(getattr(parts, name))


def coverage(difference, comparisons, batches=(100, 200, 400, 800, 1600, 3200)):
    """How often the truth left the sequence at any look, and the mean of the estimates."""
    draws = np.random.default_rng(2026)
    missed = better = worse = 0
    estimates, gains = [], []
    for _ in range(comparisons):
        sequence = Sequence(0.05, bound=pasa_widest(4))
        out = False
        for n in batches:
            a, b, x, y = paired(draws, n, difference, 0.5)
            sequence.add(moments(a - b, x - y))
            out |= max(sequence.log_bet(difference, s) for s in (1, -1)) >= math.log(40)
        missed += out
        better += decide(sequence.interval) is Decision.A_BETTER
        worse += decide(sequence.interval) is Decision.B_BETTER
        estimates.append(sequence.estimate)
        gains.append(sequence.gain)
    return missed, better, worse, np.array(estimates), np.mean(gains)


def test_holds_the_truth_over_2000_null_comparisons():
    missed, better, worse, estimates, gain = coverage(0.0, 2000)
    assert missed <= 100  # 5 % of 2,000, all looks together
    assert better + worse <= 100
    assert abs(estimates.mean()) < 4 * estimates.std() / 2000**0.5
    assert gain > 1.5


def test_holds_the_truth_over_2000_alternative_comparisons():
    missed, better, worse, estimates, _ = coverage(0.03, 2000)
    assert missed <= 100
    assert worse <= 2
    assert better > 1900
    assert abs(estimates.mean() - 0.03) < 4 * estimates.std() / 2000**0.5


def test_width_is_close_to_the_law_of_large_numbers():
    """Not more than 2.2 times the width of a fixed-sample interval with the same spread."""
    draws = np.random.default_rng(3)
    sequence = Sequence(0.05, bound=pasa_widest(4))
    for _ in range(100):
        a, b, x, y = paired(draws, 500, 0.0, 0.5)
        sequence.add(moments(a - b, x - y))
    low, high = sequence.interval
    fixed = 1.96 * (sequence.variance / sequence.n) ** 0.5
    assert (high - low) / 2 < 2.2 * fixed


def test_matches_for_foretells_the_width():
    draws = np.random.default_rng(4)
    sequence = Sequence(0.05)
    for _ in range(10):
        sequence.add(moments(draws.choice([-1.0, 0, 1], 1000, p=[0.2, 0.6, 0.2])))
    low, high = sequence.interval
    assert sequence.matches_for((high - low) / 2) == pytest.approx(10_000, rel=0.35)


def test_pasa_bound_covers_every_final_position():
    for seats in (2, 3, 4, 6):
        for slope in (-4.0, -1.0, 0.0, 0.7, 2.0, 4.0):
            values = []
            for pile in np.linspace(0, 1, 101):
                if pile >= 1 / seats:
                    values.append(1 - slope * pile)
                for sharing in range(2, seats + 1):
                    if 1 / seats <= pile <= 1 / sharing:
                        values.append(1 / sharing - slope * pile)
                if pile <= 0.5:
                    values.append(-slope * pile)
            assert max(values) - min(values) <= pasa_widest(seats)(slope) + 1e-12


@pytest.mark.parametrize("won", [0, 10, 1000])
def test_share_interval_by_hand(won):
    """Wilson's formula for a proportion, 1,000 matches (z = 1.959964)."""
    p, n, z = won / 1000, 1000, 1.959963984540054
    low, high = share_interval(p, p * (1 - p) / n, n)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (low, high) == pytest.approx((max(0, centre - half), min(1, centre + half)))
    assert share_interval(0.0, 0.0, 0) == (0, 1)


def test_race_drops_the_worse_and_keeps_the_error():
    wrong = 0
    for seed in range(40):
        draws = np.random.default_rng(seed)
        race = Race(["good", "same", "bad"], margin=0.01)
        while not race.is_over and race.candidates()[0].matches < 40_000:
            n = 1000
            luck = draws.random(n)
            noise = draws.random((3, n)) < 0.1
            shares = {}
            for i, (name, p) in enumerate((("good", 0.3), ("same", 0.3), ("bad", 0.25))):
                shares[name] = np.where(noise[i], draws.random(n) < 0.3, luck < p)
            race.add({name: shares[name] for name in race.active()})
        decisions = {(p.a, p.b): p.decision for p in race.pairs()}
        wrong += decisions["good", "same"] in (Decision.A_BETTER, Decision.B_BETTER)
        by_name = {c.name: c for c in race.candidates()}
        assert by_name["bad"].is_out
        assert by_name["bad"].matches < by_name["good"].matches
    assert wrong <= 5


def test_identical_candidates_end_as_equal():
    race = Race(["one", "two"], margin=0.02)
    draws = np.random.default_rng(5)
    while not race.is_over:
        won = draws.random(500) < 0.25
        race.add({"one": won, "two": won})
    assert race.pairs()[0].decision is Decision.EQUAL
    assert race.needed(0.01) > 0
