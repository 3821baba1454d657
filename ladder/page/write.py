"""Writing a report to files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ladder.errors import SpecError
from ladder.paths import write_whole
from ladder.store import Store


@dataclass(frozen=True)
class Written:
    """The files of a report."""

    page: Path
    charts: list[Path] = field(default_factory=list)


def write_report(
    store: Store, run: str | None, ladder: str | None, page: Path, folder: Path | None
) -> Written:
    """Write a run's page, and with a folder its charts. Raises: StoreError, SpecError."""
    # The libraries of charts take half a second to import: not before they are needed.
    from ladder.page.charts import charts_of
    from ladder.page.gather import gather
    from ladder.page.html import page_of

    facts = gather(store, run, ladder)
    charts = charts_of(facts)
    written = []
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(page, page_of(facts, charts).encode())
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for chart in charts:
                svg, png = folder / f"{chart.name}.svg", folder / f"{chart.name}.png"
                write_whole(svg, chart.svg(is_for_page=False).encode())
                write_whole(png, chart.png())
                written += [svg, png]
    except OSError as error:
        raise SpecError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return Written(page, written)
