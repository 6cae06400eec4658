"""Arcs in lexicographic order by a radix sort of packed keys, on all cores.

An arc from u to v becomes the number ``u << bits | v``. A radix sort orders such numbers digit by
digit from the lowest: it counts how often each digit occurs, and then moves every key behind those
that come before it. Every core counts and moves a part of the keys, in order, so equal keys stay as
they were given and the result is the same on any number of cores.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, njit, prange, uint64
from numba.types import Array
from numpy.typing import NDArray

from gpukernels.cores import all_cores
from gpukernels.cores.compiled import compiled
from gpukernels.errors import InvalidArgument

#: What an int32 offset can hold.
MOST_ARCS = np.iinfo(np.int32).max
#: A digit has at most so many bits: 2,048 places to write to are what a cache and its TLB stand.
DIGIT_BITS = 11


def arcs_in_order(
    n: int,
    source: NDArray,
    target: NDArray,
    weight: NDArray | None = None,
    *,
    both_ways: bool = False,
    keep_loops: bool = True,
    least: bool = False,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray | None]:
    """Return row offsets, targets and weights of arcs, in lexicographic order.

    Parameters
    ----------
    n : int
        Number of vertices; all ends are below it. This is not checked.
    source, target : array of int, shape (k,)
        The ends of every arc.
    weight : array of int32, int64, float32 or float64, shape (k,), optional
        The weight of every arc.
    both_ways : bool
        Whether the opposite of each arc is an arc too; a self-loop's is not.
    keep_loops : bool
        Whether self-loops stay.
    least : bool
        Whether of parallel arcs only one of the least weight stays.

    Returns
    -------
    offsets : array of int32, shape (n + 1,)
    targets : array of int32, shape (m,)
    weights : array of the type of `weight`, shape (m,), or None

    Raises
    ------
    InvalidArgument
        Where there would be more than 2^31 - 1 arcs.
    """
    source = np.ascontiguousarray(source, np.int32)
    target = np.ascontiguousarray(target, np.int32)
    bits = _bits(n)
    given = _as_whole(weight, least)
    with all_cores() as cores:
        loops = _count_loops(source, target, cores)
        others = source.size - int(loops.sum())
        size = (source.size if keep_loops else others) + (others if both_ways else 0)
        if size > MOST_ARCS:
            raise InvalidArgument("number of arcs", size, f"at most {MOST_ARCS}")
        keys = np.empty(size, np.uint64)
        values = np.empty(size if weight is not None else 0, given.dtype)
        _pack(*read_only(source, target, given), loops, both_ways, keep_loops, bits, keys, values)
        keys, values = _sort(keys, values, 0, 2 * bits, cores)
        offsets, targets, values = _rows(keys, values, n, bits, least, cores)
    return offsets, targets, _as_weights(values, weight, least)


def turned_around(
    n: int, source: NDArray[np.int32], target: NDArray[np.int32], weight: NDArray | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray | None]:
    """Return row offsets, targets and weights of the opposite arcs of those given.

    The arcs come in order of `source`, so only the digits of `target` have to be sorted, and arcs
    of one row stay in the order in which they came.
    """
    bits = _bits(n)
    with all_cores() as cores:
        keys = np.empty(source.size, np.uint64)
        _pack_turned(source, target, bits, keys)
        keys, values = _sort(keys, _as_whole(weight).copy(), bits, 2 * bits, cores)
        offsets, targets, values = _rows(keys, values, n, bits, False, cores)
    return offsets, targets, _as_weights(values, weight)


def read_only(*arrays):
    """Return views that may not be written, so that one compiled function takes all arrays."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def _as_whole(weight, in_order=False):
    """Return the weights as whole numbers of their size, an empty array for none.

    Floats are taken by their bits. If they have to be `in_order`, the bits of negative ones are
    turned, since of those the largest belong to the least.
    """
    if weight is None:
        return np.zeros(0, np.int32)
    whole = np.ascontiguousarray(weight).view(f"i{weight.itemsize}")
    return _turn(whole) if in_order and weight.dtype.kind == "f" else whole


def _as_weights(values, weight, in_order=False):
    if weight is None:
        return None
    turned = in_order and weight.dtype.kind == "f"
    return (_turn(values) if turned else values).view(weight.dtype)


def _turn(bits):
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _bits(n: int) -> int:
    return max(1, (n - 1).bit_length())


