"""Open tasks: a search of the reader's own, which has to beat the book's.

There is no solution to fold away. The check has two parts: the distances must be right on awkward
graphs under every schedule, and a price must be lower than that of each search of the chapters so
far. The price and the distances are read from the trace, so only the work of kernels counts. While
the price is counted, the host gets a graph whose arcs have wrong ends or wrong weights, and the
kernels get the right graph: see :mod:`gpukernels.exercises.judge.blind`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.checks import check_flag, check_seed
from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import (
    erdos_renyi,
    path,
    random_weights,
    rmat,
    road_grid,
    small_world,
    star,
)
from gpukernels.graphs.graph import Graph
from gpukernels.reference import bfs, dijkstra
from gpukernels.trace import Trace, metrics
from gpukernels.views.frontier.levels import read_levels
from gpukernels.views.relax.relaxations import Arcs, Run, read_run

from . import effort
from .bench import in_short
from .blind import BlindDevice, Cover, with_other_targets, with_other_weights
from .checking import SCHEDULES
from .report import ExerciseFailed, Finding, Report

#: A distance of this or more means that a search has not reached the vertex.
UNREACHED = 2**31 - 1
#: A self-loop and parallel arcs of four vertices.
LOOPS = 4, [0, 0, 0, 1, 1], [0, 1, 1, 2, 2]
#: Price of a round in sssp-open, in relaxations.
ROUND = 20


@dataclass(frozen=True)
class Problem:
    """The problem that a search solves, and how the search is judged."""

    #: A search of the book, in whose place the reader's comes.
    skeleton: str
    #: Takes a seed and returns graphs by name, to be searched from vertex 0.
    awkward: Callable[[int], dict[str, Graph]]
    #: Returns the distances from a root, infinite where no path leads.
    expected: Callable[[Graph, int], np.ndarray]
    #: Turns the distances that a search returned into that form.
    finite: Callable[[np.ndarray], np.ndarray]
    #: Returns the fault of a search or None, the distances that the kernels found, and the data
    #: from which a price is read.
    read: Callable[[Trace, Graph, int], tuple[str | None, np.ndarray, Any]]
    #: Takes a graph and a seed, and returns a cover of the graph for the host.
    covered: Callable[[Graph, int], Cover]
    #: Sentences for the reader about the cover and about limits of the search.
    rule: str


@dataclass(frozen=True)
class OpenTask:
    """A search to write that beats a counter.

    Attributes
    ----------
    id, title : str
        "hbf-open", and a few words, which no other task has.
    what : str
        The counter.
    bar : int
        The price of the best search of the book on all graphs together.
    rival : str
        Its name.
    graphs : callable
        Returns (graph, root) by name: those on which it is counted.
    price : callable
        Takes a trace and what was read from it, and returns the counter.
    problem : Problem
        The problem that the search solves.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("sssp-open")
    >>> ex.wants
    'a function search(g, root, device)'
    """

    id: str
    title: str
    what: str
    bar: int
    rival: str
    graphs: Callable[[], Mapping[str, tuple[Graph, int]]]
    price: Callable[[Trace, Any], int]
    problem: Problem

    wants = "a function search(g, root, device)"
    kind = effort.OPEN
    level = "hard"

    @property
    def skeleton(self) -> str:
        """A search of the book, in whose place the reader's comes."""
        return self.problem.skeleton

    def check(self, search: Any, raises: bool = True, *, seed: int | None = None) -> Report:
        """Judge a search: whether it is right, and costs less than every one of the book's.

        Parameters
        ----------
        search : callable
            Takes a graph (with weights of 1 or more if paths have lengths), a root and a SIMT
            device. It runs kernels there, on arrays with the names of this book (``targets``,
            ``weights``, ``distance``). It returns the distances, or an object with ``distance``.
            Kernels get right weights and arcs; the host may get wrong ones: see `rule` below.
        raises : bool
            Whether a search that does not pass raises.
        seed : int, optional
            Seed of one of the graphs; by default a new one.

        Raises
        ------
        ExerciseFailed
            If `raises` and the search is wrong, or not better.
        """
        raises = check_flag("raises", raises)
        seed = secrets.randbelow(1_000_000) if seed is None else check_seed(seed)
        report = Report(f"{self.id} ({self.title})", list(self._findings(search, seed)), seed)
        if raises and not report.passed:
            raise ExerciseFailed(report)
        return report

    def costs(self, search: Callable) -> dict[str, int]:
        """Return what a right search takes on each graph."""
        return {name: self._cost(search, *of) for name, of in self.graphs().items()}

    def _cost(self, search, g: Graph, root: int) -> int:
        device = SimtDevice(trace=True)
        search(g, root, device)
        return self.price(device.trace, self.problem.read(device.trace, g, root)[2])

    def _findings(self, search: Any, seed: int):
        if not callable(search):
            yield Finding(False, f"{self.wants} is wanted here, and this is {search!r:.60}")
            return
        graphs = self.problem.awkward(seed)
        for name, g in graphs.items():
            for schedule, number in SCHEDULES:
                fault, distance = _distances(search, g, 0, SimtDevice(schedule, seed=number))
                fault = fault or self._difference(distance, g, 0)
                if fault:
                    yield Finding(False, f"{name}, schedule {schedule}: {fault}")
                    return
        yield Finding(True, f"right on {len(graphs)} graphs under {len(SCHEDULES)} schedules")
        prices = {}
        for name, (g, root) in self.graphs().items():
            cover = self.problem.covered(g, seed)
            device = BlindDevice(cover, trace=True)
            fault, distance = _distances(search, cover.shown, root, device)
            if fault is None:
                fault, read = self._read(device.trace, distance, g, root)
            if fault:
                yield Finding(False, f"{name}: {fault}")
                return
            prices[name] = self.price(device.trace, read)
        total = sum(prices.values())
        each = ", ".join(f"{price:,} on {name}" for name, price in prices.items())
        yield Finding(
            total < self.bar,
            f"{self.what}: {total:,} ({each}); wanted less than {self.bar:,}, which is what "
            f"{self.rival} takes",
        )

    def _difference(self, distance: np.ndarray, g: Graph, root: int) -> str | None:
        """Return the first vertex whose distance is wrong, or None."""
        expected = self.problem.expected(g, root)
        if distance.shape != expected.shape:
            return f"distances of shape {distance.shape} came back, and {expected.shape} is wanted"
        distance = self.problem.finite(distance)
        wrong = np.flatnonzero(distance != expected)
        if wrong.size:
            v = int(wrong[0])
            length, right = _text_of(distance[v]), _text_of(expected[v])
            return f"vertex {v} is at {length}, and should be at {right}"
        return None

    def _read(self, trace: Trace, array: np.ndarray, g: Graph, root: int) -> tuple[str | None, Any]:
        """Return the fault of a search of `g`, by its trace, or None, and the run that was read."""
        fault, distance, read = self.problem.read(trace, g, root)
        if fault is None and not np.array_equal(distance, self.problem.finite(array)):
            fault = "the distances that came back are not those that the kernels have found"
        difference = self._difference(array, g, root)
        if difference is not None:
            fault = f"{fault or difference}. {self.problem.rule}"
        return fault, read

    def __repr__(self) -> str:
        return (
            f"{self.id}: {self.title}\nOpen, hard, without an end.\n\n"
            f"Beat {self.bar:,} {self.what} on "
            f"{', '.join(self.graphs())} together, by {self.wants}. {self.problem.rule}"
        )


