"""The levels of a traversal, read from the memory requests of its launches.

Nothing is recomputed. A vertex is found if a thread stored its distance or put it into the next
queue. An arc is read if a thread loaded its target. An entry is a duplicate if another entry of the
same level holds the same vertex. The arrays are recognized by the names that all kernels of this
book use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.trace import BARRIER, LOAD, STORE, Trace
from gpukernels.views.backwards import Backwards
from gpukernels.views.epochs import grid_epochs
from gpukernels.views.frontier.walks import NO_WALKS, Walks

_ARC_TARGETS = ("targets", "target")
_ARC_SOURCES = ("sources",)


@dataclass(frozen=True)
class Maker:
    """A thread: its block, its warp in the block, its lane in the warp."""

    block: int
    warp: int
    lane: int


@dataclass(frozen=True)
class Level:
    """One level of a traversal.

    Attributes
    ----------
    launches : tuple of int
        The launches that read its arcs.
    frontier : numpy.ndarray
        int64: the vertices expanded, each once, ascending.
    repeated : int
        Entries of the queue beyond the first for their vertex.
    arcs : numpy.ndarray
        int64: the arcs whose target was loaded, each once, ascending.
    arc_loads : int
        Number of such loads.
    distance_loads : int
        Loads of ``distance``: the checks whether a vertex has been visited.
    new_vertices : numpy.ndarray
        int64: the vertices found, each once, ascending.
    found_arcs, again_arcs : numpy.ndarray
        int64: arcs over which a vertex was found first, and found again within the level.
    outside : int
        Loads of arcs that do not leave the frontier.
    makers : dict of int to list of Maker
        The threads that found each vertex and enqueued it (or, where nothing is enqueued, stored
        its distance), in the order in which they wrote. If a thread writes vertices that others
        have found, the first threads that found them are listed instead.
    dropped : dict of int to list of Maker
        The threads that stored a vertex's distance and did not enqueue it: duplicates detected.
    bottom_up : bool
        Whether arcs were read from the vertex that they enter.
    walks : Walks
        Which thread read which arc.
    """

    launches: tuple[int, ...]
    frontier: np.ndarray
    repeated: int
    arcs: np.ndarray
    arc_loads: int
    distance_loads: int
    new_vertices: np.ndarray
    found_arcs: np.ndarray
    again_arcs: np.ndarray
    outside: int
    makers: dict[int, list[Maker]]
    dropped: dict[int, list[Maker]]
    bottom_up: bool = False
    walks: Walks = NO_WALKS

    @property
    def kinds(self) -> np.ndarray:
        """Result of each walk: 0 for nothing, 1 for a vertex, 2 for a vertex found again."""
        again = np.isin(self.walks.arc, self.again_arcs)
        return np.where(np.isin(self.walks.arc, self.found_arcs), 1, np.where(again, 2, 0))

    @property
    def duplicates(self) -> dict[int, list[Maker]]:
        """The vertices found by more than one thread, and enqueued by more than one."""
        return {v: who for v, who in self.makers.items() if len(who) > 1}

    @property
    def visited(self) -> int:
        """Loads of arcs that leave the frontier and found nothing."""
        return self.arc_loads - self.outside - len(self.makers) - self.surplus - self.detected

    @property
    def surplus(self) -> int:
        """Entries (or stores) beyond the first for their vertex."""
        return sum(len(who) - 1 for who in self.makers.values())

    @property
    def detected(self) -> int:
        """Finds that were not enqueued, since another thread had enqueued their vertex."""
        return sum(map(len, self.dropped.values()))


@dataclass(frozen=True)
class _Round:
    """The requests of one level: to read arcs, and to write what was found over them.

    `queue` holds the lane entries that load the level's frontier.
    """

    launches: list[int]
    reads: np.ndarray
    writes: np.ndarray
    queue: np.ndarray


class _Requests:
    """A trace's requests by the arrays that they touch.

    If an entry of a lane reads an arc, from either end, `arc` and `target` describe this arc.
    """

    def __init__(
        self, trace: Trace, source_of_arc: np.ndarray, backwards: Backwards | None
    ) -> None:
        r = trace.requests
        self.trace, self.requests, self.source_of_arc = trace, r, source_of_arc
        self.row, self.lane = r.lane_row(), r.lane_id()
        load = r.kind == LOAD
        self.arcs = self._touch(*_ARC_TARGETS) & load
        self.arc, self.target = np.full((2, len(r.index)), -1, dtype=np.int64)
        at = self.lanes(self.arcs)
        self.arc[at], self.target[at] = r.index[at], r.value[at]
        self.upwards = np.zeros(len(r), dtype=bool)
        if backwards is not None:
            self.upwards = self._touch(*_ARC_SOURCES) & load
            at = self.lanes(self.upwards)
            self.arc[at], self.target[at] = (
                backwards.arc[r.index[at]],
                backwards.target[r.index[at]],
            )
            self.arcs |= self.upwards
        #: Whether a launch may read an arc from either end.
        self.both_ways = bool(backwards and trace.array_named("targets"))
        self.checks = self._touch("distance") & load
        # A bottom-up step finds the unvisited vertices in the distances, or in a bitmap of them.
        self.left = self._touch("left") & load
        self.queue = self._touch("frontier") & load
        self.marks = self._touch("distance") & ~load
        self.parents = self._touch("parent") & ~load
        self.entries = self._touch("next_frontier") & ~load
        # Searches that go through several levels in one launch keep both frontiers in one array.
        queues = self._touch("queues", spaces=("global", "shared"))
        self.queues_read, self.queues_written = queues & load, queues & ~load
        self.logged = self._touch("log") & ~load

    def _touch(self, *names: str, spaces: tuple[str, ...] = ("global",)) -> np.ndarray:
        arrays = enumerate(self.trace.arrays)
        wanted = [i for i, a in arrays if a.name in names and a.space in spaces]
        return np.isin(self.requests.array, wanted)

    def lanes(self, rows: np.ndarray) -> np.ndarray:
        """Return the lane entries of the rows chosen."""
        return np.flatnonzero(rows[self.row])

    def sources(self, rows: np.ndarray) -> np.ndarray:
        """Return the tails of the arcs that the rows chosen load."""
        return self.source_of_arc[self.arc[self.lanes(rows & self.arcs)]]

    def marked(self, rows: np.ndarray) -> np.ndarray:
        """Return the vertices whose distance the rows chosen write."""
        return np.unique(self.requests.index[self.lanes(rows & self.marks)])

    def found_before(self, rows: np.ndarray) -> np.ndarray:
        """Return, for each arc that the rows chosen load, whether they wrote its tail's distance.

        An atomic may fail to claim a root after its arcs have been read; this counts as False.
        """
        marks, arcs = self.lanes(rows & self.marks), self.lanes(rows & self.arcs)
        tails = self.source_of_arc[self.arc[arcs]]
        first = np.full(max(self.source_of_arc.max(initial=-1), self._last_marked(marks)) + 1, -1)
        first[self.requests.index[marks[::-1]]] = self.row[marks[::-1]]
        return (first[tails] >= 0) & (first[tails] < self.row[arcs])

    def _last_marked(self, marks: np.ndarray) -> int:
        return int(self.requests.index[marks].max(initial=-1))

    def thread(self, at: int) -> tuple[int, Maker]:
        """Return the launch and the thread of a lane entry."""
        r, row = self.requests, self.row[at]
        return int(r.launch[row]), Maker(int(r.block[row]), int(r.warp[row]), int(self.lane[at]))


def _rounds(of: _Requests) -> list[_Round]:
    """Group requests into levels: one opens when the search's first kernel comes round again."""
    r, kernels = of.requests, of.trace.launches
    launches = np.unique(r.launch[of.arcs]).tolist()
    if not launches:
        return []
    if of.upwards.any():
        # Where no unvisited vertex has an arc, a level reads none.
        upwards = {kernels[launch].kernel for launch in np.unique(r.launch[of.upwards]).tolist()}
        launches = [k for k, e in enumerate(kernels) if k in launches or e.kernel in upwards]
    groups: list[list[int]] = []
    for launch in launches:
        if not groups or kernels[launch].kernel == kernels[launches[0]].kernel:
            groups.append([])
        groups[-1].append(launch)
    begins = [0, *(group[-1] + 1 for group in groups)]
    ends = [*(group[0] for group in groups[1:]), len(kernels)]
    rounds = []
    for group, begin, end in zip(groups, begins, ends, strict=False):
        # Entries may be looked at before their arcs are read, and what is found over the arcs be
        # culled and enqueued after, by launches of their own.
        early = of.queue & (r.launch >= begin) & (r.launch < group[0])
        reads = np.isin(r.launch, group) | early
        writes = (r.launch >= group[0]) & (r.launch < end)
        rounds += _split_at_finds(of, group, reads, writes)
    return _shifted(of, rounds)


