"""The README's blocks run as they stand, one after the other in one folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Command

TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for kind, body in BLOCKS if kind == language]


def commands() -> list[str]:
    """The `ladder` commands of the shell blocks; what makes an environment is left out."""
    lines = [line for body in blocks("sh") for line in body.splitlines()]
    return [line for line in lines if line.startswith("ladder ")]


def test_every_kind_of_block_is_known() -> None:
    assert {kind for kind, _ in BLOCKS} <= {"sh", "python", "yaml", "text"}
    assert len(commands()) >= 5


@pytest.mark.parametrize("line", [line for line in TEXT.splitlines() if "python3 -m venv" in line])
def test_the_two_commands_are_single_lines_for_a_bare_machine(line: str) -> None:
    steps = line.split(" && ")
    assert steps[0] == "python3 -m venv .venv"
    assert steps[1].startswith(".venv/bin/pip install -q -e ")
    assert steps[2] in (".venv/bin/ladder run configs/quickstart.yaml", ".venv/bin/pytest")
    assert len(steps) == 3


def test_the_blocks_run(ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    for path in (ROOT / "configs").glob("*.yaml"):  # as shipped, but for a few matches
        text = path.read_text()
        few = 1500 if "kind: compare" in text else 60
        fewer = re.sub(r"matches: [0-9]+", f"matches: {few}", text)
        (tmp_path / "configs" / path.name).write_text(fewer)
    python = blocks("python")
    for file, name in re.findall(r"(\w+\.py):(\w+)", "\n".join(commands())):
        (body,) = [body for body in python if f"class {name}(" in body]
        (tmp_path / file).write_text(body)
    for line in commands():
        words = shlex.split(line, comments=True)[1:]
        if "bench" in words or "FILE" in words:
            continue
        ended = ladder(*_quicker(words))
        assert ended.code == 0, (line, ended.err)
        assert ended.out, line
    for body in python:
        subprocess.run([sys.executable, "-c", body], check=True, cwd=tmp_path, env=_surroundings())


def _quicker(words: list[str]) -> list[str]:
    """The same command in this process, with fewer matches where it may choose them."""
    if words[0] == "match":
        kept = [w for i, w in enumerate(words) if "--matches" not in (w, words[i - 1])]
        return [*kept, "--matches", "40", "--workers", "0"]
    if words[0] == "run":
        slow = {"configs/pasha_levels.yaml"}  # minutes in one process
        dry = ["--dry-run"] if slow & set(words) else []
        return [*words, "--workers", "0", *dry]
    return words


def _surroundings() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_bots_of_the_readme_play(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for body in blocks("python"):
        for name in re.findall(r"^class (\w+)\(PasaBot\)", body, re.MULTILINE):
            (tmp_path / f"{name}.py").write_text(body)
            words = ["match", f"{name}.py:{name}", "Easy", "--matches", "20", "--workers", "0"]
            ended = ladder(*words, "--strict")
            assert ended.code == 0, ended.err
            assert name in ended.out


def test_the_spec_of_the_readme_is_good(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for body in blocks("yaml"):
        (tmp_path / "x.yaml").write_text(body)
        ended = ladder("run", "x.yaml", "--dry-run")
        assert ended.code == 0, ended.err


def test_the_script_of_the_readme_replays(
    ladder: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (body,) = [body for body in blocks("text") if body.startswith("pasa ")]
    (tmp_path / "match.txt").write_text(body)
    ended = ladder("replay", "--actions", "match.txt")
    assert ended.code == 0, ended.err
    assert "tike terha: paro" in ended.out


def test_every_command_of_the_readme_exists() -> None:
    from ladder.cli import app

    known = {c.name or c.callback.__name__ for c in app.registered_commands}  # type: ignore[union-attr]
    assert {shlex.split(line, comments=True)[1] for line in commands()} <= known