def _distances(search, g: Graph, root: int, device: SimtDevice) -> tuple[str | None, np.ndarray]:
    """Run a search; return why there are no distances, or None, and the distances."""
    nothing = np.zeros(0)
    try:
        result = search(g, root, device)
        distance = np.asarray(getattr(result, "distance", result))
    except Exception as error:
        return f"`search` raised {in_short(error)}", nothing
    if distance.dtype.kind not in "iuf":
        return f"distances of type {distance.dtype} came back, and numbers are wanted", nothing
    return None, distance


def _text_of(length: float) -> str:
    return f"{length:,.0f}" if np.isfinite(length) else "no path's end"


def _lengths(g: Graph, root: int) -> np.ndarray:
    """Return the right distances as float64, infinite where no path leads."""
    expected = dijkstra(g, root)
    return np.where(expected.parent < 0, np.inf, expected.distance)


def _finite(distance: np.ndarray) -> np.ndarray:
    return np.where(distance >= UNREACHED, np.inf, distance)


def _read_paths(trace: Trace, g: Graph, root: int) -> tuple[str | None, np.ndarray, Run | None]:
    try:
        run = read_run(trace, Arcs.of(g), root)
    except Exception as error:
        return f"the search cannot be read from its trace: {in_short(error)}", np.zeros(0), None
    head = Arcs.of(g).target
    for k, iteration in enumerate(run.iterations):
        unexplained = np.setdiff1d(iteration.lowered, head[iteration.gains])
        if unexplained.size:
            fault = (
                f"round {k} gave vertex {int(unexplained[0])} a distance that is not the end of a "
                "path over an arc whose weight was read in that round"
            )
            return fault, run.distance, run
    return None, run.distance, run


