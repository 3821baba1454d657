"""The table of a stored night, as the other tables are printed."""

from __future__ import annotations

import numpy as np

from ladder.errors import StoreError
from ladder.rate import settings_of
from ladder.rated import Rated, table_of_run
from ladder.ratings.patterns import Ratings, settle_draws
from ladder.spec import ladder_rating
from ladder.standings import Row, tally
from ladder.store import NightRow, NightStore, RunRow


def find_ladder(store: NightStore, name: str | None) -> str:
    """The ladder of that name, or the one that played last. Raises: StoreError."""
    ladders = store.ladders()
    if not ladders:
        raise StoreError(f"{store.path}: holds no nights; `ladder nightly SPEC` plays one")
    if name is None:
        return ladders[-1]
    if name not in ladders:
        raise StoreError(f"{store.path}: has no ladder {name!r}; there are {', '.join(ladders)}")
    return name


def find_night(
    store: NightStore, ladder: str, word: str | None = None, version: str | None = None
) -> NightRow:
    """A finished night by date or number, the last one without a word.

    With a version, the last night in which that played. Raises: StoreError.
    """
    nights = [night for night in store.nights(ladder) if night.finished_at is not None]
    if version is not None:
        played = {
            night.night: night
            for night, row in store.history(ladder, [])
            if row.version.startswith(version)
        }
        if not played:
            raise StoreError(f"{store.path}: no version {version!r} has played in {ladder}")
        nights = list(played.values())
    if word is not None:
        nights = [n for n in nights if word in (n.label, str(n.night))] or [
            n for n in nights if n.label.partition(".")[0] == word
        ]
    if not nights:
        labels = [n.label for n in store.nights(ladder) if n.finished_at is not None]
        shown = f"the last are {', '.join(labels[-5:])}" if labels else "none is finished yet"
        wanted = f"no night {word}" if word else "no finished night"
        raise StoreError(f"{store.path}: {ladder} has {wanted}; {shown}")
    return nights[-1]


def night_of_run(store: NightStore, run: str) -> NightRow | None:
    """The night whose run this is, if it is one's."""
    for ladder in store.ladders():
        for night in store.nights(ladder):
            if night.run == run:
                return night
    return None


def rated_night(store: NightStore, night: NightRow) -> tuple[Rated, RunRow]:
    """The table of a finished night: ratings as they stood then, shares of that night."""
    (run,) = [each for each in store.runs() if each.run == night.run]
    results = store.results(run.run, table_of_run(run).seats)
    entrants = store.night_entrants(night.ladder, night.night)
    order = sorted(range(len(entrants)), key=lambda i: entrants[i].rank or 0)
    tallies = tally(results)
    rows = [
        Row(row.rank or 0, row.name, row.version, row.mu or 0.0, row.sigma or 0.0, tallies[i], None)
        for i, row in ((i, entrants[i]) for i in order)
    ]
    rating = ladder_rating(night.spec.get("rating", {}))
    _, draw_probability = settle_draws(
        results.lineups, results.places, results.counts, settings_of(rating)
    )
    ratings = Ratings(
        np.array([row.mu or 0.0 for row in entrants]),
        np.array([row.sigma or 0.0 for row in entrants]),
        np.array([row.matches_before + row.matches for row in entrants], np.int64),
        draw_probability,
    )
    notes = [f"{row.name} is in quarantine: {row.quarantine}" for row in entrants if row.quarantine]
    return Rated(run.run, rows, results, ratings, rating, notes), run
