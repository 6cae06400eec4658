"""The launches of Floyd-Warshall on a matrix and its tiles, read from their memory requests.

Nothing is computed again. A length falls if a store wrote a smaller one. A tile is in shared memory
if its elements were copied there. An output belongs to the thread that writes it. A frame is the
part of a launch between two barriers of its blocks, or the whole launch if it has no barrier.
Arrays are recognized by the names that the kernels of this book use: ``distance`` is the matrix. In
a product of tiles, ``left`` is the factor whose columns are the pivots. `panel_tiles` is a launch
on the rows and columns of a panel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.trace.costs import SECTOR_BYTES, Costs
from gpukernels.views.tile.copies import Touches, copies, origins, stages_of, touches_of

MATRIX = "distance"
_FACTOR = "left"
#: More rows than this are refused: a picture would have no room for them.
MOST_ROWS = 64
#: A whole length of this or more is infinite: negative weights may lower the value for "no arc".
INFINITE = 2**29
_PANEL = "panel_tiles"
#: Kinds of launches. The first three close the pivot tile, lengthen paths by it, or lead paths
#: through it; then come launches on the rows and columns of a panel, and launches without tiles.
PIVOT, CROSS, REMAINDER, PANEL, PLAIN = range(5)
#: State of a box of shared memory in a frame of its block.
LIES, IN_USE, ARRIVES = 0, 1, 2


@dataclass(frozen=True)
class Box:
    """A rectangle of the matrix that lies in shared memory: rows and columns, ends not included."""

    array: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    state: int


@dataclass(frozen=True)
class Frame:
    """The part of a launch from one barrier to the next.

    Attributes
    ----------
    launch, stage : int
        Index of the launch, and number of barriers before the frame.
    pivots : tuple of int
        First and last of the vertices that paths were led through; (-1, -1) if there are none.
    bytes, operations, shared : int
        Bytes of sectors moved from and to global memory, sums of lengths compared, requests to
        shared memory.
    lowered, length : numpy.ndarray
        Elements of the matrix whose length fell in global memory, and the lengths there now.
    kept, kept_length : numpy.ndarray
        Elements whose length in a thread's registers changed in the frame, and the new lengths.
    boxes : dict of int to list of Box
        Boxes in the shared memory of each block.
    writers : tuple of int
        Blocks that wrote to the matrix.
    """

    launch: int
    stage: int
    pivots: tuple[int, int]
    bytes: int
    operations: int
    shared: int
    lowered: np.ndarray
    length: np.ndarray
    kept: np.ndarray
    kept_length: np.ndarray
    boxes: dict[int, list[Box]]
    writers: tuple[int, ...]


@dataclass(frozen=True)
class TileLaunch:
    """A launch: its kernel, its shape, and the tile that each of its blocks writes.

    Attributes
    ----------
    tiles : dict of int to int
        The tile written by a block, row by row.
    reads : dict of int to tuple of int
        The other tiles that a block reads.
    owner : numpy.ndarray
        The thread that keeps each element of a tile, row by row.
    """

    kernel: str
    blocks: int
    threads: int
    tiles: dict[int, int]
    reads: dict[int, tuple[int, ...]]
    owner: np.ndarray

    @property
    def kind(self) -> int:
        """One of `PIVOT`, `CROSS`, `REMAINDER`, `PANEL` and `PLAIN`."""
        if not self.tiles:
            return PLAIN
        most = max(len(reads) for reads in self.reads.values())
        return PANEL if self.kernel == _PANEL else min(most, REMAINDER)


@dataclass(frozen=True)
class TileRun:
    """A method from its first launch to its last; ``tile`` is 0 where it has none."""

    rows: int
    tile: int
    start: np.ndarray
    launches: tuple[TileLaunch, ...]
    frames: tuple[Frame, ...]
    whole: bool

    @property
    def final(self) -> np.ndarray:
        """The lengths in global memory at its end, infinite where no path leads."""
        lengths = self.start.copy()
        for frame in self.frames:
            lengths[frame.lowered] = frame.length
        return lengths


def read_tile_run(trace: Trace, argument: str = "traces") -> TileRun:
    """Read a run of Floyd-Warshall, plain or in tiles, from its trace.

    Raises
    ------
    InvalidArgument
        If the trace holds no square matrix named ``distance``, too large a one, or not all of it.
    """
    matrix = _matrix_of(trace, argument)
    rows = trace.arrays[matrix[0]].shape[0]
    whole = trace.arrays[matrix[0]].dtype.kind in "iu"
    touches = touches_of(trace, INFINITE if whole else np.inf)
    is_matrix = np.isin(np.arange(len(trace.arrays)), matrix)
    spaces = np.array([a.space for a in trace.arrays])
    pairs = copies(trace, touches)
    origin = origins(touches, pairs, spaces == "local", is_matrix)
    number, launch_of, stage_of = _frames_of(trace)
    frame_of = number[touches.row]
    shared = spaces[touches.array] == "shared"
    in_matrix = is_matrix[touches.array]
    start = _start(touches, in_matrix, rows, argument)
    outputs = _outputs(touches, pairs, is_matrix, spaces == "local")
    tile = _tile_of(touches, outputs, rows) if (shared & (origin >= 0)).any() else 0
    launches = _launches(trace, touches, in_matrix, outputs, rows, tile)
    changes = _changes(touches, in_matrix, outputs, frame_of, start, len(launch_of))
    boxes, pivots = _in_shared(trace, touches, shared, origin, frame_of, launch_of, rows)
    seen = _read_to_add(touches, pairs, in_matrix | shared, frame_of)
    pivots = _by_diagonal(touches, seen, origin, is_matrix, frame_of, rows) | pivots
    writers = _writers(touches, in_matrix, frame_of)
    sums = _sums(trace, number, len(launch_of))
    outputs_of = [len(launch.tiles) * tile * tile or rows * rows for launch in launches]
    return TileRun(
        rows,
        tile,
        start,
        launches,
        tuple(
            Frame(
                int(launch_of[f]),
                int(stage_of[f]),
                led := pivots.get(f, (-1, -1)),
                int(sums[0][f]),
                outputs_of[launch_of[f]] * (led[1] - led[0] + (led[0] >= 0)),
                int(sums[1][f]),
                *changes[f],
                boxes.get(f, {}),
                writers.get(f, ()),
            )
            for f in range(len(launch_of))
        ),
        whole,
    )


def _matrix_of(trace: Trace, argument: str) -> list[int]:
    named = [k for k in trace.array_named(MATRIX) if trace.arrays[k].space == "global"]
    touched = set(np.unique(trace.requests.array).tolist())
    shapes = {trace.arrays[k].shape for k in named if k in touched}
    if not shapes:
        names = ", ".join(sorted({trace.arrays[k].name for k in touched})) or "nothing"
        raise InvalidArgument(
            argument,
            f"no load or store of {MATRIX}, but of {names}",
            "the trace of a run on a matrix",
        )
    (shape, *others) = shapes
    if others or len(shape) != 2 or shape[0] != shape[1] or shape[0] > MOST_ROWS:
        raise InvalidArgument(
            f"{MATRIX}.shape (of {argument})",
            shape,
            f"the shape of one square matrix of at most {MOST_ROWS} rows, including padding",
        )
    return [k for k in named if trace.arrays[k].shape == shape]


def _frames_of(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the frame of each request, and launch and stage of each frame."""
    stage = stages_of(trace, trace.requests)
    top = int(stage.max(initial=0)) + 1
    codes, number = np.unique(trace.requests.launch * np.int64(top) + stage, return_inverse=True)
    return number, codes // top, codes % top