def awkward(seed: int) -> dict[str, Graph]:
    """Return graphs with weights to be searched from vertex 0, the last one drawn with `seed`."""
    n, m, arcs, draw = _drawn_arcs(seed)
    return {
        "one vertex": Graph.from_arcs(1, [], [], np.zeros(0, np.int32)),
        "a self-loop and parallel arcs": Graph.from_arcs(*LOOPS, [3, 9, 2, 7, 1]),
        "a path of 35 vertices": random_weights(path(35), 1, 1_000_000, seed=1),
        "a star of 150 vertices": random_weights(star(150), seed=2),
        "detours": Graph.from_arcs(5, [0, 0, 1, 2, 2, 3], [2, 1, 2, 4, 3, 4], [3, 1, 1, 3, 1, 1]),
        "a drawn graph": Graph.from_arcs(n, *arcs, draw.integers(1, 50, m, np.int32)),
    }


def _drawn_arcs(seed: int) -> tuple[int, int, np.ndarray, np.random.Generator]:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 80))
    m = int(draw.integers(1, 6 * n))
    return n, m, draw.integers(0, n, (2, m)), draw


def families() -> dict[str, tuple[Graph, int]]:
    """Return the three families of the chapter on the whole spectrum."""
    drawn = {
        "roads": (road_grid(13, 13, seed=1), 0),
        "small world": (small_world(160, 6, rewire=0.1, seed=2), 87),
        "R-MAT": (rmat(7, 5, seed=3), 0),
    }
    return {name: (random_weights(g, 1, 60, seed=1), root) for name, (g, root) in drawn.items()}


def networks() -> dict[str, tuple[Graph, int]]:
    """Return the four families of the chapter on H-BF, each with its heaviest vertex."""
    drawn = {
        "roads": road_grid(28, 28, seed=1),
        "talk": rmat(10, 3, seed=1, parallel="min"),
        "hubs": rmat(9, 8, seed=2, directed=False),
        "random": erdos_renyi(512, 24, seed=1),
    }
    return {
        name: (random_weights(g, 1, 100, seed=1), int(np.argmax(g.out_degree)))
        for name, g in drawn.items()
    }


def relaxations_and_rounds(trace: Trace, run: Run) -> int:
    """Return the price of sssp-open: a round costs as much as `ROUND` relaxations."""
    return run.relaxations + ROUND * len(run.iterations)


def warp_steps(trace: Trace, run: Run) -> int:
    """Return the price of hbf-open."""
    return metrics.warp_steps(trace)


#: Launches in addition to one per level: one that finds nothing new, and one to begin with.
SPARE_LAUNCHES = 2


def plain_graphs() -> dict[str, tuple[Graph, int]]:
    """Return the three graphs of the chapter, each with its root."""
    return {
        "R-MAT": (rmat(10, edge_factor=8, seed=1), 0),
        "small world": (small_world(1024, degree=8, rewire=0.1, seed=1), 0),
        "roads": (road_grid(32, 32, seed=1), 0),
    }


def awkward_plain(seed: int) -> dict[str, Graph]:
    """Return graphs to be searched from vertex 0, the last one drawn with `seed`."""
    n, _, arcs, _ = _drawn_arcs(seed)
    return {
        "one vertex": Graph.from_arcs(1, [], []),
        "a self-loop and parallel arcs": Graph.from_arcs(*LOOPS),
        "a path of 35 vertices": path(35),
        "a star of 150 vertices": star(150),
        "a long way and a short one": Graph.from_arcs(5, [0, 0, 1, 2, 3], [1, 4, 2, 3, 4]),
        "a drawn graph": Graph.from_arcs(n, *arcs),
    }


