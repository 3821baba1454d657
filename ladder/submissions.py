"""Submitting bots: checked, stored with their source, shown, renamed, withdrawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ladder.bots import LoadedBot, PortableBot
from ladder.check import Verdict, check_word
from ladder.errors import SpecError
from ladder.sources import bundle_of
from ladder.store import Submission, SubmissionStore
from ladder.transcript import Judged, judge

Clock = Callable[[], datetime]
LONGEST_NAME = 64


def utc_now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Entered:
    """What became of a submission: `row` is its stored version, `is_new` whether it was added."""

    row: Submission
    is_new: bool
    message: str


def submit(
    store: SubmissionStore,
    word: str,
    *,
    name: str,
    author: str,
    game: str | None = None,
    params: dict[str, Any] | None = None,
    clock: Clock = utc_now,
    check: Callable[..., Verdict] = check_word,
) -> tuple[Entered | None, Verdict]:
    """Check a bot and keep it as the newest version of `name`; None where it did not pass.

    Raises: SpecError for a name or author that cannot be, or a file that changed meanwhile.
    """
    checked_name(name, "--name")
    checked_name(author, "--author")
    verdict = check(word, game=game, params=params)
    if not verdict.is_passed:
        return None, verdict
    place = verdict.reference.rpartition(":")[0]
    if place and bundle_of(place).digest != verdict.source.digest:
        raise SpecError(f"{place}: changed while it was checked; submit it again")
    entered = enter(
        store, verdict.portable, game=verdict.game, name=name, author=author, about=verdict.about,
        at=clock(),
    )  # fmt: skip
    return entered, verdict


def submit_program(
    store: SubmissionStore,
    bot: LoadedBot,
    *,
    name: str,
    author: str,
    game: str,
    clock: Clock = utc_now,
) -> tuple[Entered | None, Judged]:
    """Judge a program and keep it, its files with it, as the newest version of `name`.

    None where it did not pass. Raises: SpecError.
    """
    checked_name(name, "--name")
    checked_name(author, "--author")
    judged = judge(bot, game)
    if not judged.is_ok:
        return None, judged
    entered = enter(
        store, bot.portable(), game=game, name=name, author=author, about=bot.about, at=clock()
    )
    return entered, judged


def enter(
    store: SubmissionStore,
    bot: PortableBot,
    *,
    game: str,
    name: str,
    author: str,
    about: str,
    at: datetime,
) -> Entered:
    """Keep a bot that may enter as the newest version of its name. Raises: SpecError."""
    from ladder.check.verdict import version_of

    version = version_of(bot)
    rows = store.submissions(game)
    same = next((row for row in rows if row.version == version), None)
    if same is not None:
        return _again(store, same, rows, name, author)
    owner = next((row.author for row in rows if row.name == name), author)
    if owner != author:
        raise SpecError(
            f"--name: {name} belongs to {owner or 'the spec'}; take another name (got author"
            f" {author!r})"
        )
    row = Submission(
        0, game, name, version, author, bot.reference, bot.source.module, bot.class_name,
        bot.params, bot.source.digest, about, at,
    )  # fmt: skip
    store.add_submission(row, bot.source)
    if any(each.name == name and each.withdrawn_at for each in rows):
        store.set_withdrawn(game, name, None)
    kept = [each for each in store.submissions(game, name) if each.version == version][-1]
    number = sum(each.name == name for each in rows) + 1
    return Entered(kept, True, f"{name} version {version} is entered ({_ordinal(number)})")


def _again(
    store: SubmissionStore, same: Submission, rows: list[Submission], name: str, author: str
) -> Entered:
    """The answer to a version that is there already. Raises: SpecError."""
    when = f"{same.submitted_at:%Y-%m-%d %H:%M}"
    if (same.name, same.author) != (name, author):
        raise SpecError(
            f"{name}: is the same bot as {same.name} of {same.author or 'the spec'} (version"
            f" {same.version}, submitted {when}): same source, class and params"
        )
    if same.quarantine:
        raise SpecError(
            f"{name}: version {same.version} is in quarantine: {same.quarantine}; a changed"
            " version may play"
        )
    newest = [row for row in rows if row.name == name][-1]
    if newest.version != same.version:
        raise SpecError(
            f"{name}: version {same.version} was submitted {when}, and {newest.version} since; to"
            " go back to it, change something, if only a comment"
        )
    if same.withdrawn_at:
        store.set_withdrawn(same.game, name, None)
        return Entered(same, False, f"{name} version {same.version} was withdrawn; it plays again")
    return Entered(same, False, f"{name} version {same.version} is there already, submitted {when}")


def _ordinal(number: int) -> str:
    if number == 1:
        return "its first"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0)
    return f"its {number}{ending or 'th'}"


def checked_name(name: str, option: str) -> str:
    """A name that can be shown and stored, whatever its alphabet. Raises: SpecError."""
    if not name or not name.isprintable() or name != name.strip() or len(name) > LONGEST_NAME:
        raise SpecError(
            f"{option}: should be 1 to {LONGEST_NAME} printable characters, without blanks around"
            f" (got {name!r})"
        )
    return name


def find_name(store: SubmissionStore, name: str, game: str | None) -> list[Submission]:
    """The versions of a name, in one game, the newest last. Raises: SpecError."""
    rows = store.submissions(game, name)
    if not rows:
        known = sorted({row.name for row in store.submissions(game)})
        there = f"there are {', '.join(known[:20])}" if known else "there are none"
        raise SpecError(f"no submitted bot is called {name!r}; {there}")
    games = sorted({row.game for row in rows})
    if len(games) > 1:
        raise SpecError(f"{name}: there is one in {' and one in '.join(games)}; say --game")
    return rows


def withdraw(
    store: SubmissionStore, name: str, *, game: str | None = None, clock: Clock = utc_now
) -> Submission:
    """Take a bot out of its ladders; its results stay. Raises: SpecError."""
    newest = find_name(store, name, game)[-1]
    if newest.withdrawn_at is None:
        store.set_withdrawn(newest.game, name, clock())
    return newest


def rename(store: SubmissionStore, old: str, new: str, *, game: str | None = None) -> Submission:
    """Give a bot another name; results and history go with it. Raises: SpecError."""
    newest = find_name(store, old, game)[-1]
    checked_name(new, "NEW")
    taken = store.submissions(newest.game, new)
    if taken:
        raise SpecError(f"the name {new!r} is taken by {taken[-1].author or 'the spec'}")
    store.set_name(newest.game, old, new)
    return newest


def newest_versions(rows: Iterable[Submission]) -> list[Submission]:
    """The newest version of each name that is not withdrawn, by name."""
    newest = {row.name: row for row in rows if row.withdrawn_at is None}
    return [newest[name] for name in sorted(newest)]
