"""One match at a time: against the `trueskill` package, published tables, and what must hold."""

import numpy as np
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.errors import SpecError
from ladder.ratings import RatingSettings, rate_online

STILL = RatingSettings(tau=0.0)


def rate_one(places, mu=None, sigma=None, *, model=STILL, lineup=None):
    lineup = np.arange(len(places)) if lineup is None else np.asarray(lineup)
    return rate_online(
        lineup[None],
        np.asarray(places)[None],
        int(lineup.max()) + 1,
        settings=model,
        prior_mu=mu,
        prior_sigma=sigma,
    )


def package_rate(places, mu, sigma):
    model = trueskill.TrueSkill(backend="scipy")
    seats = [(model.create_rating(float(m), float(s)),) for m, s in zip(mu, sigma, strict=True)]
    rated = model.rate(seats, ranks=[int(p) for p in places], min_delta=1e-12)
    return np.array([(r.mu, r.sigma) for (r,) in rated]).T


def check_against_package(number, *, seats, ties):
    generator = np.random.default_rng(seats)
    for _ in range(number):
        mu, sigma = generator.normal(25, 8, seats), generator.uniform(0.5, 8.5, seats)
        places = np.ones(seats, int) if ties else generator.permutation(seats) + 1
        found = rate_one(places, mu, sigma, model=RatingSettings())
        expected = package_rate(places, mu, sigma)
        assert np.abs(found.mu - expected[0]).max() < 1e-7
        assert np.abs(found.sigma - expected[1]).max() < 1e-7


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_equals_the_package(seats):
    check_against_package(60, seats=seats, ties=False)


def test_equals_the_package_on_draws():
    check_against_package(100, seats=2, ties=True)


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_equals_the_package_at_length(seats):
    check_against_package(2000, seats=seats, ties=False)


