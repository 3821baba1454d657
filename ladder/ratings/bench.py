"""How fast four-seat matches are rated, beside the `trueskill` package in the same run."""

from __future__ import annotations

import time

import numpy as np

from ladder.ratings.online import rate_online
from ladder.ratings.settings import RatingSettings

_BOTS, _SEATS = 20, 4
_MATCHES, _PACKAGE_MATCHES = 200_000, 600
_ROUNDS = 3


def bench_ratings() -> list[tuple[str, float, str]]:
    """(name, value, unit) of the online kernel and of the package, best of three rounds each."""
    import trueskill

    generator = np.random.default_rng(0)
    lineups = np.argsort(generator.random((_MATCHES, _BOTS)), axis=1)[:, :_SEATS]
    skills = generator.normal(25, 4, _BOTS)
    performances = skills[lineups] + generator.normal(0, 25 / 6, lineups.shape)
    places = np.argsort(np.argsort(-performances, axis=1), axis=1) + 1
    settings = RatingSettings()
    rate_online(lineups[:2], places[:2], _BOTS, settings=settings)  # compiles

    def online() -> None:
        rate_online(lineups, places, _BOTS, settings=settings)

    def package() -> None:
        model = trueskill.TrueSkill()
        ratings = [model.create_rating() for _ in range(_BOTS)]
        for lineup, place in zip(
            lineups[:_PACKAGE_MATCHES].tolist(), places[:_PACKAGE_MATCHES].tolist(), strict=True
        ):
            rated = model.rate([(ratings[bot],) for bot in lineup], ranks=place)
            for bot, (rating,) in zip(lineup, rated, strict=True):
                ratings[bot] = rating

    rows = []
    for name, play, matches in (
        ("trueskill_online_matches_per_s", online, _MATCHES),
        ("trueskill_package_matches_per_s", package, _PACKAGE_MATCHES),
    ):
        best = float("inf")
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            play()
            best = min(best, time.perf_counter() - start)
        rows.append((name, matches / best, "matches/s"))
    return rows
