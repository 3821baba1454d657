"""All matches at once: against trueskillthroughtime, and what must hold."""

import numpy as np
import pytest
import trueskillthroughtime as through_time
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.errors import SpecError
from ladder.ratings import RatingSettings, group_results, rate_batch, rate_online
from ladder.ratings.batch import _SAMPLE

UNIT = RatingSettings(mu=0.0, sigma=6.0, beta=1.0, draw_probability=0.0)


def tournament(bots, seats, matches, *, seed, spread=0.7, step=0.0):
    """Random line-ups; performances rounded to `step`, so that some tie."""
    generator = np.random.default_rng(seed)
    skills = generator.normal(0, spread, bots)
    lineups = np.argsort(generator.random((matches, bots)), axis=1)[:, :seats]
    reached = skills[lineups] + generator.normal(0, 1, (matches, seats))
    if step:
        reached = np.round(reached / step)
    places = (reached[:, None, :] > reached[:, :, None]).sum(axis=2) + 1
    return lineups, places, np.ones(matches, np.int64), skills


def reference(lineups, places, bots):
    games = [
        [[str(bot)] for bot in lineup[np.argsort(place)]]
        for lineup, place in zip(lineups, places, strict=True)
    ]
    players = {
        str(bot): through_time.Player(through_time.Gaussian(0.0, 6.0), 1.0, 0.0)
        for bot in range(bots)
    }
    history = through_time.History(games, [], [0] * len(games), players)
    history.convergence(epsilon=1e-6, iterations=100, verbose=False)
    curves = history.learning_curves()
    last = [curves[str(bot)][-1][1] for bot in range(bots)]
    return np.array([(rating.mu, rating.sigma) for rating in last]).T


@pytest.mark.parametrize(
    ("bots", "seats", "matches", "seed"),
    [
        (4, 2, 30, 11),
        (6, 3, 20, 2),
        (6, 4, 15, 3),
        pytest.param(8, 6, 20, 6, marks=pytest.mark.slow),
        pytest.param(6, 4, 60, 3, marks=pytest.mark.slow),
    ],
)
def test_equals_through_time(bots, seats, matches, seed):
    lineups, places, counts, _ = tournament(bots, seats, matches, seed=seed)
    found = rate_batch(lineups, places, counts, bots, settings=UNIT)
    mu, sigma = reference(lineups, places, bots)
    assert found.is_converged
    # A match's forces cancel, so at the fixed point the mu sum to the prior's. The reference gets
    # there slowly (all mu 0.002 off after 100 rounds), so its mu are compared centred.
    assert abs(found.mu.sum()) < 1e-6
    assert np.abs(found.mu - (mu - mu.mean())).max() < 1e-4
    assert np.abs(found.sigma - sigma).max() < 1e-4


def test_one_match_is_the_online_update():
    lineup, places = np.array([[2, 0, 1]]), np.array([[1, 1, 3]])
    still = RatingSettings(tau=0.0)
    batch = rate_batch(lineup, places, np.ones(1, int), 3, settings=still)
    online = rate_online(lineup, places, 3, settings=still)
    assert batch.mu == pytest.approx(online.mu, abs=1e-6)
    assert batch.sigma == pytest.approx(online.sigma, abs=1e-6)


def test_counts_are_repeats():
    lineups, places, counts, _ = tournament(5, 4, 60, seed=4, step=0.5)
    model = RatingSettings(draw_probability="auto")
    repeated = rate_batch(
        lineups.repeat(7, 0), places.repeat(7, 0), counts.repeat(7), 5, settings=model
    )
    counted = rate_batch(lineups, places, counts * 7, 5, settings=model)
    assert np.array_equal(repeated.mu, counted.mu)
    assert counted.matches.tolist() == repeated.matches.tolist()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["winner", "placing"]))
def test_shuffles_change_nothing(seed, rank_by):
    lineups, places, counts, _ = tournament(6, 4, 25, seed=seed, step=0.5)
    model = RatingSettings(draw_probability=0.2, rank_by=rank_by)
    found = rate_batch(lineups, places, counts, 6, settings=model)
    generator = np.random.default_rng(seed)
    rows, seats = generator.permutation(25), generator.permutation(4)
    moved = rate_batch(lineups[rows][:, seats], places[rows][:, seats], counts, 6, settings=model)
    assert np.array_equal(found.mu, moved.mu)
    assert np.array_equal(found.sigma, moved.sigma)
    assert np.isfinite(found.mu).all()
    assert found.is_converged


