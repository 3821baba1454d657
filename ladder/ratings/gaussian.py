"""Moments of a truncated unit normal, safe however far out the truncation lies.

TrueSkill's v and w (Herbrich, Minka & Graepel 2007, section 3 and table 1) as everyone writes them
are differences and ratios of numbers that underflow. Here they are built from the Mills ratio
R(z) = cdf(-z) / pdf(z) and its continued fraction, and from quadrature over narrow intervals.
"""

from __future__ import annotations

import math

from ladder.ratings.compiled import jitted

_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1 / math.sqrt(2 * math.pi)
_LOG_DENSITY = -0.5 * math.log(2 * math.pi)

# From here on the continued fraction is used; what 24 terms leave of it is below 1e-17.
_FAR = 6.5
_TERMS = 24

# Across an interval the density may fall by exp(-_STEEP) before the far end stops mattering.
_STEEP = 8.0
_WIDE = 2.0

# Positive nodes and weights of the 12-point Gauss-Legendre rule (Abramowitz & Stegun, 25.4).
_NODES = (
    0.12523340851146891547, 0.36783149899818019375, 0.58731795428661744730,
    0.76990267419430468704, 0.90411725637047485668, 0.98156063424671925069,
)  # fmt: skip
_WEIGHTS = (
    0.24914704581340278500, 0.23349253653835480876, 0.20316742672306592175,
    0.16007832854334622633, 0.10693932599531843096, 0.04717533638651182719,
)  # fmt: skip


@jitted
def density(x: float) -> float:
    """The unit normal's density."""
    return _DENSITY * math.exp(-0.5 * x * x)


@jitted
def cdf(x: float) -> float:
    """The unit normal's distribution function."""
    return 0.5 * math.erfc(-x * _ROOT_HALF)


@jitted
def log_cdf(x: float) -> float:
    """The logarithm of `cdf`, finite for x down to -1e150."""
    if x > -_FAR:
        return math.log(cdf(x))
    first, _ = mills_remainders(-x)
    return _LOG_DENSITY - 0.5 * x * x - math.log(first - x)


@jitted
def mills_remainders(z: float) -> tuple[float, float]:
    """The first two remainders of the continued fraction of 1 / R(z), for z >= 0.

    1 / R(z) = z + first, first = 1 / (z + second), second = 2 / (z + 3 / (z + ...)).
    Abramowitz & Stegun, 26.2.14. `first` is the mean of a unit normal cut off below z, less z.
    """
    if z < _FAR:
        first = density(z) / cdf(-z) - z
        return first, 1 / first - z
    second = z
    for term in range(_TERMS, 2, -1):
        second = z + term / second
    second = 2 / second
    return 1 / (z + second), second


@jitted
def win_terms(x: float) -> tuple[float, float, float]:
    """v, w and 1 - w of a unit normal known to lie above -x: its mean, and what its variance loses.

    1 - w is the variance that is left; it comes apart from w because far out w rounds to 1.
    """
    if x > -_FAR:
        v = density(x) / cdf(x)
        w = v * (v + x)
        return v, w, 1 - w
    first, second = mills_remainders(-x)
    v = first - x
    return v, v * first, first * (second - first)


@jitted
def draw_terms(x: float, margin: float) -> tuple[float, float, float]:
    """v, w and 1 - w of a unit normal with mean x known to lie within `margin` of 0, margin > 0.

    v is the change of the mean, 1 - w the variance that is left.
    """
    far = abs(x)
    near = far - margin  # the interval's nearer end, seen from the mean; the other is at + width
    width = 2 * margin
    if near >= 0:
        steep = width * (near + margin)
        shift, left = (
            _narrow_terms(far, margin) if steep <= _STEEP else _edge_terms(near, width, steep)
        )
    elif width <= _WIDE:
        shift, left = _narrow_terms(far, margin)
    else:
        shift, left = _wide_terms(far, margin)
    return (-shift if x > 0 else shift), 1 - left, left


@jitted
def _narrow_terms(far: float, margin: float) -> tuple[float, float]:
    # Quadrature of exp(far * u - u * u / 2) over |u| <= margin, u seen from the middle.
    mass = 0.0
    first = 0.0
    second = 0.0
    for i in range(6):
        u = margin * _NODES[i]
        weight = _WEIGHTS[i] * math.exp(-0.5 * u * u)
        up = math.exp(far * u)
        down = 1 / up
        mass += weight * (up + down)
        first += weight * u * (up - down)
        second += weight * u * u * (up + down)
    mean = first / mass
    return far - mean, second / mass - mean * mean


@jitted
def _edge_terms(near: float, width: float, steep: float) -> tuple[float, float]:
    # The tail beyond `near` less the tail beyond the far end, both in units of the density at near.
    first, second = mills_remainders(near)
    end = near + width
    first_end, second_end = mills_remainders(end)
    mills = 1 / (near + first)
    mills_end = math.exp(-steep) / (end + first_end)
    mass = mills - mills_end
    mean = (mills * first - mills_end * (width + first_end)) / mass
    square = mills * first * second - mills_end * (
        width * width + 2 * width * first_end + first_end * second_end
    )
    return near + mean, square / mass - mean * mean


@jitted
def _wide_terms(far: float, margin: float) -> tuple[float, float]:
    low = far - margin
    high = far + margin
    mass = cdf(high) - cdf(low)
    at_low = density(low)
    at_high = density(high)
    mean = (at_low - at_high) / mass
    return mean, 1 + (low * at_low - high * at_high) / mass - mean * mean