def _start(touches: Touches, in_matrix: np.ndarray, rows: int, argument: str) -> np.ndarray:
    """Return the lengths before the first launch, from the first load of each element."""
    at = np.flatnonzero(in_matrix)
    element, first = np.unique(touches.index[at], return_index=True)
    first = at[first]
    start = np.full(rows * rows, np.nan)
    start[element] = np.where(touches.stored[first] == 1, np.nan, touches.value[first])
    lost = np.flatnonzero(np.isnan(start))
    if lost.size:
        i, j = divmod(int(lost[0]), rows)
        raise InvalidArgument(
            argument,
            f"no load of {MATRIX}[{i}, {j}] before it is stored",
            "a run from its beginning",
        )
    return start


def _outputs(
    touches: Touches, pairs: tuple[np.ndarray, np.ndarray], is_matrix: np.ndarray, local: np.ndarray
) -> np.ndarray:
    """Return for each touch of a register the matrix's element that it is copied to, or -1."""
    came, to = pairs
    out = local[touches.array[came]] & is_matrix[touches.array[to]]
    keys = touches.keys("launch", "block", "thread", "array", "index")
    outputs = np.full(len(keys), -1, np.int64)
    key, first = np.unique(keys[came[out]], return_index=True)
    if len(key):
        at = np.minimum(np.searchsorted(key, keys), len(key) - 1)
        hit = (key[at] == keys) & local[touches.array]
        outputs[hit] = touches.index[to[out][first]][at[hit]]
    return outputs


