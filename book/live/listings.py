"""The programs of printed kernels: the functions, to be edited, and a short call that runs them."""

from __future__ import annotations

import re

HEAD = re.compile(r"^# (gpukernels/[\w/]+)\.py\n+")
FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)

SEARCH = """\
import gpukernels as gk

graph = {graph}
trace = gk.traced(gk.{family}, graph, method={method}).trace
"""
EXPANSION = """\
import gpukernels as gk

offsets = [0, 3, 3, 40, 41, 48]
trace = gk.traced(gk.expand, offsets, method={method}).trace
"""
CALL = """\
import numpy as np

import gpukernels as gk
from gpukernels{package} import {module}
{graph}
trace = gk.traced({call}).trace
"""
WEIGHTED = "gk.random_weights({}, seed=1)"
#: The graphs of searches, each the smallest of which something can be seen.
GRAPHS = {
    "bfs": "gk.example()",
    "sssp": WEIGHTED.format("gk.example()"),
    "sssp near_far": WEIGHTED.format("gk.road_grid(8, 8, seed=1)"),
    "apsp": WEIGHTED.format("gk.example()"),
    "apsp blocked, tile=16": WEIGHTED.format("gk.rmat(scale=6, edge_factor=4, seed=1)"),
}
#: A call, the kernel that it launches, and functions in it; two names need their module's.
RUNS = """
bfs harish | harish_level | harish_level
bfs edge_parallel | edge_parallel_level | edge_parallel_level
bfs frontier | expand_frontier | expand_frontier
bfs virtual_warp | virtual_warp_level | virtual_warp_level virtual_warp.virtual_warp
bfs luo | search_all_levels | search_all_levels is_mine follow_arcs enqueue_nearby flush
bfs linear_work | gather_serial | gather_serial copy_neighbor one_thread
bfs linear_work | claim_unvisited | claim_unvisited
bfs linear_work | scan_tiles | warp_inclusive_scan block_exclusive_scan
bfs expand_contract | expand_and_contract | expand_and_contract follow claim gather_by_block
bfs expand_contract | expand_and_contract | cull_by_warp cull_by_history
bfs bfs4k | single_block_levels | single_block_levels hash64
bfs direction_optimizing | search_and_meet_by_grid | parent_of_four bottom_up_by_words
sssp topology_driven | relax_all | relax_all
sssp ortega | find_limit | find_limit
sssp workfront_sweep | advance | sweep.relax enqueue_by_warp warp_append
sssp near_far | split_far | split_far
sssp near_far_persistent | search_near_and_far | adapted search_registers
sssp harish | adopt_forward | upper_owner merge_path
sssp hbf | relax_frontier | relax.relax packed enqueue_through_shared
apsp naive | relax_pivot | relax_pivot
apsp blocked | close_tile | close_tile
apsp blocked, tile=16 | remaining_tiles | remaining_tiles
apsp repeated_squaring | min_plus_tiles | min_plus_tiles multiply
expand direct_search | write_by_direct_search | direct_search
expand block_search | write_by_block_search | block_search
expand two_phase | partition | partition
expand multi_phase | write_multi_phase | expand_coalesced
expand max_scan | write_by_max_scan | max_scan
expand dynamic_virtual_warp | write_or_queue | virtual_warp_or_queue
csr.neighbor_sum, graph, np.arange(graph.n) | csr_neighbor_sum | csr_neighbor_sum
csr.weighted_neighbor_sum, graph, np.arange(graph.n), layout="packed" | csr_weighted_sum_packed |\
 csr_weighted_sum_packed
coo.neighbor_sum, graph, np.arange(graph.n) | coo_neighbor_sum | coo_neighbor_sum
coo.has_edge, graph, [0, 1], [1, 0] | coo_has_edge | coo_has_edge
adjacency_matrix.row_sum, graph | matrix_row_sum | matrix_row_sum
adjacency_matrix.row_sum, graph, mapping="thread" | matrix_row_sum_by_thread |\
 matrix_row_sum_by_thread
primitives.warp_rank, np.arange(64) % 3 == 0 | rank_warps | warp_binary_rank
primitives.device_scan, np.arange(3000) | add_tiles | add_tiles
primitives.shared_scan, np.arange(64), padding=False, threads=64 | sweep_plain | plain_cell
"""
#: The call and the kernel of each of these functions.
KNOWN = {
    function: (call, kernel)
    for call, kernel, functions in (
        [part.strip() for part in row.split("|")] for row in RUNS.strip().splitlines()
    )
    for function in functions.split()
}


def _text(call: str) -> str:
    """Return the program that makes a call and keeps its trace."""
    family, _, rest = call.partition(" ")
    method, comma, options = rest.partition(",")
    if family == "expand":
        return EXPANSION.format(method=f'"{method}"')
    if family in GRAPHS:
        graph = GRAPHS.get(call, GRAPHS[family])
        return SEARCH.format(family=family, graph=graph, method=f'"{method}"{comma}{options}')
    module = call.partition(".")[0]
    if module == "primitives":
        return CALL.format(package="", module=module, graph="", call=call)
    graph = f"\ngraph = {GRAPHS['sssp']}"
    return CALL.format(package=".representations", module=module, graph=graph, call=call)


def name_of(listing: str) -> str:
    """Return the name of a listing's first function."""
    functions = FUNCTION.findall(listing)
    return functions[0].replace("_", "-") if functions else "listing"


def program_of(listing: str) -> str:
    """Return the program of a printed listing; empty if no call for its first function is known.

    Parameters
    ----------
    listing : str
        The listing in plain text: the file's path, and the functions.
    """
    head, functions = HEAD.match(listing), FUNCTION.findall(listing)
    if head is None or not functions:
        return ""
    module, name = head[1].replace("/", "."), functions[0]
    call, kernel = KNOWN.get(f"{module.split('.')[-1]}.{name}") or KNOWN.get(name, ("", ""))
    if not call:
        return ""
    return (
        f"# %% {module}\n{listing[head.end() :].strip()}\n\n\n# %% program\n{_text(call)}"
        f'launches = [at.index for at in trace.launches if at.kernel == "{kernel}"]\n'
        "gk.WarpView(trace, launches[0])\n"
    )
