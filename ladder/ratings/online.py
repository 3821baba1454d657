"""TrueSkill match by match, in the order given: for ladders whose bots change.

Each match adds tau squared to the variance of the bots in it, then moves them to the posterior.
The order matters (that is the point of tau); `questions.order_spread` says by how much.
"""

from __future__ import annotations

import numpy as np

from ladder.ratings.compiled import jitted
from ladder.ratings.match import (
    BOT,
    MAX_SWEEPS,
    PLACE,
    PRIOR,
    TOLERANCE,
    VARIANCE,
    even_out,
    new_board,
    set_performances,
    settle,
    skill_update,
    state_comparisons,
)
from ladder.ratings.patterns import (
    EMPTY,
    Floats,
    Ints,
    Ratings,
    check_results,
    count_matches,
    settle_draws,
)
from ladder.ratings.settings import RatingSettings, draw_margin


def rate_online(
    lineups: Ints,
    places: Ints,
    num_bots: int,
    *,
    settings: RatingSettings,
    prior_mu: Floats | None = None,
    prior_sigma: Floats | None = None,
    anchor: tuple[int, float] | None = None,
) -> Ratings:
    """Rate matches one after another.

    `lineups[m, s]` is the bot in seat s of match m (-1: no such seat), `places[m, s]` its place,
    1 the first, ties sharing a place. Priors default to the settings' for every bot; give the
    result of an earlier call to go on from there. Message passing inside a match runs until no
    comparison moves by more than 1e-9 of its own standard deviation.
    Seats may come in any order: equal results bit for bit.

    Raises: SpecError for arrays that make no sense, or ties with draw_probability 0.
    """
    lineups, places = check_results(lineups, places, num_bots)
    counts = np.ones(len(lineups), np.int64)
    settings, probability = settle_draws(lineups, places, counts, settings)
    mu = (
        np.full(num_bots, settings.mu, np.float64)
        if prior_mu is None
        else np.array(prior_mu, np.float64)
    )
    sigma = (
        np.full(num_bots, settings.sigma, np.float64)
        if prior_sigma is None
        else np.array(prior_sigma, np.float64)
    )
    variance = sigma * sigma
    rate_in_order(
        lineups,
        places,
        mu,
        variance,
        settings.beta**2,
        settings.tau**2,
        draw_margin(probability, settings.beta),
        settings.rank_by == "winner",
        *new_board(),
    )
    matches = count_matches(lineups, counts, num_bots)
    return Ratings(mu, np.sqrt(variance), matches, probability).anchored(anchor)


@jitted
def rate_in_order(
    lineups: Ints,
    places: Ints,
    mu: Floats,
    variance: Floats,
    noise: float,
    drift: float,
    margin: float,
    only_winner: bool,
    ints: Ints,
    floats: Floats,
    cov: Floats,
) -> None:
    """Update mu and variance in place, one match after another."""
    for match in range(len(lineups)):
        seats = seat_match(
            ints, floats, cov, lineups[match], places[match], mu, variance, drift, only_winner
        )
        if seats < 2:
            continue
        num_sites = state_comparisons(ints, floats, cov, seats, only_winner)
        set_performances(ints, floats, cov, seats, noise)
        settle(ints, floats, cov, seats, num_sites, margin, TOLERANCE, MAX_SWEEPS)
        even_out(ints, floats, cov, seats)
        for seat in range(seats):
            bot = ints[BOT, seat]
            force, _, share = skill_update(ints, floats, cov, seats, seat, noise)
            mu[bot] = floats[PRIOR, seat] + floats[VARIANCE, seat] * force
            variance[bot] = floats[VARIANCE, seat] * share


@jitted
def seat_match(
    ints: Ints,
    floats: Floats,
    cov: Floats,
    lineup: Ints,
    places: Ints,
    mu: Floats,
    variance: Floats,
    drift: float,
    only_winner: bool,
) -> int:
    """Seat a match on the board in an order that the order of seats does not show in.

    Sorted by place, mean, variance, bot; returns the number of seats.
    """
    best = 0
    if only_winner:
        best = 1 << 60
        for seat in range(len(lineup)):
            if lineup[seat] != EMPTY:
                best = min(best, places[seat])
    seats = 0
    for seat in range(len(lineup)):
        bot = lineup[seat]
        if bot == EMPTY:
            continue
        place = places[seat]
        if only_winner:
            place = 1 if place == best else 2
        mean = mu[bot]
        spread = variance[bot] + drift
        at = seats
        while at > 0 and (
            ints[PLACE, at - 1] > place
            or (
                ints[PLACE, at - 1] == place
                and (
                    floats[PRIOR, at - 1] > mean
                    or (
                        floats[PRIOR, at - 1] == mean
                        and (
                            floats[VARIANCE, at - 1] > spread
                            or (floats[VARIANCE, at - 1] == spread and ints[BOT, at - 1] > bot)
                        )
                    )
                )
            )
        ):
            ints[BOT, at] = ints[BOT, at - 1]
            ints[PLACE, at] = ints[PLACE, at - 1]
            floats[PRIOR, at] = floats[PRIOR, at - 1]
            floats[VARIANCE, at] = floats[VARIANCE, at - 1]
            at -= 1
        ints[BOT, at] = bot
        ints[PLACE, at] = place
        floats[PRIOR, at] = mean
        floats[VARIANCE, at] = spread
        seats += 1
    return seats
