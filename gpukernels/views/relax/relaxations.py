"""The iterations of a search for shortest paths, read from its memory requests.

Nothing is searched again. An arc is relaxed if a thread loaded its weight. A distance falls if a
store or an atomic wrote a smaller value. A relaxation came too early if the distance that it used
fell later. It was done again if the same relaxation had been made before. The remaining
relaxations, one for each arc of a reached vertex, are those that Dijkstra's algorithm needs. Arrays
are recognized by the names that all kernels of this book use: ``targets``, ``weights``, and the
distances of `distance_words`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.trace import LOAD, Trace
from gpukernels.views.backwards import Backwards
from gpukernels.views.epochs import grid_epochs
from gpukernels.views.relax.distance_words import Decode, reader_of

_TARGETS = ("targets", "target")
_WEIGHTS = ("weights", "weight")
#: Weights of the reverse graph: arcs are relaxed from the vertices that they enter.
_WEIGHTS_IN = ("arcs_in.weights",)


#: The bits of a target that name the vertex; H-BF keeps the class of the arc in the others.
_ID_MASK = 2**30 - 1

#: Kinds of a relaxation, and of a vertex: too early if one of its arcs is, else needed if one is.
NEEDED, TOO_EARLY, AGAIN = 0, 1, 2


@dataclass(frozen=True)
class Arcs:
    """Arcs in CSR order: tail, head, and the weight in the type that the kernels add in."""

    graph: Any
    n: int
    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, graph: Any) -> Self:
        """Return those of `graph`; each counts 1 where none weighs."""
        n = int(graph.n)
        source = np.repeat(np.arange(n), np.diff(np.asarray(graph.offsets, np.intp)))
        weights = getattr(graph, "weights", None)
        weight = np.ones(len(source), dtype=np.int32) if weights is None else np.asarray(weights)
        return cls(graph, n, source, np.asarray(graph.targets, dtype=np.int64), weight)


@dataclass(frozen=True)
class Iteration:
    """One iteration of a search.

    Attributes
    ----------
    relaxed, kind : numpy.ndarray
        int64: the vertices that were taken up, each once, ascending, and the kind of each.
    arcs, arc_kind : numpy.ndarray
        int64: the arcs relaxed, one entry a time, and the kind of each.
    skipped : numpy.ndarray
        int64: arcs whose target was loaded and which were not relaxed, each once, ascending.
    saved : numpy.ndarray
        int64: the arcs whose target was loaded more often than they were relaxed, an entry for each
        time more.
    lowered : numpy.ndarray
        int64: the vertices whose distance fell, ascending.
    length : numpy.ndarray
        float64: the distances to which they fell.
    gains : numpy.ndarray
        int64: arcs over which these distances came, ascending.
    """

    relaxed: np.ndarray
    kind: np.ndarray
    arcs: np.ndarray
    arc_kind: np.ndarray
    skipped: np.ndarray
    saved: np.ndarray
    lowered: np.ndarray
    length: np.ndarray
    gains: np.ndarray


@dataclass(frozen=True)
class Run:
    """A search: where it began, what its iterations did, and the distances that it left.

    ``distance`` is float64 of shape (n,), infinite where no path leads.
    """

    root: int
    iterations: tuple[Iteration, ...]
    distance: np.ndarray

    @property
    def relaxations(self) -> int:
        """Number of arcs relaxed, each time that they were."""
        return sum(len(entry.arcs) for entry in self.iterations)


def read_run(
    trace: Trace, arcs: Arcs, root: int | None = None, decode: Decode | None = None, name: str = ""
) -> Run:
    """Read a search for shortest paths from its trace.

    Parameters
    ----------
    trace : Trace
        One search, from its first launch to its last.
    arcs : Arcs
        Arcs of the graph that was searched.
    root : int, optional
        First vertex; by default the vertex whose distance is 0 before any is written.
    decode : callable, optional
        Turns the values of the array ``distance``, an array of float64, into distances, if they
        have none of the forms that `distance_words` knows.
    name : str
        The trace's name in messages.

    Raises
    ------
    InvalidArgument
        If the trace has no distances or no arcs, is of another graph, does not tell the root, or
        ends before no arc relaxes any more.
    """
    r = trace.requests
    row, lane = r.lane_row(), r.lane_id()
    readers = [reader_of(info, arcs.weight.dtype, decode) for info in trace.arrays]
    known = [i for i, reader in enumerate(readers) if reader is not None]
    distances = np.isin(r.array, known)
    heads, weights, ending = (
        np.isin(r.array, _global(trace, names)) for names in (_TARGETS, _WEIGHTS, _WEIGHTS_IN)
    )
    if not distances.any():
        touched = sorted({trace.arrays[i].name for i in np.unique(r.array)})
        fault = f"no load or store of distance, but of {', '.join(touched) or 'nothing'}"
        raise InvalidArgument(name, fault, "the trace of a search, which keeps its distances so")
    _check_range(trace, row, distances, arcs.n, "distance", f"{arcs.n} vertices", name)
    for rows, what in ((heads, "targets"), (weights | ending, "weights")):
        _check_range(trace, row, rows, len(arcs.source), what, f"{len(arcs.source)} arcs", name)
    at = (heads & (r.kind == LOAD))[row]
    if (arcs.target[r.index[at]] != (r.value[at].astype(np.int64) & _ID_MASK)).any():
        fault = "targets in another order than the graph's"
        raise InvalidArgument(name, fault, "the trace of a search that leaves arcs where they are")

    # A launch that reads arcs and no distance prepares the search: it relaxes nothing.
    searching = np.isin(r.launch, r.launch[distances])
    ending &= searching
    adopting = _adopting(trace, distances)
    heads &= (r.kind == LOAD) & searching & ~np.isin(r.launch, adopting)
    weights &= (r.kind == LOAD) & searching & ~np.isin(r.launch, adopting)
    relaxing = weights if weights.any() else heads
    iteration = _iterations(trace, distances, heads | weights, adopting)
    if ending.any():
        # The search is over, and this is an iteration of its own, whatever it does besides.
        last = np.isin(r.launch, np.unique(r.launch[ending]))
        iteration[last] = iteration.max(initial=-1) + 1
    entry = _Entries(
        of=iteration[row],
        index=r.index.copy(),
        value=_decoded(trace, row, readers, known, name),
        thread=_threads(trace, row, lane),
        loads=(distances & (r.kind == LOAD))[row],
        writes=(distances & (r.kind != LOAD))[row],
        heads=heads[row],
        relaxes=(relaxing | ending)[row],
    )
    if ending.any():
        at = ending[row]
        entry.index[at] = Backwards.of(arcs.graph).arc[entry.index[at]]
    return _played(entry, int(iteration.max(initial=-1)) + 1, arcs, root, name)


def _decoded(trace: Trace, row: np.ndarray, readers: list, known: list[int], name: str):
    """Return all values, with stored words decoded to distances."""
    array, value = trace.requests.array[row], trace.requests.value.copy()
    for i in known:
        at = np.flatnonzero(array == i)
        allowed = f"a function of arrays of float64 to such of the same shape, as {at.shape}"
        try:
            distances = np.asarray(readers[i](value[at]), dtype=np.float64)
        except Exception as error:  # it may be the caller's, and fail as it likes
            raise InvalidArgument(f"decode (of {name})", readers[i], allowed) from error
        if distances.shape != at.shape:
            raise InvalidArgument(f"decode (of {name})", f"shape {distances.shape}", allowed)
        value[at] = np.where(np.isnan(distances), np.inf, distances)
    return value


def _global(trace: Trace, names: tuple[str, ...]) -> list[int]:
    return [i for i, a in enumerate(trace.arrays) if a.name in names and a.space == "global"]


def _check_range(trace, row, rows, limit, what, holds, name):
    index = trace.requests.index[rows[row]]
    if index.size and int(index.max()) >= limit:
        fault = f"index {int(index.max())} of {what}"
        raise InvalidArgument(
            name, fault, f"the trace of a search of this graph, which has {holds}"
        )


def _adopting(trace: Trace, distances: np.ndarray) -> list[int]:
    """Return the launches that give parents once all distances stand: they relax nothing."""
    r = trace.requests
    writing = {trace.launches[k].kernel for k in r.launch[distances & (r.kind != LOAD)].tolist()}
    return [
        k
        for k, launch in enumerate(trace.launches)
        if launch.kernel not in writing and "parent" in _parameters(trace, launch.source)
    ]


def _parameters(trace: Trace, source: int) -> list[str]:
    match = re.search(r"def \w+\(([^)]*)\)", "\n".join(trace.sources[source].text))
    return re.findall(r"\w+", match.group(1)) if match else []


def _iterations(
    trace: Trace, distances: np.ndarray, relaxing: np.ndarray, adopting: list[int]
) -> np.ndarray:
    """Return the iteration of each request, -1 before the first one and for parents.

    An iteration opens when the search's first relaxing kernel comes round again; where a launch
    holds several, with barriers of the grid between them, when arcs are relaxed after a barrier.
    """
    r, of = trace.requests, np.full(len(trace.requests), -1)
    at_work = np.unique(r.launch[relaxing if relaxing.any() else distances]).tolist()
    at_work = [k for k in at_work if k not in adopting]
    if not at_work:
        return of
    first = trace.launches[at_work[0]].kernel
    opens = [k for k in range(at_work[0], len(trace.launches)) if trace.launches[k].kernel == first]
    ends = [*opens[1:], len(trace.launches)]
    iterations = 0
    for begin, end in zip(opens, ends, strict=True):
        mine = (r.launch >= begin) & (r.launch < end) & ~np.isin(r.launch, adopting)
        epoch = grid_epochs(trace, begin)
        busy = np.unique(epoch[mine & relaxing & (r.launch == begin)])
        # A launch's requests after relaxing belong to that iteration. Its requests before belong to
        # its first iteration, except at the beginning of the search.
        k = np.searchsorted(busy, epoch, side="right") - 1
        mine &= (k >= 0) | (r.launch != begin) | (iterations > 0) | (len(busy) == 0)
        k = np.maximum(k, 0)
        k[r.launch != begin] = max(len(busy) - 1, 0)
        of[mine] = iterations + k[mine]
        iterations += max(len(busy), 1)
    return of


def _threads(trace: Trace, row: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """Return a number for the thread of each lane entry, launch by launch."""
    r = trace.requests
    blocks = max((launch.blocks for launch in trace.launches), default=1)
    warps = max((launch.warps_per_block for launch in trace.launches), default=1)
    warp = (r.launch.astype(np.int64) * blocks + r.block) * warps + r.warp
    return warp[row] * 32 + lane


@dataclass
class _Entries:
    """The entry of each lane, in order: iteration, place, value, thread, and kind."""

    of: np.ndarray
    index: np.ndarray
    value: np.ndarray
    thread: np.ndarray
    loads: np.ndarray
    writes: np.ndarray
    heads: np.ndarray
    relaxes: np.ndarray


def _played(entry: _Entries, count: int, arcs: Arcs, root: int | None, name: str) -> Run:
    value = entry.value
    distance = np.full(arcs.n, np.inf)
    early_writes = np.flatnonzero(entry.writes & (entry.of < 0))
    np.minimum.at(distance, entry.index[early_writes], value[early_writes])
    root = _root(entry, value, distance, arcs.n, name) if root is None else root
    distance[root] = 0.0

    used = _used(entry, value, distance.copy(), arcs)
    final = distance.copy()
    at_writes = np.flatnonzero(entry.writes)
    np.minimum.at(final, entry.index[at_writes], value[at_writes])
    _check_end(final, arcs, name)

    iterations = []
    done = np.zeros(len(arcs.source), dtype=bool)
    for k in range(count):
        mine = entry.of == k
        at_arcs = np.flatnonzero(mine & entry.relaxes)
        relaxed_arcs = entry.index[at_arcs].astype(np.intp, copy=False)
        arc_kind = _kinds(relaxed_arcs, used[at_arcs] > final[arcs.source[relaxed_arcs]], done)
        writes = np.flatnonzero(mine & entry.writes)
        before = distance.copy()
        np.minimum.at(distance, entry.index[writes], value[writes])
        lowered = np.flatnonzero(distance < before)
        heads = entry.index[np.flatnonzero(mine & entry.heads)].astype(np.intp, copy=False)
        more = np.bincount(heads, minlength=len(done))
        more -= np.bincount(relaxed_arcs, minlength=len(done))
        looked_at = np.union1d(heads, relaxed_arcs)
        relaxed = np.unique(arcs.source[looked_at])
        reach = _sum(used[at_arcs], arcs.weight[relaxed_arcs])
        ends = arcs.target[relaxed_arcs]
        gained = (distance[ends] < before[ends]) & (reach == distance[ends])
        iterations.append(
            Iteration(
                relaxed,
                _kinds_of_vertices(relaxed, arcs.source[relaxed_arcs], arc_kind),
                relaxed_arcs,
                arc_kind,
                np.setdiff1d(looked_at, relaxed_arcs),
                np.repeat(np.arange(len(more)), np.maximum(more, 0)),
                lowered,
                distance[lowered],
                np.unique(relaxed_arcs[gained]),
            )
        )
    return Run(root, tuple(iterations), final)


def _kinds(relaxed: np.ndarray, too_early: np.ndarray, done: np.ndarray) -> np.ndarray:
    """Return the kind of each relaxation, and mark in `done` the arcs that are through."""
    kind = np.full(len(relaxed), AGAIN)
    kind[too_early] = TOO_EARLY
    last = np.flatnonzero(~too_early)
    arc, first = np.unique(relaxed[last], return_index=True)
    kind[last[first[~done[arc]]]] = NEEDED
    done[arc] = True
    return kind


def _kinds_of_vertices(vertices: np.ndarray, tails: np.ndarray, arc_kind: np.ndarray) -> np.ndarray:
    kind = np.full(len(vertices), AGAIN)
    for one in (NEEDED, TOO_EARLY):
        kind[np.isin(vertices, tails[arc_kind == one])] = one
    return kind


def _root(entry: _Entries, value: np.ndarray, start: np.ndarray, n: int, name: str) -> int:
    """Return the vertex that is at distance 0 before the search has written anything."""
    first = np.flatnonzero(entry.writes & (entry.of >= 0))
    until = first[0] if first.size else len(value)
    at = np.flatnonzero(entry.loads[:until] & (value[:until] == 0))
    zero = np.union1d(np.flatnonzero(start == 0), entry.index[at])
    if zero.size != 1:
        fault = f"{zero.size} vertices at distance 0 before the first is lowered"
        raise InvalidArgument(name, fault, "the whole trace of one search, or a root named")
    return int(zero[0])


def _used(entry: _Entries, value: np.ndarray, distance: np.ndarray, arcs: Arcs) -> np.ndarray:
    """Return the distance with which each arc was relaxed, and NaN for other entries.

    It is what the thread itself has loaded of it in this iteration, before or between its arcs, or,
    where another one did so for it, what then stood there. A look at the end of the arc that it has
    just relaxed is none at a vertex to begin from.
    """
    used = np.full(len(value), np.nan)
    held: dict[tuple[int, int], tuple[int, float]] = {}
    end_of_last: dict[int, int] = {}
    at = np.flatnonzero((entry.of >= 0) & (entry.loads | entry.writes | entry.relaxes))
    now = distance.tolist()
    columns = (entry.loads, entry.writes, entry.thread, entry.index, value, entry.of)
    for e, load, write, thread, i, what, of in zip(
        at.tolist(), *(column[at].tolist() for column in columns), strict=True
    ):
        if load:
            if end_of_last.get(thread) != i:
                held[thread, i] = of, what
        elif write:
            now[i] = min(now[i], what)
        else:
            u = int(arcs.source[i])
            since, loaded = held.get((thread, u), (-1, 0.0))
            used[e] = loaded if since == of else now[u]
            end_of_last[thread] = int(arcs.target[i])
    return used


def _sum(length: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return sums rounded as the kernels round them."""
    if np.issubdtype(weight.dtype, np.integer):
        return length + weight
    return (length.astype(weight.dtype) + weight).astype(np.float64)


def _check_end(final: np.ndarray, arcs: Arcs, name: str) -> None:
    """Refuse what is not a whole search of this graph, or not read as it was meant."""
    better = np.flatnonzero(_sum(final[arcs.source], arcs.weight) < final[arcs.target])
    if better.size:
        u, v = int(arcs.source[better[0]]), int(arcs.target[better[0]])
        raise InvalidArgument(
            name,
            f"distances at its end which the arc from {u} to {v} still lowers",
            "the whole trace of a search of this graph, or one whose `decode` is given",
        )
