"""The laboratory's charts: what stands in them is what was found."""

import xml.etree.ElementTree as Xml

import pytest

from ladder.execute import Workers
from ladder.lab.compare import compare
from ladder.lab.exact_questions import ask_closeness
from ladder.lab.questions import questions_of_spec
from ladder.page.grids import closeness_chart, grid_chart, write_chart

SPEC = """
name: grid
game: pasa
table: {seats: [2, 3], chips: 100}
seed: 1
entrants:
  - Easy
  - {name: bold, bot: BoldUntilAhead, params: {lead: [0, 50]}}
format: {kind: compare, candidates: [bold], field: [Easy], matches: 1500}
"""


def found(tmp_path, text=SPEC):
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    return [(told, compare(question, Workers(0))) for told, question, _ in questions_of_spec(path)]


def test_a_grid_over_one_param_is_a_line_a_table(tmp_path):
    comparisons = found(tmp_path)
    chart = grid_chart(comparisons)
    assert chart.head[:2] == ("table", "lead")
    assert [row[:2] for row in chart.rows] == [
        ("seats=2", 0), ("seats=2", 50), ("seats=3", 0), ("seats=3", 50),
    ]  # fmt: skip
    shares = [c.win_share for _, each in comparisons for c in each.candidates]
    assert [row[2] for row in chart.rows] == [round(share, 5) for share in shares]
    svg, png = write_chart(chart, tmp_path / "charts")
    words = "".join(Xml.parse(svg).getroot().itertext())
    assert "seats=3" in words
    assert "lead" in words
    assert png.read_bytes().startswith(b"\x89PNG")


def test_candidates_of_different_bots_stand_by_name(tmp_path):
    text = SPEC.replace("candidates: [bold]", "candidates: [Hard, Medium]").replace(
        "  - Easy\n", "  - Easy\n  - Hard\n  - Medium\n"
    )
    chart = grid_chart(found(tmp_path, text))
    assert chart.head[1] == "candidate"
    assert [row[1] for row in chart.rows] == ["Hard", "Medium"] * 2


def test_closeness_to_the_best_reply(tmp_path):
    """A bot against itself wins a half of all, by symmetry; the best reply wins most."""
    text = SPEC.replace("[2, 3]", "2").replace(
        "[bold], field: [Easy]", "[Least, Most], field: [Least]"
    )
    path = tmp_path / "grid.yaml"
    path.write_text(text.replace("  - Easy\n", "  - Most\n  - Least\n"))
    [(told, question, _)] = questions_of_spec(path)
    rows = ask_closeness(told, question, memory_mb=2048, progress=None)
    assert [row.name for row in rows] == ["best", "Least", "Most"]
    assert rows[1].win_share == pytest.approx(0.5)
    assert rows[1].of_best == pytest.approx(0.5 / rows[0].win_share)
    assert rows[0].win_share > rows[2].win_share > 0.5
    assert [row[1] for row in closeness_chart(rows).rows] == ["best", "Most", "Least"]
