"""Loads and stores that tell the caches what becomes of them, or do not: one uniform flag says.

PTX's cache operators [busato2016hbf], section 5.1. A hint changes no result and no count of the
SIMT machine; a GPU may heed it or not.

- *once*: ``.cs``, streaming. What is touched once should leave the caches first.
- *past L1*: ``.cg``, in the L2 cache alone. For what is scattered, too much for L1, or changed by
  atomics, which happen in L2: a line that L1 holds would tell of yesterday.
"""

from __future__ import annotations

from numba import cuda


@cuda.jit(device=True)
def load_once(array, i, hints):
    """Return ``array[i]``, which nobody reads again soon."""
    if hints:
        return cuda.ldcs(array, i)
    return array[i]


@cuda.jit(device=True)
def load_past_l1(array, i, hints):
    """Return ``array[i]`` without keeping it in L1."""
    if hints:
        return cuda.ldcg(array, i)
    return array[i]


@cuda.jit(device=True)
def store_once(array, i, value, hints):
    """Store `value` in ``array[i]``, which nobody reads in this launch."""
    if hints:
        cuda.stcs(array, i, value)
    else:
        array[i] = value


@cuda.jit(device=True)
def store_past_l1(array, i, value, hints):
    """Store `value` in ``array[i]`` without keeping it in L1."""
    if hints:
        cuda.stcg(array, i, value)
    else:
        array[i] = value
