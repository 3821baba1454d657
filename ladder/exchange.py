"""Runs as files: exported for other programs, imported into another store with the same digest.

An export is a folder: `manifest.json`, one file each of bots, sources, pairings and ledger, and the
big ones, `matches` and `results`, in partitions by game and run. Every column is a plain number,
text or time, so Parquet, CSV and JSON lines hold the same.

An import plays nothing and trusts nothing: matches come in as chunks do from play, and the digest
is worked out anew from what arrived.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ladder.errors import SpecError, StoreError
from ladder.store import RunRow, Store

FORMAT = 1
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
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder}: is there already; an export wants a new or empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False))
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Exported(folder, [run.run for run in runs], total, len(files), size)


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
        runs = {run["run"]: (run["digest"], run["matches"]) for run in manifest["runs"]}
    except OSError:
        raise SpecError(f"{folder}: is no export: it has no manifest.json") from None
    except (ValueError, KeyError, TypeError):
        raise SpecError(f"{path}: is not the manifest of an export") from None
    if known[0] != FORMAT or known[1] not in KINDS or not runs:
        raise SpecError(f"{path}: an export of format {known[0]}, kind {known[1]!r}, not of ours")
    return dict(manifest)
