"""Ten thousand versions in the store: a night is planned in seconds, in little memory."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ladder.bots import LoadedBot, load
from ladder.execute import Workers
from ladder.nightly import rounds, run_nightly
from ladder.store import NightStore, Submission
from tests.nightly.season import BOT, SIZES, spec_of

VERSIONS = 10_000
AT = datetime(2026, 1, 1, tzinfo=UTC)


def filled(path: Path, count: int) -> NightStore:
    """A store with so many versions of one source, by a third as many authors."""
    store = NightStore(path)
    store.create()
    bot = load(f"{BOT}:Mixed", {"skill": 0}, "pasa")
    source = bot.source
    template = Submission(
        0, "pasa", "", "", "", bot.reference, source.module, bot.class_name, (),
        source.digest, bot.about, AT,
    )  # fmt: skip
    rows = []
    for number in range(count):
        params = (("skill", number),)
        version = LoadedBot.version_of(source, bot.class_name, params)
        rows.append(
            replace(
                template, name=f"b{number:05}", version=version, author=f"a{number // 3}",
                params=params,
            )
        )  # fmt: skip
    store.add_submission(rows[0], source)
    store.add_submissions(rows[1:])
    return store


class PlannedError(Exception):
    """The first round is planned."""


@pytest.mark.slow
@pytest.mark.full_size
def test_ten_thousand_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path / "x.duckdb", VERSIONS)
    planned_at: list[float] = []

    def planned(*_: object) -> None:
        planned_at.append(time.monotonic())
        raise PlannedError

    monkeypatch.setattr(rounds, "execute", planned)
    size = replace(SIZES["full"], budget=400_000, floor=20)
    begun = time.monotonic()
    with pytest.raises(PlannedError):
        run_nightly(spec_of(size), store, Workers(0), lambda progress: None, clock=lambda: AT)
    print(
        f"\n{planned_at[0] - begun:.1f} s,"
        f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB",
        file=sys.stderr,
    )
    assert len(store.night_entrants("season", 1)) == VERSIONS + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2**20
