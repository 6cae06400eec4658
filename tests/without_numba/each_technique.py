"""Run every method once on small graphs, and print those that are not as the CPU's loops say."""

from __future__ import annotations

import sys

import numpy as np

from gpukernels.simt import names

names.register()

import gpukernels as gk  # noqa: E402 - kernels import the names
from gpukernels.all_pairs import METHODS as ALL_PAIRS  # noqa: E402
from gpukernels.mapping import METHODS as MAPPINGS  # noqa: E402
from gpukernels.shortest_paths import METHODS as SHORTEST_PATHS  # noqa: E402
from gpukernels.traversal import METHODS as TRAVERSAL  # noqa: E402

#: What needs a package, or a second thread, that a browser does not have.
ELSEWHERE = {"partitioned"} | ({"matsumoto"} if sys.platform == "emscripten" else set())

plain = gk.example()
weighted = gk.random_weights(plain, seed=1)
levels = gk.reference.bfs(plain, 0).distance
lengths = gk.reference.dijkstra(weighted, 0).distance
all_lengths = gk.reference.floyd_warshall(weighted).distance
device = gk.SimtDevice()


def check(call: str, result, expected) -> None:
    """Print a call whose result is another one."""
    most = float(2**31 - 1)  # what int32 has for no path
    result, expected = (np.minimum(np.asarray(of, float), most) for of in (result, expected))
    if not np.array_equal(result, expected):
        print(f"{call}: {result}, not {expected}")


for method in TRAVERSAL:
    check(f"bfs {method}", gk.bfs(plain, 0, method, device).distance, levels)
for method in SHORTEST_PATHS:
    check(f"sssp {method}", gk.sssp(weighted, 0, method, device).distance, lengths)
for method in set(ALL_PAIRS) - ELSEWHERE:
    check(f"apsp {method}", gk.apsp(weighted, method, device).distance, all_lengths)
for method in MAPPINGS:
    items = gk.expand([0, 3, 3, 40], method, device=device).item
    check(f"expand {method}", items, np.repeat([0, 2], [3, 37]))
check("bfs", gk.bfs(plain, 0).distance, levels)
check("sssp", gk.sssp(weighted, 0).distance, lengths)
check("apsp", gk.apsp(weighted).distance, all_lengths)
check("bfs_many", gk.bfs_many(plain, [0]).distance[0], levels)
check("sssp_many", gk.sssp_many(weighted, [0]).distance[0], lengths)
with gk.trace() as trace:
    gk.bfs(plain, 0, "virtual_warp", warp_size=4)
view = gk.WarpView(trace, step=1)
view.step = 2
if (
    view.step != 2
    or "<figure" not in view.html
    or view._repr_mimebundle_()[0]["text/html"] != view.html
):
    print(f"WarpView: {view}, step {view.step}")
try:
    view.step = 10_000
    print("WarpView: step 10,000 is not refused")
except gk.InvalidArgument:
    pass
loaded = sorted({"numba.core.typing", "llvmlite", "scipy", "tqdm"} & set(sys.modules))
if loaded:
    print(f"loaded: {loaded}")
print("done")