def _tile_of(touches: Touches, outputs: np.ndarray, rows: int) -> int:
    """Return the rows of the tile that a block writes; 0 if the matrix is not made of such."""
    own = np.flatnonzero(outputs >= 0)
    if not own.size:
        return 0
    first = touches.launch[own[0]], touches.block[own[0]]
    of_block = own[(touches.launch[own] == first[0]) & (touches.block[own] == first[1])]
    i = outputs[of_block] // rows
    tile = int(i.max() - i.min()) + 1
    return 0 if rows % tile else tile


def _launches(trace, touches, in_matrix, outputs, rows, tile) -> tuple[TileLaunch, ...]:
    per_row = -(-rows // tile) if tile else 1
    shapes = [(item.kernel, item.blocks, item.threads_per_block) for item in trace.launches]
    tiles: list[dict[int, int]] = [{} for _ in shapes]
    reads: list[dict[int, tuple[int, ...]]] = [{} for _ in shapes]
    owner = [np.zeros(0, np.int64) for _ in shapes]
    if tile:

        def tile_at(element):
            return element // rows // tile * per_row + element % rows // tile

        own = np.flatnonzero(outputs >= 0)
        for launch, block, t in _distinct(touches, own, tile_at(outputs[own])):
            tiles[launch][block] = t
            reads[launch][block] = ()
        loads = np.flatnonzero(in_matrix & (touches.stored == 0))
        for launch, block, t in _distinct(touches, loads, tile_at(touches.index[loads])):
            if tiles[launch].get(block, t) != t:
                reads[launch][block] += (t,)
        own = own[np.argsort(touches.launch[own], kind="stable")]
        ends = np.searchsorted(touches.launch[own], np.arange(len(shapes) + 1))
        for launch in range(len(shapes)):
            of_block = own[ends[launch] : ends[launch + 1]]
            of_block = of_block[touches.block[of_block] == touches.block[of_block[:1]]]
            if len(of_block):
                inside = outputs[of_block] // rows % tile * tile + outputs[of_block] % rows % tile
                owner[launch] = np.zeros(tile * tile, np.int64)
                owner[launch][inside] = touches.thread[of_block]
    each = zip(shapes, tiles, reads, owner, strict=True)
    return tuple(TileLaunch(*shape, *columns) for shape, *columns in each)


def _distinct(touches: Touches, at: np.ndarray, tiles: np.ndarray) -> list[list[int]]:
    """Return launch, block and tile of the entries at these places, each once and in order."""
    columns = np.stack([touches.launch[at], touches.block[at], tiles])
    tops = columns.max(axis=1, initial=0) + 1
    keys = np.unique((columns[0] * tops[1] + columns[1]) * tops[2] + columns[2])
    return np.stack(
        [keys // tops[2] // tops[1], keys // tops[2] % tops[1], keys % tops[2]]
    ).T.tolist()


def _writers(touches, in_matrix, frame_of) -> dict[int, tuple[int, ...]]:
    """Return the blocks that wrote to the matrix in each frame that has some."""
    at = in_matrix & (touches.stored == 1)
    blocks: dict[int, tuple[int, ...]] = {}
    pairs = np.unique(np.stack([frame_of[at], touches.block[at]]), axis=1).T
    for frame, block in pairs.tolist():
        blocks[frame] = (*blocks.get(frame, ()), block)
    return blocks


def _changes(touches, in_matrix, outputs, frame_of, start, frames) -> list[tuple]:
    """Return for each frame the elements and lengths that changed in memory and in registers."""
    stored = touches.stored == 1
    columns = (in_matrix & stored, touches.index), ((outputs >= 0) & stored, outputs)
    changes = []
    for keep, element in columns:
        at, now, rows = np.flatnonzero(keep), start.copy(), []
        order = at[np.argsort(frame_of[at], kind="stable")]
        parts = np.searchsorted(frame_of[order], np.arange(frames + 1))
        for f in range(frames):
            part = order[parts[f] : parts[f + 1]]
            after = now.copy()
            after[element[part]] = touches.value[part]
            changed = np.flatnonzero(after != now)
            rows.append((changed, after[changed]))
            now = after
        changes.append(rows)
    return [(*memory, *registers) for memory, registers in zip(*changes, strict=True)]


def _box(elements: np.ndarray, rows: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the rows and columns of a rectangle of elements, or None if it is not a rectangle."""
    i, j = np.divmod(np.unique(elements), rows)
    tall, wide = int(i.max() - i.min()) + 1, int(j.max() - j.min()) + 1
    if tall * wide != len(i):
        return None
    return (int(i.min()), int(i.min()) + tall), (int(j.min()), int(j.min()) + wide)


def _in_shared(trace, touches, shared, origin, frame_of, launch_of, rows):
    """Return the boxes in each frame's blocks, and the pivots where a factor is read."""
    arrives = np.flatnonzero(shared & (origin >= 0))
    read = np.flatnonzero(shared & (touches.stored == 0))
    block = touches.keys("launch", "block", "array")
    boxes: dict[int, dict[int, list[Box]]] = {}
    pivots: dict[int, tuple[int, int]] = {}
    last = np.append(np.flatnonzero(np.diff(launch_of)), len(launch_of) - 1)
    arrives = arrives[np.lexsort((frame_of[arrives], block[arrives]))]
    read = read[np.lexsort((frame_of[read], block[read]))]
    for own in (
        np.split(arrives, np.flatnonzero(np.diff(block[arrives])) + 1) if len(arrives) else ()
    ):
        block_number = int(touches.block[own[0]])
        name = trace.arrays[int(touches.array[own[0]])].name
        size = int(np.prod(trace.arrays[int(touches.array[own[0]])].shape))
        held = np.full(size, -1, np.int64)
        content: dict[int, tuple] = {}
        lo, hi = np.searchsorted(block[read], [block[own[0]], block[own[0]] + 1])
        reading = read[lo:hi]
        end = int(last[np.searchsorted(last, frame_of[own[0]])])
        for f in range(int(frame_of[own[0]]), end + 1):
            used = reading[frame_of[reading] == f]
            batches = held[touches.index[used]]
            in_use = set(batches[batches >= 0].tolist())
            if name == _FACTOR and in_use:
                columns = [content[b][1] for b in in_use]
                first = min(c[0] for c in columns)
                pivots[f] = (first, max(c[1] for c in columns) - 1)
            new = own[frame_of[own] == f]
            if len(new) and (box := _box(origin[new], rows)) is not None:
                held[touches.index[new]] = f
                content[f] = box
            alive = set(held[held >= 0].tolist())
            states = {b: IN_USE if b in in_use else ARRIVES if b == f else LIES for b in alive}
            boxes.setdefault(f, {}).setdefault(block_number, []).extend(
                Box(name, *content[b], states[b]) for b in sorted(alive)
            )
    return boxes, pivots


def _read_to_add(touches, pairs, lengths, frame_of) -> np.ndarray:
    """Tell which touches of lengths load what is added to another, for a sum takes two loads."""
    loads = lengths & (touches.stored == 0)
    loads[pairs[0]] = False
    thread = touches.keys("launch", "block", "thread")
    key = frame_of * (int(thread.max(initial=0)) + 1) + thread
    _, which = np.unique(key[loads], return_inverse=True)
    loads[loads] = np.bincount(which)[which] > 1
    return loads


def _by_diagonal(touches, seen, origin, is_matrix, frame_of, rows):
    """Return the vertex of frames without factors: the diagonal element that most lanes read."""
    at = np.flatnonzero(seen)
    # A place in shared memory keeps the element copied there, even if it is overwritten later.
    element = np.where(is_matrix[touches.array[at]], touches.index[at], -1)
    inside = np.flatnonzero(element < 0)
    place = _places(touches, origin)
    element[inside] = place[at[inside]]
    on = (element >= 0) & (element % (rows + 1) == 0)
    pivot, frame = element[on] // (rows + 1), frame_of[at[on]]
    vertices = {}
    key, lanes = np.unique(frame * rows + pivot, return_counts=True)
    for f in np.unique(key // rows).tolist():
        mine = key // rows == f
        p = int(key[mine][np.argmax(lanes[mine])] % rows)
        vertices[f] = (p, p)
    return vertices


def _places(touches: Touches, origin: np.ndarray) -> np.ndarray:
    """Return the element that was first copied to each touch's place in memory, or -1."""
    key = touches.keys("launch", "block", "array", "index")
    known = np.flatnonzero(origin >= 0)
    place = np.full(len(key), -1, np.int64)
    keys, first = np.unique(key[known], return_index=True)
    if len(keys):
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        hit = keys[at] == key
        place[hit] = origin[known[first]][at[hit]]
    return place


def _sums(trace, number, frames):
    """Return bytes and shared requests of each frame."""
    spaces = np.array([a.space for a in trace.arrays])[trace.requests.array]
    outside = spaces == "global"
    wide = Costs(trace, outside).sectors * SECTOR_BYTES
    moved = np.bincount(number[outside], wide, frames)
    return moved, np.bincount(number[spaces == "shared"], minlength=frames)