def _sort(keys, values, low, high, cores):
    """Sort `keys` by their bits from `low` to `high`, stable; `values`, if any, go along."""
    passes = -(-(high - low) // DIGIT_BITS)
    digit = -(-(high - low) // passes)
    spare_keys, spare_values = np.empty_like(keys), np.empty_like(values)
    for shift in range(low, high, digit):
        places = _count_digits(keys, shift, min(digit, high - shift), cores)
        _first_places(places)
        _move(keys, values, shift, min(digit, high - shift), places, spare_keys, spare_values)
        keys, spare_keys = spare_keys, keys
        if values.size:
            values, spare_values = spare_values, values
    return keys, values


def _rows(keys, values, n, bits, least, cores):
    """Turn sorted keys into CSR."""
    firsts = _count_firsts(keys, cores) if least else np.diff(_parts(keys.size, cores))
    m = int(firsts.sum())
    offsets = np.empty(n + 1, np.int32)
    targets = np.empty(m, np.int32)
    weights = np.empty(m if values.size else 0, values.dtype)
    _unpack(keys, values, firsts, least, bits, offsets, targets, weights)
    return offsets, targets, weights


def _parts(size: int, cores: int) -> NDArray[np.int64]:
    return size * np.arange(cores + 1, dtype=np.int64) // cores


#: Arrays that are given may be read-only; both kinds go through one compiled function.
GIVEN = Array(int32, 1, "C", readonly=True)


@njit(int64[::1](GIVEN, GIVEN, int64), parallel=True, cache=True)
def _count_loops(source, target, cores):
    loops = np.zeros(cores, np.int64)
    for t in prange(cores):
        count = 0
        for i in range(source.size * t // cores, source.size * (t + 1) // cores):
            count += source[i] == target[i]
        loops[t] = count
    return loops


@compiled(parallel=True)
def _pack(source, target, weight, loops, both_ways, keep_loops, bits, keys, values):
    cores = loops.size
    size = source.size
    behind = size if keep_loops else size - loops.sum()
    weighted = weight.size > 0
    for t in prange(cores):
        begin, before = size * t // cores, loops[:t].sum()
        there = begin if keep_loops else begin - before
        back = behind + begin - before
        for i in range(begin, size * (t + 1) // cores):
            u, v = np.uint64(source[i]), np.uint64(target[i])
            if u != v or keep_loops:
                keys[there] = u << np.uint64(bits) | v
                if weighted:
                    values[there] = weight[i]
                there += 1
            if u != v and both_ways:
                keys[back] = v << np.uint64(bits) | u
                if weighted:
                    values[back] = weight[i]
                back += 1


@njit((GIVEN, GIVEN, int64, uint64[::1]), parallel=True, cache=True)
def _pack_turned(source, target, bits, keys):
    for i in prange(keys.size):
        keys[i] = np.uint64(target[i]) << np.uint64(bits) | np.uint64(source[i])


@compiled(parallel=True)
def _count_digits(keys, shift, digit, cores):
    counts = np.zeros((cores, 1 << digit), np.int64)
    mask = np.uint64((1 << digit) - 1)
    for t in prange(cores):
        mine = counts[t]
        for i in range(keys.size * t // cores, keys.size * (t + 1) // cores):
            mine[keys[i] >> np.uint64(shift) & mask] += 1
    return counts


@compiled()
def _first_places(counts):
    """Replace how often each core met each digit by where its first key of that digit goes."""
    place = 0
    for d in range(counts.shape[1]):
        for t in range(counts.shape[0]):
            count = counts[t, d]
            counts[t, d] = place
            place += count


@compiled(parallel=True)
def _move(keys, values, shift, digit, places, moved_keys, moved_values):
    cores = places.shape[0]
    mask = np.uint64((1 << digit) - 1)
    weighted = values.size > 0
    for t in prange(cores):
        mine = places[t]
        for i in range(keys.size * t // cores, keys.size * (t + 1) // cores):
            d = keys[i] >> np.uint64(shift) & mask
            place = mine[d]
            mine[d] = place + 1
            moved_keys[place] = keys[i]
            if weighted:
                moved_values[place] = values[i]


@compiled(parallel=True)
def _count_firsts(keys, cores):
    firsts = np.zeros(cores, np.int64)
    for t in prange(cores):
        count = 0
        for i in range(keys.size * t // cores, keys.size * (t + 1) // cores):
            count += i == 0 or keys[i] != keys[i - 1]
        firsts[t] = count
    return firsts


@compiled(parallel=True)
def _unpack(keys, values, firsts, least, bits, offsets, targets, weights):
    """Write the row and the target of each key; of equal ones, if `least`, the first alone."""
    cores = firsts.size
    mask = np.uint64((1 << bits) - 1)
    weighted = values.size > 0
    n = offsets.size - 1
    for t in prange(cores):
        place = firsts[:t].sum()
        begin, end = keys.size * t // cores, keys.size * (t + 1) // cores
        row = np.int64(keys[begin - 1] >> np.uint64(bits)) if 0 < begin < end else np.int64(-1)
        own = False  # whether the row's last kept key lies in this part
        for i in range(begin, end):
            if least and i > 0 and keys[i] == keys[i - 1]:
                if weighted and own:
                    weights[place - 1] = min(weights[place - 1], values[i])
                continue
            u = np.int64(keys[i] >> np.uint64(bits))
            for r in range(row + 1, u + 1):
                offsets[r] = place
            row, own = u, True
            targets[place] = keys[i] & mask
            if weighted:
                weights[place] = values[i]
            place += 1
        # Equal keys that go on in the next part belong to the first of their kind.
        i = end
        while least and weighted and own and i < keys.size and keys[i] == keys[i - 1]:
            weights[place - 1] = min(weights[place - 1], values[i])
            i += 1
    last = np.int64(keys[keys.size - 1] >> np.uint64(bits)) if keys.size else np.int64(-1)
    for r in range(last + 1, n + 1):
        offsets[r] = targets.size
