"""Beyond one GPU: tiles of a result, made here or by the workers of a Dask client, and kept.

The engine is Dask's distributed scheduler: who works on what, what is tried again when a worker
dies, and what goes to a disk when memory is short is its work. This room knows no technique: it has
a client that listens to this machine alone (`clients`), what is sent to workers once (`placing`),
what they are asked to do (`tasks`), tiles of rows (`rows`), files in which they stand (`targets`),
and what lets a killed run go on: a sidecar (`resuming`), a lock (`locks`), and files whose room on
the disk is taken before they are written (`disk`). `watching` says what workers did, and when.
"""

from .clients import check_client, local_client
from .placing import placed
from .resuming import digest_of
from .rows import ENGINES, RowTile, chosen_engine, make_rows, rows_a_tile, tiles_of
from .tasks import mapped, result_of, task
from .watching import TaskRun, Watch, watched

__all__ = [
    "ENGINES",
    "RowTile",
    "TaskRun",
    "Watch",
    "check_client",
    "chosen_engine",
    "digest_of",
    "local_client",
    "make_rows",
    "mapped",
    "placed",
    "result_of",
    "rows_a_tile",
    "task",
    "tiles_of",
    "watched",
]
