"""Loads and stores with hints on how long caches should keep the data; a uniform flag decides.

PTX's cache operators [busato2016hbf], section 5.1. A hint changes no result and no count of the
SIMT machine; a GPU may follow it or not.

- *once*: ``.cs``, streaming. Data that is touched only once should leave the caches first.
- *past L1*: ``.cg``, in the L2 cache only. For data that is scattered, too much for L1, or changed
  by atomics: these work in L2, so a line in L1 may hold an old value.
"""

from __future__ import annotations

from numba import cuda


@cuda.jit(device=True)
def load_once(array, i, hints):
    """Return ``array[i]``, which is not read again soon."""
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
    """Store `value` in ``array[i]``, which is not read in this launch."""
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
