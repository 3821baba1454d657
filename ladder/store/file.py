"""The store's file: made, opened for a moment, carried over from an older schema, copied."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb

from ladder.errors import StoreError

SCHEMA = 3
LOCK_PATIENCE_S = 10.0
OPTIONS = {"threads": "2", "memory_limit": "2GB"}
STEPS = {1: "schema_2.sql", 2: "schema_3.sql"}  # what carries a store of that schema to the next


class DamagedError(StoreError):
    """A store whose files contradict each other."""


class StoreFile:
    """A store file. Every method opens it, does one thing, and closes it."""

    def __init__(self, path: Path, *, patience_s: float | None = None) -> None:
        """`patience_s`: how long to wait for others to let go of the file."""
        self.path = path
        self._patience_s = patience_s

    def create(self) -> None:
        """Make the file and its tables where they are missing. Raises: StoreError."""
        self._is_there()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot make its folder: {error.strerror}") from None
        with self._open() as db:
            known = db.execute(
                "SELECT count(*) FROM duckdb_tables() WHERE table_name = 't_store'"
            ).fetchall()
            if known == [(0,)]:
                if db.execute("SELECT count(*) FROM duckdb_tables()").fetchall() != [(0,)]:
                    raise StoreError(f"{self.path}: is a DuckDB file of something else")
                db.execute("BEGIN")
                db.execute(_script("schema.sql"))
                for step in STEPS.values():
                    db.execute(_script(step))
                db.execute("INSERT INTO t_store VALUES (?)", [SCHEMA])
                db.execute("COMMIT")
                db.execute("CHECKPOINT")  # DDL replayed from the log is where DuckDB has failed
            schema = self._schema(db)
        if schema in STEPS:
            self._carry_over(schema)
        elif schema != SCHEMA:
            raise self._other_schema(schema)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a query over the views."""
        return self._read(sql, parameters)

    def back_up(self, to: Path) -> None:
        """Copy the whole store into a new file, which appears there complete or not at all."""
        waiting = to.with_name(f"{to.name}.part")
        try:
            to.parent.mkdir(parents=True, exist_ok=True)
            for left in (waiting, _log_of(waiting)):
                left.unlink(missing_ok=True)
            with self._open() as db:
                ((name,),) = db.execute("SELECT current_database()").fetchall()
                db.execute(f"ATTACH {_quoted(str(waiting))} AS the_copy")
                db.execute(f'COPY FROM DATABASE "{name}" TO the_copy')
                db.execute("CHECKPOINT the_copy")
                db.execute("DETACH the_copy")
            _sync(waiting)
            waiting.replace(to)
        except OSError as error:
            raise StoreError(f"{to}: cannot be written: {error.strerror}") from None

    def put_back(self, backup: Path) -> Path | None:
        """Put a backup in this store's place; where the file that was there is kept, if any.

        Raises: StoreError where the backup is no store, or this one is in use.
        """
        if not backup.exists():
            raise StoreError(f"{backup}: no such backup; a night names its own at the end")
        with StoreFile(backup)._reading():
            pass
        kept = _free_name(self.path.with_name(f"{self.path.name}.before-restore"))
        waiting = self.path.with_name(f"{self.path.name}.part")
        is_there = self._is_there()
        if is_there:
            try:
                with self._open():  # nobody else may have it open
                    pass
            except DamagedError:
                pass  # that is what backups are for
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(backup, waiting)
            _sync(waiting)
            if is_there:
                if _log_of(self.path).exists():
                    _log_of(self.path).replace(_log_of(kept))
                os.link(self.path, kept)
            waiting.replace(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be restored: {error.strerror}") from None
        return kept if is_there else None

    def _carry_over(self, schema: int) -> None:
        """Bring an older store to this schema, a copy of it kept beside it."""
        kept = self.path.with_name(f"{self.path.name}.schema-{schema}")
        try:
            if not kept.exists():
                waiting = self.path.with_name(f"{kept.name}.part")
                shutil.copyfile(self.path, waiting)
                _sync(waiting)
                waiting.replace(kept)
        except OSError as error:
            raise StoreError(f"{kept}: cannot be written: {error.strerror}") from None
        with self._open() as db:
            found = self._schema(db)
            db.execute("BEGIN")
            while found < SCHEMA:
                db.execute(_script(STEPS[found]))
                found += 1
            db.execute("UPDATE t_store SET schema = ?", [SCHEMA])
            db.execute("COMMIT")
            db.execute("CHECKPOINT")

    def _read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._reading() as db:
            rows: list[tuple[Any, ...]] = db.execute(sql, list(parameters)).fetchall()
            return rows

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        if not self._is_there():
            raise StoreError(f"{self.path}: no such store; `ladder run SPEC` makes one")
        with self._open(read_only=True) as db:
            schema = self._schema(db)
            if schema == SCHEMA:
                yield db
                return
        if schema not in STEPS:
            raise self._other_schema(schema)
        self._carry_over(schema)
        with self._open(read_only=True) as db:
            yield db

    @contextmanager
    def _write(self) -> Iterator[Any]:
        with self._open() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def _open(self, *, read_only: bool = False) -> Iterator[Any]:
        """A connection, once nobody else holds the file. Raises: StoreError."""
        db = self._connect(read_only=read_only)
        try:
            yield db
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise StoreError(_write_problem(self.path, reason)) from error
        finally:
            db.close()

    def _connect(self, *, read_only: bool) -> Any:
        self._is_there()
        path = str(self.path.absolute())  # a bare name as :memory: or md:x means more to DuckDB
        patience_s = LOCK_PATIENCE_S if self._patience_s is None else self._patience_s
        waited = time.monotonic() + patience_s
        while True:
            try:
                return duckdb.connect(path, read_only=read_only, config=OPTIONS)
            except duckdb.Error as error:
                if "lock" not in str(error).lower() or time.monotonic() > waited:
                    raise _open_problem(self.path, str(error)) from None
            time.sleep(0.05)

    def _is_there(self) -> bool:
        """Whether there is a file. Raises: StoreError where something else is, or can only be."""
        try:
            mode = self.path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be opened: {error.strerror}") from None
        except ValueError:  # a null byte
            raise StoreError(f"{self.path}: cannot be the name of a store") from None
        if not stat.S_ISREG(mode):
            what = "directory" if stat.S_ISDIR(mode) else "pipe or a device"
            raise StoreError(f"{self.path}: is a {what}, not a store")
        return True

    def _schema(self, db: Any) -> int:
        try:
            rows = db.execute("SELECT schema FROM t_store").fetchall()
        except duckdb.Error:
            raise StoreError(f"{self.path}: is not a Ladder store") from None
        return int(rows[0][0]) if rows else 0

    def _other_schema(self, schema: int) -> StoreError:
        return StoreError(f"{self.path}: has schema {schema}, this Ladder {SCHEMA}")


def _script(name: str) -> str:
    return files("ladder").joinpath(name).read_text(encoding="utf-8")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _free_name(path: Path) -> Path:
    number = 1
    while path.with_name(f"{path.name}-{number}").exists():
        number += 1
    return path.with_name(f"{path.name}-{number}")


def _open_problem(path: Path, message: str) -> StoreError:
    first = message.splitlines()[0]
    if "lock" in message.lower():
        holder = first.partition("Conflicting lock is held in ")[2] or first
        return StoreError(
            f"{path}: another process is using it ({holder}); try again when it is done"
        )
    if "wal" in message.lower() or "checksum" in message.lower():
        return DamagedError(
            f"{path}: is damaged ({first}); nothing was changed. Keep {path} and {_log_of(path)} as"
            " they are, put the last backup in their place (`ladder restore`), and run the same"
            " command again: what the backup lacks is played again"
        )
    return StoreError(f"{path}: cannot be opened: {first}")


def _write_problem(path: Path, reason: str) -> str:
    if "no space left" in reason.lower() or "disk full" in reason.lower():
        return (
            f"{path}: the disk is full; what was stored stays. Make room, and run the same command"
            " again: it goes on where it stopped"
        )
    return f"{path}: {reason}"
