"""A chunk of matches as the Arrow tables that go into the store, column for column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ladder import ledger
from ladder.record import Record, Segment


def part_of(record: Record, segments: Sequence[Segment], which: Sequence[int]) -> Record:
    """The record of some of a chunk's segments."""
    starts = np.cumsum([0, *(segment.count for segment in segments)])
    rows = np.concatenate(
        [np.zeros(0, np.int64), *(np.arange(starts[i], starts[i + 1]) for i in which)]
    )
    return record.take(rows)


def chunk_tables(
    ids: Any, record: Record, segments: Sequence[Segment], keep: str
) -> dict[str, pa.Table]:
    """The rows of a chunk by table; with keep "summary" no matches."""
    counts = np.array([segment.count for segment in segments])
    firsts = np.array([segment.first for segment in segments])
    starts = np.cumsum(counts) - counts
    of_match = np.repeat(ids, counts)
    repetition = np.arange(len(record)) - np.repeat(starts - firsts, counts)
    tables = {
        "t_faults": _fault_table(of_match, repetition, record),
        "t_ledger": ledger_table(ids, record, segments, is_kept=keep == "results"),
    }
    if keep == "summary":
        return tables
    seats = record.places.shape[1]
    tables["t_matches"] = pa.table(
        {
            "pairing_id": of_match,
            "repetition": repetition,
            "chances": record.chances,
            "decisions": record.decisions,
            "termination": record.termination,
            "digest": record.digest,
        }
    )
    tables["t_seats"] = pa.table(
        {
            "pairing_id": np.repeat(of_match, seats),
            "repetition": np.repeat(repetition, seats),
            "seat": np.tile(np.arange(seats, dtype=np.int8), len(record)),
            "score": record.scores.ravel(),
            "place": record.places.ravel(),
            "faults": record.faults.ravel(),
        }
    )
    return tables


def _fault_table(of_match: Any, repetition: Any, record: Record) -> pa.Table:
    rows = record.fault_rows
    return pa.table(
        {
            "pairing_id": pa.array([int(of_match[f.row]) for f in rows], pa.int64()),
            "repetition": pa.array([int(repetition[f.row]) for f in rows], pa.int64()),
            "seat": pa.array([f.seat for f in rows], pa.int8()),
            "decision": pa.array([f.decision for f in rows], pa.int32()),
            "cause": pa.array([f.fault.cause for f in rows], pa.string()),
            "detail": pa.array([_text(f.fault.detail) for f in rows], pa.string()),
            "traceback": pa.array([_text(f.fault.traceback) for f in rows], pa.string()),
        }
    )


def _text(text: str) -> str:
    """Text that can be stored, whatever a bot put into its message."""
    return text.encode("utf-8", "replace").decode()


def ledger_table(
    ids: Any, record: Record, segments: Sequence[Segment], *, is_kept: bool
) -> pa.Table:
    """The ledger rows of a chunk; `is_kept` says that the matches are stored as well."""
    rows = ledger.summarise(record, segments)
    seats = record.places.shape[1]
    ends = np.concatenate([[0], rows.pattern_ends])
    each = np.arange(len(segments) + 1)

    def lists(offsets: Any, values: Any) -> pa.ListArray:
        flat = pa.array(np.ascontiguousarray(values).ravel(), pa.int64())
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)

    return pa.table(
        {
            "pairing_id": pa.array(ids, pa.int64()),
            "first": pa.array([segment.first for segment in segments], pa.int64()),
            "count": pa.array([segment.count for segment in segments], pa.int64()),
            "is_kept": pa.array([is_kept] * len(segments), pa.bool_()),
            "digest": rows.digest,
            "chances": rows.chances,
            "decisions": rows.decisions,
            "faults": lists(each * seats, rows.faults),
            "products": lists(each * seats * seats, rows.products),
            "patterns": lists(ends, rows.patterns),
            "pattern_counts": lists(ends, rows.pattern_counts),
            "pattern_scores": lists(ends * seats, rows.pattern_scores),
        }
    )
