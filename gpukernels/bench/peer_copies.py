"""Gigabytes a second from one GPU of a host to another, by each way that numba and CUDA have.

Without peer access first, as a process that has been given it keeps it; then with it; last into the
GPU of another process, which opens what this one has allocated. Every copy is looked at.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from gpukernels.bench import steps
from gpukernels.bench.bandwidth import THREADS, copy_words
from gpukernels.bench.spread import median
from gpukernels.distributed.peers import CudaPeers

#: Words of 8 bytes of a copy: 256 MiB. A copy of less is over sooner than the host looks away.
WORDS = 1 << 25
#: Copies one behind the other, the time of which is divided by so many, and how often that.
IN_A_ROW, REPEAT = 4, 5
#: Seconds that another process may take to begin and copy.
PATIENCE = 60


class Way(NamedTuple):
    """One way to copy.

    Attributes
    ----------
    name : str
        What it is called.
    reached : bool
        Whether the GPUs have been given access to each other's memory before.
    queue : callable
        Queues a copy.
    wait : callable
        Returns when all that is queued is done.
    """

    name: str
    reached: bool
    queue: Callable[[], None]
    wait: Callable[[], None]


def ways(peers: Any, source: Any, to: Any, reached: bool) -> list[Way]:
    """Return the ways from GPU 0 to GPU 1 that one process has."""

    def by_numba() -> None:
        with peers.on(1):
            to.copy_to_device(source)

    def by_driver() -> None:
        with peers.on(0):
            peers.copy(0, source, 1, to)

    found = [
        Way("numba's copy_to_device", reached, by_numba, peers.wait),
        Way("cuMemcpyPeerAsync", reached, by_driver, peers.wait),
    ]
    if reached:

        def by_kernel(there: int) -> None:
            with peers.on(there):
                blocks = source.size // (4 * THREADS)
                peers.devices[there].launch(copy_words, blocks, THREADS, source, to)

        found += [
            Way("a kernel that reads", reached, lambda: by_kernel(1), peers.wait),
            Way("a kernel that writes", reached, lambda: by_kernel(0), peers.wait),
        ]
    return found


def timed(way: Way, prepare: Callable[[], None], check: Callable[[], None]) -> dict[str, Any]:
    """Return the times of a way; AssertionError if a word was not copied."""
    prepare()
    way.queue()
    way.wait()
    check()
    all_ms = []
    for _ in range(REPEAT):
        begin = time.perf_counter()
        for _ in range(IN_A_ROW):
            way.queue()
        way.wait()
        all_ms.append((time.perf_counter() - begin) * 1e3 / IN_A_ROW)
    check()
    return {"way": way.name, "peer_access": way.reached, "copy_ms": median(all_ms)}


def measure(words: int = WORDS) -> Iterator[dict[str, Any]]:
    """Measure from the first GPU to the second; yield a row a way."""
    for reach in (False, True):
        peers = CudaPeers([0, 1], reach)
        if reach and not peers.reached:
            steps.tell("  the GPUs cannot reach each other's memory")
            return
        with peers.on(0):
            source = cuda.to_device(np.arange(words))
        with peers.on(1):
            to = cuda.device_array(words, np.int64)
        for way in ways(peers, source, to, reach):

            def prepare(peers=peers, to=to) -> None:
                with peers.on(1):
                    to.copy_to_device(np.zeros(words, np.int64))

            def check(peers=peers, to=to, way=way) -> None:
                with peers.on(1):
                    check_words(way.name, to.copy_to_host())

            yield told(timed(way, prepare, check), words)
    with peers.on(0):
        handle = source.get_ipc_handle()
    yield told(elsewhere(handle, words), words)


def check_words(name: str, found: np.ndarray) -> None:
    """Raise AssertionError unless these are the numbers from 0 on."""
    wrong = np.flatnonzero(found != np.arange(found.size))
    assert wrong.size == 0, f"{name}: {wrong.size:,} words are wrong, the first is {wrong[0]}"


def told(row: dict[str, Any], words: int) -> dict[str, Any]:
    """Return a row with its rate, and print it."""
    row = {"work": "copy", "gpus": 2, "bytes": 8 * words, **row}
    if "copy_ms" in row:
        row["gigabytes_per_second"] = round(8 * words / max(row["copy_ms"], 1e-9) / 1e6, 2)
        access = "with" if row["peer_access"] else "without"
        steps.tell(
            f"  {row['way']:22} {access:>7} peer access {row['gigabytes_per_second']:>8,.1f} GB/s"
        )
    else:
        steps.tell(f"  {row['way']:22} {row['failed']}")
    return row


def elsewhere(handle: Any, words: int) -> dict[str, Any]:
    """Return the times of copies to another process; what fails there is told, not raised."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_copy_there, args=(there, handle, words))
    process.start()
    there.close()
    way = "CUDA IPC"
    try:
        if not here.poll(PATIENCE):
            return {"way": way, "failed": f"no answer within {PATIENCE} s"}
        return here.recv()
    except EOFError:
        return {"way": way, "failed": "the other process has ended without an answer"}
    finally:
        if process.is_alive():
            process.join(5)
        if process.is_alive():
            process.kill()
            process.join()


def _copy_there(pipe: Any, handle: Any, words: int) -> None:
    """Open what another process has allocated on GPU 0, and copy it to GPU 1; runs in a process."""
    try:
        peers = CudaPeers([0, 1])
        with peers.on(1), _opened(handle) as source:
            to = cuda.to_device(np.zeros(words, np.int64))
            way = Way("CUDA IPC", peers.reached, lambda: to.copy_to_device(source), peers.wait)
            found = timed(way, lambda: None, lambda: check_words(way.name, to.copy_to_host()))
        pipe.send(found)
    except Exception as error:
        pipe.send({"way": "CUDA IPC", "failed": f"{type(error).__name__}: {error}"})


@contextmanager
def _opened(handle: Any) -> Iterator[Any]:
    try:
        yield handle.open()
    finally:
        handle.close()