def _split_at_finds(
    of: _Requests, group: list[int], reads: np.ndarray, writes: np.ndarray
) -> list[_Round]:
    """Split a launch that goes through several levels, with barriers between them.

    A level ends where an arc is read that leaves a vertex found in it. Where arcs are read from
    their other end, that says nothing, and a level ends where the whole grid waits.
    """
    steps = of.trace.steps
    if len(group) == 1 and of.both_ways:
        return _split_at_grid_barriers(of, group, reads, writes)
    waits = ((steps.kind == BARRIER) & (steps.launch == group[0])).any()
    within = of.found_before(reads)
    if len(group) > 1 or not waits or within.all() or not within.any():
        return [_Round(group, reads, writes, of.lanes(reads & of.queue))]
    r, cuts = of.requests, [0]
    found_in: dict[int, int] = {}
    for row in np.flatnonzero(reads & (of.arcs | of.marks)).tolist():
        entries, level = slice(r.start[row], r.start[row + 1]), len(cuts) - 1
        if of.marks[row]:
            for v in r.index[entries].tolist():
                found_in.setdefault(v, level)
        else:
            # A vertex not found so far is a root, even if a later atomic fails to claim it.
            tails = of.source_of_arc[of.arc[entries]].tolist()
            if any(found_in.setdefault(v, level - 1) == level for v in tails):
                cuts.append(row)
    every = np.arange(len(r))
    rounds = []
    # A vertex is read from the queue in the level after the one that found it.
    entries = of.lanes(reads & (of.queue | of.queues_read))
    level_of = np.array([found_in.get(v, -1) + 1 for v in r.value[entries].astype(int).tolist()])
    for k, (begin, end) in enumerate(zip(cuts, [*cuts[1:], len(r)], strict=True)):
        part = (every >= begin) & (every < end)
        rounds.append(_Round(group, reads & part, writes & part, entries[level_of == k]))
    return rounds


