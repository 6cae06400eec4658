"""What each level of a traversal did, read from the memory requests of its launches.

Nothing is recomputed: a vertex is found because a thread stored its distance or put it into the
next queue, an arc is read because a thread loaded its target, an entry is a duplicate because
another entry of the same level holds the same vertex. The arrays are recognized by name, as every
kernel of this book names them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.simt.trace import LOAD, Trace

_ARC_TARGETS = ("targets", "target")


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
    found : numpy.ndarray
        int64: vertices found, each once, ascending.
    found_arcs, again_arcs : numpy.ndarray
        int64: arcs over which a vertex was found first, and found again within the level.
    outside : int
        Loads of arcs that do not leave the frontier.
    makers : dict of int to list of Maker
        The threads that found each vertex, in the order in which they wrote.
    """

    launches: tuple[int, ...]
    frontier: np.ndarray
    repeated: int
    arcs: np.ndarray
    arc_loads: int
    distance_loads: int
    found: np.ndarray
    found_arcs: np.ndarray
    again_arcs: np.ndarray
    outside: int
    makers: dict[int, list[Maker]]

    @property
    def duplicates(self) -> dict[int, list[Maker]]:
        """The vertices found by more than one thread."""
        return {v: who for v, who in self.makers.items() if len(who) > 1}

    @property
    def visited(self) -> int:
        """Loads of arcs that leave the frontier and found nothing."""
        return self.arc_loads - self.outside - len(self.makers) - self.surplus

    @property
    def surplus(self) -> int:
        """Entries (or stores) beyond the first for their vertex."""
        return sum(len(who) - 1 for who in self.makers.values())


def _rows_of(trace: Trace, names: tuple[str, ...]) -> np.ndarray:
    wanted = [i for i, a in enumerate(trace.arrays) if a.name in names and a.space == "global"]
    return np.isin(trace.requests.array, wanted)


def _rounds(trace: Trace, relevant: np.ndarray) -> list[list[int]]:
    """Group launches into levels: one opens when the search's first kernel comes round again."""
    launches = np.unique(trace.requests.launch[relevant]).tolist()
    rounds: list[list[int]] = []
    for launch in launches:
        if not rounds or trace.launches[launch].kernel == trace.launches[launches[0]].kernel:
            rounds.append([])
        rounds[-1].append(launch)
    return rounds


def read_levels(
    trace: Trace, n: int, source_of_arc: np.ndarray, root: int | None = None
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
        Where the search began. By default the first level's queue, or the vertices whose distance
        it loads as zero.

    Returns
    -------
    list of Level
        One a launch of the kernel that reads arcs, in order.
    """
    requests = trace.requests
    is_arc, is_distance = _rows_of(trace, _ARC_TARGETS), _rows_of(trace, ("distance",))
    is_queue, is_next = _rows_of(trace, ("frontier",)), _rows_of(trace, ("next_frontier",))
    lane_row, lane_id = requests.lane_row(), requests.lane_id()
    known = np.zeros(n, dtype=bool)
    levels: list[Level] = []
    previous = np.zeros(0, dtype=np.int64)
    arc_launches = np.isin(requests.launch, np.unique(requests.launch[is_arc]))
    for launches in _rounds(trace, is_arc):
        here = np.isin(requests.launch, launches) & arc_launches
        load = requests.kind == LOAD

        def lanes(rows: np.ndarray, here: np.ndarray = here) -> np.ndarray:
            return np.flatnonzero((rows & here)[lane_row])

        arc_at, check_at = lanes(is_arc & load), lanes(is_distance & load)
        queued = requests.value[lanes(is_queue & load)].astype(np.int64)
        appended = bool((is_next & here & ~load).any())
        write_at = lanes((is_next if appended else is_distance) & ~load)
        arcs = requests.index[arc_at]
        if queued.size:
            frontier, repeated = np.unique(queued), queued.size - np.unique(queued).size
        elif levels:
            frontier, repeated = previous, 0
        elif root is not None:
            frontier, repeated = np.array([root], dtype=np.int64), 0
        else:
            zero = check_at[requests.value[check_at] == 0]
            frontier, repeated = np.unique(requests.index[zero]), 0
        known[frontier] = True
        makers, found_arcs, again_arcs = _makers(
            trace, lane_row, lane_id, arc_at, write_at, appended, known
        )
        found = np.array(sorted(makers), dtype=np.int64)
        known[found] = True
        levels.append(
            Level(
                tuple(launches),
                frontier,
                int(repeated),
                np.unique(arcs),
                len(arcs),
                len(check_at),
                found,
                np.unique(found_arcs),
                np.setdiff1d(again_arcs, found_arcs),
                int((~np.isin(source_of_arc[arcs], frontier)).sum()),
                makers,
            )
        )
        previous = found
    return levels


def _makers(
    trace: Trace,
    lane_row: np.ndarray,
    lane_id: np.ndarray,
    arc_at: np.ndarray,
    write_at: np.ndarray,
    appended: bool,
    known: np.ndarray,
) -> tuple[dict[int, list[Maker]], np.ndarray, np.ndarray]:
    requests = trace.requests
    atomic = requests.kind > 1
    is_write = np.zeros(len(lane_row), dtype=bool)
    is_write[write_at] = True
    last_arc: dict[tuple[int, int, int, int], int] = {}
    makers: dict[int, list[Maker]] = {}
    found, again = [], []
    for at in np.sort(np.concatenate([arc_at, write_at])).tolist():
        row = lane_row[at]
        maker = Maker(int(requests.block[row]), int(requests.warp[row]), int(lane_id[at]))
        thread = (int(requests.launch[row]), maker.block, maker.warp, maker.lane)
        if not is_write[at]:
            last_arc[thread] = int(requests.index[at])
            continue
        vertex = int(requests.value[at] if appended else requests.index[at])
        # An atomic on a vertex that has its distance is a check, not a find.
        if not appended and atomic[row] and known[vertex]:
            continue
        who = makers.setdefault(vertex, [])
        who.append(maker)
        if thread in last_arc:
            (again if len(who) > 1 else found).append(last_arc[thread])
    return makers, np.array(found, dtype=np.int64), np.array(again, dtype=np.int64)
