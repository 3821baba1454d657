"""The store: one DuckDB file. The only SQL, and the only `import duckdb`.

Tables are ours and may change; the views (`runs`, `bots`, `matches`, `results`, `ratings`,
`rating_history`, `faults`, `nights`) are what others may query. Connections are short: opened for
one read or one transaction, so that other processes get between.
"""

from ladder.store.file import SCHEMA, StoreFile
from ladder.store.nights import NightEntrant, NightRow, NightStore
from ladder.store.opened import Opened, open_store
from ladder.store.results import Results, pairing_id
from ladder.store.runs import RunRow, Store
from ladder.store.submissions import Submission, SubmissionStore

__all__ = [
    "SCHEMA",
    "NightEntrant",
    "NightRow",
    "NightStore",
    "Opened",
    "Results",
    "RunRow",
    "Store",
    "StoreFile",
    "Submission",
    "SubmissionStore",
    "open_store",
    "pairing_id",
]
