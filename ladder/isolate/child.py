"""What runs in the child process: locks itself down, loads the bot, answers batches of decisions.

From `load` on, strangers' code runs here. Whatever it does to this module it does to its own
answers only: we take nothing from the child but typed frames with the nonce of our question.
"""

from __future__ import annotations

import faulthandler
import fcntl
import gc
import io
import operator
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from ladder.games import get_game
from ladder.games.bot import bind, params_tuple, policy_of
from ladder.isolate import protocol
from ladder.isolate.bundled import FOLDER, import_bundle
from ladder.isolate.lockdown import ATTESTED, Walls, attest, enter
from ladder.isolate.protocol import (
    ACT,
    ANSWERS,
    BEGIN,
    BEGUN,
    DESCRIBE,
    DESCRIBED,
    FAILED,
    LOAD,
    LOADED,
    READY,
)
from ladder.isolate.verdict import EXIT_MEMORY

REQUESTS, ANSWERS_TO = 3, 4  # file descriptors
REQUEST_BYTES = 1 << 18  # read at once
EXIT_NOT_LOCKED = 78
HIGH = 64  # descriptors from here on are in nobody's way


def run(walls: Walls, *, stdin: int, output: int, requests: int, answers: int) -> None:
    """The child's life, from the fork on; ends with the process."""
    descriptors = (stdin, output, output, requests, answers)
    _take_descriptors(descriptors, keep=walls.ruleset)
    faulthandler.enable(2)
    sys.stdin, sys.stdout, sys.stderr = (_text_stream(number) for number in range(3))
    enter(walls)
    held = attest(walls.memory_bytes)
    _send(READY, 0, held)
    if held != ATTESTED:
        os._exit(EXIT_NOT_LOCKED)
    try:
        _serve(io.BufferedReader(io.FileIO(REQUESTS, closefd=False), REQUEST_BYTES))
    except MemoryError:
        os._exit(EXIT_MEMORY)
    except SystemExit as stop:
        os._exit(stop.code if isinstance(stop.code, int) else int(stop.code is not None))


def _take_descriptors(sources: tuple[int, ...], *, keep: int) -> None:
    """Make the sources descriptors 0 .. 4, and close all others but `keep`."""
    copies = [fcntl.fcntl(source, fcntl.F_DUPFD, HIGH) for source in sources]
    for target, copy in enumerate(copies):
        os.dup2(copy, target)
    os.closerange(len(sources), keep)
    os.closerange(keep + 1, 1 << 16)


def _text_stream(number: int) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w" if number else "r", closefd=False)
    buffered = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
    return io.TextIOWrapper(buffered, "utf-8", "backslashreplace", line_buffering=True)


def _send(kind: int, nonce: int, payload: bytes) -> None:
    rest = memoryview(protocol.frame(kind, nonce, payload))
    while rest:
        rest = rest[os.write(ANSWERS_TO, rest) :]


def _receive(requests: io.BufferedReader) -> tuple[int, int, bytes]:
    head = requests.read(protocol.HEADER.size)
    if len(head) < protocol.HEADER.size:
        os._exit(0)  # our parent has no more questions
    size, kind, nonce = protocol.HEADER.unpack(head)
    return kind, nonce, requests.read(size)


def _serve(requests: io.BufferedReader) -> None:
    kind, nonce, payload = _receive(requests)
    gc.enable()
    if kind == DESCRIBE:
        _describe(nonce, payload)
    if kind != LOAD:
        raise SystemExit(EXIT_NOT_LOCKED)
    try:
        desk = Desk(payload)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a bot raises is its fault
        _send(FAILED, nonce, protocol.pack_claim(claim_of(0, error, "init_failed")))
        os._exit(0)
    _send(LOADED, nonce, bytes([desk.has_constructor]))
    while True:
        kind, nonce, payload = _receive(requests)
        node, ended, keys, numbers, width = protocol.parse_question(payload)
        desk.forget(ended)
        if kind == BEGIN:
            desk.begin(keys)
            _send(BEGUN, nonce, b"")
        elif kind == ACT:
            actions, claims = desk.decide(node, keys, numbers, width)
            _send(ANSWERS, nonce, protocol.pack_answers(actions, claims))


def _describe(nonce: int, payload: bytes) -> NoReturn:
    """Tell what a class is; that is all this child is for."""
    from ladder.isolate.portrait import pack_portrait, portray, why

    _, bundle = protocol.parse_bundle(payload)
    try:
        told = pack_portrait(portray(import_bundle(bundle.module, bundle.files), bundle.bot))
    except BaseException as error:  # noqa: BLE001 - whatever a bot raises is its fault
        _send(FAILED, nonce, protocol.pack_claim((0, "init_failed", why(error), "")))
    else:
        _send(DESCRIBED, nonce, told)
    os._exit(0)


