"""The report: one file, safe against any name, working in a real browser with no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ladder.page.gather import gather
from ladder.store import Store
from tests.conftest import Command
from tests.running import run_text

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
WILD = "<b>&\"'Ünï</b><script>x</script>"

SPEC = f"""\
name: "a </script> & <i>season</i>"
game: pasa
table: {{seats: 2, rounds: 1, chips: 60}}
seed: 5
entrants:
  - {{name: {json.dumps(WILD)}, bot: "tests/faulty_bots.py:Raises"}}
""" + "".join(
    f"  - {{name: bold{lead:02}, bot: BoldUntilAhead, params: {{lead: {lead}}}}}\n"
    for lead in range(39)
) + "format: {kind: random, rounds: 2, matches: 4}\n"  # fmt: skip


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of 40 bots whose ratings were written on thirty nights."""
    db = tmp_path_factory.mktemp("season") / "season.duckdb"
    run_text(SPEC, db)
    store = Store(db)
    run = store.runs()[-1]
    for night in range(30):
        rows = [
            (n, v, 25 + i / 9, 8 / (1 + night), 4, 0.5) for i, (n, v) in enumerate(run.entrants)
        ]
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=night)
        store.write_ratings(run.run, rows, rank_by="winner", at=at)
    return db


@pytest.fixture(scope="module")
def page(season: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from ladder.page.write import write_report

    folder = tmp_path_factory.mktemp("page")
    written = write_report(Store(season), None, None, folder / "r.html", folder / "charts")
    names = {path.name for path in written.charts}
    for chart in ("ratings", "history", "matrix", "luck", "trajectories", "profile"):
        assert {f"{chart}.svg", f"{chart}.png"} <= names
    assert all(path.stat().st_size > 1000 for path in written.charts)
    return written.page


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_one_file_that_names_nothing_else(page: Path) -> None:
    text = page.read_text()
    assert len(text) < 3 * 2**20
    parser = _Tags()
    parser.feed(text)
    for tag, attributes in parser.tags:
        for name in ("src", "href", "xlink:href", "action"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:")) or not value, (tag, value)
        assert not any(name.startswith("on") for name in attributes), tag
    assert "url(http" not in text
    assert "@import" not in text
    ids = [attributes["id"] for _, attributes in parser.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_names_are_text_and_nothing_else(page: Path) -> None:
    text = page.read_text()
    assert WILD not in text
    assert text.count("<script>") == 1
    assert "&lt;b&gt;&amp;" in text


def test_it_says_what_there_is(season: Path, page: Path) -> None:
    text = page.read_text()
    store = Store(season)
    run = store.runs()[-1]
    assert run.digest
    assert run.digest in text
    assert text.count('<tr data-name="') == 40
    assert "ValueError: I do not like this mat" in text
    facts = gather(store, None, None)
    plain = {a.bot: (a.plain, a.adjusted) for a in facts.adjusted}
    assert len(plain) == 40
    assert sum(adjusted for _, adjusted in plain.values()) / 40 == pytest.approx(0.5, abs=0.05)
    assert all(a.gain >= 1 for a in facts.adjusted if a.gain == a.gain)


def test_a_pasha_run_has_a_page(ladder: Command, played: Path, tmp_path: Path) -> None:
    out = tmp_path / "board.html"
    ended = ladder("report", "--run", "board", "--db", played, "--out", out)
    assert ended.code == 0, ended.err
    assert "What they mark" in out.read_text()


def test_mistakes(ladder: Command, played: Path, tmp_path: Path) -> None:
    assert "has no run" in ladder("report", "--run", "no", "--db", played).err
    file = tmp_path / "file"
    file.write_text("")
    ended = ladder("report", "--db", played, "--out", file / "r.html")
    assert ended.code == 2
    assert "cannot be written" in ended.err


def browse(page: Path, folder: Path) -> tuple[str, str]:
    """(the page as the browser has it in the end, what it said on its console)."""
    assert CHROMIUM is not None
    ended = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND",
         "--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return ended.stdout, "\n".join(re.findall(r".*CONSOLE.*", ended.stderr))


def driven(page: Path, script: str, folder: Path) -> tuple[str, str]:
    """The same for a copy of the page in which a further script runs at the end."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = page.read_text().replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    text = text.replace("script-src &#x27;", f"script-src 'sha256-{digest}' &#x27;", 1)
    copy = folder / "driven.html"
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    return browse(copy, folder)


@needs_browser
def test_it_opens_without_a_word_on_the_console(page: Path, tmp_path: Path) -> None:
    dom, console = browse(page, tmp_path)
    assert console == ""
    assert "1 to 25 of 40 bots" in dom


DRIVE = """
const seen = [];
const shown = () => [...document.querySelectorAll("#standings tbody tr:not([hidden])")];
const names = () => shown().map((row) => row.cells[1].textContent);
const head = (text) => [...document.querySelectorAll("#standings th button")]
  .find((button) => button.textContent === text);
head("bot").click();
seen.push(["sorted", names()[1] < names()[2], head("bot").parentElement.ariaSort]);
head("bot").click();
seen.push(["turned", names()[0] > names()[1], head("bot").parentElement.ariaSort]);
head("mu").click();
const mu = shown().map((row) => Number(row.cells[4].dataset.key));
seen.push(["mu", mu.every((value, i) => i === 0 || mu[i - 1] >= value), mu.length]);
const search = document.querySelector("#search");
search.value = "BOLD1";
search.dispatchEvent(new Event("input"));
seen.push(["found", shown().length, document.querySelector("#told").textContent]);
search.value = "";
search.dispatchEvent(new Event("input"));
document.querySelector("#after").click();
seen.push(["next", shown().length, document.querySelector("#told").textContent]);
const pictures = [...document.querySelectorAll("figure svg")];
const drawn = pictures.map((svg) => svg.getBoundingClientRect());
seen.push(["drawn", drawn.length, drawn.every((box) => box.width > 100 && box.height > 50)]);
seen.push(["fits", document.documentElement.scrollWidth <= window.innerWidth]);
document.title = "seen " + JSON.stringify(seen);
"""


@needs_browser
def test_it_sorts_filters_and_pages(page: Path, tmp_path: Path) -> None:
    dom, console = driven(page, DRIVE, tmp_path)
    assert console == ""
    found = re.search(r"<title>seen (.*?)</title>", dom)
    assert found, dom[:500]
    assert json.loads(found[1]) == [
        ["sorted", True, "ascending"],
        ["turned", True, "descending"],
        ["mu", True, 25],
        ["found", 10, "1 to 10 of 10 bots"],
        ["next", 15, "26 to 40 of 40 bots"],
        ["drawn", 6, True],
        ["fits", True],
    ]
