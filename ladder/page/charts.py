"""The charts of a report, in Altair (Vega-Lite), and their pictures by vl-convert.

Altair, because a chart is a value that is checked against Vega-Lite's schema, and vl-convert,
because it draws without a browser and without a network. On the page a chart is inline SVG whose
ink has the colours below, which the page's style sheet replaces for light and dark.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert

from ladder.page.gather import Facts, is_number

INK, SOFT, GRID = "#111213", "#717273", "#d1d2d3"  # replaced by the page's style sheet
COLOURS = ["#3b82c4", "#d97a1f", "#2f9e6b", "#c04a6b", "#8a63c7", "#a07c2c", "#1f9aa8", "#8b8f94"]
MOST_BOTS = 30  # of a chart; the table has them all
MOST_LINES = len(COLOURS)


@dataclass(frozen=True)
class Chart:
    """One chart with its words and its figures."""

    name: str
    title: str
    words: str  # what it shows and how to read it
    spec: dict[str, Any]
    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def svg(self, *, is_for_page: bool) -> str:
        """The chart as SVG, on the page with no background of its own."""
        spec = self.spec if is_for_page else {**self.spec, "background": "white"}
        return str(vl_convert.vegalite_to_svg(json.dumps(spec)))

    def png(self) -> bytes:
        """The chart as a PNG at twice its size."""
        spec = {**self.spec, "background": "white"}
        return bytes(vl_convert.vegalite_to_png(json.dumps(spec), scale=2))


def charts_of(facts: Facts) -> list[Chart]:
    """The charts that a run has something for."""
    made = [make(facts) for make in MAKERS]
    return [chart for chart in made if chart is not None]


def charted(chart: Any) -> dict[str, Any]:
    """A chart with the report's look, as Vega-Lite."""
    looked = chart.configure(background="transparent", font="sans-serif").configure_view(
        stroke=None
    )
    looked = looked.configure_axis(
        labelColor=INK, titleColor=INK, gridColor=GRID, domainColor=SOFT, tickColor=SOFT,
        labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelLimit=170,
        labelFlush=False,
    )  # fmt: skip
    looked = looked.configure_legend(
        labelColor=INK, titleColor=INK, labelFontSize=12, orient="top", symbolOpacity=1,
        symbolStrokeWidth=2,
    )  # fmt: skip
    looked = looked.configure_header(labelColor=INK, titleColor=INK, labelFontSize=12)
    return dict(looked.to_dict())


