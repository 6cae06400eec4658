"""Memory traffic of the methods on matrices, by arithmetic: bytes of the matrix, shared loads.

A tile of the result loads its old value and two tiles per tile of its inner dimension, and is
stored. The rest is a count of tiles. Flags are few and next hops optional, so both are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpukernels.all_pairs.floyd_warshall import Pivot, floyd_warshall
from gpukernels.all_pairs.tiles import PER_THREAD, PRODUCT_TILES, Form, closing, form_of

SECTOR, WORD, WARP_SIZE = 32, 4, 32


class Traffic(NamedTuple):
    """Additions, bytes loaded and stored in whole sectors, and requests to load from shared memory.

    Padding counts. `stored` is -1 where it depends on the lengths.
    """

    operations: int
    loaded: int
    stored: int
    shared_loads: int

    def __add__(self, other: Traffic) -> Traffic:  # type: ignore[override]
        return Traffic(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, count: int) -> Traffic:
        return Traffic(*(count * value for value in self))


NOTHING = Traffic(0, 0, 0, 0)


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

    With `naive`, n is a multiple of 8, so that rows begin with a sector. `repeated_squaring` has
    as many `rounds` as can be needed unless they are given.
    """
    if method == "naive":
        # A warp loads two elements for all its lanes, and its part of two rows.
        warps = n * -(-n // WARP_SIZE)
        a_pivot = Traffic(n * n, 2 * SECTOR * warps + 2 * WORD * n * n, 0, 0)
        return a_pivot.times(n)._replace(stored=-1)
    form = form_of(n, np.int32, tile, per_thread, PRODUCT_TILES)
    tiles = -(-n // form.tile)
    if method == "repeated_squaring":
        return _round(form, tiles).times(max(n - 1, 0).bit_length() if rounds is None else rounds)
    if method == "blocked":
        counter = Counter(form)
        floyd_warshall(counter, tiles, panel)
        return counter.sum
    return _kleene(form, tiles)


class Counter:
    """A host that counts what the launches on one device move."""

    def __init__(self, form: Form):
        self.form, self.sum = form, NOTHING

    def cross(self, pivot: Pivot) -> None:
        """Count rows and columns of each pivot tile, and the other tiles of the panel."""
        tiles, count = pivot.across, pivot.size
        crossed = 2 * (tiles - 1) + (count - 1) * (tiles - 1 + tiles - count)
        self.sum += (_closed(self.form) + _product(self.form, crossed, 1)).times(count)

    def lower(self, pivot: Pivot) -> None:
        """Count all tiles outside a panel."""
        self.sum += _product(self.form, len(pivot.others) ** 2, pivot.size)


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
