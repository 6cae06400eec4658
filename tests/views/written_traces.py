"""Traces written by hand, row by row, so that a view can be compared with their rows."""

from __future__ import annotations

import numpy as np

from gpukernels.trace import (
    ATOMIC,
    BRANCH,
    LOAD,
    STATEMENT,
    STORE,
    ArrayInfo,
    Launch,
    Requests,
    Source,
    Steps,
    Trace,
)

BFS_SOURCE = (
    "@cuda.jit",
    "def expand(offsets, targets, distance, frontier, frontier_size, next_frontier, next_size):",
    '    """Enqueue what is unvisited.',
    "",
    "    Two lines of docstring.",
    '    """',
    "    i = cuda.grid(1)",
    "    if i < frontier_size[0]:",
    "        u = frontier[i]",
    "        for k in range(offsets[u], offsets[u + 1]):",
    "            v = targets[k]",
    "            if distance[v] == -1:",
    "                distance[v] = level + 1",
    "                slot = cuda.atomic.add(next_size, 0, 1)",
    "                next_frontier[slot] = v",
)


class TraceWriter:
    """Collects rows and makes a Trace from them."""

    def __init__(self):
        self.launches, self.sources, self.arrays = [], [], []
        self.steps, self.requests, self.index, self.value = [], [], [], []
        self._counts = {}

    def source(self, function, text, first_line=1, file="kernel.py"):
        self.sources.append(Source(function, file, first_line, tuple(text)))
        return len(self.sources) - 1

    def array(self, name, shape, dtype=np.int32, space="global"):
        self.arrays.append(ArrayInfo(name, space, np.dtype(dtype), tuple(np.atleast_1d(shape))))
        return len(self.arrays) - 1

    def launch(self, kernel, blocks, threads, source=0):
        at = len(self.launches)
        self.launches.append(Launch(at, kernel, source, (blocks, 1, 1), (threads, 1, 1)))
        return at

    def step(self, launch, block, warp, line, lanes, kind=STATEMENT, taken=(), source=0):
        key = (launch, block, warp)
        at = self._counts.get(key, 0)
        self._counts[key] = at + 1
        self.steps.append(
            (launch, block, warp, at, source, line, kind, as_mask(lanes), as_mask(taken))
        )
        return at

    def request(self, launch, block, warp, line, array, kind, lanes, index, value=None, source=0):
        """Attach a memory request to the last step of the warp."""
        lanes = list(lanes)
        order = np.argsort(lanes, kind="stable")
        at = self._counts[launch, block, warp] - 1
        self.requests.append(
            (launch, block, warp, at, source, line, array, kind, as_mask(lanes), len(lanes))
        )
        self.index.extend(int(index[i]) for i in order)
        self.value.extend(float(value[i]) if value is not None else 0.0 for i in order)

    def trace(self):
        place = dict.fromkeys(("launch", "block", "warp", "step", "source", "line"), np.int32)
        kinds = place | {"kind": np.uint8, "mask": np.uint32, "taken": np.uint32}
        steps = Steps(**columns_of(self.steps, kinds))
        kinds = place | {"array": np.int32, "kind": np.uint8, "mask": np.uint32, "start": np.int64}
        columns = columns_of(self.requests, kinds)
        columns["start"] = np.append(0, np.cumsum(columns["start"]))
        requests = Requests(
            **columns,
            index=np.array(self.index, dtype=np.int64),
            value=np.array(self.value, dtype=np.float64),
        )
        return Trace(tuple(self.launches), tuple(self.sources), tuple(self.arrays), steps, requests)


def columns_of(rows, kinds):
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return {n: np.array(c, k) for c, (n, k) in zip(columns, kinds.items(), strict=True)}


def as_mask(lanes):
    return sum(1 << int(lane) for lane in lanes)


def queue_bfs(graph, root=0, threads=64):
    """Write the trace of a queue BFS, lanes in lockstep, warps one after another.

    Returns
    -------
    trace, levels
        ``levels`` holds the scalar model's own counts for each level.
    """
    w = TraceWriter()
    w.source("expand", BFS_SOURCE)
    n, m = graph.n, len(graph.targets)
    offsets, targets, distance, frontier, size, following, tail = (
        w.array(name, shape)
        for name, shape in (
            ("offsets", n + 1), ("targets", m), ("distance", n), ("frontier", m + 1),
            ("frontier_size", 1), ("next_frontier", m + 1), ("next_size", 1),
        )
    )  # fmt: skip
    dist = [-1] * n
    dist[root] = 0
    queue, levels = [root], []
    while queue:
        blocks = -(-len(queue) // threads)
        at = w.launch("expand", blocks, threads)
        out, read, makers = [], 0, {}
        for block in range(blocks):
            for warp in range(threads // 32):
                first = block * threads + warp * 32
                every = range(32)
                live = [j for j in every if first + j < len(queue)]
                where = (at, block, warp)

                def run(line, lanes, *asked, where=where):
                    """Add a step; `asked` is an array, a kind, and places and values by lane."""
                    w.step(*where, line, lanes)
                    if asked:
                        array, kind, index, value = asked
                        columns = [[of[j] for j in lanes] for of in (index, value)]
                        w.request(*where, line, array, kind, lanes, *columns)

                run(7, every)
                w.step(*where, 8, every, BRANCH, live)
                w.request(*where, 8, size, LOAD, every, [0] * 32, [len(queue)] * 32)
                if not live:
                    continue
                at_place = {j: first + j for j in live}
                u = {j: queue[first + j] for j in live}
                k = {j: int(graph.offsets[u[j]]) for j in live}
                end = {j: int(graph.offsets[u[j] + 1]) for j in live}
                run(9, live, frontier, LOAD, at_place, u)
                run(10, live, offsets, LOAD, u, k)
                while active := [j for j in live if k[j] < end[j]]:
                    w.step(*where, 10, live, BRANCH, active)
                    v = {j: int(graph.targets[k[j]]) for j in active}
                    run(11, active, targets, LOAD, k, v)
                    read += len(active)
                    new = [j for j in active if dist[v[j]] == -1]
                    w.step(*where, 12, active, BRANCH, new)
                    seen = [dist[v[j]] for j in active]
                    w.request(*where, 12, distance, LOAD, active, [v[j] for j in active], seen)
                    if new:
                        run(13, new, distance, STORE, v, dict.fromkeys(new, len(levels) + 1))
                        run(14, new, tail, ATOMIC, dict.fromkeys(new, 0), dict.fromkeys(new, 1))
                        slots = {j: len(out) + i for i, j in enumerate(new)}
                        run(15, new, following, STORE, slots, v)
                        for j in new:
                            dist[v[j]] = len(levels) + 1
                            out.append(v[j])
                            makers.setdefault(v[j], []).append((block, warp, j))
                    for j in active:
                        k[j] += 1
        levels.append(
            {"frontier": sorted(set(queue)), "queue": list(queue), "arcs": read, "makers": makers}
        )
        queue = out
    return w.trace(), levels, dist
