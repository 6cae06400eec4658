"""Blocked Floyd-Warshall of a large complete graph on one GPU of a host and on two.

The rows of the matrix are shared as in `gpukernels.all_pairs.shared_rows`. A closing is timed with
the matrix on the GPUs already and left there; a whole call has the host's checks of the matrix and
both copies of it as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from gpukernels.all_pairs import apsp
from gpukernels.all_pairs.blocked import close, panel_of
from gpukernels.all_pairs.lengths import ABSENT, Lengths, lengths_of
from gpukernels.all_pairs.shared_rows import Parts
from gpukernels.all_pairs.tiles import Form, Options
from gpukernels.bench import steps
from gpukernels.bench.graphs import dense_lengths
from gpukernels.bench.spread import median
from gpukernels.cores.slabs import on_all_cores
from gpukernels.device import CudaDevice
from gpukernels.distributed.peers import Peers, peers_of

SIZE = 32_768
#: Vertices of the run before, for the compiler: as many tiles as two panels.
COMPILING = 1024
#: Rows of the result that Dijkstra's algorithm finds too, and arcs of a vertex that it is given.
ROWS, DEGREE = 8, 128


class Closing:
    """A matrix on one device or on several, as often as it is closed.

    Parameters
    ----------
    devices : sequence of int or of SimtDevice
        Where.
    lengths : Lengths
        The matrix, of whole tiles.
    form : Form
        What kernels are made for.
    """

    def __init__(self, devices: Sequence[Any], lengths: Lengths, form: Form):
        self.peers: Peers = peers_of(devices)
        self._lengths, self._form = lengths, form
        self._alone = len(devices) == 1
        self._there: Any = None

    def place(self) -> None:
        """Copy the matrix to the devices."""
        self._there = None  # what was there makes room
        lengths, form, device = self._lengths, self._form, self.peers.devices[0]
        if self._alone:
            with self.peers.on(0):
                via, flags = device.full((1, 1), -1, np.int32), device.full(2, 0, np.int32)
                self._there = device.array(lengths.matrix), via, flags
        else:
            self._there = Parts(self.peers, lengths.matrix, lengths.n, lengths.absent, form)
        self.peers.wait()

    def close(self) -> None:
        """Close it, and wait."""
        panel = panel_of(self._lengths.n)
        if self._alone:
            distance, via, flags = self._there
            absent = distance.dtype.type(self._lengths.absent)
            with self.peers.on(0):
                close(self.peers.devices[0], self._form, distance, via, absent, flags, panel)
        else:
            self._there.close(panel)
        self.peers.wait()

    def found(self) -> NDArray:
        """Return the matrix as it is on the devices."""
        if not self._alone:
            return self._there.found()[0]
        found = np.empty(self._lengths.matrix.shape, self._lengths.matrix.dtype)
        with self.peers.on(0):
            return self.peers.devices[0].read(self._there[0], found)


def measure(devices: Sequence[Any], shrink: int, repeat: int) -> Iterator[dict[str, Any]]:
    """Measure on the first of the devices and on both; yield a row each.

    Raises
    ------
    AssertionError
        If a distance is wrong.
    """
    n = max(SIZE >> shrink, 32)
    steps.tell(f"blocked: a complete graph of {n:,} vertices", 0)
    matrix = dense_lengths(n, seed=1)
    lengths = lengths_of(matrix)
    form = Options().form(n, matrix.dtype)
    right, one = None, {"kernel_ms": float("nan"), "call_ms": float("nan")}
    for count in (1, 2):
        small = lengths_of(dense_lengths(min(n, COMPILING), seed=1))
        compiling = Closing(devices[:count], small, form)
        compiling.place()
        compiling.close()
        closing = Closing(devices[:count], lengths, form)
        kernels = []
        for _ in range(repeat):
            closing.place()
            kernels.append(_ms(closing.close)[0])
        distance = closing.found()
        if right is None:
            right = distance
            check_rows(matrix, right)
        check_same(distance, right, f"closed on {count} GPUs")
        del distance, closing
        where: dict[str, Any] = {"devices": devices[:2]} if count > 1 else {"device": None}
        if count == 1 and not isinstance(devices[0], int):
            where = {"device": devices[0]}
        call, found = _ms(lambda where=where: apsp(matrix, "blocked", **where))
        check_same(found.distance, right, f"a call on {count} GPUs")
        row = {"work": "blocked", "n": n, "m": n * (n - 1), "gpus": count}
        row["graph"] = f"gpukernels.bench.graphs.dense_lengths({n}, seed=1)"
        row |= {"kernel_ms": median(kernels), "kernel_runs": repeat}
        row |= {"call_ms": median([call]), "runs": 1, "operations": found.stats["operations"]}
        if count == 1:
            one = row
        else:
            row["bytes_sent"] = 4 * n * n
            row["peer_access"] = getattr(peers_of(devices), "reached", False)
        for time_, name in (("kernel_ms", "kernel_speed_up"), ("call_ms", "speed_up")):
            row[name] = round(one[time_] / max(row[time_], 1e-9), 3)
        steps.tell(
            f"  blocked      {count} GPUs: kernels {row['kernel_ms']:>10,.1f} ms, "
            f"{row['kernel_speed_up']:.2f} times one; call {row['call_ms']:>10,.1f} ms, "
            f"{row['speed_up']:.2f} times one"
        )
        yield row


def devices_for(device: Any) -> list[Any]:
    """Return the first two GPUs, or SIMT machines where `device` is one."""
    return [0, 1] if isinstance(device, CudaDevice) else [type(device)(), type(device)()]


def _ms(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = work()
    return (time.perf_counter() - begin) * 1e3, found


def check_same(found: NDArray, right: NDArray, label: str) -> None:
    """Raise AssertionError unless all distances are those that are known to be right."""
    assert found.shape == right.shape, f"{label}: a matrix of {found.shape}"

    def count(first: int, last: int) -> int:
        return int(np.count_nonzero(found[first:last] != right[first:last]))

    wrong = sum(on_all_cores(count, found.shape))
    assert wrong == 0, f"{label}: {wrong:,} of {found.size:,} distances are wrong"


def check_rows(matrix: NDArray, distance: NDArray) -> None:
    """Raise AssertionError unless some rows are what SciPy's Dijkstra finds.

    It is given the shortest arcs alone: lengths are drawn alike, so this many are below such a
    share of the longest. If all paths are no longer than that, no other arc is part of one.
    """
    n = len(matrix)
    longest = int(matrix[0].max()) * DEGREE // n if n > DEGREE else ABSENT

    def short(first: int, last: int) -> tuple[NDArray, NDArray, NDArray]:
        rows = matrix[first:last]
        source, target = np.nonzero((rows > 0) & (rows <= longest))
        return source + first, target, rows[source, target]

    parts = on_all_cores(short, matrix.shape)
    source, target, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
    some = np.random.default_rng(2).choice(n, min(ROWS, n), replace=False)
    arcs = sparse.csr_array((lengths.astype(np.float64), (source, target)), shape=(n, n))
    expected = csgraph.dijkstra(arcs, indices=some)
    assert (expected <= longest).all(), f"a path is longer than {longest}: too few arcs are known"
    wrong = int(np.count_nonzero(distance[some] != expected))
    assert wrong == 0, f"blocked: {wrong} of {expected.size} distances are wrong"
