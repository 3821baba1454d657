"""What a rating answers, by hand and by simulation."""

import math

import numpy as np
import pytest

from ladder.errors import SpecError
from ladder.ratings import (
    Ratings,
    RatingSettings,
    bench_ratings,
    estimate_draw_probability,
    group_results,
    linked_groups,
    order_probabilities,
    order_spread,
    pad_results,
    pair_counts,
    predictive_check,
    rate_batch,
    win_matrix,
    win_probabilities,
)
from tests.ratings.test_batch import tournament


def known(mu, sigma):
    mu = np.array(mu, float)
    return Ratings(mu, np.array(sigma, float), np.ones(len(mu), np.int64), 0.0)


def test_order_probability_by_hand():
    ratings = known([1.0, 0.0, 0.0], [0.6, 0.8, 0.8])
    found = order_probabilities(ratings, np.array([0, 1, 2]))
    assert found == pytest.approx([0.8413447460685429, 0.5])  # the normal table at 1 and 0


def test_joint_covariance_against_the_exact_posterior():
    # Two bots: 3 wins to 1. By quadrature over both skills.
    model = RatingSettings(mu=0, sigma=2, beta=1, draw_probability=0.0)
    lineups, places = np.array([[0, 1], [0, 1]]), np.array([[1, 2], [2, 1]])
    ratings = rate_batch(lineups, places, np.array([3, 1]), 2, settings=model)
    axis = np.linspace(-12, 12, 601)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    beat = 0.5 * np.vectorize(math.erfc)(-(a - b) / 2)
    weight = np.exp(-(a * a + b * b) / 8) * beat**3 * (1 - beat)
    exact = weight[a > b].sum() + weight[a == b].sum() / 2
    found = order_probabilities(ratings, np.array([0, 1]))[0]
    assert found == pytest.approx(exact / weight.sum(), abs=0.015)


def test_win_matrix_and_counts():
    matrix = win_matrix(known([5.0, 0.0], [3.0, 4.0]), beta=math.sqrt(12))  # 5 / sqrt(9+16+24)
    assert matrix[0, 1] == pytest.approx(0.5 * math.erfc(-5 / 7 / math.sqrt(2)))
    assert matrix + matrix.T == pytest.approx(np.ones((2, 2)))
    lineups, places = np.array([[0, 1, 2], [1, 1, 0]]), np.array([[1, 2, 2], [1, 2, 3]])
    wins, ties = pair_counts(lineups, places, np.array([10, 1]), 3)
    assert wins.tolist() == [[0, 10, 10], [2, 0, 0], [0, 0, 0]]
    assert ties.tolist() == [[0, 0, 0], [0, 0, 10], [0, 10, 0]]


def test_win_probabilities():
    ratings = known([25.0, 25.0, 30.0], [1.0, 1.0, 2.0])
    found = win_probabilities(np.array([[0, 1, -1], [0, 2, -1], [0, 1, 2]]), ratings, beta=4.0)
    assert found.sum(axis=1) == pytest.approx([1, 1, 1])
    assert found[0] == pytest.approx([0.5, 0.5, 0.0])
    assert found[1, 1] == pytest.approx(0.5 * math.erfc(-5 / math.sqrt(37) / math.sqrt(2)))
    generator = np.random.default_rng(0)
    reached = ratings.mu + generator.normal(size=(10**6, 3)) * np.sqrt(ratings.sigma**2 + 16)
    shares = np.bincount(reached.argmax(axis=1), minlength=3) / 10**6
    assert found[2] == pytest.approx(shares, abs=0.002)


def test_predictive_check():
    lineups, places, counts, _ = tournament(6, 3, 4000, seed=8, spread=1.0)
    model = RatingSettings(mu=0, sigma=6, beta=1, draw_probability=0.0, rank_by="winner")
    seen = lineups[:2000], places[:2000], counts[:2000]
    held_out = lineups[2000:], places[2000:], counts[2000:]
    ratings = rate_batch(*seen, 6, settings=model)
    found = predictive_check(seen, held_out, ratings, settings=model)
    assert found.even == pytest.approx(math.log(3))
    assert found.rating < found.win_share < found.even
    assert not found.is_misfit
    assert found.matches == 2000
    none = predictive_check(seen, (lineups[:0], places[:0], counts[:0]), ratings, settings=model)
    assert none.matches == 0
    assert not none.is_misfit


def test_order_spread():
    lineups, places, _, _ = tournament(4, 4, 300, seed=3)
    model = RatingSettings()
    spread = order_spread(lineups, places, 4, settings=model, shuffles=5)
    assert (spread.low < spread.high).all()
    assert (spread.deviation > 0).all()
    again = order_spread(lineups, places, 4, settings=model, shuffles=5)
    assert np.array_equal(spread.deviation, again.deviation)
    with pytest.raises(SpecError, match="shuffles"):
        order_spread(lineups, places, 4, settings=model, shuffles=1)


def test_draw_probability_is_a_share_of_pairs():
    lineups = np.array([[0, 1, 2, 3], [0, 1, 2, -1]])
    places = np.array([[1, 1, 3, 3], [1, 2, 3, 0]])
    counts = np.array([2, 1])
    # Pairs: 2 x (6 of which 2 tied) + 3; with a winner: 2 x (5 of which 1 tied) + 2.
    assert estimate_draw_probability(lineups, places, counts, rank_by="placing") == 4 / 15
    assert estimate_draw_probability(lineups, places, counts, rank_by="winner") == 2 / 12
    all_level = np.ones((1, 2), np.int64)
    assert (
        estimate_draw_probability(lineups[:1, :2], all_level, counts[:1], rank_by="winner") == 0.95
    )


def test_grouping():
    lineups, places = pad_results(
        [(np.array([[3, 1, 2], [1, 2, 3]]), np.array([[5, 1, 5], [1, 4, 4]])),
         (np.array([[2, 1]]), np.array([[1, 2]]))]
    )  # fmt: skip
    found = group_results(lineups, places, np.array([2, 3, 4]), num_bots=4, rank_by="placing")
    assert found.lineups.tolist() == [[1, 2, 3], [2, 1, -1]]
    assert found.places.tolist() == [[1, 2, 2], [1, 2, 0]]
    assert found.counts.tolist() == [5, 4]


def test_grouping_of_many_bots_takes_the_other_road():
    lineups, places, counts, _ = tournament(50, 8, 200, seed=2, step=1.0)
    few = group_results(lineups, places, counts, num_bots=50, rank_by="winner")
    many = group_results(lineups, places, counts, num_bots=10**9, rank_by="winner")
    assert np.array_equal(few.lineups, many.lineups)
    assert np.array_equal(few.counts, many.counts)


def test_linked_groups():
    lineups = np.array([[0, 1, -1], [1, 4, 2], [-1, 5, 6]])
    assert linked_groups(lineups, 8).tolist() == [0, 0, 0, 3, 0, 5, 5, 7]


@pytest.mark.slow
def test_bench_names():
    names = [name for name, value, unit in bench_ratings() if value > 0 and unit == "matches/s"]
    assert names == ["trueskill_online_matches_per_s", "trueskill_package_matches_per_s"]
