"""Split light from heavy arcs: only light ones can lead from a bucket to the bucket itself.

Meyer and Sanders [meyer2003delta], section 2. An arc is *light* if it weighs at most delta, else
*heavy*. A vertex may leave the bucket, fall and come back many times, and its light arcs must be
relaxed each time. Its heavy arcs lead beyond the bucket from any distance in the bucket. So the
search remembers all vertices that leave the bucket, each once. When the bucket is empty, their
distances are final, and their heavy arcs are relaxed.

The arcs are split once per graph and delta, into two graphs of the same vertices. If a sum is
rounded, a heavy arc may still lead into the bucket; then the bucket is not empty yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32
from numpy.typing import NDArray

from gpukernels.device import Device
from gpukernels.frontiers.arc_queue import ArcQueue, enqueue_with_arcs, entries_and_arcs
from gpukernels.graphs.graph import Graph, arc_weights

from .piles import Options, Piles
from .result import SSSPResult


@cuda.jit
def remember(frontier, size, offsets, bucket_of, bucket, removed: ArcQueue, counts):
    """Append the frontier's vertices to `removed`, unless this bucket has held them before.

    ``bucket_of[v]`` is the last bucket that held v. ``offsets`` belong to the heavy arcs; vertices
    without a heavy arc are left out.
    """
    found = cuda.local.array(1, int32)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        v, new = int32(-1), False
        if i < size:
            v = frontier[i]
            new = bucket_of[v] != bucket and offsets[v] < offsets[v + 1]
            bucket_of[v] = bucket
        found[0] = v
        enqueue_with_arcs(removed, counts, offsets, found, int32(new))


def split(g: Graph, delta: float) -> list[tuple[NDArray, NDArray, NDArray]]:
    """Return offsets, targets and weights of the light arcs, and those of the heavy ones."""
    weights = arc_weights(g)
    light = weights <= delta
    parts = []
    for chosen in (light, ~light):
        before = np.concatenate([[0], np.cumsum(chosen)])
        parts.append((before[g.offsets].astype(np.int32), g.targets[chosen], weights[chosen]))
    return parts


class LightHeavy(Piles):
    """The state of a search that relaxes heavy arcs once a bucket is empty.

    Attributes
    ----------
    heavy_relaxations : int
        The number of relaxations of heavy arcs.
    """

    def __init__(self, method: str, g: Graph, root: int, device: Device, options: Options):
        super().__init__(method, g, root, device, options)
        # For only one delta at a time, as each split takes as much memory as the graph.
        forms: dict[float, Any] = device.keep_made(g, "light and heavy arcs", dict)
        if self.delta not in forms:
            forms.clear()
            parts = split(g, self.delta)
            arrays = [tuple(map(device.array, part)) for part in parts]
            forms[self.delta] = *arrays, parts[0][0]
        light, heavy, offsets = forms[self.delta]
        self.all_arcs = self.search
        self.search = self.search._replace(offsets=light[0], targets=light[1], weights=light[2])
        # A target of a heavy arc is enqueued together with its light arcs.
        self.by_heavy = self.search._replace(targets=heavy[1], weights=heavy[2])
        self.heavy_offsets, self.any_heavy = heavy[0], heavy[1].size > 0
        device.put(self.queues[0].shift, 0, int(offsets[root]))
        self.arcs = int(offsets[root + 1] - offsets[root])
        self.removed = ArcQueue(*(device.empty(g.n, np.int32) for _ in ArcQueue._fields))
        self.bucket, self.bucket_of = 1, device.full(g.n, 0, np.int32)
        self.heavy_relaxations = 0

    def round(self) -> None:
        """Relax the light arcs of the frontier; if the bucket is empty then, its heavy arcs."""
        size_of_removed = self.counts[-1:]
        if self.any_heavy:
            self.launch(
                remember, self.size, self.queues[self.turn % 2].vertex, self.size,
                self.heavy_offsets, self.bucket_of, self.bucket, self.removed, size_of_removed,
                most=self.most_blocks,
            )  # fmt: skip
        super().round()
        size, arcs = entries_and_arcs(self.host_counters[-1])
        if self.size == 0 and size:
            self.device.clear(size_of_removed)
            self.bucket += 1
            self.heavy_relaxations += arcs
            self.relax(self.by_heavy, self.removed, size, arcs)

    def final_result(self, **more) -> SSSPResult:
        """Return the result of the search, with `more` statistics."""
        self.search = self.all_arcs
        return super().final_result(heavy_relaxations=self.heavy_relaxations, **more)
