"""What stands near an exercise, copied as its answer, fails.

Tried are all kernels that the chapter prints, the solutions of the other exercises, and kernels of
the chapter that somebody has fitted to the exercise's parameters without its idea.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import plain_answers
import pytest
from numba import cuda, int32

import gpukernels as gk
from gpukernels.device import benign_race
from gpukernels.exercises import CATALOG
from gpukernels.primitives import queue_append

ROOT = Path(__file__).parents[2]
NOTEBOOKS = {
    "simt": "simt",
    "shared": "shared_memory",
    "sssp": "sssp_spectrum",
    "hbf": "hbf",
    "queues": "better_queues",
    "direction": "direction",
    "floyd": "floyd_warshall",
    "otherwise": "all_pairs_otherwise",
    "energy": "performance_power_energy",
    "beyond": "beyond_one_gpu",
    "bfs": "frontier_bfs",
    "scans": "scans",
    "representations": "representations",
}
KERNELS = [
    n for n, ex in CATALOG.items() if ex.wants == "a kernel" and n.split("-")[0] in NOTEBOOKS
]
NO_PATH = 2147483647


def printed(chapter: str) -> dict[str, object]:
    """Return what the cells of a chapter print by `gk.show`, by its name."""
    notebook = json.loads((ROOT / f"chapters/{NOTEBOOKS[chapter]}.ipynb").read_text("utf-8"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    code = "\n".join(cells)
    modules = {
        name.strip(): module
        for module, names in re.findall(r"^from (gpukernels\S*) import ([\w, ]+)$", code, re.M)
        for name in names.split(",")
    }
    names = re.findall(r"^gk\.show\((\w+)\)", code, re.M)
    return {name: getattr(importlib.import_module(modules[name]), name) for name in names}


def fails(name: str, answer) -> str:
    with pytest.raises(gk.ExerciseFailed) as caught:
        gk.exercise(name).check(answer, seed=1)
    return str(caught.value)


def test_the_chapters_print_kernels():
    assert {"csr_neighbor_sum"} <= set(printed("simt"))
    assert {"relax_all", "split_far"} <= set(printed("sssp"))
    assert {"relax", "packed", "enqueue_through_shared"} <= set(printed("hbf"))


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_the_chapter_prints_is_no_answer(name):
    for kernel in printed(name.split("-")[0]).values():
        fails(name, kernel)


@pytest.mark.parametrize("name", KERNELS)
def test_the_solution_of_another_exercise_is_no_answer(name):
    for other in KERNELS:
        if other != name:
            fails(name, gk.exercise(other).solution.answer)


@cuda.jit
def without_padding(a, out):
    """As the column of a tile that the chapter reads in 32 passes."""
    tile = cuda.shared.array((32, 32), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if row + y < a.shape[0] and column + x < a.shape[1]:
        tile[y, x] = a[row + y, column + x]
    cuda.syncthreads()
    if row + x < a.shape[0] and column + y < a.shape[1]:
        out[column + y, row + x] = tile[x, y]


@cuda.jit
def straight_to_global(degree, count):
    """As `count_kinds`: every thread adds to the counter of its kind."""
    i = cuda.grid(1)
    if i < degree.size:
        cuda.atomic.add(count, degree[i], 1)


@cuda.jit
def a_thread_a_vertex(source, target, weights, distance, lower):
    """As `relax_all`: each thread looks for the arcs of its vertex."""
    u = cuda.grid(1)
    if u < distance.size:
        near = distance[u]
        if near != NO_PATH:
            for i in range(source.size):
                if source[i] == u:
                    length = near + weights[i]
                    if length < distance[target[i]]:
                        cuda.atomic.min(lower, target[i], length)


@benign_race("distance")
@cuda.jit
def without_a_queue(
    offsets, targets, weights, distance, frontier, frontier_size, next_frontier, next_size
):
    """As `relax_all`: every vertex in every round, and a flag in place of a queue."""
    u = cuda.grid(1)
    if u < distance.size:
        near = distance[u]
        if near != NO_PATH:
            for i in range(offsets[u], offsets[u + 1]):
                if near + weights[i] < distance[targets[i]]:
                    cuda.atomic.min(distance, targets[i], near + weights[i])
                    cuda.atomic.max(next_size, 0, 1)


@benign_race("distance")
@cuda.jit
def without_classes(
    offsets, targets, weights, ways_in, distance, frontier, frontier_size, next_frontier, next_size
):
    """As the answer of sssp-3, which knows of no classes."""
    i = cuda.grid(1)
    if i < frontier_size[0]:
        u = frontier[i]
        for k in range(offsets[u], offsets[u + 1]):
            length = distance[u] + weights[k]
            if length < cuda.atomic.min(distance, targets[k], length):
                queue_append(next_frontier, next_size, targets[k])


@cuda.jit
def by_atomics(offsets_in, sources, weights, out_degree, distance):
    """As a round of the search: an atomic minimum an arc."""
    v, lane = cuda.grid(1) // 32, cuda.laneid
    if v < distance.size and out_degree[v] == 0:
        for k in range(offsets_in[v] + lane, offsets_in[v + 1], 32):
            near = distance[sources[k]]
            if near != NO_PATH:
                cuda.atomic.min(distance, v, near + weights[k])


FITTED = {
    "simt-3": (plain_answers.vertices_by_number, "warp steps, on an R-MAT graph of 1,024 vertices"),
    "shared-4": (without_padding, "bank conflicts"),
    "shared-5": (straight_to_global, "lanes that wait at an atomic on `count`"),
    "sssp-2": (a_thread_a_vertex, ""),
    "sssp-3": (without_a_queue, ""),
    "hbf-3": (without_classes, "atomics on `distance`, on a tree of 300 vertices"),
    "hbf-4": (by_atomics, ""),
}


@pytest.mark.parametrize("name", FITTED)
def test_a_kernel_fitted_to_the_parameters_is_no_answer(name):
    kernel, why = FITTED[name]
    said = fails(name, kernel)
    assert "parameters must be" not in said
    assert why in said