class Desk:
    """The loaded bot, and the bot objects of the matches it is in."""

    def __init__(self, bundle_payload: bytes) -> None:
        game_name, bundle = protocol.parse_bundle(bundle_payload)
        game = get_game(game_name)
        params = dict(bundle.params)
        bot = getattr(import_bundle(bundle.module, bundle.files), bundle.bot)
        self._view = game.view
        self._params = params_tuple(bot, params)
        self._make = bind(bot, params)
        self._methods = game.decisions
        self._policies = {k: policy_of(bot, name) for k, name in game.decisions.items()}
        self._bots: dict[int, Any] = {}
        remembers = None in self._policies.values()
        plain = bot.__init__ is object.__init__ and bot.__new__ is object.__new__
        self.has_constructor = remembers and not plain

    def forget(self, keys: list[int]) -> None:
        """These matches ended."""
        for key in keys:
            self._bots.pop(key, None)

    def begin(self, keys: list[int]) -> None:
        """Make the bot objects of new matches; one that fails is told at its first decision."""
        for key in keys:
            try:
                self._bots[key] = self._make()
            except SystemExit:
                raise
            except BaseException as error:  # noqa: BLE001
                self._bots[key] = claim_of(0, error, "init_failed")

    def decide(
        self, node: int, keys: list[int], numbers: list[int], width: int
    ) -> tuple[list[int], list[protocol.Claim]]:
        """An answer for every key, 0 where there is a claim instead."""
        # Rows of `width` numbers, without slicing: the same iterator `width` times over.
        views = list(map(self._view, zip(*[iter(numbers)] * width, strict=True)))
        policy, params = self._policies[node], self._params
        if policy is not None:
            try:
                answers = [policy(view, params) for view in views]
                if _are_actions(answers):
                    return answers, []
            except SystemExit:
                raise
            except BaseException:  # noqa: BLE001 - asked one by one below: it is a function
                pass
            return _settle(lambda _, view: policy(view, params), keys, views)
        method = self._methods[node]
        return _settle(lambda key, view: self._decision_of(key, method)(view), keys, views)

    def _decision_of(self, key: int, method: str) -> Callable[[Any], Any]:
        bot = self._bots.get(key)
        if bot is None:
            self.begin([key])
            bot = self._bots[key]
        if type(bot) is tuple:
            raise _Failed(bot)
        return getattr(bot, method)  # type: ignore[no-any-return]


MAX_ACTION = 2**62
NO_MEMORY: protocol.Claim = (0, "memory", "MemoryError: no memory left", "")


def _are_actions(answers: list[Any]) -> bool:
    return set(map(type, answers)) <= {int} and (
        not answers or -MAX_ACTION <= min(answers) <= max(answers) <= MAX_ACTION
    )


def _settle(
    decide: Callable[[int, Any], Any], keys: list[int], views: list[Any]
) -> tuple[list[int], list[protocol.Claim]]:
    """Ask one by one, and make a claim of whatever is not an action."""
    actions: list[int] = []
    claims: list[protocol.Claim] = []
    for key, view in zip(keys, views, strict=True):
        try:
            answer = decide(key, view)
            if type(answer) is int and -MAX_ACTION <= answer <= MAX_ACTION:
                actions.append(answer)
                continue
            claim = None
        except SystemExit:
            raise
        except MemoryError:
            claim = NO_MEMORY
        except _Failed as failed:
            claim = failed.claim
        except BaseException as error:  # noqa: BLE001 - whatever a bot raises is its fault
            claim = claim_of(0, error, "exception")
        if claim is None:
            actions.append(_as_action(answer, len(actions), claims))
            continue
        if claim is NO_MEMORY:  # by now the frames that held the memory are gone
            gc.collect()
        claims.append((len(actions), *claim[1:]))
        actions.append(0)
    return actions, claims


class _Failed(Exception):
    """A bot object that could not be made."""

    def __init__(self, claim: protocol.Claim) -> None:
        super().__init__()
        self.claim = claim


def _as_action(answer: Any, position: int, claims: list[protocol.Claim]) -> int:
    """Any integer type will do but bool; anything else is an illegal answer."""
    what = "not an integer"
    try:
        if not isinstance(answer, bool):
            action = operator.index(answer)
            if -MAX_ACTION <= action <= MAX_ACTION:
                return int(action)
            what = "out of any range"
    except BaseException:  # noqa: BLE001 - a bot's object may do anything
        pass
    claims.append((position, "illegal", f"returned {_shown(answer)}, {what}", ""))
    return 0


def _shown(answer: Any) -> str:
    try:
        text = repr(answer)
    except BaseException:  # noqa: BLE001
        text = "an object whose repr raises"
    return f"{text[:80]} ({type(answer).__name__[:80]})"


def claim_of(position: int, error: BaseException, cause: str) -> protocol.Claim:
    """What a bot raised, with the part of the traceback that is its own."""
    if isinstance(error, MemoryError):
        cause = "memory" if cause == "exception" else cause
    try:
        detail = f"{type(error).__name__}: {error}"
        if isinstance(error, PermissionError) and "refused" not in detail:
            detail += " (refused to sandboxed bots: files, processes, threads, network, signals)"
        trace = error.__traceback__
        first = trace
        while first is not None and not first.tb_frame.f_code.co_filename.startswith(FOLDER):
            first = first.tb_next
        lines = traceback.format_exception(type(error), error, first or trace)
        return (position, cause, detail, "".join(lines))
    except BaseException:  # noqa: BLE001 - its __str__ may raise
        return (position, cause, f"{type(error).__name__}: it cannot be shown", "")
