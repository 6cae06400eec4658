"""Searches for the owner of a unit: the last item that begins at or before it.

`offsets` is an exclusive prefix sum of sizes with its total at the end, in global or shared memory:
item i owns the units from ``offsets[i]`` to ``offsets[i + 1] - 1``. An item of size 0 begins where
the next item does, so the *last* item that begins at or before a unit is the one that has it. All
searches return that item, like ``numpy.searchsorted(offsets, unit, "right") - 1``.

The two-sided and the one-sided ("optimized") search are compared in [busato2017loadbalancing],
section III-A. The first has two reads per iteration and may stop early. The second has one read in
each of ceil(log2(items)) iterations, the same number in every thread. The interpolation search is
the one of [perl1978interpolation]. As printed, it returns exact hits only, and divides by zero if
both ends hold the same offset. A unit inside an item is not an exact hit, so here the search keeps
the bracket ``offsets[left] <= unit < offsets[right]``, whose ends always differ. Its guarded form
is this book's.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from .launch_shape import FULL_MASK, WARP_SIZE

#: Guesses before the guarded search halves. If sizes are alike, seven million items take fewer.
GUESSES = 10


@cuda.jit(device=True)
def binary_search_two_sided(offsets, left, right, unit):
    """Return the last i in [left, right) with ``offsets[i] <= unit``; at most two reads per step.

    The textbook search: it reads both ends of the middle item and stops if the unit lies between
    them. ``offsets[right]`` is never read. If no item begins so early, it returns `left`.
    """
    while right - left > 1:
        middle = (left + right) // 2
        if offsets[middle] > unit:
            right = middle
        elif middle + 1 == right or offsets[middle + 1] > unit:
            return middle
        else:
            left = middle + 1
    return left


@cuda.jit(device=True)
def upper_owner(offsets, left, right, unit):
    """Return the last i in [left, right) with ``offsets[i] <= unit``; one read per step.

    There are ceil(log2(right - left)) steps for every unit, so all lanes of a warp leave the loop
    together. ``offsets[right]`` is never read. If no item begins so early, it returns `left`.
    """
    count = right - left
    while count > 1:
        half = count // 2
        if offsets[left + half] <= unit:
            left += half
        count -= half
    return left


@cuda.jit(device=True)
def interpolation_owner(offsets, left, right, unit):
    """Return the same as `upper_owner`; each step guesses by proportion where `unit` is.

    About log2(log2(items)) steps if the sizes are much alike, up to ``right - left`` if one item
    has nearly all units. ``offsets[right]`` is read. The products need 64 bits: a number of units
    times a number of items.
    """
    low, high = int64(offsets[left]), int64(offsets[right])
    if unit < low:
        right = left + 1
    if unit >= high:
        left = right - 1
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
def guarded_interpolation_owner(offsets, left, right, unit):
    """Return the same as `interpolation_owner`; after GUESSES steps, halve the bracket.

    Because of a run of empty items, guesses may fall at the end of the bracket many times, and each
    then excludes a single item. Here there are at most GUESSES + ceil(log2(right - left)) steps.
    """
    low, high = int64(offsets[left]), int64(offsets[right])
    if unit < low:
        right = left + 1
    if unit >= high:
        left = right - 1
    guesses = 0
    while right - left > 1 and guesses < GUESSES:
        guess = left + (unit - low) * (right - left) // (high - low)
        guess = min(max(guess, left + 1), right - 1)
        begin = int64(offsets[guess])
        if begin <= unit:
            left, low = guess, begin
        else:
            right, high = guess, begin
        guesses += 1
    return upper_owner(offsets, left, right, unit)


@cuda.jit(device=True)
def warp_owner(before, unit):
    """Return the last lane whose `before` (int32) is at most `unit`; 0 if there is none.

    The offsets are in registers, one per lane, and do not fall from one lane to the next. Five
    shuffles take the place of five reads. All 32 lanes must call, each with its own `unit`.
    """
    owner = int32(0)
    step = int32(WARP_SIZE // 2)
    while step > 0:
        if cuda.shfl_sync(FULL_MASK, before, owner + step) <= unit:
            owner = int32(owner + step)
        step = int32(step // 2)
    return owner