@pytest.mark.parametrize("rank_by", ["winner", "placing"])
def test_finds_the_skills_of_a_large_tournament(rank_by):
    lineups, places, counts, skills = tournament(12, 4, 10_000, seed=5, step=0.3)
    model = RatingSettings(mu=0, sigma=6, beta=1, draw_probability="auto", rank_by=rank_by)
    found = rate_batch(lineups, places, counts * 1000, 12, settings=model)
    assert found.is_converged
    gaps = (found.mu - found.mu.mean()) - (skills - skills.mean())
    assert np.abs(gaps).max() < 0.12
    assert found.sigma.max() < 0.01


def test_many_finishes_start_from_a_sample():
    lineups, places, counts, skills = tournament(14, 4, 60_000, seed=6)
    num = len(group_results(lineups, places, counts, num_bots=14, rank_by="placing").counts)
    assert num < 2 * _SAMPLE
    direct = rate_batch(lineups, places, counts, 14, settings=UNIT)
    import ladder.ratings.batch as batch

    kept, batch._SAMPLE = batch._SAMPLE, 4000
    try:
        sampled = rate_batch(lineups, places, counts, 14, settings=UNIT)
    finally:
        batch._SAMPLE = kept
    assert sampled.is_converged
    assert sampled.mu == pytest.approx(direct.mu, abs=1e-5)
    assert sampled.sigma == pytest.approx(direct.sigma, abs=1e-6)
    assert np.corrcoef(direct.mu, skills)[0, 1] > 0.999


def test_hopeless_fields_stay_finite():
    star = RatingSettings(rank_by="winner", draw_probability="auto")
    for rank_by in ("winner", "placing"):
        model = RatingSettings(rank_by=rank_by, draw_probability="auto")
        for lineups, places, count in (
            ([[0, 1]], [[1, 2]], 10**7),  # one never won
            ([[0, 1, 2]], [[1, 1, 1]], 10**6),  # all draws
            ([[0, 1], [2, 3]], [[1, 2], [2, 1]], 1000),  # never met
            ([[0, 0, 1]], [[1, 2, 3]], 50),  # a bot in two seats
            ([[0]], [[1]], 5),  # alone
            ([[0, 0]], [[1, 2]], 5),  # only itself
        ):
            lineups, places = np.array(lineups), np.array(places)
            found = rate_batch(lineups, places, np.full(len(lineups), count), 4, settings=model)
            assert np.isfinite(found.mu).all()
            assert (found.sigma > 0).all()
            assert (found.sigma <= model.sigma * (1 + 1e-12)).all()
            assert found.is_converged
    nothing = np.zeros((0, 2), np.int64)
    empty = rate_batch(nothing, nothing, np.zeros(0, int), 3, settings=star)
    assert empty.mu.tolist() == [25.0] * 3
    assert empty.sigma == pytest.approx([25 / 3] * 3)


def test_anchor_shifts_all():
    lineups, places, counts, _ = tournament(4, 2, 30, seed=1)
    free = rate_batch(lineups, places, counts, 4, settings=UNIT)
    held = rate_batch(lineups, places, counts, 4, settings=UNIT, anchor=(2, 25.0))
    assert held.mu[2] == 25.0
    assert held.mu - held.mu[0] == pytest.approx(free.mu - free.mu[0])
    with pytest.raises(SpecError, match="anchor"):
        rate_batch(lineups, places, counts, 4, settings=UNIT, anchor=(4, 25.0))


@pytest.mark.slow
@pytest.mark.parametrize("rank_by", ["winner", "placing"])
def test_ten_million_matches(rank_by):
    lineups, places, counts, skills = tournament(20, 4, 400_000, seed=9, step=0.4)
    model = RatingSettings(mu=0, sigma=6, beta=1, draw_probability="auto", rank_by=rank_by)
    found = rate_batch(lineups, places, counts * 25, 20, settings=model)
    assert found.is_converged
    assert np.corrcoef(found.mu, skills)[0, 1] > 0.999


def test_the_number_of_cores_changes_no_bit(monkeypatch):
    lineups, places, counts, _ = tournament(8, 4, 600, seed=7, step=0.5)
    monkeypatch.setattr("ladder.ratings.batch._PART_SIZE", 50)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        rated = rate_batch(lineups, places, counts, 8, settings=RatingSettings())
        found.append((rated.mu.tobytes(), rated.sigma.tobytes()))
    assert found[0] == found[1] == found[2]
