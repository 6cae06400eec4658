"""How fast results come from GPUs into the memory of their host: to one worker, and to two at once.

Whatever GPUs find in no time ends there. The host hands out fresh memory page by page, filled with
zeros, and all workers of a host share what its memory moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter as clock
from typing import Any

import numpy as np

from gpukernels.bench import steps
from gpukernels.device import default_device

#: Words of 4 bytes of an array: 128 MiB, the distances of one batch of searches or more.
WORDS = 1 << 25
#: How many come one behind the other, and how often that.
IN_A_ROW, REPEAT = 16, 3


def gigabytes_per_second(words: int, fresh: bool) -> float:
    """Return what this process's GPU sends here, into fresh memory each time or into the same."""
    device = default_device()
    there = device.full(words, 1, np.int32)
    into = [np.zeros(words, np.int32)]
    with device.copy_stream() as copies:
        copies.read(there, into[0]).wait()
        begin = clock()
        for _ in range(IN_A_ROW):
            if fresh:  # all are kept, as results are
                into.append(np.empty(words, np.int32))
            copies.read(there, into[-1]).wait()
        seconds = clock() - begin
    assert all(host[0] == host[-1] == 1 for host in into), "what was brought is not what was there"
    return IN_A_ROW * there.nbytes / max(seconds, 1e-9) / 1e9


def measure(clients: Mapping[int, Any], words: int) -> Iterator[dict[str, Any]]:
    """Yield a row for the workers of each client, all of which bring at once, and each memory."""
    for gpus, client in clients.items():
        workers = list(client.nthreads())
        for fresh in (True, False):
            runs = []
            for _ in range(REPEAT):
                asked = [
                    client.submit(gigabytes_per_second, words, fresh, workers=[name], pure=False)
                    for name in workers
                ]
                runs.append(sorted(client.gather(asked)))
            by_worker = min(runs, key=lambda run: abs(sum(run) - np.median([*map(sum, runs)])))
            row = {
                "work": "to_host",
                "gpus": gpus,
                "memory": "fresh" if fresh else "used before",
                "bytes": 4 * words,
                "gigabytes_per_second": round(sum(by_worker), 2),
                "gigabytes_per_second_by_worker": [round(rate, 2) for rate in by_worker],
                "runs": REPEAT,
            }
            steps.tell(f"  to_host, {row['memory']}: {gpus} GPUs, {sum(by_worker):.1f} GB/s")
            yield row
