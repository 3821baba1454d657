"""Options and fixtures of the whole suite.

Compiled rules run with their bounds checked (`LADDER_CHECKED`), so that an index out of range is
a failure here and not silent garbage; the command line in its own process runs them as shipped.
With `LADDER_CHECKED=0` set from outside they run as shipped here too, several times as fast.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("LADDER_CHECKED", "1")

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ladder", deadline=None)  # a first example compiles
settings.load_profile("ladder")

ROOT = Path(__file__).parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden playthroughs anew"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@dataclass
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def ladder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`ladder WORD ...` in this process; gives exit code and output."""
    from ladder.cli import main

    def run(*words: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["ladder", *map(str, words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
        return Ended(code, *capsys.readouterr())

    return run
