"""The verdict on a bot: bundles its source, lets a fresh process judge it, reads what that says.

The bot's code runs in the other process only. It gets the bundle, not the path, so a bot that
passes is one that can be stored and played without its file.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any

from ladder.bots import LoadedBot, PortableBot, available, split_word
from ladder.errors import BotLoadError, InfraError
from ladder.games import GAMES
from ladder.sources import Source, bundle_of

ALLOWED_S = 120.0
DECISION_S = 30.0  # far more than any ladder allows; a bot may solve something at its first
STEPS = {
    "loads": "being imported",
    "contract": "having its contract looked at",
    "legal": "being asked at fuzzed views",
    "deterministic": "being asked the same again",
    "compiles": "being compiled",
    "plays": "playing the levels",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: `ok`, `note` (worth knowing) or `fault` (may not enter)."""

    check: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What came of a check."""

    reference: str
    source: Source
    class_name: str
    findings: tuple[Finding, ...]
    game: str = ""
    about: str = ""
    params: tuple[tuple[str, Any], ...] = ()
    table: tuple[dict[str, Any], ...] = ()
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def is_passed(self) -> bool:
        """Whether the bot may enter."""
        return not self.reasons

    @property
    def reasons(self) -> list[str]:
        """Why it may not."""
        return [f"{f.check}: {f.detail}" for f in self.findings if f.verdict == "fault"]

    @property
    def portable(self) -> PortableBot:
        """The bot as it can be stored."""
        return PortableBot(self.reference, self.class_name, self.params, self.source)

    @property
    def version(self) -> str:
        """Its version; '' where it never loaded."""
        return version_of(self.portable) if self.game else ""


def version_of(bot: PortableBot) -> str:
    """The version of a bot that is not loaded."""
    return LoadedBot.version_of(bot.source, bot.class_name, bot.params)


def check_word(
    word: str,
    *,
    game: str | None = None,
    params: dict[str, Any] | None = None,
    matches: int | None = None,
    allowed_s: float = ALLOWED_S,
    decision_s: float = DECISION_S,
) -> Verdict:
    """Check the bot that one word names.

    `params` are values; those in the word are read as the bot declares them. `matches` against
    each level, by default as many as take a second or two.

    Raises: BotLoadError where there is nothing to check.
    """
    reference, texts = split_word(word)
    where, class_name = _place(reference, game)
    source = bundle_of(where)
    request = {
        "module": source.module,
        "files": [[name, base64.b64encode(c).decode()] for name, c in source.files],
        "reference": reference,
        "class_name": class_name,
        "game": game,
        "texts": texts,
        "params": params or {},
        "matches": matches,
        "decision_s": decision_s,
    }
    lines, ending = _ask(request, allowed_s)
    return _verdict(reference, source, class_name, lines, ending)


def _place(reference: str, game: str | None) -> tuple[str, str]:
    """The file or module of a reference, and its class."""
    where, colon, name = reference.rpartition(":")
    if colon and where and name:
        return where, name
    found = [
        listing
        for each in ([game] if game else GAMES)
        for listing in available(each)[0]
        if listing.name == reference
    ]
    if not found:
        raise BotLoadError(f"a bot is NAME, module:Class or file.py:Class (got {reference!r})")
    if len(found) > 1:
        games = ", ".join(listing.game for listing in found)
        raise BotLoadError(f"{reference}: plays {games}; say which with --game")
    where, _, name = found[0].reference.rpartition(":")
    return where, name


def _ask(request: dict[str, Any], allowed_s: float) -> tuple[list[dict[str, Any]], str]:
    """What the fresh process says, a value a line, and how it ended ('' where it should)."""
    with tempfile.TemporaryDirectory(prefix="ladder-check-") as folder:
        answers = os.path.join(folder, "answers")
        ending = ""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "ladder.check.probe", answers],
                input=json.dumps(request).encode(),
                capture_output=True,
                timeout=allowed_s,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
                check=False,
            )
            if done.returncode:
                last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
                signal = f"by signal {-done.returncode}" if done.returncode < 0 else ""
                ending = " ".join(["its process died", signal, *last]).replace("  ", " ")
        except subprocess.TimeoutExpired:
            ending = f"not done after {allowed_s:g} s"
        except OSError as error:
            raise InfraError(f"cannot start a process to check in: {error.strerror}") from None
        lines = []
        if os.path.exists(answers):
            with open(answers, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
    return lines, ending


def _verdict(
    reference: str, source: Source, class_name: str, lines: list[dict[str, Any]], ending: str
) -> Verdict:
    findings = [Finding(**line["finding"]) for line in lines if "finding" in line]
    about: dict[str, Any] = {}
    for line in lines:
        about |= line.get("about", {})
    if ending:
        step = [line["step"] for line in lines if "step" in line][-1:] or ["loads"]
        findings.append(Finding(step[0], "fault", f"{ending}, while {STEPS[step[0]]}"))
    size = sum(len(content) for _, content in source.files)
    files = ", ".join(name for name, _ in source.files)
    findings.insert(0, Finding("source", "ok", f"{size:,} bytes: {files}"))
    return Verdict(
        reference, source, class_name, tuple(findings), about.get("game", ""),
        about.get("about", ""), tuple((n, v) for n, v in about.get("params", [])),
        tuple(about.get("table", [])), about.get("figures", {}),
    )  # fmt: skip
