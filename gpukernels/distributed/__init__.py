"""Beyond one GPU: tiles of a result, made here or by the workers of a Dask client, and kept.

The engine is Dask's distributed scheduler. It assigns the work, repeats it if a worker dies, and
moves data to a disk when memory is short. This room knows no technique. It has a client that only
this machine can reach (`clients`), objects that are sent to workers once (`placing`), tasks
(`tasks`), tiles of rows (`rows`), and files that keep the tiles (`targets`). Three modules let a
killed run continue: a sidecar (`resuming`), a lock (`locks`), and files whose room on the disk is
taken before they are written (`disk`). `watching` reports the work of each worker, with its
times.
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
