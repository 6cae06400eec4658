"""What is drawn again in every check, exercise by exercise: hidden inputs that nobody can know.

The runs and judges are those of the exercises' own modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from gpukernels.graphs.generators import rmat

from ..judge.case import Case, Results, Wrong, equal_to
from ..judge.exercise import Exercise, KernelExercise
from ..judge.inputs import Draw, Inputs, graphs_from_0, searches, sizes_of_items, whole_numbers
from . import (
    all_pairs_otherwise,
    better_queues,
    beyond_one_gpu,
    bfs4k,
    direction,
    duplicates,
    floyd_warshall,
    frontier_bfs,
    hbf,
    mapping_dynamic,
    mapping_static,
    representations,
    scans,
    shared_memory,
    simt,
    sssp_spectrum,
)

Judge = Callable[[Results], Wrong | None]
Drawing = Callable[[Draw], tuple[Case, ...]]

GRAPHS = graphs_from_0(most=100)
SEARCHES = searches(most=100)
SIZES = sizes_of_items(most_items=100, most_units=200)
NUMBERS = whole_numbers(most=500, low=0, high=1_000)


def drawn_from(inputs: Inputs, run: Callable, judge: Callable[[object], Judge]) -> Drawing:
    """Return what draws from `inputs`: ``run(kernel, device, value)``, judged by ``judge(value)``.

    The functions are looked up when a case runs, as any function of a module is.
    """
    return inputs.drawn(
        lambda name, value: Case(
            name, lambda kernel, device: run(kernel, device, value), judge(value)
        )
    )


def one(name: str, draw: Callable[[Draw], object]) -> Inputs:
    """Return inputs of which each check draws one, and none is fixed."""
    return Inputs({}, lambda rng: {name: draw(rng)})


# The sides of what is turned, and how often.


def rotated(shape) -> Judge:
    """Judge shared-3 on (numbers, rounds)."""
    n, rounds = map(int, shape)
    return equal_to(values=np.roll(shared_memory.numbers(n), -rounds))


def transposed(shape) -> Judge:
    """Judge shared-4 on (rows, columns)."""
    rows, columns = map(int, shape)
    return equal_to(out=shared_memory.numbers(rows * columns).reshape(rows, columns).T)


# Queries.


def some_queries(rng: Draw) -> tuple:
    """Draw a graph, and queries of which half ask for one of its arcs."""
    g = rmat(6, edge_factor=4, seed=int(rng.integers(2**31)), parallel="min", self_loops="remove")
    arcs = np.stack(g.coo)[:, rng.integers(g.m, size=30)]
    return (g, *np.concatenate([arcs, rng.integers(g.n, size=(2, 30))], axis=1))


def answers(query: tuple) -> Judge:
    """Judge representations-4."""
    g, source, target = query
    arcs = set(zip(*(ends.tolist() for ends in g.coo), strict=True))
    asked = zip(source.tolist(), target.tolist(), strict=True)
    return equal_to(found=np.array([arc in arcs for arc in asked]))


# Items and units.


def with_a_number(
    make: Callable[[str, np.ndarray, int], Case], numbers: tuple[int, ...], what: str
) -> Drawing:
    """Return what draws sizes of items and, for each, one of `numbers`; ``make`` makes a case."""

    def cases(rng: Draw) -> tuple[Case, ...]:
        made = []
        for name, sizes in SIZES.draw(rng).items():
            number = int(rng.choice(numbers))
            # The case may name the number, and a name must not depend on what is drawn.
            detail = f"{sizes.size} items, {sizes.sum()} units, {what} {number}"
            made.append(replace(make(name, sizes, number), name=name, detail=detail))
        return tuple(made)

    return cases


def some_vertices(rng: Draw) -> dict[str, np.ndarray]:
    """Draw vertices for a cull: many alike, and different ones that share the slots of a table."""
    count, first = int(rng.integers(2, 300)), int(rng.integers(0, 2**30))
    return {
        "drawn vertices, many of them alike": first + rng.integers(0, 60, count),
        "drawn vertices that share slots": first % 256 + 256 * rng.integers(0, 90, count),
    }


def culled(least: int, most: int, slots: int = 0) -> Drawing:
    """Return what draws vertices for a cull; see :func:`duplicates.judge_cull`."""
    return drawn_from(
        Inputs({}, some_vertices),
        duplicates.run_cull,
        lambda vertices: duplicates.judge_cull(vertices, least, most, slots),
    )


def blockwise(values: np.ndarray) -> np.ndarray:
    """Return the exclusive scan of each 4 x 64 values on their own, as scans-4 wants it."""
    run = 4 * scans.THREADS
    parts = [scans.exclusive(values[k : k + run]) for k in range(0, values.size, run)]
    return np.concatenate([np.zeros(0, int), *parts])


GROUP_SIZES = 1, 2, 4, 8, 16, 32
BY_ONE_BLOCK = drawn_from(GRAPHS, bfs4k.run_one_block, frontier_bfs.judge_search)

#: By exercise, what takes a generator of random numbers and returns the cases drawn with it.
DRAWN: Mapping[str, Drawing] = {
    "simt-2": drawn_from(
        whole_numbers(most=500, low=-1_000_000, high=1_000_000),
        simt.run_squares,
        lambda values: equal_to(**simt.squares(values)),
    ),
    "simt-3": drawn_from(GRAPHS, simt.run_ordered, lambda g: equal_to(sums=simt.neighbor_sums(g))),
    "shared-2": drawn_from(
        whole_numbers(most=128, low=-1_000, high=1_000_000),
        lambda kernel, device, values: shared_memory.run_block_sum(kernel, device, values),
        lambda values: equal_to(total=np.array([values.sum()])),
    ),
    "shared-3": drawn_from(
        one("drawn numbers and rounds", lambda rng: rng.integers([2, 0], [129, 40])),
        lambda kernel, device, shape: shared_memory.run_rotate(kernel, device, *map(int, shape)),
        rotated,
    ),
    "shared-4": drawn_from(
        one("a matrix of drawn sides", lambda rng: rng.integers(1, 70, 2)),
        lambda kernel, device, shape: shared_memory.run_transpose(kernel, device, *map(int, shape)),
        transposed,
    ),
    "shared-5": drawn_from(
        one("drawn degrees", lambda rng: rng.integers(0, 32, rng.integers(1, 500))),
        lambda kernel, device, degree: shared_memory.run_histogram(
            kernel, device, degree.astype(np.int32)
        ),
        lambda degree: equal_to(count=np.bincount(degree, minlength=32)),
    ),
    "representations-2": drawn_from(
        GRAPHS,
        representations.run_by_warp,
        lambda g: equal_to(sums=representations.neighbor_sums(g)),
    ),
    "representations-3": drawn_from(
        GRAPHS,
        representations.run_by_arc,
        lambda g: equal_to(sums=representations.neighbor_sums(g)),
    ),
    "representations-4": drawn_from(
        one("60 drawn queries to a drawn R-MAT graph", some_queries),
        lambda kernel, device, query: representations.run_queries(kernel, device, *query),
        answers,
    ),
    "scans-2": drawn_from(
        whole_numbers(most=500, low=-(2**31), high=2**31 - 1),
        scans.run_split,
        lambda values: equal_to(out=scans.split(values)),
    ),
    "scans-3": drawn_from(
        NUMBERS, scans.run_complete, lambda values: equal_to(scanned=scans.exclusive(values))
    ),
    "scans-4": drawn_from(
        NUMBERS, scans.run_four, lambda values: equal_to(scanned=blockwise(values))
    ),
    "bfs-2": SEARCHES.drawn(partial(frontier_bfs.queue_case, highest=True)),
    "bfs-3": SEARCHES.drawn(frontier_bfs.spread_case),
    "queues-2": SEARCHES.drawn(frontier_bfs.queue_case),
    "queues-3": SEARCHES.drawn(better_queues.flags_case),
    "queues-4": drawn_from(GRAPHS, better_queues.run_classes, better_queues.judge_classes),
    "duplicates-2": culled(least=duplicates.THREADS, most=32, slots=duplicates.SLOTS),
    "duplicates-3": culled(least=32, most=32),
    "duplicates-4": culled(least=duplicates.THREADS, most=duplicates.THREADS),
    "bfs4k-2": BY_ONE_BLOCK,
    "bfs4k-3": lambda rng: (
        bfs4k._queues_case("queues of drawn lengths", rng.integers(0, 17, rng.integers(2, 200))),
    ),
    "bfs4k-4": BY_ONE_BLOCK,
    "direction-2": drawn_from(GRAPHS, direction.run_bottom_up, frontier_bfs.judge_search),
    "direction-3": SEARCHES.drawn(direction.bits_case),
    "mapping-static-2": with_a_number(mapping_static._column_case, GROUP_SIZES, "threads an item:"),
    "mapping-static-3": with_a_number(mapping_static._sum_case, GROUP_SIZES, "threads a group:"),
    "mapping-static-4": with_a_number(
        mapping_static._aligned_case, GROUP_SIZES, "threads a group:"
    ),
    "mapping-dynamic-2": SIZES.drawn(mapping_dynamic._gather_case),
    "mapping-dynamic-3": drawn_from(
        SIZES,
        lambda kernel, device, sizes: mapping_dynamic.run_expansion(
            kernel, device, mapping_dynamic.offsets_of(sizes)
        ),
        lambda sizes: equal_to(item=np.repeat(np.arange(sizes.size), sizes)),
    ),
    "mapping-dynamic-4": with_a_number(
        lambda name, sizes, number: mapping_dynamic._cut_case(
            name, mapping_dynamic.offsets_of(sizes), number
        ),
        (1, 2, 7, 32),
        "units a chunk:",
    ),
    "sssp-2": sssp_spectrum.WITH_NEGATIVE.drawn(sssp_spectrum.relax_case),
    "sssp-3": sssp_spectrum.POSITIVE.drawn(sssp_spectrum.paths_case),
    "sssp-4": sssp_spectrum.PILES.drawn(sssp_spectrum.split_case),
    "hbf-2": hbf.OFFERS.drawn(hbf.words_case),
    "hbf-3": hbf.SEARCHES.drawn(hbf.classes_case),
    "hbf-4": hbf.LEAFY.drawn(hbf.leaves_case),
    "floyd-2": floyd_warshall.MATRICES.drawn(floyd_warshall.closing_case),
    "floyd-3": floyd_warshall.SMALL.drawn(floyd_warshall.pivots_case),
    "floyd-4": floyd_warshall.PIPES.drawn(floyd_warshall.widening_case),
    "otherwise-3": all_pairs_otherwise.GRAPHS.drawn(all_pairs_otherwise.squares_case),
    "otherwise-4": all_pairs_otherwise.PAIRS.drawn(all_pairs_otherwise.multiply_case),
    "beyond-2": beyond_one_gpu.CUT_GRAPHS.drawn(beyond_one_gpu.marks_case),
    "beyond-3": beyond_one_gpu.CUT_ROADS.drawn(beyond_one_gpu.join_case),
}


def with_fresh_inputs(ex: Exercise) -> Exercise:
    """Return the exercise with what is drawn for it in every check."""
    if isinstance(ex, KernelExercise) and ex.id in DRAWN:
        return ex.drawing(DRAWN[ex.id])
    return ex