def levels_of(g: Graph, root: int) -> np.ndarray:
    """Return the right distances as float64, infinite where no path leads."""
    return finite_levels(bfs(g, root).distance)


def finite_levels(distance: np.ndarray) -> np.ndarray:
    """Return distances as float64, infinite in place of the negative ones."""
    return np.where(distance < 0, np.inf, distance)


def read_search(trace: Trace, g: Graph, root: int) -> tuple[str | None, np.ndarray, None]:
    """Return a broken rule, or None, and the distances that the kernels found."""
    distance = np.full(g.n, np.inf)
    distance[root] = 0
    shared = [info.name for info in trace.arrays if info.space == "shared"]
    if shared:
        return f"a block shares the memory `{shared[0]}`, which this task rules out", distance, None
    source = np.repeat(np.arange(g.n), g.out_degree)
    try:
        levels = read_levels(trace, g.n, source, root)
    except Exception as error:
        return f"the search cannot be read from its trace: {in_short(error)}", distance, None
    for k, level in enumerate(levels):
        distance[level.new_vertices] = np.minimum(distance[level.new_vertices], k + 1)
    expected = levels_of(g, root)
    launches, deep = len(trace.launches), int(expected[np.isfinite(expected)].max())
    if launches > deep + SPARE_LAUNCHES:
        count = f"{launches} launches for {deep} levels beyond the root's"
        return f"{count}, and one launch per level is wanted", distance, None
    return None, distance, None


def sectors(trace: Trace, _: None) -> int:
    """Return the price of bfs-open, as the chapter counts it.

    A warp asks a queue's one counter once, as the compiler has it.
    """
    waits = metrics.atomic_conflicts(trace.select(array=["next_size"]))
    return int(metrics.sectors(trace).sum() - waits.sum())


LEVELS = Problem(
    skeleton=(
        "def search(g, root, device):\n"
        '    """Return the result of gk.bfs, or only the distances."""\n'
        '    return gk.bfs(g, root, "virtual_warp", device)  # yours in its place\n'
    ),
    awkward=awkward_plain,
    expected=levels_of,
    finite=finite_levels,
    read=read_search,
    covered=with_other_targets,
    rule=(
        "Use no shared memory, and at most one launch more than there are levels. "
        "A search must not find its answer on the host. So while the checker counts, the arcs of "
        "`g` lead to wrong vertices, and only inside a launch does the checker replace `g.targets` "
        "and the arrays of `g.reverse` by the right ones. So pass these arrays to the device "
        "unchanged, and compute distances only in kernels."
    ),
)
PATHS = Problem(
    skeleton=(
        "def search(g, root, device):\n"
        '    """Return the result of gk.sssp, or only the distances."""\n'
        '    return gk.sssp(g, root, "near_far", device, parents=False)  # yours in its place\n'
    ),
    awkward=awkward,
    expected=_lengths,
    finite=_finite,
    read=_read_paths,
    covered=with_other_weights,
    rule=(
        "So that the host cannot compute the distances by itself, `g` has wrong weights while the "
        "checker counts. In each launch, the checker replaces `g.weights` and "
        "`g.reverse.weights` by the right ones. So pass these arrays to the device unchanged, and "
        "compute distances only in kernels."
    ),
)
BFS = OpenTask(
    id="bfs-open",
    title="fewer sectors than virtual warps",
    what="sectors moved",
    bar=35_082,
    rival="virtual_warp, with the best size for each graph,",
    graphs=plain_graphs,
    price=sectors,
    problem=LEVELS,
)
SPECTRUM = OpenTask(
    id="sssp-open",
    title="fewer relaxations and rounds than near-far",
    what=f"points (1 per relaxation, {ROUND} per round)",
    bar=2_649,
    rival="near_far_persistent",
    graphs=families,
    price=relaxations_and_rounds,
    problem=PATHS,
)
HBF = OpenTask(
    id="hbf-open",
    title="fewer warp steps than the simple search",
    what="warp steps",
    bar=63_088,
    rival="harish",
    graphs=networks,
    price=warp_steps,
    problem=PATHS,
)

#: Open tasks by their ids.
OPEN = {task.id: task for task in (BFS, SPECTRUM, HBF)}
