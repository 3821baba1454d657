"""Truncated normal moments against mpmath, and finite where mpmath is not worth asking."""

import math

import mpmath
import pytest

from ladder.ratings import gaussian

CLOSE = 1e-10


def tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def moments(low, high):
    """Mean and variance of a unit normal within [low, high], low >= 0 or high - low moderate."""
    low, high = mpmath.mpf(low), mpmath.mpf(high)
    mass = tail(low) - tail(high)
    at_low, at_high = mpmath.npdf(low), mpmath.npdf(high)
    edge = high * at_high if mpmath.isfinite(high) else 0
    mean = (at_low - at_high) / mass
    return mean, 1 + (low * at_low - edge) / mass - mean**2


def grid(step):
    return [i * step for i in range(-round(40 / step), round(40 / step) + 1)]


def test_win_to_forty_sigma():
    with mpmath.workdps(750):
        for x in [*grid(0.5), -6.5, -6.499999, -6.500001]:
            mean, left = moments(-x, mpmath.inf)
            v, w, found = gaussian.win_terms(float(x))
            assert abs(v - mean) <= CLOSE * mean + 1e-300
            assert abs(w - (1 - left)) <= CLOSE * (1 - left) + 1e-300
            assert abs(found - left) <= CLOSE * left


@pytest.mark.parametrize("margin", [1e-8, 1e-3, 0.05, 0.3, 0.7, 1.0, 1.001, 2.0, 5.0, 10.0])
def test_draw_to_forty_sigma(margin):
    with mpmath.workdps(400):
        for x in [*(x + 0.003 for x in grid(1.0)), 0.0, margin, margin * (1 + 1e-9)]:
            far = abs(mpmath.mpf(x))
            mean, left = moments(far - mpmath.mpf(margin), far + mpmath.mpf(margin))
            v, w, found = gaussian.draw_terms(float(x), margin)
            assert abs(abs(v) - mean) <= CLOSE * max(mean, 1e-3)
            assert (v > 0) == (x < 0) or v == 0
            assert abs(w - (1 - left)) <= CLOSE
            assert abs(found - left) <= CLOSE * left


@pytest.mark.parametrize("x", [-1e150, -1e9, -1e4, -50.0, 50.0, 1e4, 1e150])
def test_win_is_finite_far_out(x):
    v, w, left = gaussian.win_terms(x)
    assert math.isfinite(v)
    assert 0 <= w <= 1
    assert 0 <= left <= 1
    assert math.isfinite(gaussian.log_cdf(x))


@pytest.mark.parametrize("x", [-1e9, -1e4, 0.0, 1e4, 1e9])
@pytest.mark.parametrize("margin", [1e-12, 1e-3, 1.0, 1e3, 1e12])
def test_draw_is_finite_far_out(x, margin):
    v, w, left = gaussian.draw_terms(x, margin)
    assert math.isfinite(v)
    assert 0 <= w <= 1
    assert 0 <= left <= 1


def test_log_cdf():
    with mpmath.workdps(750):
        for x in grid(2.0):
            expected = mpmath.log(tail(-mpmath.mpf(x)))
            assert abs(gaussian.log_cdf(float(x)) - expected) <= CLOSE * max(abs(expected), 1)