def _split_at_grid_barriers(
    of: _Requests, group: list[int], reads: np.ndarray, writes: np.ndarray
) -> list[_Round]:
    """Split a launch of both directions at the barriers of its grid, between which a level lies.

    A search that makes bits or a queue before a step has a barrier more within that level. Where it
    writes a log, each level begins with that.
    """
    r = of.requests
    own = np.flatnonzero(r.launch == group[0])
    epoch = grid_epochs(of.trace, group[0])
    begins = np.unique(epoch[own][of.logged[own]])
    if begins.size:
        epoch[own] = np.searchsorted(begins, epoch[own], side="right")
    at_work = of.arcs | of.checks | of.left | of.marks | of.queue
    return [
        _Round(
            group,
            reads & (epoch == k),
            writes & (epoch == k),
            of.lanes(reads & (epoch == k) & (of.queue | of.queues_read)),
        )
        for k in np.unique(epoch[own][at_work[own]]).tolist()
    ]


def _shifted(of: _Requests, rounds: list[_Round]) -> list[_Round]:
    """Join arcs to their finds where each launch first finds and then reads arcs (contraction)."""
    r = of.requests
    if not rounds or of.queue.any() or of.entries.any() or of.queues_read.any():
        return rounds
    own = np.isin(r.launch, rounds[0].launches)
    arcs, marks = np.flatnonzero(own & of.arcs), np.flatnonzero(own & of.marks)
    late = not marks.size or marks[0] > arcs[0]
    if late or not np.isin(of.sources(own), of.marked(own)).all():
        return rounds
    ends = [*(entry.launches[-1] for entry in rounds[1:]), len(of.trace.launches)]
    return [
        _Round(
            entry.launches,
            entry.reads,
            (r.launch > entry.launches[-1]) & (r.launch <= end),
            entry.queue,
        )
        for entry, end in zip(rounds, ends, strict=True)
    ]


