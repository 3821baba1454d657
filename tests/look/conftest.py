"""Stores that the tests of this folder read, each played once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import run_text

FAULTY = "tests/faulty_bots.py:"
PASA_SPEC = f"""\
name: seen
game: pasa
table: {{seats: 3, rounds: 1, chips: 100}}
seed: 7
entrants: [Easy, Hard, Uniform, "{FAULTY}RaisesOnce"]
format: {{kind: round_robin, matches: 30}}
"""
PASHA_SPEC = """\
name: board
game: pasha
table: {seats: 2}
seed: 8
entrants: [Simple, Random]
format: {kind: round_robin, matches: 6}
"""


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of Pasa and a run of Pasha; nobody writes to it."""
    db = tmp_path_factory.mktemp("look") / "played.duckdb"
    run_text(PASA_SPEC, db)
    run_text(PASHA_SPEC, db)
    return db
