"""Ladder: a headless tournament and bot-ladder runner for the dice games Pasa and Pasha."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder.store import Opened

__all__ = ["open"]


def open(path: str | Path = "results/ladder.duckdb") -> Opened:
    """Open a store for questions: `ladder.open(path).results` is a DuckDB relation.

    Raises: StoreError.
    """
    from ladder.store import open_store

    return open_store(path)
