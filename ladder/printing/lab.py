"""What the laboratory prints: comparisons, exact values."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rich.table import Table as Grid

from ladder.exact.answers import Exploit
from ladder.exact.solver import Exact
from ladder.lab.compare import Comparison
from ladder.lab.crosscheck import MOST_ERRORS, CrossCheck
from ladder.lab.exact_questions import Closeness
from ladder.lab.race import Race
from ladder.printing.bars import note
from ladder.printing.output import console, print_grid, print_json

LINE_EVERY_S = 5.0
BAR = 40  # characters of a chart


class RaceLine:
    """The progress of a comparison on standard error, a line every few seconds."""

    def __init__(self, told: str) -> None:
        self._told = f"{told}: " if told else ""
        self._next = time.monotonic() + LINE_EVERY_S

    def __enter__(self) -> RaceLine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, done: int, budget: int, race: Race) -> None:
        """Show how far it is, and who is left."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY_S
            left = ", ".join(race.active()[:6])
            note(f"{self._told}{done:,} of {budget:,} matches a candidate; still in: {left}")


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """A comparison as the `compare --json` contract has it, and more."""
    return {
        "run": comparison.run,
        "table": comparison.question.table.model_dump(mode="json"),
        "candidates": [
            {**asdict(each), **asdict(comparison.figures[each.name])}
            for each in comparison.candidates
        ],
        "pairs": [
            {**asdict(pair), "pairing_gain": comparison.pairing_gain[pair.a, pair.b]}
            for pair in comparison.pairs
        ],
        "matches": comparison.matches,
        "needed": comparison.needed,
        "seconds": comparison.seconds,
        "profile": comparison.profile,
    }


def print_comparisons(found: Sequence[tuple[str, Comparison]], *, as_json: bool) -> None:
    """One comparison, or those of a grid of tables."""
    if as_json:
        values = [comparison_values(comparison) for _, comparison in found]
        print_json(values[0] if len(values) == 1 and not found[0][0] else values)
        return
    for told, comparison in found:
        if told:
            sys.stdout.write(f"\n{told}\n")
        _print_candidates(comparison)
        if len(comparison.pairs) <= 6:
            _print_pairs(comparison)
            _print_profile(comparison)
        _print_end(comparison)


