"""Charts of the laboratory: win share along a param, a line a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from ladder.compare import Comparison
from ladder.errors import SpecError
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


def write_grid(found: Sequence[tuple[str, Comparison]], folder: Path) -> list[Path]:
    """Write the chart of a grid, as SVG and PNG. Raises: SpecError."""
    if len({told for told, _ in found}) > MOST_LINES:
        raise SpecError(f"--charts: at most {MOST_LINES} tables (got {len(found)})")
    chart = grid_chart(found)
    svg, png = folder / f"{chart.name}.svg", folder / f"{chart.name}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        svg.write_text(chart.svg(is_for_page=False), encoding="utf-8")
        png.write_bytes(chart.png())
    except OSError as error:
        raise SpecError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return [svg, png]
