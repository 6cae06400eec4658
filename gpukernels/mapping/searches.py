"""Searches for the item that owns a unit: the last one that begins at or before it."""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.primitives.launch_shape import FULL_MASK


@cuda.jit(device=True)
def upper_owner(offsets, left, right, unit):
    """Return the last i in [left, right) with ``offsets[i] <= unit``; one read a step."""
    count = right - left
    while count > 1:
        half = count // 2
        if offsets[left + half] <= unit:
            left += half
        count -= half
    return left


@cuda.jit(device=True)
def interpolation_owner(offsets, left, right, unit):
    """Return what `upper_owner` does, guessing by proportion; ``offsets[right] > unit``."""
    low, high = int64(offsets[left]), int64(offsets[right])
    while right - left > 1:
        guess = left + (unit - low) * (right - left) // (high - low)
        guess = min(max(guess, left + 1), right - 1)
        begin = int64(offsets[guess])
        if begin <= unit:
            left, low = guess, begin
        else:
            right, high = guess, begin
    return left


@cuda.jit(device=True)
def warp_owner(before, unit):
    """Return the last lane whose `before` is at most `unit`; all 32 lanes call."""
    owner = int32(0)
    step = int32(16)
    while step > 0:
        if cuda.shfl_sync(FULL_MASK, before, owner + step) <= unit:
            owner = int32(owner + step)
        step = int32(step // 2)
    return owner
