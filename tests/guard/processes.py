"""The processes of a run, seen from outside."""

import time
from pathlib import Path

from tests.isolate.conftest import children_of


def fields_of(pid):
    """What the kernel says of a process after its name; None where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def kind_of(pid):
    """What a process of a run is there for; None where it is gone."""
    fields = fields_of(pid)
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None
    if fields is None or fields[0] in "ZX":
        return None
    if name in ("raylet", "gcs_server"):
        return name
    if b"ladder.isolate.zygote" in words:
        parent = Path(f"/proc/{fields[1]}/cmdline")
        is_child = parent.exists() and b"ladder.isolate.zygote" in parent.read_bytes()
        return "child" if is_child else "zygote"
    if name.startswith("ray::") and "Agent" not in name:
        return "worker"
    return "helper"


class Family:
    """All descendants of a process that were ever seen."""

    def __init__(self):
        self._seen = {}  # process id: when it started

    def look(self, pid):
        """Those that are there now."""
        found = children_of(pid)
        for each in found:
            fields = fields_of(each)
            if fields is not None:
                self._seen[each] = fields[19]
        return found

    def left(self):
        """Those that are still running."""
        return [
            pid
            for pid, start in self._seen.items()
            if (fields := fields_of(pid)) and fields[19] == start and fields[0] not in "ZX"
        ]

    def left_after(self, seconds):
        """Those that are running so much later, or none as soon as all are gone."""
        end = time.monotonic() + seconds
        while self.left() and time.monotonic() < end:
            time.sleep(0.05)
        return self.left()
