"""The verdict on a stranger's bot: asked and played in locked-down children only.

What `check_word` finds beyond this (memory, prints, whether it compiles) needs its code in a
process that is not locked down; for submissions that come by themselves this has to do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ladder.bots import LoadedBot, load_word, split_word
from ladder.check.table import quick_table
from ladder.check.verdict import Finding, Verdict
from ladder.driver import SEAT_BITS, as_actions
from ladder.errors import BotLoadError
from ladder.execute import player_for
from ladder.fuzz import fuzzed_views
from ladder.games import Game, get_game
from ladder.isolate.verdict import Unsettled
from ladder.record import Fault
from ladder.sources import bundle_of

BATCH = 128


def check_contained(
    word: str, *, game: str, params: dict[str, Any] | None = None, matches: int | None = None
) -> Verdict:
    """Check the bot that one word names; none of its code runs outside of children.

    Raises: InfraError where there is no sandbox.
    """
    reference, _ = split_word(word)
    where, _, class_name = reference.rpartition(":")
    source = bundle_of(where)
    findings: list[Finding] = []
    try:
        loaded = load_word(word, game)
    except BotLoadError as error:
        findings += [Finding("loads", "fault", problem) for problem in error.problems]
        return Verdict(reference, source, class_name, tuple(findings))
    findings.append(Finding("loads", "ok", "in a locked-down process, from its files alone"))

    def find(check: str, verdict: str, detail: str) -> None:
        findings.append(Finding(check, verdict, detail))

    told: dict[str, Any] = {}
    figures = _ask_twice(loaded, get_game(game), find)
    if all(finding.verdict != "fault" for finding in findings):
        quick_table(
            loaded, get_game(game), matches, False, find,
            lambda **value: told.update(value.get("about", {})),
        )  # fmt: skip
    return Verdict(
        reference, loaded.source, loaded.class_name, tuple(findings), game, loaded.about,
        loaded.params, tuple(told.get("table", ())), figures,
    )  # fmt: skip


def _ask_twice(loaded: LoadedBot, game: Game, find: Any) -> dict[str, float]:
    """Ask new bot objects twice at every fuzzed view: legal, and the same?"""
    begun = time.monotonic()
    first, faults = _ask(loaded, game)
    each_ms = 1000 * (time.monotonic() - begun) / len(fuzzed_views(game.name))
    figures = {"decision_ms_mean": each_ms}
    if faults:
        at = min(faults)
        kind, view, _ = fuzzed_views(game.name)[at]
        find(
            "legal", "fault",
            f"{len(faults):,} faults at {len(first):,} views of random play, the first in"
            f" {game.decisions[kind]}: {faults[at].cause}: {faults[at].detail}; at {view!r:.900}",
        )  # fmt: skip
        return figures
    find("legal", "ok", f"at {len(first):,} views of random play, 2 seats and more")
    again, _ = _ask(loaded, game)
    other = np.flatnonzero(first != again)
    if len(other):
        kind, view, _ = fuzzed_views(game.name)[other[0]]
        find(
            "deterministic", "fault",
            f"{game.decisions[kind]}: {first[other[0]]}, asked again {again[other[0]]}, at"
            f" {view!r:.900}; draw from view.luck, not from random or the clock",
        )  # fmt: skip
    else:
        find("deterministic", "ok", "the same answers from two new objects")
    return figures


def _ask(loaded: LoadedBot, game: Game) -> tuple[Any, dict[int, Fault]]:
    """The actions at every fuzzed view, and what was wrong, by position."""
    views = fuzzed_views(game.name)
    actions = np.zeros(len(views), np.int64)
    faults: dict[int, Fault] = {}
    groups: dict[tuple[int, int], list[int]] = {}
    for position, (kind, view, _) in enumerate(views):
        groups.setdefault((kind, len(view)), []).append(position)
    player = player_for(game, loaded)
    try:
        for (kind, _), positions in groups.items():
            for at in range(0, len(positions), BATCH):
                batch = positions[at : at + BATCH]
                try:
                    _ask_batch(player, kind, batch, views, actions, faults)
                except Unsettled:
                    _ask_one_by_one(loaded, game, kind, batch, views, actions, faults)
                if faults:  # one is enough, and each may cost its limit of time
                    return actions, faults
    finally:
        player.close()
    return actions, faults


def _ask_one_by_one(
    loaded: LoadedBot,
    game: Game,
    kind: int,
    positions: Sequence[int],
    views: Any,
    actions: Any,
    faults: dict[int, Fault],
) -> None:
    """Ask at each view in a child of its own, until one is at fault, as the driver does."""
    for position in positions:
        player = player_for(game, loaded)
        try:
            _ask_batch(player, kind, [position], views, actions, faults)
        finally:
            player.close()
        if faults:
            return


def _ask_batch(
    player: Any,
    kind: int,
    positions: Sequence[int],
    views: Any,
    actions: Any,
    faults: dict[int, Fault],
) -> None:
    keys = [lane << SEAT_BITS for lane in range(len(positions))]
    player.start(keys)
    player.post(kind, keys, np.array([views[position][1] for position in positions], np.int64))
    got, wrong = as_actions(player.collect())
    for place, position in enumerate(positions):
        actions[position] = got[place]
        if place in wrong:
            faults[position] = wrong[place]
        elif int(got[place]) not in views[position][2]:
            faults[position] = Fault(
                "illegal", f"returned {int(got[place])}; legal are {views[position][2]}"
            )
