"""The arcs that each thread reads in a level of a traversal, with their source lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.trace import WARP_SIZE, Trace
from gpukernels.views.encoding import pack, pack_lists

#: The arcs of a graph have cells up to this many.
MOST_ARCS = 512
#: The threads that read arcs in a level have cells up to this many warps.
MOST_WARPS = 64


@dataclass(frozen=True)
class Walks:
    """The loads of arcs of one level, once for each arc, thread and source line.

    Attributes
    ----------
    arc, thread, place : numpy.ndarray
        int64, sorted by arc. A thread is numbered over its grid, a place is an index into `places`.
    places : list of (int, str)
        Source lines, each by its number and its text.
    threads : int
        Threads per block; the largest number of several launches.
    """

    arc: np.ndarray
    thread: np.ndarray
    place: np.ndarray
    places: list[tuple[int, str]]
    threads: int

    @classmethod
    def of(cls, trace: Trace, arc: np.ndarray, row: np.ndarray, lane: np.ndarray) -> Walks:
        """Gather the lane entries that load arcs: the arc, the request and the lane of each."""
        r = trace.requests
        launches = [trace.launches[k] for k in np.unique(r.launch[row]).tolist()]
        threads = max((launch.threads_per_block for launch in launches), default=WARP_SIZE)
        thread = r.block[row].astype(np.int64) * threads + WARP_SIZE * r.warp[row] + lane
        lines, place = np.unique(
            np.stack([r.source[row], r.line[row]]), axis=1, return_inverse=True
        )
        columns = np.stack([arc, thread, place.reshape(-1)]).astype(np.int64)
        texts = [(line, trace.text(source, line).strip()) for source, line in lines.T.tolist()]
        return cls(*np.unique(columns, axis=1), texts, threads)

    @property
    def warps(self) -> int:
        """Number of warps that read arcs."""
        block, place = np.divmod(self.thread, self.threads)
        return len(np.unique(block * self.threads + place // WARP_SIZE))


_NONE = np.zeros(0, dtype=np.int64)
#: The walks of a level that reads no arc.
NO_WALKS = Walks(_NONE, _NONE, _NONE, [], WARP_SIZE)


def walks_payload(
    walks: list[Walks], kinds: list[np.ndarray], bottom_up: list[bool], m: int
) -> dict[str, Any]:
    """Return the record's part on the threads that read each of `m` arcs; empty if too large.

    Each level has its walks, the result of each walk, and the direction in which it reads arcs.
    """
    if not m or m > MOST_ARCS or max((w.warps for w in walks), default=0) > MOST_WARPS:
        return {}
    places = sorted({place for w in walks for place in w.places})
    columns = {
        "arc": pack_lists([w.arc for w in walks]),
        "thread": pack(np.concatenate([w.thread for w in walks])),
        "kind": pack(np.concatenate(kinds)),
        "threads": pack([w.threads for w in walks]),
        "places": [list(place) for place in places],
    }
    if any(bottom_up):
        columns["up"] = pack(bottom_up)
    if len(places) > 1:
        columns["place"] = pack(
            [places.index(w.places[p]) for w in walks for p in w.place.tolist()]
        )
    return {"walks": columns}
