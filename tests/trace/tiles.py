"""Blocked Floyd-Warshall in its plainest form: a load for the SIMT machine's benchmark.

Three phases a pivot tile [venkataraman2003blocked] [katz2008allpairs]: the tile itself, the tiles
of its row and column, all others. Shared memory, barriers in a loop, two-dimensional blocks: what
the vertex-parallel search of `simulator` does not have.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def pivot_tile(distance, pivot):
    """Close the pivot tile over its own vertices."""
    tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = pivot * TILE + y, pivot * TILE + x
    tile[y, x] = distance[i, j]
    for k in range(TILE):
        cuda.syncthreads()
        through = tile[y, k] + tile[k, x]
        cuda.syncthreads()
        tile[y, x] = min(tile[y, x], through)
    distance[i, j] = tile[y, x]


@cuda.jit
def pivot_cross(distance, pivot):
    """Close the tiles of the pivot's row and column over the pivot's vertices."""
    middle = cuda.shared.array((TILE, TILE), float32)
    own = cuda.shared.array((TILE, TILE), float32)
    x, y, other = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    if other == pivot:
        return
    is_row = cuda.blockIdx.y == 0
    i = (pivot if is_row else other) * TILE + y
    j = (other if is_row else pivot) * TILE + x
    middle[y, x] = distance[pivot * TILE + y, pivot * TILE + x]
    own[y, x] = distance[i, j]
    for k in range(TILE):
        cuda.syncthreads()
        through = middle[y, k] + own[k, x] if is_row else own[y, k] + middle[k, x]
        cuda.syncthreads()
        own[y, x] = min(own[y, x], through)
    distance[i, j] = own[y, x]


@cuda.jit
def remaining_tiles(distance, pivot):
    """Close every other tile over the pivot's vertices."""
    column = cuda.shared.array((TILE, TILE), float32)
    row = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if cuda.blockIdx.x == pivot or cuda.blockIdx.y == pivot:
        return
    i, j = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    column[y, x] = distance[i, pivot * TILE + x]
    row[y, x] = distance[pivot * TILE + y, j]
    cuda.syncthreads()
    best = distance[i, j]
    for k in range(TILE):
        best = min(best, column[y, k] + row[k, x])
    distance[i, j] = best


def close(device, distance) -> np.ndarray:
    """Return the shortest path lengths of all pairs.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    distance : ndarray of float32, shape (n, n)
        Arc lengths, infinite where there is no arc, 0 on the diagonal; n a multiple of 16.
    """
    tiles = len(distance) // TILE
    matrix = device.array(distance)
    for pivot in range(tiles):
        device.launch(pivot_tile, 1, (TILE, TILE), matrix, pivot)
        device.launch(pivot_cross, (tiles, 2), (TILE, TILE), matrix, pivot)
        device.launch(remaining_tiles, (tiles, tiles), (TILE, TILE), matrix, pivot)
    return device.read(matrix)
