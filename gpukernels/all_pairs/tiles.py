"""Kernels on square tiles of a matrix, made for a tile's size, a thread's part and a type.

Two do all the work of the tiled methods: `close_tile` finds the shortest paths inside one diagonal
tile, `multiply` is a (min, +) product of tiles. A thread keeps its outputs in a local array whose
size the compiler knows, so they lie in registers; hence a kernel for each shape, made when first
asked for [lund2010multistage]. In int32 the sum is cast back at once, ``min(int32(a + b), c)``:
numba adds in 64 bits, and only without them Hopper has one instruction for all of it. Indices are
unsigned: numba looks at each signed one for whether it counts from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, int32, uint32

from gpukernels.checks import check_choice, is_whole
from gpukernels.device import benign_race
from gpukernels.errors import InvalidArgument

TILES = (16, 32, 64)
#: Tiles for a product alone, which need not have a whole tile in shared memory.
PRODUCT_TILES = (*TILES, 128)
#: Up to so many vertices a small tile is the default: a GPU has more blocks than there are large
#: tiles, and the SIMT machine less to do.
SMALL = 256
#: Outputs of a thread, across and down: 4x2 is what [padamata2013graph] found best.
PER_THREAD = {"1x1": (1, 1), "4x2": (4, 2), "4x4": (4, 4), "8x8": (8, 8)}
KINDS = {"int32": int32, "float32": float32}
MAX_THREADS = 1024
BANKS = 32
#: From so many outputs per thread on, the steps of a slice are unrolled.
MANY = 16


class Form(NamedTuple):
    """Parameters of tile kernels; see :class:`Options` for the tile, its threads and padding.

    If it is `noting`, `via` gets the vertex through which a pair's path was last made shorter. A
    `lazy` product skips infinite lengths; a `watching` product reports if a length has become less.
    """

    tile: int = 64
    per_thread: str = "8x8"
    dtype: str = "int32"
    noting: bool = False
    lazy: bool = False
    watching: bool = False
    padding: bool = True

    def whole(self, size: int) -> int:
        """Return the rows of so many that whole tiles hold: the next multiple of `tile`."""
        return -(-size // self.tile) * self.tile

    @property
    def block(self) -> tuple[int, int]:
        """Threads of a block, across and down."""
        across, down = PER_THREAD[self.per_thread]
        return self.tile // across, self.tile // down

    @property
    def depth(self) -> int:
        """Rows of a slice of a product's factors in shared memory.

        Each thread then loads the same number of elements. The depth is at least 16, so that the
        fixed cost of a slice is paid less often.
        """
        wide, high = self.block
        return max(16, wide * high // self.tile)


@dataclass(frozen=True)
class Options:
    """Options of the methods that work in tiles, by keyword.

    Attributes
    ----------
    tile : int, optional
        Rows and columns of a tile: 16, 32 or 64. Unless given, 16 up to 256 vertices, else 64.
    per_thread : str, optional
        Elements of a thread, across and down: ``"1x1"``, ``"4x2"``, ``"4x4"`` or ``"8x8"``. Unless
        given, ``"1x1"`` in tiles of 16, ``"4x4"`` in those of 32, else ``"8x8"``. Where a tile has
        to be done alone, it is spread over more threads.
    padding : bool
        Whether rows of shared memory are padded, so that no two lanes meet at a bank.
    next_hops : bool
        Whether the result holds next hops.
    """

    tile: int | None = None
    per_thread: str | None = None
    padding: bool = True
    next_hops: bool = False

    def form(self, size: int, dtype: Any, tiles: tuple[int, ...] = TILES, **others: bool) -> Form:
        """Return the form of the tiles of a matrix of `size` rows; see `form_of`."""
        return form_of(
            size, dtype, self.tile, self.per_thread, tiles,
            noting=self.next_hops, padding=self.padding, **others,
        )  # fmt: skip


def form_of(
    size: int,
    dtype: Any,
    tile: int | None,
    per_thread: str | None,
    tiles: tuple[int, ...] = TILES,
    **others: bool,
) -> Form:
    """Return the form for a matrix of `size` rows; None leaves a choice to it.

    InvalidArgument unless it is one of `tiles` and a block can have its threads.
    """
    if tile is None:
        tile = 16 if size <= SMALL else 64
    if not is_whole(tile) or tile not in tiles:
        raise InvalidArgument("tile", tile, f"one of {tiles}, or None")
    if per_thread is None:
        per_thread = {16: "1x1", 32: "4x4"}.get(tile, "8x8")
    check_choice("per_thread", per_thread, PER_THREAD)
    form = Form(tile, per_thread, np.dtype(dtype).name, **others)
    if form.block[0] * form.block[1] > MAX_THREADS:
        fitting = [p for p in PER_THREAD if np.prod(form._replace(per_thread=p).block) <= 1024]
        raise InvalidArgument(
            "per_thread", per_thread, f"one of {fitting} with tile={tile}: a block has 1024 threads"
        )
    return form


def all_steps(form: Form) -> Callable:
    """Return the device function that takes a thread's outputs through all steps of a slice.

    Step k lets paths lead through one more vertex, `first` + k. If a thread has many outputs, the
    steps are unrolled: there is no loop around them. Then addresses in shared memory are
    constants, and loads for the next step start during this step. On an H200 that saves a
    fifth of the time.
    """
    noting, lazy, depth = form.noting, form.lazy, form.depth
    across, down = PER_THREAD[form.per_thread]
    kind = KINDS[form.dtype]
    WIDE, HIGH = (uint32(v) for v in form.block)

    @cuda.jit(device=True)
    def one_step(left, right, best, noted, here, k, first, x, y, infinite):
        beside = cuda.local.array(across, kind)
        for c in range(across):
            beside[c] = right[here, k, x + uint32(c) * WIDE]
        for r in range(down):
            length = left[here, k, y + uint32(r) * HIGH]
            if not lazy or length < infinite:
                for c in range(across):
                    if noting:
                        through = kind(length + beside[c])
                        if through < best[r, c]:
                            best[r, c] = through
                            noted[r, c] = first + k
                    else:
                        best[r, c] = min(kind(length + beside[c]), best[r, c])

    def twice(one, times):
        TIMES = uint32(times)

        @cuda.jit(device=True)
        def two(left, right, best, noted, here, k, first, x, y, infinite):
            one(left, right, best, noted, here, k, first, x, y, infinite)
            one(left, right, best, noted, here, k + TIMES, first, x, y, infinite)

        return two

    step, at_once = one_step, 1
    while at_once < depth and across * down >= MANY and not noting and not lazy:
        step, at_once = twice(step, at_once), 2 * at_once

    @cuda.jit(device=True)
    def steps(left, right, best, noted, here, first, x, y, infinite):
        for k in range(0, depth, at_once):
            step(left, right, best, noted, here, uint32(k), first, x, y, infinite)

    return steps


@cache
def multiplier(form: Form) -> Callable:
    """Return the device function ``new = min(old, a x b)`` for one tile of the result a block.

    ``multiply(a, b, old, new, via, infinite, row, column, begin, end)`` makes the tile at `row`,
    `column` from rows of `a` and columns of `b` from `begin` to `end`, a multiple of the tile's
    size. A slice of both is in shared memory while the next one is on its way to registers. `new`
    is written when the whole block has read all that it needs, so it may be `b` or `a` if no other
    block reads this tile. Returns whether anything of the thread has become less.
    """
    tile, noting, watching = form.tile, form.noting, form.watching
    across, down = PER_THREAD[form.per_thread]
    kind = KINDS[form.dtype]
    wide, high = form.block
    threads = wide * high
    depth = form.depth
    loads = tile * depth // threads
    # A warp stores `depth` columns of 32 / depth rows of `a`: this much more puts all on banks of
    # their own.
    stride = tile + (BANKS // depth if form.padding else 0)
    steps = all_steps(form)
    # Unsigned constants, so that sums with them stay unsigned.
    WIDE, HIGH, TILE, DEPTH, THREADS = (uint32(v) for v in (wide, high, tile, depth, threads))

    @cuda.jit(device=True)
    def multiply(a, b, old, new, via, infinite, row, column, begin, end):
        left = cuda.shared.array((2, depth, stride), kind)
        right = cuda.shared.array((2, depth, tile), kind)
        best = cuda.local.array((down, across), kind)
        noted = cuda.local.array((down, across), int32)
        next_left = cuda.local.array(loads, kind)
        next_right = cuda.local.array(loads, kind)
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        t = (y * WIDE + x) % THREADS  # the remainder tells the compiler how large it can be
        for r in range(down):
            for c in range(across):
                best[r, c] = old[row + y + uint32(r) * HIGH, column + x + uint32(c) * WIDE]
                noted[r, c] = -1
        # Element t + i * threads of a slice. All sizes are powers of two, so its row and column are
        # sums: a part from t, which changes, and a part from i * threads, known to the compiler.
        i_left, k_left = row + t // DEPTH, t % DEPTH
        k_right, j_right = t // TILE, column + t % TILE
        for i in range(loads):
            e = uint32(i) * THREADS
            left[0, k_left + e % DEPTH, t // DEPTH + e // DEPTH] = a[
                i_left + e // DEPTH, begin + k_left + e % DEPTH
            ]
            right[0, k_right + e // TILE, t % TILE + e % TILE] = b[
                begin + k_right + e // TILE, j_right + e % TILE
            ]
        cuda.syncthreads()
        here = uint32(0)
        while begin < end:
            following = begin + DEPTH
            if following < end:
                for i in range(loads):
                    e = uint32(i) * THREADS
                    next_left[i] = a[i_left + e // DEPTH, following + k_left + e % DEPTH]
                    next_right[i] = b[following + k_right + e // TILE, j_right + e % TILE]
            steps(left, right, best, noted, here, begin, x, y, infinite)
            here = uint32(1) - here
            if following < end:
                for i in range(loads):
                    e = uint32(i) * THREADS
                    left[here, k_left + e % DEPTH, t // DEPTH + e // DEPTH] = next_left[i]
                    right[here, k_right + e // TILE, t % TILE + e % TILE] = next_right[i]
            cuda.syncthreads()
            begin = following
        less = False
        for r in range(down):
            for c in range(across):
                i, j = row + y + uint32(r) * HIGH, column + x + uint32(c) * WIDE
                if watching and best[r, c] < old[i, j]:
                    less = True
                new[i, j] = best[r, c]
                if noting and noted[r, c] >= 0:
                    via[i, j] = noted[r, c]
        return less

    return multiply


@cache
def product(form: Form) -> Any:
    """Return the kernel of a (min, +) product: one block per tile of the result."""
    multiply, tile = multiplier(form), form.tile

    @benign_race("flags")
    @cuda.jit
    def min_plus_tiles(a, b, old, new, via, infinite, row, column, begin, end, flags):
        """Make ``new = min(old, a x b)`` from `row` and `column` on, over `begin` to `end`.

        Does nothing if ``flags[0]`` says that there is a negative cycle. All threads that have made
        something less set ``flags[1]`` to the same 1.
        """
        if flags[0] == 0:
            row = uint32(row) + uint32(cuda.blockIdx.y) * uint32(tile)
            column = uint32(column) + uint32(cuda.blockIdx.x) * uint32(tile)
            if multiply(a, b, old, new, via, infinite, row, column, uint32(begin), uint32(end)):
                flags[1] = 1

    return min_plus_tiles


def closing(form: Form) -> Form:
    """Return the form for a diagonal tile: spread over more threads, as it has the GPU to itself.

    Everything else waits while it is closed, so the time of one step counts.
    """
    per_thread = "1x1" if form.tile == 16 else "4x2"
    return form._replace(per_thread=per_thread, lazy=False, watching=False)


@cache
def closer(form: Form) -> Any:
    """Return the kernel of one block that closes a diagonal tile over its own vertices."""
    tile, noting = form.tile, form.noting
    across, down = PER_THREAD[form.per_thread]
    kind = KINDS[form.dtype]
    wide, high = form.block
    # A warp has `wide` neighbors of 32 / wide rows: rows of an odd multiple of that do not meet.
    stride = tile + (wide if form.padding and across > 1 else 0)
    WIDE, HIGH, TILE = (uint32(v) for v in (wide, high, tile))

    @cuda.jit
    def close_tile(distance, via, pivot, flags):
        """Let paths inside a tile go through each of its vertices in turn.

        Row and column k do not change in step k, because the path from k to k is 0 long. So one
        barrier per step is enough. If the path is shorter than 0, it is a negative cycle. Then
        ``flags[0]`` stops all further work, because distances would double with each step.
        """
        whole = cuda.shared.array((tile, stride), kind)
        own = cuda.local.array((down, across), kind)
        noted = cuda.local.array((down, across), int32)
        if flags[0] != 0:
            return
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        corner = uint32(pivot) * TILE
        for r in range(down):
            for c in range(across):
                i, j = y + uint32(r) * HIGH, x + uint32(c) * WIDE
                own[r, c] = whole[i, j] = distance[corner + i, corner + j]
                noted[r, c] = -1
        cuda.syncthreads()
        for k in range(tile):
            if whole[k, k] < 0:
                if x == 0 and y == 0:
                    flags[0] = 1
                break
            for r in range(down):
                first = whole[y + uint32(r) * HIGH, k]
                for c in range(across):
                    length = kind(first + whole[k, x + uint32(c) * WIDE])
                    if length < own[r, c]:
                        own[r, c] = whole[y + uint32(r) * HIGH, x + uint32(c) * WIDE] = length
                        noted[r, c] = k
            cuda.syncthreads()
        for r in range(down):
            for c in range(across):
                i, j = corner + y + uint32(r) * HIGH, corner + x + uint32(c) * WIDE
                distance[i, j] = own[r, c]
                if noting and noted[r, c] >= 0:
                    via[i, j] = corner + uint32(noted[r, c])

    return close_tile