def read_levels(
    trace: Trace,
    n: int,
    source_of_arc: np.ndarray,
    root: int | None = None,
    backwards: Backwards | None = None,
) -> list[Level]:
    """Read the levels of a BFS or SSSP from its trace.

    Parameters
    ----------
    trace : Trace
        One search, from its first launch to its last.
    n : int
        Number of vertices.
    source_of_arc : numpy.ndarray
        Tail of every arc in CSR order, of shape (m,).
    root : int, optional
        First vertex of the search. By default the first level's queue, or the vertices whose
        distance it loads as zero.
    backwards : Backwards, optional
        The arcs of the reverse graph; loads of ``sources`` are then reads of arcs.

    Returns
    -------
    list of Level
        The levels in order: one per launch of the kernel that reads arcs, or one per level if a
        launch goes through several.
    """
    of = _Requests(trace, source_of_arc, backwards)
    requests = trace.requests
    known = np.zeros(n, dtype=bool)
    levels: list[Level] = []
    previous = np.zeros(0, dtype=np.int64)
    rounds = _rounds(of)
    for at in rounds:
        arc_at, check_at = of.lanes(at.reads & of.arcs), of.lanes(at.reads & of.checks)
        nearby = of.queues_read[of.row[at.queue]]
        queue_at = at.queue[nearby] if nearby.any() else at.queue
        # A thread may load an entry again and again; each place of the queue counts once.
        _, once = np.unique(requests.index[queue_at], return_index=True)
        queued = requests.value[queue_at[once]].astype(np.int64)
        arcs = of.arc[arc_at]
        if queued.size:
            frontier, repeated = np.unique(queued), queued.size - np.unique(queued).size
        elif levels:
            frontier, repeated = previous, 0
        elif root is not None:
            frontier, repeated = np.array([root], dtype=np.int64), 0
        else:
            zero = check_at[requests.value[check_at] == 0]
            frontier, repeated = np.unique(requests.index[zero]), 0
            if not frontier.size:
                frontier = np.unique(source_of_arc[arcs])
        known[frontier] = True
        leaves = np.isin(source_of_arc[arcs], frontier)
        finds = _finds(of, at, arc_at[leaves], known)
        new_vertices = np.array(sorted(finds.makers), dtype=np.int64)
        known[new_vertices] = True
        found_arcs, again_arcs = finds.arcs()
        levels.append(
            Level(
                tuple(at.launches),
                frontier,
                int(repeated),
                np.unique(arcs),
                len(arcs),
                len(check_at),
                new_vertices,
                np.unique(found_arcs),
                np.unique(again_arcs),
                int((~leaves).sum()),
                *finds.who(),
                bottom_up=_is_bottom_up(of, at, queued),
                walks=Walks.of(trace, arcs, of.row[arc_at], of.lane[arc_at]),
            )
        )
        previous = new_vertices
    return levels


def levels_from(
    place: str,
    trace: Trace,
    root: int,
    source_of_arc: np.ndarray,
    n: int,
    backwards: Backwards | None,
) -> list[Level]:
    """Read a search that must begin at `root`; if it reads no arc, it has one level.

    Raises
    ------
    InvalidArgument
        If the search begins elsewhere.
    """
    levels = read_levels(trace, n, source_of_arc, None, backwards)
    if not levels:
        none = np.zeros(0, dtype=np.int64)
        return [Level((), np.array([root]), 0, none, 0, 0, none, none, none, 0, {}, {})]
    if levels[0].frontier.tolist() != [root]:
        if levels[0].frontier.size == 1:
            began = f"a search from vertex {int(levels[0].frontier[0])}"
            raise InvalidArgument(f"{place}[{root}]", began, f"a recording from vertex {root}")
        levels = read_levels(trace, n, source_of_arc, root, backwards)
    return levels


def _is_bottom_up(of: _Requests, at: _Round, queued: np.ndarray) -> bool:
    """Tell whether arcs are read from the vertex that they enter, or would be if there were any."""
    if (at.reads & of.upwards).any():
        return True
    reads_none = not queued.size and not (at.reads & of.arcs).any()
    return reads_none and bool(of.both_ways or of.upwards.any())


