"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import yaml

from ladder.page.charts import Chart
from ladder.page.gather import Facts, is_number
from ladder.standings import Row

MOST_FIGURES = 400  # rows of a chart's table on the page
PAGE_SIZES = (25, 50, 100)


def page_of(facts: Facts, charts: Sequence[Chart]) -> str:
    """The whole page."""
    style, script = _part("page.css"), _part("page.js")
    title = f"{facts.run.name}: {facts.game.title}"
    sections = [("standings", "Standings"), *((c.name, c.title) for c in charts)]
    sections += [("faults", "Faults"), ("facts", "The run")]
    links = "".join(f'<li><a href="#{name}">{escape(text)}</a></li>' for name, text in sections)
    notes = "".join(f'<p class="soft">Note: {escape(note)}</p>' for note in facts.notes)
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}';"
        f" script-src 'sha256-{_digest(script)}'; img-src data:; base-uri 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#standings">To the standings</a>
<header>
<h1>{escape(facts.run.name)}</h1>
<p class="soft">{escape(facts.game.title)}: {facts.matches:,} matches, {len(facts.names):,} bots,
results digest {escape(facts.digest)}</p>
{notes}
<nav aria-label="On this page"><ul>{links}</ul></nav>
</header>
<main>
{_standings(facts)}
<div class="charts">
{"".join(_figure(chart) for chart in charts)}
</div>
{_faults(facts)}
{_facts(facts)}
</main>
<script>{script}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return files("ladder.page").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


NEXT = "above next"
# Column: heading, class, first direction when sorted.
COLUMNS = (
    ("#", "", "up"), ("bot", "name", "up"), ("win\u00a0%", "", "down"),
    ("95\u00a0% interval", "", ""), ("mu", "", "down"), ("sigma", "", "up"),
    ("mu - 3 sigma", "", "down"),
    ("matches", "", "down"), ("mean score", "", "down"), ("faults", "", "down"),
    (NEXT, "", "down"), ("version", "", ""),
)  # fmt: skip


ABOUT_NEXT = """ <em>Above next</em> is the probability that a bot is truly better than the one
below it."""


def _standings(facts: Facts) -> str:
    rows = facts.rated.rows
    shares = [row.tally.share for row in rows if is_number(row.tally.share.mean)]
    low = min([share.low for share in shares], default=0.0)
    high = max([share.high for share in shares], default=1.0)
    is_next_known = any(row.above_next is not None for row in rows)
    columns = [c for c in COLUMNS if is_next_known or c[0] != NEXT]
    head = "".join(_heading(*column) for column in columns)
    body = "\n".join(_row(row, low, high, is_next_known=is_next_known) for row in rows)
    sizes = "".join(
        f'<option value="{n}"{" selected" if n == PAGE_SIZES[0] else ""}>{n} a page</option>'
        for n in PAGE_SIZES
    )
    rule = "who won" if facts.rated.part.rank_by == "winner" else "the whole order"
    return f"""<section id="standings" aria-labelledby="standings-title">
<h2 id="standings-title">Standings</h2>
<p class="soft">Ranked by mu - 3 sigma, rated by {rule}. The bar is the 95 % interval of the win
share, from {100 * low:.1f} to {100 * high:.1f} %.{ABOUT_NEXT if is_next_known else ""}</p>
<div class="tools" id="tools" hidden>
<label>Search <input id="search" type="search" autocomplete="off"></label>
<label>Rows <select id="size">{sizes}<option value="0">all</option></select></label>
<button id="before" type="button">Page before</button>
<button id="after" type="button">Next page</button>
<span id="told" role="status"></span>
</div>
<div class="wide" role="region" aria-label="Standings table" tabindex="0">
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
</section>
"""


def _heading(text: str, name: str, first: str) -> str:
    classes = f' class="{name}"' if name else ""
    if not first:
        return f'<th scope="col"{classes}>{escape(text)}</th>'
    sort = ' aria-sort="ascending"' if text == "#" else ""
    return (
        f'<th scope="col"{classes} data-first="{first}"{sort}>'
        f'<button type="button">{escape(text)}</button></th>'
    )