def _print_candidates(comparison: Comparison) -> None:
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    grid.add_column("candidate")
    for name in ("win %", "95 % interval", "matches", "mean score", "sd", "bust %", "faults"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("")
    most = max(each.high for each in comparison.candidates) or 1.0
    least = min(each.low for each in comparison.candidates)
    for each in comparison.candidates:
        figures = comparison.figures[each.name]
        bust = "" if figures.bust_rate is None else f"{100 * figures.bust_rate:.2f}"
        filled = round(BAR * (each.win_share - least) / max(most - least, 1e-9))
        grid.add_row(
            each.name, f"{100 * each.win_share:.2f}",
            f"{100 * each.low:.2f} - {100 * each.high:.2f}", f"{each.matches:,}",
            f"{figures.mean_score:.1f}", f"{figures.sd_score:.1f}", bust,
            f"{figures.faults:,}", "#" * max(1, filled) + (" out" if each.is_out else ""),
        )  # fmt: skip
    print_grid(console(), grid, ("sd", "bust %", "mean score", "matches", ""))


def _print_pairs(comparison: Comparison) -> None:
    grid = Grid("pair", box=None, header_style="bold", pad_edge=False)
    for name in (
        "difference %",
        "interval",
        "as counted %",
        "e-value",
        "matches",
        "gain",
        "pairing",
    ):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("decision")
    for pair in comparison.pairs:
        grid.add_row(
            f"{pair.a} - {pair.b}", f"{100 * pair.difference:+.3f}",
            f"{100 * pair.low:+.3f} .. {100 * pair.high:+.3f}",
            f"{100 * pair.plain_difference:+.3f}", f"{pair.e_value:.3g}", f"{pair.matches:,}",
            _gain(pair.gain), _gain(comparison.pairing_gain[pair.a, pair.b]),
            _decision(pair.a, pair.b, str(pair.decision)),
        )  # fmt: skip
    print_grid(console(), grid, ("gain", "pairing", "matches", "e-value", "as counted %"))


def _gain(times: float | None) -> str:
    return "too few to tell" if times is None else f"x{times:.2f}"


def _decision(a: str, b: str, decision: str) -> str:
    return {
        "a_better": f"{a} is better",
        "b_better": f"{b} is better",
        "equal": "practically equal",
    }.get(decision, "undecided")


def _print_profile(comparison: Comparison) -> None:
    profile = comparison.profile
    if not profile:
        return
    names = list(profile["stakes"])
    grid = Grid("mean stake at lead", box=None, header_style="bold", pad_edge=False)
    for name in names:
        grid.add_column(name, justify="right")
    groups = dict.fromkeys(g for n in names for g in profile["stakes"][n]["mean_stake_by_lead"])
    for group in groups:
        cells = [profile["stakes"][name]["mean_stake_by_lead"].get(group) for name in names]
        grid.add_row(group, *("" if cell is None else f"{cell:.1f}" for cell in cells))
    forced = [f"{100 * profile['stakes'][name]['forced_share']:.1f}" for name in names]
    grid.add_row("forced stakes %", *forced)
    print_grid(console(), grid)
    for row in profile["differences"][:3]:
        sys.stdout.write(
            f"{row['a']} and {row['b']} differ most at a lead of {row['lead']} with"
            f" {row['turns_left']} turns left: {100 * row['share_there']:.0f} % of those stakes\n"
        )


def _print_end(comparison: Comparison) -> None:
    question = comparison.question
    sys.stdout.write(
        f"{comparison.matches:,} matches in {comparison.seconds:.1f} s; for +-"
        f"{100 * question.precision:.2g} points on what is open: {comparison.needed:,} more a"
        " candidate\n"
    )


@contextmanager
def solving() -> Iterator[Any]:
    """A progress bar for exact play, on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("solving", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_exact(words: Sequence[str], found: Sequence[Exact], *, as_json: bool) -> None:
    """Exact values; of several first throwers the average."""
    merged = _averaged(found)
    if as_json:
        print_json(merged)
        return
    grid = Grid("seat", "policy", box=None, header_style="bold", pad_edge=False)
    for name in ("win share", "mean pile", "sd", "bust"):
        grid.add_column(name, justify="right")
    for seat, word in enumerate(words):
        grid.add_row(
            str(seat), word, f"{merged['win_share'][seat]:.6f}",
            f"{merged['mean_pile'][seat]:.2f}", f"{merged['variance_pile'][seat] ** 0.5:.2f}",
            f"{merged['bust'][seat]:.6f}",
        )  # fmt: skip
    print_grid(console(), grid)
    sys.stdout.write(
        f"draw {merged['draw']:.6f}; {merged['states']:,} states in {merged['seconds']:.1f} s\n"
    )
    for line in merged["notes"]:
        sys.stdout.write(f"note: {line}\n")


def _averaged(found: Sequence[Exact]) -> dict[str, Any]:
    parts = [asdict(each) for each in found]
    merged = dict(parts[0])
    for name in ("win_share", "mean_pile", "variance_pile", "bust"):
        merged[name] = [
            sum(column) / len(parts) for column in zip(*(p[name] for p in parts), strict=True)
        ]
    merged["draw"] = sum(part["draw"] for part in parts) / len(parts)
    merged["seconds"] = sum(part["seconds"] for part in parts)
    return merged


def print_exploit(word: str, found: Exploit, *, as_json: bool) -> None:
    """How far from unbeatable."""
    if as_json:
        print_json(asdict(found))
        return
    grid = Grid("seat", box=None, header_style="bold", pad_edge=False)
    for name in ("best reply wins", f"{word} wins there", "more"):
        grid.add_column(name, justify="right")
    for seat, (best, fair) in enumerate(zip(found.best_reply, found.fair, strict=True)):
        grid.add_row(str(seat), f"{best:.6f}", f"{fair:.6f}", f"{best - fair:+.6f}")
    print_grid(console(), grid)
    sys.stdout.write(
        f"one best replier wins {found.mean_best_reply:.6f} on average,"
        f" {found.exploitable:+.6f} over what {word} wins against itself\n"
    )


def print_cross_check(found: CrossCheck, *, as_json: bool) -> None:
    """Played shares beside exact ones."""
    if as_json:
        rows = [{**asdict(check), "errors": check.errors} for check in found.seats]
        print_json({"is_ok": found.is_ok, "seats": rows})
        return
    grid = Grid("line-up", "seat", box=None, header_style="bold", pad_edge=False)
    for name in ("exact %", "played %", "matches", "standard errors off"):
        grid.add_column(name, justify="right")
    for check in found.seats:
        grid.add_row(
            " ".join(check.rotation), str(check.seat), f"{100 * check.exact:.4f}",
            f"{100 * check.played:.4f}", f"{check.matches:,}", f"{check.errors:+.2f}",
        )  # fmt: skip
    print_grid(console(), grid)
    verdict = "all within" if found.is_ok else "NOT all within"
    sys.stdout.write(f"{verdict} {MOST_ERRORS:.0f} standard errors\n")


def print_closeness(found: Sequence[Closeness], *, as_json: bool) -> None:
    """Which rule gets how close to the best reply, the closest first at each table."""
    if as_json:
        print_json([asdict(each) for each in found])
        return
    grid = Grid("table", "rule", box=None, header_style="bold", pad_edge=False)
    for name in ("win %", "of the best reply %"):
        grid.add_column(name, justify="right")
    for table in dict.fromkeys(each.table for each in found):
        rows = [each for each in found if each.table == table]
        for each in sorted(rows, key=lambda each: -each.of_best):
            grid.add_row(
                table, each.name, f"{100 * each.win_share:.3f}", f"{100 * each.of_best:.2f}"
            )
    console().print(grid)