class _Finds:
    """The threads that found or enqueued each vertex of a level, and the arcs to it."""

    def __init__(self, appended: bool) -> None:
        self.appended = appended
        #: Threads that enqueued a vertex or, where there is no queue, stored its distance.
        self.makers: dict[int, list[Maker]] = {}
        self.markers: dict[int, list[Maker]] = {}
        self.over: dict[int, list[int]] = {}
        self.other: dict[int, list[int]] = {}

    def arcs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the arcs over which vertices were found first, and found again."""
        first, again = [], []
        for v, makers in self.makers.items():
            arcs = self.over.get(v) or self.other.get(v, [])[: len(makers)]
            first += arcs[:1]
            again += arcs[1:]
        return np.array(first, dtype=np.int64), np.array(again, dtype=np.int64)

    def who(self) -> tuple[dict[int, list[Maker]], dict[int, list[Maker]]]:
        """Return the threads that found and enqueued each vertex, and those that only found it."""
        if not self.appended:
            return self.makers, {}
        makers, dropped = {}, {}
        for v, wrote in self.makers.items():
            marked = self.markers.get(v, [])
            # Others may write what these have found: then the first to find stand for them.
            theirs = len(marked) >= len(wrote) and any(maker not in marked for maker in wrote)
            makers[v] = marked[: len(wrote)] if theirs else wrote
            rest = list(marked)
            for maker in makers[v]:
                if maker in rest:
                    rest.remove(maker)
            if rest:
                dropped[v] = rest
        return makers, dropped


def _finds(of: _Requests, at: _Round, arc_at: np.ndarray, known: np.ndarray) -> _Finds:
    r = of.requests
    entries = at.writes & of.entries
    nearby = not entries.any()
    if nearby:
        entries = at.writes & of.queues_written
    write_at = of.lanes(entries | at.writes & (of.marks | of.parents))
    appended = bool(entries.any())
    finds = _Finds(appended)
    last_arc: dict[tuple[int, Maker], tuple[int, int]] = {}
    arc_of: dict[tuple[int, int], int] = {}
    value: dict[int, float] = {}
    places: dict[int, int] = {}
    for entry in np.sort(np.concatenate([arc_at, write_at])).tolist():
        row = of.row[entry]
        thread = of.thread(entry)
        if of.arcs[row]:
            arc, target = int(of.arc[entry]), int(of.target[entry])
            # From the vertex that it enters, the first arc counts: others may be under way with it.
            if not (of.upwards[row] and last_arc.get(thread, (-1, -1))[1] == target):
                last_arc[thread] = arc, target
            arc_of.setdefault((int(of.source_of_arc[arc]), target), arc)
            continue
        if entries[row]:
            vertex, place = int(r.value[entry]), int(r.index[entry])
            if nearby and known[vertex]:
                continue  # a copy of the frontier itself
            if places.setdefault(place, thread[0]) != thread[0]:
                # A later launch that fills the same places makes a new queue.
                finds.makers, finds.over, places = {}, {}, {place: thread[0]}
        else:
            vertex = int(r.index[entry])
        if of.parents[row]:
            arc = arc_of.get((int(r.value[entry]), vertex))
            if arc is not None and arc not in finds.other.setdefault(vertex, []):
                finds.other[vertex].append(arc)
            continue
        if of.marks[row]:
            # An atomic on a vertex that has its distance, or this one, is a check, not a find.
            checks = known[vertex] or value.get(vertex) == r.value[entry]
            if r.kind[row] > STORE and checks:
                continue
            value[vertex] = float(r.value[entry])
            finds.markers.setdefault(vertex, []).append(thread[1])
        if of.marks[row] == appended:
            continue
        finds.makers.setdefault(vertex, []).append(thread[1])
        arc, target = last_arc.get(thread, (-1, -1))
        if target == vertex:
            finds.over.setdefault(vertex, []).append(arc)
    if of.upwards[of.row[arc_at]].any():
        # One thread looks for a vertex's parent, maybe over several arcs, and says which it is.
        finds.over |= {v: arcs[:1] for v, arcs in finds.other.items() if arcs}
    return finds
