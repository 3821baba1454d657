"""A store open for questions, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ladder.store.runs import Store

VIEWS = ("runs", "bots", "matches", "results", "ratings", "rating_history", "faults")


class Opened:
    """A store open for questions: its views as DuckDB relations, and as tables of other libraries.

    Whoever plays into the same file waits meanwhile; so close it, or use it in a `with`.
    """

    def __init__(self, path: Path) -> None:
        store = Store(path)
        with store._reading():
            pass  # says in words what is wrong with the file
        self._db = store._connect(read_only=True)

    def __getattr__(self, name: str) -> Any:
        if name not in VIEWS:
            raise AttributeError(f"a store has the views {', '.join(VIEWS)} (got {name!r})")
        return self._db.table(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *VIEWS]

    def sql(self, query: str) -> Any:
        """A relation of any query over the views."""
        return self._db.sql(query)

    def arrow(self, query: str) -> Any:
        """A view or a query as an Arrow table."""
        return self._of(query).to_arrow_table()

    def polars(self, query: str) -> Any:
        """A view or a query as a Polars frame; Polars has to be installed."""
        return self._of(query).pl()

    def pandas(self, query: str) -> Any:
        """A view or a query as a pandas frame; pandas has to be installed."""
        return self._of(query).df()

    def _of(self, query: str) -> Any:
        return self._db.table(query) if query in VIEWS else self._db.sql(query)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(path: str | Path = "results/ladder.duckdb") -> Opened:
    """Open a store for questions. Raises: StoreError."""
    return Opened(Path(path))