# From the reference implementations (Moser's Skills and the test suite of `trueskill`), tau 25/300.
PUBLISHED = [
    ([1, 2], [(29.396, 7.171), (20.604, 7.171)]),
    ([1, 1], [(25.000, 6.458), (25.000, 6.458)]),
    ([1, 2, 3], [(31.675, 6.656), (25.000, 6.208), (18.325, 6.656)]),
    ([3, 2, 1], [(18.325, 6.656), (25.000, 6.208), (31.675, 6.656)]),
    ([1, 2, 3, 4], [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
    (
        [1, 2, 3, 4, 5],
        [(34.363, 6.136), (29.058, 5.536), (25.000, 5.420), (20.942, 5.536), (15.637, 6.136)],
    ),
    (
        [1, 2, 3, 4, 5, 6, 7, 8],
        [
            (36.771, 5.749), (32.242, 5.133), (29.074, 4.943), (26.322, 4.874),
            (23.678, 4.874), (20.926, 4.943), (17.758, 5.133), (13.229, 5.749),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("places", "expected"), PUBLISHED)
def test_published_tables(places, expected):
    found = rate_one(places, model=RatingSettings())
    assert found.mu == pytest.approx([mu for mu, _ in expected], abs=6e-4)
    assert found.sigma == pytest.approx([sigma for _, sigma in expected], abs=6e-4)


def test_published_draw_probability_of_a_half():
    found = rate_one([1, 2], model=RatingSettings(draw_probability=0.5))
    assert found.mu == pytest.approx([30.267, 19.733], abs=6e-4)
    assert found.sigma == pytest.approx([7.077, 7.077], abs=6e-4)


def test_published_upsets():
    # To one in the last digit: the reference's cdf is good to 1e-7 and it stops at a step of 1e-4.
    found = rate_one([1, 1], np.array([25, 50.0]), np.array([25 / 3, 12.5]), model=RatingSettings())
    assert found.mu == pytest.approx([31.662, 35.010], abs=1.1e-3)
    assert found.sigma == pytest.approx([7.137, 7.910], abs=1.1e-3)
    mu = np.arange(10.0, 50.0, 5.0)
    found = rate_one(range(1, 9), mu, np.arange(8.0, 0.0, -1.0), model=RatingSettings())
    expected = [35.135, 32.585, 31.329, 30.984, 31.751, 34.051, 38.263, 44.118]
    assert found.mu == pytest.approx(expected, abs=1.1e-3)
    expected = [4.506, 4.037, 3.756, 3.453, 3.064, 2.541, 1.849, 0.983]
    assert found.sigma == pytest.approx(expected, abs=1.1e-3)


def test_equal_finishers_get_equal_updates():
    for places in ([1, 1, 1, 1], [1, 2, 2, 2], [2, 2, 1, 1], [1, 1, 1, 2]):
        for rank_by in ("winner", "placing"):
            found = rate_one(places, model=RatingSettings(rank_by=rank_by))
            for place in set(places):
                rows = np.array(places) == place
                assert len(set(found.mu[rows])) == 1
                assert len(set(found.sigma[rows])) == 1


def test_winner_says_nothing_among_losers():
    star = RatingSettings(rank_by="winner", tau=0.0)
    found, other = rate_one([1, 2, 3, 4], model=star), rate_one([1, 2, 2, 2], model=star)
    assert np.array_equal(found.mu, other.mu)
    assert found.mu[1] == found.mu[2] == found.mu[3]


def test_the_order_of_matches_is_kept():
    lineups, places = np.array([[0, 1], [1, 2]]), np.array([[1, 2], [1, 2]])
    found = rate_online(lineups, places, 3, settings=STILL)
    first = package_rate_still([1, 2], [25, 25], [25 / 3] * 2)
    second = package_rate_still([1, 2], [first[0][1], 25], [first[1][1], 25 / 3])
    assert found.mu == pytest.approx([first[0][0], second[0][0], second[0][1]], abs=1e-7)
    assert found.matches.tolist() == [1, 2, 1]


def package_rate_still(places, mu, sigma):
    model = trueskill.TrueSkill(backend="scipy", tau=0.0)
    seats = [(model.create_rating(float(m), float(s)),) for m, s in zip(mu, sigma, strict=True)]
    rated = model.rate(seats, ranks=places, min_delta=1e-12)
    return np.array([(r.mu, r.sigma) for (r,) in rated]).T


def test_a_bot_against_itself_learns_nothing():
    found = rate_one([1, 2, 3], lineup=[0, 0, 0])
    assert found.mu == pytest.approx([25.0], abs=1e-9)
    assert found.sigma == pytest.approx([25 / 3], abs=1e-9)
    assert found.matches.tolist() == [1]


def test_empty_seats_do_not_count():
    padded = rate_online(np.array([[0, -1, 1, -1]]), np.array([[1, 0, 2, 0]]), 2, settings=STILL)
    assert np.array_equal(padded.mu, rate_one([1, 2]).mu)


@st.composite
def matches(draw, *, widest=1000.0):
    seats = draw(st.integers(2, 6))
    places = draw(st.lists(st.integers(1, seats), min_size=seats, max_size=seats))
    mu = draw(st.lists(st.floats(-widest, widest), min_size=seats, max_size=seats))
    sigma = draw(st.lists(st.floats(1e-4, 10.0), min_size=seats, max_size=seats))
    rank_by = draw(st.sampled_from(["winner", "placing"]))
    return places, np.array(mu), np.array(sigma), RatingSettings(tau=0.0, rank_by=rank_by)


@settings(deadline=None, max_examples=300)
@given(matches(), st.randoms(use_true_random=False))
def test_seats_may_be_permuted(match, random):
    places, mu, sigma, model = match
    lineup = list(range(len(places)))
    random.shuffle(lineup)
    found = rate_one(places, mu, sigma, model=model)
    moved = rate_one([places[bot] for bot in lineup], mu, sigma, model=model, lineup=lineup)
    assert np.array_equal(found.mu, moved.mu)
    assert np.array_equal(found.sigma, moved.sigma)


@settings(deadline=None, max_examples=300)
@given(matches())
def test_finite_and_sigma_never_grows(match):
    places, mu, sigma, model = match
    found = rate_one(places, mu, sigma, model=model)
    assert np.isfinite(found.mu).all()
    assert (found.sigma > 0).all()
    assert (found.sigma <= sigma * (1 + 1e-12)).all()


@settings(deadline=None, max_examples=300)
@given(matches())
def test_winning_never_lowers_mu(match):
    places, mu, sigma, model = match
    best = min(places)
    if places.count(best) > 1:
        return
    winner = places.index(best)
    found = rate_one(places, mu, sigma, model=model)
    # Up to what the tolerance of the message passing leaves open.
    assert found.mu[winner] >= mu[winner] - 1e-7 * sigma[winner]


def test_bad_input_is_one_line():
    ok, far = np.array([[0, 1]]), np.array([[1, 2]])
    for lineups, places, bots in (
        (ok, np.array([[1, 0]]), 2),
        (ok, far, 1),
        (ok, np.array([1, 2]), 2),
        (np.arange(9)[None], np.arange(1, 10)[None], 9),
    ):
        with pytest.raises(SpecError) as refusal:
            rate_online(lineups, places, bots, settings=STILL)
        assert len(refusal.value.problems) == 1
    with pytest.raises(SpecError, match="draw_probability"):
        rate_one([1, 1], model=RatingSettings(draw_probability=0.0))
    star = RatingSettings(draw_probability=0.0, rank_by="winner")
    assert np.isfinite(rate_one([1, 2, 2], model=star).mu).all()  # no tie is stated
    with pytest.raises(SpecError) as refusal:
        RatingSettings(sigma=0.0, beta=-1.0, tau=-1.0)
    assert len(refusal.value.problems) == 3


def test_nothing_played():
    empty = np.zeros((0, 4), np.int64)
    found = rate_online(empty, empty, 3, settings=RatingSettings(draw_probability="auto"))
    assert found.mu.tolist() == [25.0] * 3
    assert found.matches.tolist() == [0] * 3
