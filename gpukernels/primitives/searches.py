"""Searches for the owner of a unit: the last item that begins at or before it.

`offsets` is an exclusive prefix sum of sizes with its total at the end, in global or shared memory:
item i owns the units from ``offsets[i]`` up to, and without, ``offsets[i + 1]``. Items of size 0
begin where the next one does, so the *last* item that begins at or before a unit is the one that
has it. All searches return that item, as ``numpy.searchsorted(offsets, unit, "right") - 1`` does.

The two-sided search and the one-sided ("optimized") one are those that [busato2017loadbalancing],
section III-A, compares: two reads an iteration with a chance to stop early, against one read in
each of ceil(log2(items)) iterations, the same number in every thread. The interpolation search is
that of [perl1978interpolation]. As the paper prints it, it returns exact hits only and divides by
zero where both ends hold the same offset; a unit inside an item is no exact hit, so here it keeps
the bracket ``offsets[left] <= unit < offsets[right]``, whose ends always differ. Its guarded form
is this book's.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from .launch_shape import FULL_MASK, WARP_SIZE

#: Guesses before the guarded search halves. Where sizes are alike, seven million items take fewer.
GUESSES = 10


@cuda.jit(device=True)
def binary_search_two_sided(offsets, left, right, unit):
    """Return the last i in [left, right) with ``offsets[i] <= unit``; at most two reads a step.

    The textbook search: it looks at both ends of the middle item and stops where the unit lies
    between them. ``offsets[right]`` is never read; if no item begins so early, `left` comes back.
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
    """Return the last i in [left, right) with ``offsets[i] <= unit``; one read a step.

    There are ceil(log2(right - left)) steps whatever the unit, so all lanes of a warp leave the
    loop together. ``offsets[right]`` is never read; if no item begins so early, `left` comes back.
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
    """Return what `upper_owner` does; each step guesses by proportion where `unit` lies.

    About log2(log2(items)) steps where the sizes are much alike, up to ``right - left`` where one
    item has nearly all units. ``offsets[right]`` is read. The products need 64 bits: a number of
    units times a number of items.
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
    """Return what `interpolation_owner` does; after GUESSES steps, halve what is left.

    A run of empty items makes a guess fall at the end of the bracket again and again, and each then
    rules out a single item. Here there are at most GUESSES + ceil(log2(right - left)) steps.
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

    The offsets are in registers, one a lane, nowhere falling from lane to lane: five shuffles take
    the place of five reads. All 32 lanes must call, each with its own `unit`.
    """
    owner = int32(0)
    step = int32(WARP_SIZE // 2)
    while step > 0:
        if cuda.shfl_sync(FULL_MASK, before, owner + step) <= unit:
            owner = int32(owner + step)
        step = int32(step // 2)
    return owner
