"""The process in which a bot is judged: reads a request, writes a line for each thing it finds.

As a program: `python -m ladder.check.probe ANSWERS`, the request as JSON on standard input.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ladder.bots import LoadedBot, class_in, filled_params
from ladder.driver import as_actions, fault_of
from ladder.errors import BotLoadError
from ladder.fuzz import fuzzed_views
from ladder.games import Game, get_game
from ladder.games.bot import bind, params_tuple, policy_of
from ladder.record import Fault
from ladder.sources import Source, restore

SLOW_MS = 20.0
BIG_MB = 200.0
MUCH_OUTPUT = 10_000
ADDRESS_SPACE = 8 << 30
ENOUGH = 20  # errors raised, and no more views are shown


class _Answers:
    """The file of answers; nothing that the bot prints gets into it."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - open as long as we live
        self.is_faulty = False

    def write(self, **value: Any) -> None:
        self._file.write(json.dumps(value) + "\n")
        self._file.flush()

    def find(self, check: str, verdict: str, detail: str) -> None:
        self.is_faulty |= verdict == "fault"
        self.write(finding={"check": check, "verdict": verdict, "detail": detail})


class _Output:
    """Standard output and error of the bot, in a file that is looked at in the end."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115

    @contextmanager
    def caught(self) -> Iterator[None]:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = os.dup(1), os.dup(2)
        os.dup2(self._file.fileno(), 1)
        os.dup2(self._file.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for to, one in enumerate(kept, 1):
                os.dup2(one, to)
                os.close(one)

    def text(self) -> tuple[int, str]:
        """Its size and its beginning."""
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        return size, self._file.read(200).decode(errors="replace")


class _Patience:
    """Ends a decision that takes too long: a bot that hangs is told where, not only that."""

    def __init__(self, allowed_s: float) -> None:
        self.allowed_s = allowed_s
        signal.signal(signal.SIGALRM, self._end)

    def _end(self, number: int, frame: Any) -> None:
        raise TimeoutError(f"no answer after {self.allowed_s:g} s")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_REAL, self.allowed_s)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Judge the bot of the request."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    request = json.load(sys.stdin)
    answers, output = _Answers(sys.argv[1]), _Output()
    files = tuple((name, base64.b64decode(text)) for name, text in request["files"])
    source = Source(request["module"], files)
    before_mb = _peak_mb()
    answers.write(step="loads")
    with output.caught():
        loaded = _load(request, source, answers)
    if loaded is None:
        return
    game = get_game(loaded.bot.game)
    answers.write(about={"game": game.name, "about": loaded.about, "params": list(loaded.params)})
    answers.find("loads", "ok", "in a fresh process, from its files alone")
    answers.write(step="contract")
    _contract(loaded, game, answers)
    with output.caught():
        answers.write(step="legal")
        patience = _Patience(request["decision_s"])
        figures, first = _legal(loaded, game, patience, answers)
        if not answers.is_faulty:
            answers.write(step="deterministic")
            _deterministic(loaded, game, patience, first, answers)
    figures["memory_mb"] = _peak_mb() - before_mb
    if not answers.is_faulty:
        answers.write(step="compiles")
        is_compiled = _compiles(loaded, game, answers)
        answers.write(step="plays")
        from ladder.check.table import quick_table

        with output.caught():
            quick_table(loaded, game, request["matches"], is_compiled, answers.find, answers.write)
    _memory(figures["memory_mb"], answers)
    _prints(output, answers)
    answers.write(about={"figures": figures})


def _load(request: dict[str, Any], source: Source, answers: _Answers) -> LoadedBot | None:
    try:
        module = restore(source)
        bot = class_in(module, request["class_name"], source.module, request["game"])
        params = filled_params(bot, request["texts"], request["params"])
        return LoadedBot(request["reference"], bot, params, source)
    except BotLoadError as error:
        for problem in error.problems:
            answers.find("loads", "fault", problem)
        return None


def _contract(loaded: LoadedBot, game: Game, answers: _Answers) -> None:
    own = [m for m in game.decisions.values() if getattr(loaded.bot, m) != getattr(game.bot, m)]
    if not own:
        answers.find(
            "contract", "note",
            f"decides nothing itself: has none of {', '.join(game.decisions.values())}",
        )  # fmt: skip
    for method in own:
        if not callable(getattr(loaded.bot, method)):
            answers.find("contract", "fault", f"{method} is not a function")
            return
    if not loaded.about:
        answers.find("contract", "note", "has no docstring: a line that says what it does")
    kinds = [f"{m} ({'policy' if policy_of(loaded.bot, m) else 'may remember'})" for m in own]
    if own:
        answers.find("contract", "ok", f"plays {game.name}; decides {', '.join(kinds)}")


def asker(loaded: LoadedBot, game: Game) -> Callable[[int, Any], Any]:
    """(kind, view) -> answer, of a new bot object."""
    given = dict(loaded.params)
    made = bind(loaded.bot, given)()
    params = params_tuple(loaded.bot, given)
    calls: dict[int, Callable[[Any], Any]] = {}
    for kind, method in game.decisions.items():
        policy = policy_of(loaded.bot, method)
        if policy is None:
            calls[kind] = getattr(made, method)
        else:
            calls[kind] = partial(_ask_policy, policy, params)
    return lambda kind, view: calls[kind](view)


def _ask_policy(policy: Callable[..., Any], params: Any, view: Any) -> Any:
    return policy(view, params)


@dataclass
class _Asked:
    """What one bot object answered to the fuzzed views, in their order, as far as it got."""

    actions: Any
    faults: dict[int, Fault]
    times_ms: list[float]


def _ask_all(loaded: LoadedBot, game: Game, patience: _Patience) -> _Asked:
    answers: list[Any] = []
    times = []
    failed = 0
    ask = asker(loaded, game)
    for kind, view, _ in fuzzed_views(game.name):
        with patience.waiting():
            begun = time.perf_counter()
            try:
                answer = ask(kind, view)
            except BaseException as error:  # noqa: BLE001 - whatever a bot raises is its fault
                answer = fault_of(error)
                failed += ENOUGH if isinstance(error, TimeoutError) else 1
            times.append(1000 * (time.perf_counter() - begun))
        answers.append(answer)
        if failed >= ENOUGH:
            break
    actions, faults = as_actions(answers)
    for position, (_, _, legal) in enumerate(fuzzed_views(game.name)[: len(answers)]):
        if position not in faults and int(actions[position]) not in legal:
            got = int(actions[position])
            faults[position] = Fault("illegal", f"returned {got}; legal are {legal}")
    return _Asked(actions, faults, times)


def _legal(
    loaded: LoadedBot, game: Game, patience: _Patience, found: _Answers
) -> tuple[dict[str, float], Any]:
    try:
        asked = _ask_all(loaded, game, patience)
    except BaseException as error:  # noqa: BLE001
        found.find("legal", "fault", f"cannot be made: {fault_of(error).detail}")
        return {}, None
    num_views = len(asked.times_ms)
    if asked.faults:
        first = min(asked.faults)
        kind, view, _ = fuzzed_views(game.name)[first]
        fault = asked.faults[first]
        found.find(
            "legal", "fault",
            f"{len(asked.faults):,} fault{'s' * (len(asked.faults) != 1)} at {num_views:,} views of"
            f" random play, the first in"
            f" {game.decisions[kind]}: {fault.cause}: {fault.detail}; at {view!r:.900}"
            + f"\n{fault.traceback}".rstrip(),
        )  # fmt: skip
    else:
        found.find("legal", "ok", f"at {num_views:,} views of random play, 2 seats and more")
    figures = {
        f"decision_ms_{name}": float(np.percentile(asked.times_ms, at))
        for name, at in (("p50", 50), ("p95", 95), ("p99", 99), ("max", 100))
    }
    shown = ", ".join(f"{name[12:]} {value:.3f}" for name, value in figures.items())
    slow = figures["decision_ms_p99"] > SLOW_MS
    found.find("time", "note" if slow else "ok", f"ms a decision: {shown}")
    return figures, asked.actions


def _deterministic(
    loaded: LoadedBot, game: Game, patience: _Patience, first: Any, found: _Answers
) -> None:
    again = _ask_all(loaded, game, patience).actions
    other = np.flatnonzero(first[: len(again)] != again[: len(first)])
    if not len(other):
        found.find("deterministic", "ok", "the same answers from two new objects")
        return
    kind, view, _ = fuzzed_views(game.name)[other[0]]
    found.find(
        "deterministic", "fault",
        f"{game.decisions[kind]}: {first[other[0]]}, asked again {again[other[0]]}, at"
        f" {view!r:.900}; draw from view.luck, not from random or the clock",
    )  # fmt: skip


def _compiles(loaded: LoadedBot, game: Game, found: _Answers) -> bool:
    from ladder.playout import compile_bots

    refused = compile_bots(game, [loaded]).refused
    if refused:
        found.find("compiles", "note", f"no: {refused[0]}; it is played in Python")
        return False
    found.find("compiles", "ok", "to machine code")
    return True


def _memory(memory_mb: float, found: _Answers) -> None:
    verdict = "note" if memory_mb > BIG_MB else "ok"
    found.find("memory", verdict, f"{memory_mb:.0f} MB to be imported and asked")


def _prints(output: _Output, found: _Answers) -> None:
    size, text = output.text()
    if size:
        verdict = "fault" if size > MUCH_OUTPUT else "note"
        found.find("prints", verdict, f"{size:,} bytes, beginning {text!r}")
    else:
        found.find("prints", "ok", "nothing")


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
