"""Who plays a night, and with what rating it begins."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ladder.bots import LoadedBot, PortableBot
from ladder.errors import BotLoadError, SpecError
from ladder.isolate.portrait import Portrait
from ladder.spec import RatingPart, Spec
from ladder.spec.formats import Ladder
from ladder.store import NightEntrant, NightStore, Submission
from ladder.submissions import enter, newest_versions


def enter_spec(store: NightStore, spec: Spec, at: datetime) -> list[str]:
    """Enter what the spec lists and the store does not know; remarks on what could not be."""
    notes = []
    known = {row.version: row for row in store.submissions(spec.game.name)}
    for entrant in spec.entrants:
        row = known.get(entrant.loaded.version)
        if row is not None:
            if row.state != "active":
                notes.append(f"{entrant.name} is in the spec, but {row.state}")
            elif row.name != entrant.name:
                notes.append(f"{entrant.name} of the spec is submitted as {row.name}")
            continue
        try:
            enter(
                store, entrant.loaded.portable(), game=spec.game.name, name=entrant.name,
                author=entrant.author, about=entrant.loaded.about, at=at,
            )  # fmt: skip
        except SpecError as error:
            notes.append(f"{entrant.name} of the spec is not entered: {error}")
    return notes


def load_field(
    store: NightStore, game: str, trusted: Container[str] | None
) -> tuple[list[Submission], list[LoadedBot], list[str]]:
    """The versions that may play, by version, loaded; remarks on those that cannot be."""
    rows = [row for row in newest_versions(store.submissions(game)) if not row.quarantine]
    rows.sort(key=lambda row: row.version)
    return load_rows(rows, store.portable(rows), trusted)


def load_rows(
    rows: Sequence[Submission], portable: Sequence[PortableBot], trusted: Container[str] | None
) -> tuple[list[Submission], list[LoadedBot], list[str]]:
    """The rows whose bots can still be loaded, those bots, and a remark on every other.

    Versions in `trusted` (None: all) are imported here; of the others a locked-down child tells
    what they are, once for each class of each source.
    """
    kept, bots, notes = [], [], []
    looks: dict[tuple[str, str], Portrait | None] = {}
    for row, bot in zip(rows, portable, strict=True):
        kind = row.source_hash, row.class_name
        is_trusted = trusted is None or row.version in trusted
        try:
            loaded = replace(bot, is_trusted=is_trusted, portrait=looks.get(kind)).load()
            looks[kind] = loaded.portrait
            bots.append(loaded)
            kept.append(row)
        except (BotLoadError, AttributeError) as error:
            notes.append(f"{row.name} cannot be loaded any more: {error}")
    return kept, bots, notes


def entrants_of(
    rows: Sequence[Submission],
    everyone: Sequence[Submission],
    standing: Mapping[str, NightEntrant],
    format_: Ladder,
    rating: RatingPart,
) -> list[NightEntrant]:
    """The entrants of a night with their ratings before it."""
    by_name: dict[str, list[Submission]] = {}
    for row in everyone:
        by_name.setdefault(row.name, []).append(row)
    entrants = []
    for row in rows:
        before = standing.get(row.version)
        if before is not None and before.mu is not None and before.sigma is not None:
            nights, matches = before.nights + 1, before.matches_before + before.matches
            mu, sigma = before.mu, before.sigma
        else:
            nights, matches = 0, 0
            mu, sigma = _start(by_name[row.name], row, standing, format_, rating)
        entrants.append(NightEntrant(row.name, row.version, row.author, nights, mu, sigma, matches))
    return entrants


def _start(
    versions: Sequence[Submission],
    row: Submission,
    standing: Mapping[str, NightEntrant],
    format_: Ladder,
    rating: RatingPart,
) -> tuple[float, float]:
    """Where the rating of a version begins that has not played."""
    if format_.new_versions == "predecessor":
        for older in reversed([each for each in versions if each.number < row.number]):
            before = standing.get(older.version)
            if before is not None and before.mu is not None and before.sigma is not None:
                widened = math.hypot(before.sigma, format_.widen)
                return before.mu, min(widened, rating.sigma)
    return rating.mu, rating.sigma
