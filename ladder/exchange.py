"""Runs as files: exported for other programs, imported into another store with the same digest.

An export is a folder: `manifest.json`, one file each of bots, sources, pairings and ledger, and the
big ones, `matches` and `results`, in partitions by game and run. Every column is a plain number,
text or time, so Parquet, CSV and JSON lines hold the same.

An import plays nothing and trusts nothing: matches come in as chunks do from play, and the digest
is worked out anew from what arrived.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from ladder.errors import SpecError, StoreError
from ladder.paths import write_whole
from ladder.store import RunRow, Store
from ladder.store.freight import QUERIES

FORMAT = 1
UNFINISHED = "unfinished"  # stands in the folder until all of an export does
Kind = Literal["parquet", "csv", "jsonl"]
KINDS: tuple[Kind, ...] = ("parquet", "csv", "jsonl")


@dataclass(frozen=True)
class Exported:
    """What an export wrote."""

    folder: Path
    runs: list[str]
    matches: int
    files: int
    bytes: int


@dataclass(frozen=True)
class Imported:
    """One run of an import."""

    run: str
    name: str
    matches: int  # in the export
    added: int  # of them new in this store
    digest: str


def export_runs(store: Store, runs: list[RunRow], folder: Path, kind: Kind) -> Exported:
    """Write runs into a new or empty folder. Raises: SpecError, StoreError."""
    unfinished = folder / UNFINISHED
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            if not unfinished.is_file():
                raise SpecError(
                    f"{folder}: is there already; an export wants a new or empty folder"
                )
            _clear(folder)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
    except OSError as error:
        raise SpecError(f"{folder}: cannot be made: {error.strerror}") from None
    listed = []
    total = 0
    for run in runs:
        matches, digest = store.progress(run.run)
        total += matches
        listed.append({
            "run": run.run, "name": run.name, "game": run.game, "spec": run.spec,
            "key_id": run.key_id, "started_at": run.started_at.isoformat(),
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "entrants": [list(entrant) for entrant in run.entrants],
            "matches": matches, "digest": digest,
        })  # fmt: skip
    store.export_files([run.run for run in runs], folder, kind)
    manifest = {"format": FORMAT, "kind": kind, "runs": listed}
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    try:
        write_whole(folder / "manifest.json", text.encode())
        unfinished.unlink()
    except OSError as error:
        raise SpecError(f"{error.filename}: cannot be written: {error.strerror}") from None
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Exported(folder, [run.run for run in runs], total, len(files), size)


def _clear(folder: Path) -> None:
    """Take out what an export that did not come to its end has left."""
    for path in folder.iterdir():
        if path.stem in QUERIES:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def import_runs(store: Store, folder: Path) -> list[Imported]:
    """Take in what an export wrote; matches that are there already are left as they are.

    Raises: SpecError, StoreError; where a run's digest is not the exported one, nothing of it stays
    unnoticed: the error names it.
    """
    manifest = read_manifest(folder)
    store.create()
    taken = []
    for value in manifest["runs"]:
        added = store.import_files(value, folder, manifest["kind"])
        matches, digest = store.progress(value["run"])
        if digest != value["digest"]:
            raise StoreError(
                f"{folder}: run {value['run']} ({value['name']}) came to {matches:,} matches with"
                f" digest {digest}; its manifest says {value['matches']:,} and {value['digest']}"
            )
        taken.append(Imported(value["run"], value["name"], value["matches"], added, digest))
    return taken


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a folder says it holds. Raises: SpecError."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        known = manifest["format"], manifest["kind"]
        runs = [_checked(run) for run in manifest["runs"]]
    except OSError:
        raise SpecError(f"{folder}: is no export: it has no manifest.json") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SpecError(f"{path}: is not the manifest of an export") from None
    if known[0] != FORMAT or known[1] not in KINDS or not runs:
        raise SpecError(f"{path}: an export of format {known[0]}, kind {known[1]!r}, not of ours")
    return dict(manifest)


_KINDS_OF_FIELDS: dict[str, Any] = {
    "run": str, "name": str, "game": str, "spec": dict, "key_id": str, "started_at": str,
    "finished_at": str | None, "entrants": list, "matches": int, "digest": str,
}  # fmt: skip


def _checked(run: dict[str, Any]) -> dict[str, Any]:
    """A run of a manifest. Raises: ValueError, KeyError, TypeError where it is none of ours."""
    for field, kind in _KINDS_OF_FIELDS.items():
        if not isinstance(run[field], kind):
            raise TypeError(field)
    for time in (run["started_at"], run["finished_at"]):
        if time is not None:
            datetime.fromisoformat(time)
    for name, version in run["entrants"]:
        if not (isinstance(name, str) and isinstance(version, str)):
            raise TypeError("entrants")
    return run