def data_of(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Any:
    """Rows as the chart's own values, so that a chart is one file."""
    return alt.Data(values=[dict(zip(names, row, strict=True)) for row in rows])


def _ratings(facts: Facts) -> Chart | None:
    head = ("bot", "mu", "low", "high")
    rows = [
        (row.bot, round(row.mu, 3), round(row.mu - 3 * row.sigma, 3),
         round(row.mu + 3 * row.sigma, 3))
        for row in facts.rated.rows[:MOST_BOTS]
    ]  # fmt: skip
    order = [row[0] for row in rows]
    base = alt.Chart(data_of(head, rows)).encode(y=alt.Y("bot:N", sort=order, title=None))
    bars = base.mark_rule(strokeWidth=3, color=COLOURS[0], opacity=0.45).encode(
        x=alt.X(
            "low:Q",
            title="rating: mu, three sigma to each side",
            scale=alt.Scale(zero=False),
            axis=alt.Axis(tickCount=6),
        ),
        x2="high:Q",
    )
    dots = base.mark_point(filled=True, size=55, color=COLOURS[0], opacity=1).encode(x="mu:Q")
    chart = (bars + dots).properties(width=340, height=alt.Step(20))
    words = "A dot is a bot's rating, its line what it may well be. Further right is better."
    return Chart("ratings", "Ratings", words + _left_out(facts), charted(chart), head, rows)


def _left_out(facts: Facts) -> str:
    more = len(facts.names) - MOST_BOTS
    return f" The best {MOST_BOTS} of {len(facts.names):,} bots." if more > 0 else ""


def _history(facts: Facts) -> Chart | None:
    best = facts.names[:MOST_LINES]
    times = sorted({row["at"] for row in facts.history})
    if len(times) < 2:
        return None
    night = {at: number for number, at in enumerate(times, 1)}
    head = ("bot", "night", "mu", "low", "high")
    rows = [
        (row["bot"], night[row["at"]], round(row["mu"], 3),
         round(row["mu"] - row["sigma"], 3), round(row["mu"] + row["sigma"], 3))
        for row in facts.history if row["bot"] in best
    ]  # fmt: skip
    base = alt.Chart(data_of(head, rows)).encode(
        x=alt.X("night:Q", title="rating number", axis=alt.Axis(tickMinStep=1, format="d"),
                scale=alt.Scale(nice=False)),
        color=_by_bot(best),
    )  # fmt: skip
    line = base.mark_line(point=alt.OverlayMarkDef(size=22)).encode(
        y=alt.Y("mu:Q", title="rating, mu", scale=alt.Scale(zero=False))
    )
    chart = line.properties(width=380, height=260)
    words = (
        f"Each time the ratings were written, from {times[0]:%Y-%m-%d} to {times[-1]:%Y-%m-%d};"
        f" the {len(best)} best bots of today. The figures have one sigma to each side."
    )
    return Chart("history", "Rating history", words, charted(chart), head, rows)


def _by_bot(names: list[str]) -> Any:
    return alt.Color(
        "bot:N", title=None, sort=names, scale=alt.Scale(domain=names, range=COLOURS),
        legend=alt.Legend(columns=4),
    )  # fmt: skip


def _matrix(facts: Facts) -> Chart | None:
    names = facts.names[:20]
    if len(names) < 2:
        return None
    head = ("bot", "against", "chance", "before", "level", "behind")
    rows = [
        (pair["a"], pair["b"], round(pair["p_a_beats_b"], 3), pair["a_before_b"], pair["ties"],
         pair["b_before_a"])
        for pair in facts.rated.pairs(names)
    ]  # fmt: skip
    reach = max([abs(row[2] - 0.5) for row in rows], default=0.1)
    base = alt.Chart(data_of(head, rows)).encode(
        x=alt.X("against:N", sort=names, title="against", axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("bot:N", sort=names, title=None),
    )
    cells = base.mark_rect(stroke=GRID, strokeWidth=0.5).encode(
        color=alt.Color(
            "chance:Q", title="chance to finish before",
            scale=alt.Scale(
                domain=[0.5 - reach, 0.5, 0.5 + reach], range=["#e9a45f", "#f2f1ea", "#79abdd"],
                interpolate="rgb",
            ),
        )
    )  # fmt: skip
    chart: Any = cells
    if len(names) <= 12:
        chart = cells + base.mark_text(fontSize=11, color="#222324").encode(
            text=alt.Text("chance:Q", format=".2f")
        )
    step = 40 if len(names) <= 12 else 22
    chart = chart.properties(width=alt.Step(step), height=alt.Step(min(step, 30)))
    words = (
        "The chance, by the ratings, that the bot of the row finishes before that of the column:"
        " blue above a half, orange below. The figures have the pairs counted."
    )
    more = f" The best {len(names)} of {len(facts.names):,}." if len(facts.names) > 20 else ""
    return Chart("matrix", "Who beats whom", words + more, charted(chart), head, rows)


def _trajectories(facts: Facts) -> Chart | None:
    sample = facts.sample
    if sample is None or not sample.trajectories:
        return None
    bots = list(dict.fromkeys(t.bot for t in sample.trajectories))
    best = [name for name in facts.names if name in bots][:MOST_LINES]
    head = ("bot", sample.unit, "mean", "low", "high")
    rows = [
        (t.bot, t.at, round(t.mean, 2), t.low, t.high)
        for t in sample.trajectories if t.bot in best
    ]  # fmt: skip
    score = facts.game.score_name
    base = alt.Chart(data_of(head, rows)).encode(
        x=alt.X(f"{sample.unit}:Q", axis=alt.Axis(tickMinStep=1, format="d")),
        color=_by_bot(best),
    )
    band = base.mark_area(opacity=0.05).encode(
        y=alt.Y("low:Q", title=f"{score}: mean, and the middle half", scale=alt.Scale(zero=False)),
        y2="high:Q",
    )
    line = base.mark_line(strokeWidth=2.5).encode(y="mean:Q")
    chart = (band + line).properties(width=380, height=260)
    what = "Piles" if facts.game.score_key == "piles" else "Points"
    words = (
        f"{what} as matches go on, over {sample.matches:,} matches played again from their seed."
    )
    return Chart("trajectories", f"{what} through the match", words, charted(chart), head, rows)


def _profile(facts: Facts) -> Chart | None:
    sample = facts.sample
    if sample is None or not sample.profile:
        return None
    best = [name for name in facts.names if any(c.bot == name for c in sample.profile)][:6]
    cells = [cell for cell in sample.profile if cell.bot in best]
    head = ("bot", "across", "down", "value", "decisions")
    rows = [(c.bot, c.across, c.down, round(c.value, 3), c.decisions) for c in cells]
    base = alt.Chart(data_of(head, rows))
    if not sample.down:
        chart: Any = (
            base.mark_bar()
            .encode(
                x=alt.X("value:Q", title=sample.value, axis=alt.Axis(format="%")),
                y=alt.Y("across:N", title=None, sort=_ROWS),
                color=_by_bot(best),
                yOffset=alt.YOffset("bot:N", sort=best),
            )
            .properties(width=340, height=alt.Step(9))
        )
        words = "How often each row of the board is marked."
    else:
        columns = sorted({c.across for c in cells}, key=int)
        downs = sorted({c.down for c in cells}, key=int, reverse=True)
        chart = (
            base.mark_rect(stroke=GRID, strokeWidth=0.5)
            .encode(
                x=alt.X("across:N", sort=columns, title=sample.across),
                y=alt.Y("down:N", sort=downs, title=sample.down),
                color=alt.Color(
                    "value:Q", title=sample.value,
                    scale=alt.Scale(domain=[0, 1], range=["#f2f1ea", "#b04a2f"]),
                ),
                facet=alt.Facet("bot:N", columns=2, sort=best, title=None),
            )
            .properties(width=225, height=130)
        )  # fmt: skip
        words = (
            "Every square is a kind of situation: how far ahead or behind (across) with how many"
            " turns left (down). The darker, the nearer to the most that is legal."
        )
    words += f" Over {sample.matches:,} matches played again from their seed."
    return Chart("profile", sample.profile_title, words, charted(chart), head, rows)


_ROWS = ["five", "four", "full house", "three", "two pairs", "pair", "beside"]


def _adjusted(facts: Facts) -> Chart | None:
    if not facts.adjusted:
        return None
    head = ("bot", "plain", "plain low", "plain high", "adjusted", "adjusted low", "adjusted high")
    found = facts.adjusted[:MOST_BOTS]
    rows: list[tuple[Any, ...]] = [
        (a.bot, *(round(v, 4) for v in (a.plain, a.plain_low, a.plain_high, a.adjusted,
                                        a.adjusted_low, a.adjusted_high)))
        for a in found
    ]  # fmt: skip
    order = [row[0] for row in rows]
    long = [
        (row[0], kind, *row[at : at + 3])
        for row in rows for kind, at in (("plain", 1), ("luck taken out", 4))
    ]  # fmt: skip
    kinds = ["plain", "luck taken out"]
    base = alt.Chart(data_of(("bot", "kind", "share", "low", "high"), long)).encode(
        y=alt.Y("bot:N", sort=order, title=None),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        color=alt.Color(
            "kind:N", title=None, sort=kinds,
            scale=alt.Scale(domain=kinds, range=[COLOURS[1], COLOURS[0]]),
        ),
    )  # fmt: skip
    rule = base.mark_rule(strokeWidth=3, opacity=0.5).encode(
        x=alt.X("low:Q", title="win share, with 95 % intervals",
                axis=alt.Axis(format="%", tickCount=6),
                scale=alt.Scale(zero=False)),
        x2="high:Q",
    )  # fmt: skip
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(x="share:Q")
    chart = (rule + dots).properties(width=340, height=alt.Step(11))
    gains = sorted(a.gain for a in found if is_number(a.gain))
    gain = f" That is worth {gains[len(gains) // 2]:.1f} times the matches." if gains else ""
    words = (
        "Stakes at Pasa are fair, so a mean pile above the chips dealt is luck; beside the plain"
        f" share stands the share with that luck taken out.{gain}"
    )
    return Chart(
        "luck", "Win share, plain and adjusted for luck", words, charted(chart), head, rows
    )


MAKERS: tuple[Callable[[Facts], Chart | None], ...] = (
    _ratings, _history, _matrix, _adjusted, _trajectories, _profile,
)  # fmt: skip
