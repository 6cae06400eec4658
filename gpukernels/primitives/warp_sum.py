"""Warp sum by butterfly shuffle: after 5 exchanges every lane holds the sum of all 32."""

from __future__ import annotations

from numba import cuda

from .launch_shape import FULL_MASK


@cuda.jit(device=True)
def warp_sum(value):
    """Return the sum of `value` over the warp, in every lane; all 32 lanes must call."""
    apart = 16
    while apart > 0:
        value += cuda.shfl_xor_sync(FULL_MASK, value, apart)
        apart //= 2
    return value
