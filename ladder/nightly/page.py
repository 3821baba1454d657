"""The page that every night leaves for its readers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ladder.errors import LadderError
from ladder.page.write import write_report
from ladder.spec import Spec
from ladder.spec.formats import Ladder
from ladder.store import NightStore


def write_page(spec: Spec, store: NightStore, tell: Callable[[str], None]) -> Path | None:
    """Write a ladder's page; one that cannot be written is told of, and the night is not failed."""
    assert isinstance(spec.format, Ladder)
    name = re.sub(r"[^\w]+", "_", spec.name)
    default = store.path.with_name(f"{store.path.stem}-{name}.html")
    page = Path(spec.format.report).expanduser() if spec.format.report else default
    try:
        write_report(store, None, spec.name, page, None)
    except LadderError as error:
        tell(f"the report was not written: {error}")
        return None
    return page
