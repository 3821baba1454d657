"""Charts of the laboratory: win share along a param, a line a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from ladder.errors import SpecError
from ladder.lab.compare import Comparison
from ladder.lab.exact_questions import Closeness
from ladder.page.charts import COLOURS, MOST_LINES, Chart, charted, data_of


def grid_chart(found: Sequence[tuple[str, Comparison]]) -> Chart:
    """Every candidate's win share with its interval, by table.

    Where the candidates are one bot at several values of one param, the values are the x axis.
    """
    param = _param(found[0][1])
    head = ("table", param or "candidate", "share", "low", "high")
    rows = [row for told, comparison in found for row in _rows_of(told, comparison, param)]
    tables = list(dict.fromkeys(row[0] for row in rows))
    x: Any = alt.X(f"{head[1]}:N", title=None, sort=None)
    if param:
        x = alt.X(f"{param}:Q", scale=alt.Scale(nice=False))
    base = alt.Chart(data_of(head, rows)).encode(
        x=x,
        color=alt.Color(
            "table:N", title=None, sort=tables,
            scale=alt.Scale(domain=tables, range=COLOURS[: max(1, len(tables))]),
            legend=alt.Legend(columns=4) if len(tables) > 1 else None,
        ),
    )  # fmt: skip
    y = alt.Y("low:Q", title="win share", axis=alt.Axis(format="%"), scale=alt.Scale(zero=False))
    bars = base.mark_rule(strokeWidth=2, opacity=0.5).encode(y=y, y2="high:Q")
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(y="share:Q")
    chart: Any = bars + dots
    if param:
        chart = bars + base.mark_line().encode(y="share:Q") + dots
    words = "A dot is a candidate's win share, the line through it its 95 % interval."
    return Chart(
        "grid",
        "Win share of the candidates",
        words,
        charted(chart.properties(width=520, height=300)),
        head,
        rows,
    )


def _param(comparison: Comparison) -> str:
    """The one numeric param in which the candidates differ, or nothing."""
    question = comparison.question
    bots = question.bots[: question.candidates]
    params = [dict(bot.params) for bot in bots]
    varied = {name for name in params[0] if len({repr(each.get(name)) for each in params}) > 1}
    same = len({bot.bot.__qualname__ for bot in bots}) == 1
    if not same or len(varied) != 1:
        return ""
    [name] = varied
    return name if all(isinstance(each[name], (int, float)) for each in params) else ""


def _rows_of(told: str, comparison: Comparison, param: str) -> list[tuple[Any, ...]]:
    question = comparison.question
    rows = []
    for each in comparison.candidates:
        bot = question.bots[question.names.index(each.name)]
        where = dict(bot.params)[param] if param else each.name
        shares = (round(value, 5) for value in (each.win_share, each.low, each.high))
        rows.append((told or question.name, where, *shares))
    return rows


def closeness_chart(found: Sequence[Closeness]) -> Chart:
    """How much of the best reply's win share each rule gets, by table."""
    head = ("table", "rule", "share", "of best")
    best_first = sorted(found, key=lambda each: -each.of_best)
    rows = [
        (each.table, each.name, round(each.win_share, 6), round(each.of_best, 5))
        for each in best_first
    ]
    tables = list(dict.fromkeys(each.table for each in found))
    base = alt.Chart(data_of(head, rows)).encode(
        x=alt.X("of best:Q", title="win share, as a part of the best reply's",
                axis=alt.Axis(format="%"), scale=alt.Scale(zero=False)),
        y=alt.Y("rule:N", title=None, sort=list(dict.fromkeys(row[1] for row in rows))),
        color=alt.Color(
            "table:N", title=None, sort=tables,
            scale=alt.Scale(domain=tables, range=COLOURS[: len(tables)]),
        ),
    )  # fmt: skip
    chart = base.mark_point(filled=True, size=70, opacity=1)
    words = "Every dot is a rule at a table; at 100 % it could not do better against that field."
    spec = charted(chart.properties(width=460, height=alt.Step(24)))
    return Chart("closeness", "How close to the best reply", words, spec, head, rows)


def write_chart(chart: Chart, folder: Path) -> list[Path]:
    """Write a chart as SVG and PNG. Raises: SpecError."""
    if len({row[0] for row in chart.rows}) > MOST_LINES:
        raise SpecError(f"--charts: at most {MOST_LINES} tables have a colour of their own")
    svg, png = folder / f"{chart.name}.svg", folder / f"{chart.name}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        svg.write_text(chart.svg(is_for_page=False), encoding="utf-8")
        png.write_bytes(chart.png())
    except OSError as error:
        raise SpecError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return [svg, png]
