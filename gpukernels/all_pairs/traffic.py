"""Memory traffic of the methods on matrices, by arithmetic: bytes of the matrix, shared loads.

A tile of the result loads its old value and two tiles per tile of its inner dimension, and is
stored. The rest is a count of tiles. Flags are few and next hops optional, so both are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpukernels.checks import check_choice, check_whole
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import DENSE_LIMIT
from gpukernels.primitives.launch_shape import WARP_SIZE
from gpukernels.primitives.offsets import MAX_UNITS

from .pivots import pivots
from .tiles import PER_THREAD, PRODUCT_TILES, Form, closing, form_of

SECTOR, WORD = 32, 4


class Traffic(NamedTuple):
    """Memory traffic of a search for all pairs.

    Attributes
    ----------
    operations : int
        Additions, each followed by a minimum; those on padding count.
    loaded, stored : int
        Bytes of the matrix that global memory moves, in whole sectors. `stored` is -1 where it
        depends on the lengths.
    shared_loads : int
        Requests to load from shared memory, one per warp.
    """

    operations: int
    loaded: int
    stored: int
    shared_loads: int

    def __add__(self, other: Traffic) -> Traffic:  # type: ignore[override]
        return Traffic(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, count: int) -> Traffic:
        """Return the sum of so many."""
        return Traffic(*(count * value for value in self))


NOTHING = Traffic(0, 0, 0, 0)
METHODS = "naive", "blocked", "kleene", "repeated_squaring"


def traffic(
    method: str,
    n: int,
    *,
    tile: int | None = None,
    per_thread: str | None = None,
    panel: int = 1,
    rounds: int | None = None,
) -> Traffic:
    """Return the traffic of a method for n vertices, without running it.

    Parameters
    ----------
    method : {"naive", "blocked", "kleene", "repeated_squaring"}
        A method of :func:`gpukernels.apsp` that works on the matrix.
    n : int
        Number of vertices; for ``"naive"`` a multiple of 8, so that rows begin with a sector.
    tile, per_thread : optional
        As the methods take them.
    panel : int
        Tiles of pivots that ``"blocked"`` takes at once; it takes more itself if n is large.
    rounds : int, optional
        Rounds of ``"repeated_squaring"``; by default as many as can be needed.

    Returns
    -------
    Traffic
        Exact for the kernels of this package.

    Raises
    ------
    InvalidArgument
        If an argument is none of these.

    Examples
    --------
    >>> from gpukernels.all_pairs.traffic import traffic
    >>> traffic("blocked", 256, tile=32).loaded / traffic("naive", 256).loaded
    0.0365...
    """
    check_choice("method", method, METHODS)
    n = check_whole("n", n, 0, DENSE_LIMIT)
    if method == "naive":
        if n % (SECTOR // WORD):
            raise InvalidArgument("n", n, "a multiple of 8 where method='naive'")
        # A warp loads two elements for all its lanes, and its part of two rows.
        warps = n * -(-n // WARP_SIZE)
        a_pivot = Traffic(n * n, 2 * SECTOR * warps + 2 * WORD * n * n, 0, 0)
        return a_pivot.times(n)._replace(stored=-1)
    form = form_of(n, np.int32, tile, per_thread, PRODUCT_TILES)
    tiles = -(-n // form.tile)
    if method == "repeated_squaring":
        most = max(n - 1, 0).bit_length()
        rounds = most if rounds is None else check_whole("rounds", rounds, 0, n)
        return _round(form, tiles).times(rounds)
    if method == "blocked":
        return _blocked(form, tiles, check_whole("panel", panel, 1, MAX_UNITS))
    return _kleene(form, tiles)


def _closed(form: Form) -> Traffic:
    """Return the traffic of one diagonal tile that is closed."""
    alone = closing(form)
    across, down = PER_THREAD[alone.per_thread]
    warps = alone.block[0] * alone.block[1] // WARP_SIZE
    size, moved = form.tile, WORD * form.tile**2
    return Traffic(size**3, moved, moved, warps * size * (1 + down + down * across))


def _product(form: Form, tiles: int, over: int) -> Traffic:
    """Return the traffic of so many tiles of a product that goes over so many tiles."""
    across, down = PER_THREAD[form.per_thread]
    wide, high = form.block
    threads, moved = wide * high, WORD * form.tile**2
    warps = -(-threads // WARP_SIZE)
    # A few threads side by side request less than a sector, and get all of it.
    own = _whole_sectors(wide)
    left = _whole_sectors(min(threads, form.depth))
    right = _whole_sectors(min(threads, form.tile))
    one = Traffic(
        over * form.tile**3,
        moved * (own + over * (left + right)),
        moved * own,
        warps * over * form.tile * (across + down),
    )
    return one.times(tiles)


def _whole_sectors(words: int) -> int:
    """Return the bytes moved per byte requested, if `words` words lie side by side."""
    return max(1, SECTOR // WORD // words)


def _blocked(form: Form, tiles: int, panel: int) -> Traffic:
    sum_of_all = NOTHING
    for pivot in pivots(tiles, panel):
        count = pivot.size
        others = tiles - count
        # Rows and columns of each pivot tile; the other tiles of the panel; all tiles outside it.
        crossed = 2 * (tiles - 1) + (count - 1) * (tiles - 1 + others)
        sum_of_all += (_closed(form) + _product(form, crossed, 1)).times(count)
        sum_of_all += _product(form, others**2, count)
    return sum_of_all


def _kleene(form: Form, tiles: int) -> Traffic:
    if tiles <= 1:
        return _closed(form).times(tiles)
    p = tiles // 2
    q = tiles - p
    over_p = _product(form, 2 * p * q + q * q, p)
    over_q = _product(form, 2 * p * q + p * p, q)
    return _kleene(form, p) + _kleene(form, q) + over_p + over_q


def _round(form: Form, tiles: int) -> Traffic:
    """Return the traffic of one squaring, which compares what was there and looks at a diagonal."""
    again = WORD * (tiles * form.tile) ** 2 * _whole_sectors(form.block[0])
    diagonal = SECTOR * tiles * form.tile
    return _product(form, tiles**2, tiles) + Traffic(0, again + diagonal, 0, 0)
