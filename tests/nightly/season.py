"""A season of nights: versions of known strength arrive, change and leave.

As a program, `python -m tests.nightly.season SIZE DB [LAST]`: plays the season, or what is left of
it, into a store; a line for each night that is done.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from ladder.bots import load
from ladder.execute import Workers
from ladder.nightly import Outcome, run_nightly
from ladder.spec import Spec, make_spec
from ladder.spec.documents import parse_document
from ladder.store import NightStore
from ladder.submissions import enter

BOT = Path(__file__).with_name("mixed.py")
FIRST = datetime(2026, 1, 1, 3, tzinfo=UTC)


@dataclass(frozen=True)
class Size:
    """How large a season is."""

    nights: int
    versions: int
    first: int  # there from the first night
    most: int  # alive at once
    budget: int
    floor: int
    keep: int


SIZES = {
    "small": Size(nights=4, versions=9, first=5, most=7, budget=2400, floor=80, keep=2),
    "full": Size(nights=30, versions=40, first=12, most=24, budget=40_000, floor=400, keep=5),
    "forty": Size(nights=30, versions=52, first=24, most=40, budget=800, floor=20, keep=5),
}


def spec_of(size: Size, **changes: Any) -> Spec:
    """The spec of the season's ladder."""
    fields = {
        "budget": f"{{matches: {size.budget}}}", "floor": size.floor, "rounds": 4,
        "keep_nights": size.keep, "backups": 2, **changes,
    }  # fmt: skip
    shown = ", ".join(f"{name}: {value}" for name, value in fields.items())
    text = (
        "name: season\ngame: pasa\ntable: {seats: 4, rounds: 1}\nseed: 7\n"
        f"entrants: [Easy]\nformat: {{kind: ladder, {shown}}}\n"
    )
    return make_spec(parse_document(text, "season.yaml"))


def events(size: Size) -> list[list[tuple[str, str, int]]]:
    """By night: (enter or withdraw, name, skill). A name that is there changes its version."""
    luck = Random(11)
    skills = [round(1000 * k / (size.versions - 1)) for k in range(size.versions)]
    luck.shuffle(skills)
    nights: list[list[tuple[str, str, int]]] = [[] for _ in range(size.nights)]
    alive: list[str] = []
    count = 0
    last = size.nights - size.nights // 4  # the field rests at the end, as real ones do
    for number, skill in enumerate(skills):
        early = number < size.first
        night = 0 if early else (number - size.first) * last // (size.versions - size.first)
        changes = not early and alive and luck.random() < 0.3
        if changes:
            name = luck.choice(alive)
        else:
            count += 1
            name = f"b{count:02}"
            alive.append(name)
        nights[night].append(("enter", name, skill))
        if len(alive) > size.most:
            gone = alive.pop(luck.randrange(len(alive) - 1))
            nights[night].append(("withdraw", gone, 0))
    return nights


def truth(size: Size) -> dict[str, int]:
    """The skill behind every name in the end."""
    skills: dict[str, int] = {}
    for night in events(size):
        for what, name, skill in night:
            if what == "enter":
                skills[name] = skill
            else:
                del skills[name]
    return skills


def play_night(store: NightStore, size: Size, night: int, **changes: Any) -> Outcome:
    """The events of a night, then the night itself; all of it may be repeated."""
    at = FIRST + timedelta(days=night)
    store.create()
    for what, name, skill in events(size)[night]:
        if what == "enter":
            loaded = load(f"{BOT}:Mixed", {"skill": skill}, "pasa", is_trusted=True)
            enter(
                store, loaded.portable(), game="pasa", name=name, author=f"author of {name}",
                about=loaded.about, at=at,
            )  # fmt: skip
        else:
            store.set_withdrawn("pasa", name, at)
    return run_nightly(
        spec_of(size, **changes), store, Workers(0), lambda progress: None, clock=lambda: at,
        trusts_all=True,
    )  # fmt: skip


def play_season(path: Path, size: Size, last: int | None = None) -> None:
    """Play what is left of a season."""
    store = NightStore(path)
    for night in range(size.nights if last is None else last):
        done = path.exists() and any(
            row.night > night and row.closed_at for row in store.nights("season")
        )
        if not done:
            play_night(store, size, night)
        print(night, flush=True)


def everything(path: Path) -> list[Any]:
    """What has to be the same however a season came about."""
    store = NightStore(path)
    return [
        store.query("SELECT * EXCLUDE (seconds) FROM nights ORDER BY ladder, night"),
        store.query("SELECT * FROM night_ratings ORDER BY ladder, night, rank"),
        store.query("SELECT run, bot, version, mu, sigma, matches FROM ratings ORDER BY ALL"),
        store.query("SELECT name, version, author, submitted_at FROM bots ORDER BY ALL"),
        store.query(
            "SELECT run, match, seat, bot, version, score, place FROM results ORDER BY ALL"
        ),
    ]


def kendall_tau(order: list[float], other: list[float]) -> float:
    """Concordant minus discordant pairs, of all pairs."""
    pairs = [(i, j) for i in range(len(order)) for j in range(i)]
    sign = sum(1 if (order[i] - order[j]) * (other[i] - other[j]) > 0 else -1 for i, j in pairs)
    return sign / len(pairs)


def tau_of(path: Path, size: Size) -> float:
    """Kendall's tau of the final table against the truth."""
    store = NightStore(path)
    skills = truth(size)
    rows = store.night_entrants("season", size.nights)
    there = [row for row in rows if row.name in skills]
    assert len(there) == len(skills)
    return kendall_tau([row.mu or 0.0 for row in there], [skills[row.name] for row in there])


if __name__ == "__main__":
    play_season(
        Path(sys.argv[2]), SIZES[sys.argv[1]], int(sys.argv[3]) if len(sys.argv) > 3 else None
    )