def _row(row: Row, low: float, high: float, *, is_next_known: bool) -> str:
    share, tally = row.tally.share, row.tally
    above = _cell(row.above_next or 0, "" if row.above_next is None else f"{row.above_next:.3f}")
    cells = [
        _cell(row.rank, str(row.rank)),
        f'<th scope="row" class="name">{escape(row.bot)}</th>',
        _cell(share.mean, _percent(share.mean)),
        f"<td>{_interval(row, low, high)}</td>",
        _cell(row.mu, f"{row.mu:.2f}"),
        _cell(row.sigma, f"{row.sigma:.2f}"),
        _cell(row.conservative, f"{row.conservative:.2f}"),
        _cell(share.matches, f"{share.matches:,}"),
        _cell(tally.mean_score, f"{tally.mean_score:.1f}" if is_number(tally.mean_score) else "-"),
        _cell(tally.faults, f"{tally.faults:,}"),
        above if is_next_known else "",
        f"<td><code>{escape(row.version)}</code></td>",
    ]
    name = escape(row.bot.lower(), quote=True)
    return f'<tr data-name="{name}">{"".join(cells)}</tr>'


def _cell(key: float, text: str) -> str:
    shown = f"{key:.6g}" if is_number(key) else "0"
    return f'<td data-key="{shown}">{text}</td>'


def _interval(row: Row, low: float, high: float) -> str:
    """The interval as words and drawn; SVG, since the page allows no inline style."""
    share = row.tally.share
    if not is_number(share.mean):
        return "-"
    scale = 100 / ((high - low) or 1)
    begin, end, at = ((value - low) * scale for value in (share.low, share.high, share.mean))
    return (
        f'<svg class="bar" width="90" height="14" viewBox="0 0 100 14" preserveAspectRatio="none"'
        f' aria-hidden="true"><path class="line" d="M0 7H100"/>'
        f'<rect class="range" x="{begin:.1f}" y="3" width="{max(end - begin, 1):.1f}" height="8"/>'
        f'<rect class="mean" x="{at - 0.8:.1f}" y="0" width="1.6" height="14"/></svg>'
        f'<span class="said"> {_percent(share.low)} - {_percent(share.high)}</span>'
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}" if is_number(share) else "-"


def _figure(chart: Chart) -> str:
    rows = chart.rows[:MOST_FIGURES]
    more = len(chart.rows) - len(rows)
    left = f"<p class='soft'>and {more:,} rows more</p>" if more > 0 else ""
    return f"""<figure id="{chart.name}" aria-labelledby="{chart.name}-title">
<h2 id="{chart.name}-title">{escape(chart.title)}</h2>
<figcaption>{escape(chart.words)}</figcaption>
<div class="drawing" tabindex="0" role="img"
 aria-label="{escape(chart.title)}: {escape(chart.words)}">
{inline_svg(chart.svg(is_for_page=True), chart.name)}
</div>
<details><summary>The figures as a table</summary>
<div class="wide" role="region" aria-label="{escape(chart.title)}, figures" tabindex="0">
{_table(chart.head, rows)}</div>{left}</details>
</figure>
"""


def inline_svg(svg: str, name: str) -> str:
    """A drawing as part of a page: ids of its own, hidden from screen readers, no inline style."""
    svg = re.sub(r"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>", "", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'\s(?:aria-[a-z]+|role|tabindex|style)="[^"]*"', "", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    top = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_shown(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _faults(facts: Facts) -> str:
    inside = "<p>No bot faulted.</p>"
    if facts.faults:
        names = ("bot", "faults", "cause", "the first of them", "see it")
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        rows = "".join(map(_fault, facts.faults))
        inside = (
            '<div class="wide" role="region" aria-label="Faults table" tabindex="0"><table><thead>'
            f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    return f"""<section id="faults" aria-labelledby="faults-title">
<h2 id="faults-title">Faults</h2>{inside}</section>
"""


def _fault(fault: dict[str, Any]) -> str:
    trace = escape(fault["traceback"])
    shown = f"<details><summary>Traceback</summary><pre>{trace}</pre></details>" if trace else ""
    replay = f"ladder replay {escape(str(fault['match']))}"
    return (
        f'<tr><td class="name">{escape(str(fault["bot"]))}</td><td>{fault["faults"]:,}</td>'
        f'<td class="text bad">{escape(str(fault["cause"]))}</td>'
        f'<td class="text">{escape(str(fault["detail"]))}{shown}</td>'
        f'<td class="text"><code>{replay}</code></td></tr>'
    )


def _facts(facts: Facts) -> str:
    rows = "".join(
        f'<tr><th scope="row" class="name">{escape(name)}</th>'
        f'<td class="text">{escape(value)}</td></tr>'
        for name, value in facts.about
    )
    spec = yaml.safe_dump(facts.run.spec, sort_keys=False, allow_unicode=True)
    return f"""<section id="facts" aria-labelledby="facts-title">
<h2 id="facts-title">The run</h2>
<div class="wide"><table><tbody>{rows}</tbody></table></div>
<details><summary>The spec</summary><pre>{escape(spec)}</pre></details>
</section>
"""
