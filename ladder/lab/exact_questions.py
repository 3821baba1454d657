"""Exact values asked for from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ladder.bots import LoadedBot, load_word
from ladder.errors import BotLoadError, SpecError
from ladder.exact.answers import Exploit, all_first_seats, answer
from ladder.exact.answers import exploit as exploit_of
from ladder.exact.policies import BEST, Seat
from ladder.exact.saved import save_values, solve_values
from ladder.exact.solver import Exact
from ladder.games import get_game
from ladder.games.bot import bind
from ladder.games.pasa.table import PasaTable
from ladder.lab.compare import Question
from ladder.lineup import table_options
from ladder.spec import make_table


@dataclass(frozen=True)
class Closeness:
    """How close a candidate comes to the best reply to its field, all seats in turn."""

    table: str  # what sets it apart from other tables of a grid
    name: str
    win_share: float
    of_best: float  # as a part of the best reply's win share


def pasa_table(text: str, seats: int | None = None) -> PasaTable:
    """The Pasa table of `--table`. Raises: SpecError."""
    given = table_options(text)
    if seats is not None and given.setdefault("seats", seats) != seats:
        raise SpecError(f"--table: seats={given['seats']}, but {seats} policies are given")
    table = make_table(get_game("pasa"), given)
    assert isinstance(table, PasaTable)
    return table


def pasa_seat(word: str, *, is_trusted: bool = False) -> Seat:
    """A seat of an exact line-up: `best`, or a policy with its params bound."""
    if word == BEST:
        return BEST
    loaded = load_word(word, "pasa", is_trusted=is_trusted)
    return _bound(loaded)


def _seats(words: Sequence[str], *, trusts_all: bool) -> list[Seat]:
    problems: list[str] = []
    seats: list[Seat] = []
    made: dict[str, Seat] = {}
    for word in words:
        try:
            made[word] = made.get(word) or pasa_seat(word, is_trusted=trusts_all)
            seats.append(made[word])
        except BotLoadError as error:
            problems += [f"{problem} (got {word!r})" for problem in error.problems]
    if problems:
        raise SpecError(*dict.fromkeys(problems))
    return seats


def ask_exact(
    words: Sequence[str],
    table: str,
    first_seat: str,
    *,
    memory_mb: int,
    progress: Any,
    trusts_all: bool = False,
) -> list[Exact]:
    """The answer; with `first_seat` all, one for each seat that may throw first."""
    if not 2 <= len(words) <= 4:
        raise SpecError(f"exact play is worked out at 2 to 4 seats (got {len(words)} policies)")
    options: dict[str, Any] = {"memory_mb": memory_mb, "progress": progress}
    made = pasa_table(table, len(words))
    if first_seat == "all":
        return all_first_seats(made, _seats(words, trusts_all=trusts_all), **options)
    if first_seat:
        if not first_seat.isdigit() or int(first_seat) >= made.seats:
            raise SpecError(
                f"--first-seat: should be all or a seat, 0..{made.seats - 1} (got {first_seat!r})"
            )
        made = made.model_copy(update={"first_thrower": int(first_seat)})
    return [answer(made, _seats(words, trusts_all=trusts_all), **options)]


def save_exact(
    words: Sequence[str],
    table: str,
    path: Path,
    *,
    memory_mb: int,
    progress: Any,
    trusts_all: bool = False,
) -> None:
    """Solve a line-up with a `best` seat and keep its values in a file. Raises: SpecError."""
    if BEST not in words:
        raise SpecError("--save keeps what a best seat does; give best at one seat at least")
    values = solve_values(
        pasa_table(table, len(words)), _seats(words, trusts_all=trusts_all),
        memory_mb=memory_mb, progress=progress,
    )  # fmt: skip
    try:
        save_values(path, values, words)
    except OSError as error:
        raise SpecError(f"--save: {path} cannot be written: {error.strerror}") from None


def ask_exploit(
    word: str, table: str, *, memory_mb: int, progress: Any, trusts_all: bool = False
) -> Exploit:
    """What a best replier wins against a table of one policy. Raises: SpecError."""
    made = pasa_table(table)
    if made.seats > 4:
        raise SpecError(f"exact play is worked out at 2 to 4 seats (got seats={made.seats})")
    [seat] = _seats([word], trusts_all=trusts_all)
    if seat == BEST:
        raise SpecError("exploit takes a policy, not best")
    return exploit_of(made, seat, memory_mb=memory_mb, progress=progress)


def ask_closeness(
    told: str, question: Question, *, memory_mb: int, progress: Any
) -> list[Closeness]:
    """The exact shares of a comparison's candidates, and of the best reply to its field.

    Raises: SpecError.
    """
    table = question.table
    if not isinstance(table, PasaTable) or table.seats > 4:
        raise SpecError(
            f"--exact: values are worked out for pasa at 2 to 4 seats (got {question.game.name}"
            f" at {table.seats})"
        )
    field = [_bound(question.bots[i]) for i in question.rivals]
    options: dict[str, Any] = {"memory_mb": memory_mb, "progress": progress}

    def share(candidate: Seat) -> float:
        lineups = [[*field[:seat], candidate, *field[seat:]] for seat in range(table.seats)]
        won = [answer(table, seats, **options).win_share for seats in lineups]
        return sum(each[seat] for seat, each in enumerate(won)) / table.seats

    best = share(BEST)
    found = [Closeness(told, BEST, best, 1.0)]
    for name, bot in zip(question.names[: question.candidates], question.bots, strict=False):
        own = share(_bound(bot))
        found.append(Closeness(told, name, own, own / best))
    return found


def _bound(bot: LoadedBot) -> Seat:
    return cast(Seat, bind(bot.bot, dict(bot.params)))
