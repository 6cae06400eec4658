"""Warp operations: shuffles, votes and matches among the active lanes of each warp."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import ShuffleError
from gpukernels.simt.run.lanes import each
from gpukernels.trace import WARP_SIZE

_FULL = 0xFFFFFFFF


def check_mask(active, mask, what, where):
    """Hold the rule of the ``*_sync`` operations: the mask names exactly lanes that are here.

    Every active lane must be in its own mask, and every lane that a mask names must be active.
    Lanes that were never launched, or have returned from the kernel, are exempt, as CUDA has it.
    """
    run = active.frame.group.run
    mask = mask.astype(np.int64) & _FULL
    if run.races is not None and what == "syncwarp":  # no other operation orders memory
        run.races.warp_barrier(active, mask)
    if mask.ndim == 0:
        if active.agreed == mask or (active.n == active.frame.group.count and mask == _FULL):
            return
        if _agrees(active, mask):
            active.agreed = mask
            return
    present = active.present()
    if mask.ndim and (mask == present).all():
        return
    check_own_lane(active, mask, what, where)
    missing = mask & active.spread(_expected(active)) & ~present
    if np.any(missing):
        at = int(np.argmax(np.broadcast_to(missing != 0, active.n)))
        absent = int(np.broadcast_to(missing, active.n)[at])
        lane = (absent & -absent).bit_length() - 1
        region = run.program.regions.get(where)
        parted = ""
        if region is not None:
            source, line = run.program.locations[region]
            parted = f"; the lanes parted at line {line}: {source.line(line).strip()}"
        raise run.error(
            ShuffleError,
            f"the mask of {what} names lane {lane}, which is not here: it is on another "
            f"path{parted}",
            where,
            active,
            at,
        )


def _agrees(active, mask):
    """Return whether one mask for all names just the lanes of each warp that are here."""
    return ((mask & _expected(active)) == active.masks()).all()


def _expected(active):
    """Return the lanes of each warp that a mask may require: launched, and not returned."""
    run, warps = active.frame.group.run, active.warps()
    return run.launched_mask(warps) & ~run.returned_mask(warps)


def check_own_lane(active, mask, what, where):
    """Raise :class:`ShuffleError` if a lane is not in its own mask."""
    if mask.ndim == 0 and mask == _FULL:
        return
    outside = (mask & np.left_shift(1, active.lanes())) == 0
    if outside.any():
        at = int(np.argmax(outside))
        lane = int(active.lanes()[at])
        own = int(np.broadcast_to(mask, active.n)[at])
        raise active.frame.group.run.error(
            ShuffleError,
            f"lane {lane} calls {what} with a mask that does not contain it ({own:#010x})",
            where,
            active,
            at,
        )


def shuffle(active, mode, mask, value, operand, where):
    """Return for each lane the value of another: modes ``idx``, ``up``, ``down``, ``xor``.

    A lane whose source would be below 0 or above 31 keeps its own value and reads no other.
    """
    what = "shfl_sync" if mode == "idx" else f"shfl_{mode}_sync"
    check_mask(active, mask, what, where)
    group, value = active.frame.group, each(active, value)
    whole = group.whole_warps and active.n == group.count and active.n % WARP_SIZE == 0
    if whole and operand.ndim == 0:
        # Groups of one size share these arrays.
        shared, key = group.run.thread_indices, (mode, int(operand), active.n)
        if key not in shared:
            source = _source(active, mode, operand)
            shared[key] = source, active.slots - active.lanes() + source
        source, positions = shared[key]
    else:
        source = _source(active, mode, operand)
        positions = _positions(active, source, what, where)
    recorder = group.run.recorder
    if recorder is not None:
        recorder.shuffle(active, source, value, where)
    return value.take(positions)


def _source(active, mode, operand):
    """Return the lane from which each takes its value."""
    lane, operand = active.lanes(), operand.astype(np.intp)
    if mode == "idx":
        return each(active, operand & (WARP_SIZE - 1))
    if mode == "up":
        source = lane - operand
    elif mode == "down":
        source = lane + operand
    else:
        source = lane ^ operand
    return np.where((source < 0) | (source >= WARP_SIZE), lane, source)


def _positions(active, source, what, where):
    """Return where among the active threads the lanes are that others take values from."""
    group, slots, lane = active.frame.group, active.slots, active.lanes()
    wanted = slots - lane + source
    beyond = None
    if not group.whole_warps:
        beyond = group.thread_of(slots) - lane + source >= group.run.threads_per_block
    if beyond is not None and beyond.any():
        at = int(np.argmax(beyond))
        raise group.run.error(
            ShuffleError,
            f"lane {int(lane[at])} reads lane {int(source[at])} by {what}, which was never "
            f"launched: the block has {group.run.threads_per_block} threads",
            where,
            active,
            at,
        )
    if active.n == group.count:
        positions = wanted
    else:
        position = np.full(group.count, -1)
        position[slots] = np.arange(active.n)
        positions = position.take(wanted)
    if positions.min() < 0:
        at = int(np.argmin(positions))
        returned = int(group.run.returned_mask(group.warp_of(slots[at])))
        state = "has returned" if returned >> int(source[at]) & 1 else "is not active here"
        raise group.run.error(
            ShuffleError,
            f"lane {int(lane[at])} reads lane {int(source[at])} by {what}, which {state}",
            where,
            active,
            at,
        )
    return positions


def ballot(active, mask, predicate, where, what="ballot_sync"):
    """Return for each lane the bit set (int32) of the lanes of its mask whose predicate holds."""
    check_mask(active, mask, what, where)
    votes = _votes(active, predicate) & (mask.astype(np.int64) & _FULL)
    return votes.astype(np.uint32).view(np.int32)


def _votes(active, predicate):
    bits = np.left_shift(1, active.lanes())
    votes = np.where(predicate.astype(bool), bits, 0)
    return active.spread(np.bitwise_or.reduceat(votes, active.warp_starts))


def vote(active, kind, mask, predicate, where):
    """Return ``all``, ``any`` or ``eq`` over the lanes of the mask (bool)."""
    check_mask(active, mask, f"{kind}_sync", where)
    mask = mask.astype(np.int64) & _FULL
    votes = _votes(active, predicate) & mask
    present = active.present() & mask
    if kind == "any":
        return votes != 0
    every = votes == present
    return every if kind == "all" else every | (votes == 0)


def match_any(active, mask, value, where):
    """Return for each lane the bit set (int32) of the lanes of its mask with the same value."""
    check_mask(active, mask, "match_any_sync", where)
    return _matches(active, mask, value).astype(np.uint32).view(np.int32)


def match_all(active, mask, value, where):
    """Return (mask, True) where all lanes of the mask hold one value, (0, False) elsewhere."""
    check_mask(active, mask, "match_all_sync", where)
    present = active.present() & (mask.astype(np.int64) & _FULL)
    same = _matches(active, mask, value) == present
    return np.where(same, present, 0).astype(np.uint32).view(np.int32), same


def _matches(active, mask, value):
    value = each(active, value)
    # Values are compared bit by bit, as the hardware does.
    bits = np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}").astype(np.uint64)
    warp = active.frame.group.warp_of(active.slots)
    order = np.lexsort((bits, warp))
    new = np.concatenate(
        ([True], (bits[order][1:] != bits[order][:-1]) | (warp[order][1:] != warp[order][:-1]))
    )
    starts = np.flatnonzero(new)
    together = np.bitwise_or.reduceat(np.left_shift(1, active.lanes())[order], starts)
    result = np.empty(active.n, np.int64)
    result[order] = np.repeat(together, np.diff(np.append(starts, active.n)))
    return result & (mask.astype(np.int64) & _FULL)


def active_mask(active):
    """Return ``activemask()`` (uint32)."""
    return active.present().astype(np.uint32)


def lanes_below(active):
    """Return ``lanemask_lt()`` (uint32)."""
    return (np.left_shift(1, active.lanes()) - 1).astype(np.uint32)
