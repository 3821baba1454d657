"""What is printed of matches seen again: replays, verdicts, transcripts, pages, exports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ladder.exchange import Exported, Imported
from ladder.page.write import Written
from ladder.printing.output import print_json
from ladder.proof.replays import Move
from ladder.proof.replays import Replay as StoredReplay
from ladder.proof.verify import Verdict
from ladder.proof.verify import as_values as verdict_values
from ladder.script import Replay
from ladder.transcript import Judged


def print_replay(replay: Replay, *, as_json: bool) -> None:
    """A scripted match, state by state."""
    if as_json:
        print_json(
            {
                "states": replay.states,
                replay.score_key: replay.scores,
                "win_share": replay.win_share,
            }
        )
        return
    for line in replay.lines:
        sys.stdout.write(line + "\n")


def print_stored_replay(
    replay: StoredReplay, *, first: int, pause: Callable[[], bool] | None, as_json: bool
) -> None:
    """A stored match, move by move; `pause` is asked after each move whether to go on."""
    match, names = replay.match, replay.match.pairing.names
    if as_json:
        moves = [_move_values(move) for move in replay.moves()]
        print_json(_replay_values(replay, moves[first - 1 :]))
        return
    seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(names))
    sys.stdout.write(f"match {match.match} of run {match.run}: {replay.game.title}\n{seats}\n")
    shows = True
    for move in replay.moves():
        if move.step.number < first or not shows:
            continue
        who = "" if move.seat is None else f"seat {move.seat} ({move.bot}) "
        sys.stdout.write(f"{move.step.number:5}  {who}{move.words}\n")
        if move.table:
            sys.stdout.write(f"       {move.table}\n")
        shows = pause is None or pause()
    walk = replay.walk
    scores = ", ".join(
        f"{name} {score}{' wins' if place == 1 else ''}"
        for name, score, place in zip(names, walk.scores, walk.places, strict=True)
    )
    sys.stdout.write(f"end ({walk.termination}): {scores}\n")
    same = {
        True: "as it is stored",
        False: f"NOT as it is stored: {_hex(match.digest)}, {replay.game.score_key} "
        + " ".join(map(str, match.scores)),
        None: "the run kept counts alone, so there is nothing to compare it with",
    }
    sys.stdout.write(f"digest {walk.digest:016x}, {same[replay.is_same]}\n")


def _hex(digest: int | None) -> str | None:
    return None if digest is None else f"{digest:016x}"


def _move_values(move: Move) -> dict[str, Any]:
    values: dict[str, Any] = {
        "move": move.step.number, "seat": move.seat, "bot": move.bot or None,
        "action": move.action, "words": move.words, "decision": move.step.decision or None,
    }  # fmt: skip
    if move.step.fault:
        values["fault"] = {"cause": move.step.fault.cause, "detail": move.step.fault.detail}
    return {**values, **move.values}


def _replay_values(replay: StoredReplay, moves: list[dict[str, Any]]) -> dict[str, Any]:
    pairing, walk = replay.match.pairing, replay.walk
    pairs = zip(pairing.names, pairing.versions, strict=True)
    return {
        "match": replay.match.match,
        "run": replay.match.run,
        "game": replay.game.name,
        "table": pairing.table,
        "bots": [{"seat": s, "bot": n, "version": v} for s, (n, v) in enumerate(pairs)],
        "moves": moves,
        replay.game.score_key: walk.scores,
        "places": walk.places,
        "win_share": walk.win_share,
        "termination": walk.termination,
        "digest": f"{walk.digest:016x}",
        "stored_digest": _hex(replay.match.digest),
        "is_same": replay.is_same,
    }


def print_verdict(verdict: Verdict, *, as_json: bool) -> None:
    """What a verification found."""
    if as_json:
        print_json(verdict_values(verdict))
        return
    sys.stdout.write(
        f"run {verdict.run.run} ({verdict.run.name}): {verdict.matches:,} matches stored\n"
    )
    for check in verdict.checks:
        sys.stdout.write(f"{'ok   ' if check.is_ok else 'FAULT'}  {check.name}: {check.detail}\n")
    for blame in verdict.blames:
        who = f", {blame.bot} at seat {blame.seat}" if blame.bot else ""
        sys.stdout.write(f"match {blame.match}: {blame.cause}{who}: {blame.detail}\n")
    if verdict.different > len(verdict.blames):
        left = verdict.different - len(verdict.blames)
        sys.stdout.write(f"and {left:,} matches more that differ, whose cause was not looked for\n")


def judged_values(judged: Judged) -> dict[str, Any]:
    """What was found out about a program, as plain values."""
    checks = [{"name": n, "is_ok": ok, "detail": detail} for n, ok, detail in judged.checks]
    return {"bot": judged.reference, "is_ok": judged.is_ok, "checks": checks}


def print_judged(judged: Judged, *, as_json: bool) -> None:
    """What was found out about a program."""
    if as_json:
        print_json(judged_values(judged))
        return
    for name, is_ok, detail in judged.checks:
        sys.stdout.write(f"{'ok   ' if is_ok else 'FAULT'}  {name}: {detail}\n")


def print_written(written: Written, *, as_json: bool) -> None:
    """The files of a report."""
    if as_json:
        print_json({"page": str(written.page), "charts": [str(path) for path in written.charts]})
        return
    size = written.page.stat().st_size / 2**20
    charts = f" and {len(written.charts)} charts" if written.charts else ""
    sys.stdout.write(f"{written.page} ({size:.2f} MiB){charts}\n")


def print_exported(exported: Exported, *, as_json: bool) -> None:
    """What an export wrote."""
    if as_json:
        print_json({**asdict(exported), "folder": str(exported.folder)})
        return
    sys.stdout.write(
        f"{len(exported.runs):,} runs, {exported.matches:,} matches: {exported.files:,} files,"
        f" {exported.bytes / 2**20:,.1f} MiB in {exported.folder}\n"
    )


def print_imported(taken: Sequence[Imported], db: Path, *, as_json: bool) -> None:
    """What an import took in."""
    if as_json:
        print_json([asdict(each) for each in taken])
        return
    for each in taken:
        sys.stdout.write(
            f"run {each.run} ({each.name}): {each.matches:,} matches, {each.added:,} of them new"
            f" in {db}; results digest {each.digest}\n"
        )
