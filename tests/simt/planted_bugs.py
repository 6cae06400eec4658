"""Small kernels with one classic error each, and their repaired twins.

`PAIRS` lists them. In a kernel, ``# here`` marks every line that takes part in its error. The
repaired twin is made from the kernel's text: without the lines that end with ``# -`` or
``# here -``, and with the statements after ``# +``.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

import numpy as np
from launching import function_from
from numba import cuda, float32, int32

FULL = 0xFFFFFFFF
HALF = 0xFFFF


@dataclass(frozen=True)
class Pair:
    """A broken kernel, its repaired twin, and the launch of both."""

    broken: object
    repaired: object
    rule: str
    #: Blocks and threads.
    shape: tuple
    before: list

    @property
    def name(self):
        return self.broken.py_func.__name__

    def arguments(self):
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.before]


PAIRS: list[Pair] = []


def planted(rule, shape, before):
    def plant(kernel):
        PAIRS.append(Pair(kernel, repaired(kernel), rule, shape, before))
        return kernel

    return plant


def repaired(kernel):
    """Return the twin of `kernel` that its comments describe."""
    lines, _ = inspect.getsourcelines(kernel.py_func)
    lines = [re.sub(r"^( *)# \+ ", r"\1", line) for line in lines]
    head = next(i for i, line in enumerate(lines) if line.startswith("def "))
    text = "".join(line for line in lines[head:] if not re.search(r"# (here )?-$", line))
    return cuda.jit(function_from(text, kernel.py_func.__name__, globals()))


def zeros(n, dtype=np.int32):
    return np.zeros(n, dtype)


def numbers(n, dtype=np.int32):
    """Numbers in which no two neighbors are equal."""
    return (np.arange(n) * 7 % 23 + 1).astype(dtype)


# Shared memory and barriers ------------------------------------------------------------


@planted("race", (1, 64), [numbers(64), zeros(64)])
@cuda.jit
def missing_barrier(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # here
    # + cuda.syncthreads()
    out[t] = tile[63 - t]  # here


@planted("race", (1, 64), [numbers(64), zeros(64)])
@cuda.jit
def barrier_of_the_wrong_scope(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # here
    # + cuda.syncthreads()
    cuda.syncwarp()  # -
    out[t] = tile[63 - t]  # here


@planted("barrier-divergence", (1, 64), [numbers(40), zeros(40)])
@cuda.jit
def barrier_in_a_branch(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 40:
        tile[t] = a[t]
        cuda.syncthreads()  # here -
        out[t] = tile[39 - t]  # -
    # + cuda.syncthreads()
    # + if t < 40:
    # +     out[t] = tile[39 - t]


@planted("barrier-divergence", (1, 48), [np.arange(48, dtype=np.int32) % 5, zeros(48)])
@cuda.jit
def barrier_in_a_loop_of_each_thread(rounds, out):
    t = cuda.threadIdx.x
    total = 0
    # + for k in range(4):
    # +     if k < rounds[t]:
    # +         total += k
    for k in range(rounds[t]):  # -
        total += k  # -
        cuda.syncthreads()  # here
    out[t] = total


@planted(
    "barrier-divergence",
    (1, 32),
    [(np.arange(128, dtype=np.int32) % 5 == 3).astype(np.int32), zeros(32)],
)
@cuda.jit
def break_before_a_barrier(a, out):
    t = cuda.threadIdx.x
    found = -1
    for k in range(4):
        # + if found < 0 and a[4 * t + k] == 1:
        if a[4 * t + k] == 1:  # -
            found = k
            break  # -
        cuda.syncthreads()  # here
    out[t] = found


@planted("race", (1, 64), [numbers(192), zeros(64)])
@cuda.jit
def tile_reused_without_a_barrier(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(3):
        tile[t] = a[64 * k + t]  # here
        cuda.syncthreads()
        total += tile[63 - t]  # here
        # + cuda.syncthreads()
    out[t] = total


@planted("race", (1, 96), [numbers(96)])
@cuda.jit
def shifted_in_place(a):
    tile = cuda.shared.array(96, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    right = tile[(t + 1) % 96]  # here
    # + cuda.syncthreads()
    tile[t] = right  # here
    a[t] = tile[t]


@planted("race", (1, 64), [numbers(64), zeros(1)])
@cuda.jit
def reduction_without_its_last_barriers(a, out):
    part = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            part[t] += part[t + half]  # here
        # + cuda.syncthreads()
        if half > 16:  # -
            cuda.syncthreads()  # -
        half //= 2
    if t == 0:
        out[0] = part[0]


@planted("race", (1, 64), [numbers(64), zeros(64)])
@cuda.jit
def buffers_swapped_too_early(a, out):
    buffer = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    buffer[0, t] = a[t]
    cuda.syncthreads()
    now = 0
    for k in range(3):
        buffer[1 - now, t] = buffer[now, (t + 1) % 64] + 1  # here
        # + cuda.syncthreads()
        now = 1 - now
    out[t] = buffer[now, t]


@planted("race", (1, 64), [numbers(64), zeros(64)])
@cuda.jit
def broadcast_before_it_is_known(a, out):
    first = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        first[0] = a[0]  # here
    # + cuda.syncthreads()
    out[t] = a[t] - first[0]  # here


# Memory that nothing has written ------------------------------------------------------------


@planted("uninitialized-read", (1, 64), [numbers(50), 50, zeros(1)])
@cuda.jit
def unwritten_tail(a, n, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < n:
        tile[t] = a[t]
    # + else:
    # +     tile[t] = 0
    cuda.syncthreads()
    if t == 0:
        total = 0
        for k in range(64):
            total += tile[k]  # here
        out[0] = total


@planted("uninitialized-read", (1, 64), [numbers(50), 50, zeros(50)])
@cuda.jit
def return_before_a_barrier(a, n, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    # + tile[t] = a[t] if t < n else 0
    if t >= n:  # -
        return  # -
    tile[t] = a[t]  # -
    cuda.syncthreads()
    # + if t < n:
    # +     out[t] = tile[t] + tile[(t + 1) % 64]
    out[t] = tile[t] + tile[(t + 1) % 64]  # here -


@planted("uninitialized-read", (2, 32), [numbers(512), zeros(64)])
@cuda.jit
def local_counters_not_zeroed(a, out):
    i = cuda.grid(1)
    count = cuda.local.array(4, int32)
    # + for k in range(4):
    # +     count[k] = 0
    for k in range(8):
        count[a[8 * i + k] % 4] += 1  # here
    out[i] = count[0]  # here


@planted("uninitialized-read", (1, 64), [numbers(64), zeros(1)])
@cuda.jit
def shared_counter_not_zeroed(a, out):
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    # + if t == 0:
    # +     count[0] = 0
    # + cuda.syncthreads()
    if a[t] > 10:
        cuda.atomic.add(count, 0, 1)  # here
    cuda.syncthreads()
    if t == 0:
        out[0] = count[0]


@planted("uninitialized-read", (3, 32), [numbers(98, np.float32), zeros(96, np.float32)])
@cuda.jit
def halo_off_by_one(a, out):
    tile = cuda.shared.array(34, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = a[i + 1]
    if t == 0:
        tile[0] = a[i]
    if t == 31:
        # + tile[33] = a[i + 2]
        tile[32] = a[i + 2]  # here -
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # here


# Indices ------------------------------------------------------------


@planted("out-of-bounds", (2, 32), [numbers(50), zeros(50)])
@cuda.jit
def tail_off_by_one(a, out):
    i = cuda.grid(1)
    # + if i < out.size:
    if i <= out.size:  # -
        out[i] = 2 * a[i]  # here


@planted("out-of-bounds", (2, 32), [numbers(50), zeros(50)])
@cuda.jit
def negative_index(a, out):
    i = cuda.grid(1)
    if i < a.size:
        # + out[i] = a[i] - a[i - 1] if i > 0 else a[i]
        out[i] = a[i] - a[i - 1]  # here -


@planted("out-of-bounds", ((2, 1), (16, 8)), [numbers(120).reshape(6, 20), zeros((6, 20))])
@cuda.jit
def rows_and_columns_exchanged(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        # + out[y, x] = a[y, x] + 1
        out[x, y] = a[x, y] + 1  # here -


@planted("race", (2, 32), [numbers(64), zeros(64)])
@cuda.jit
def index_within_the_block_only(a, out):
    # + i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.threadIdx.x  # -
    out[i] = 2 * a[i]  # here


@planted(
    "race", (1, (16, 16)), [numbers(256, np.float32).reshape(16, 16), zeros((16, 16), np.float32)]
)
@cuda.jit
def wrong_stride_in_a_tile(a, out):
    # + tile = cuda.shared.array(272, float32)
    tile = cuda.shared.array(256, float32)  # -
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    # + tile[y * 17 + x] = a[y, x]
    tile[y * 15 + x] = a[y, x]  # here -
    cuda.syncthreads()
    # + out[y, x] = tile[x * 17 + y]
    out[y, x] = tile[x * 15 + y]  # -


@planted("out-of-bounds", (2, 32), [numbers(64), zeros(20), zeros(1)])
@cuda.jit
def queue_overflow(a, queue, size):
    i = cuda.grid(1)
    if a[i] > 5:
        at = cuda.atomic.add(size, 0, 1)
        # + if at < queue.size:
        # +     queue[at] = 1
        queue[at] = 1  # here -


# Updates of one element by many ------------------------------------------------------------


@planted("race", (2, 64), [numbers(128), zeros(1)])
@cuda.jit
def sum_without_atomics(a, total):
    # + cuda.atomic.add(total, 0, a[cuda.grid(1)])
    total[0] += a[cuda.grid(1)]  # here -


@planted("race", (2, 32), [numbers(64), zeros(24)])
@cuda.jit
def histogram_without_atomics(a, bins):
    # + cuda.atomic.add(bins, a[cuda.grid(1)], 1)
    bins[a[cuda.grid(1)]] += 1  # here -


@planted("race", (2, 64), [zeros(1)])
@cuda.jit
def one_counter_for_two_blocks(counter):
    if cuda.threadIdx.x == 0:
        # + cuda.atomic.add(counter, 0, 1)
        counter[0] = counter[0] + 1  # here -


@planted("race", (1, 64), [np.array([9], np.int32)])
@cuda.jit
def atomic_beside_a_plain_store(counter):
    t = cuda.threadIdx.x
    if t == 0:
        counter[0] = 0  # here
    # + cuda.syncthreads()
    cuda.atomic.add(counter, 0, 1)  # here


@planted("race", (2, 32), [numbers(64), np.array([99], np.int32)])
@cuda.jit
def minimum_without_atomics(a, best):
    i = cuda.grid(1)
    # + cuda.atomic.min(best, 0, a[i])
    if a[i] < best[0]:  # here -
        best[0] = a[i]  # here -


@planted("race", (2, 64), [numbers(128), zeros(8)])
@cuda.jit
def counters_read_too_early(a, out):
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, a[cuda.grid(1)] % 8, 1)  # here
    # + cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, bins[t])  # here


@planted("race", (4, 32), [numbers(128), zeros(8)])
@cuda.jit
def counters_cleared_too_late(a, out):
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0  # here
    # + cuda.syncthreads()
    cuda.atomic.add(bins, a[cuda.grid(1)] % 8, 1)  # here
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, bins[t])


@planted("race", (2, 32), [numbers(64), zeros(64), zeros(1)])
@cuda.jit
def room_looked_up_plainly(a, queue, size):
    i = cuda.grid(1)
    # + if a[i] > 10:
    # +     slot = cuda.atomic.add(size, 0, 1)
    # +     if slot < queue.size:
    # +         queue[slot] = 1
    if a[i] > 10 and size[0] < queue.size:  # here -
        queue[cuda.atomic.add(size, 0, 1)] = 1  # here -


@planted("order-dependent", (1, 32), [numbers(32), zeros(32), zeros(1)])
@cuda.jit
def slots_taken_in_the_order_of_lanes(a, kept, size):
    i = cuda.grid(1)
    # + chosen = cuda.ballot_sync(FULL, a[i] > 10)
    if a[i] > 10:
        # + kept[cuda.popc(chosen & cuda.lanemask_lt())] = a[i]
        kept[cuda.atomic.add(size, 0, 1)] = a[i]  # here -
    # + if i == 0:
    # +     size[0] = cuda.popc(chosen)


@planted("race", (1, 64), [numbers(64), zeros(2, np.int64)])
@cuda.jit
def lost_bits_of_a_flag(a, flags):
    i = cuda.grid(1)
    if a[i] > 10:
        # + cuda.atomic.or_(flags, i // 32, 1 << (i % 32))
        flags[i // 32] |= 1 << (i % 32)  # here -


@planted("race", (2, 32), [numbers(64), np.full(24, -1, np.int32), zeros(24), zeros(1)])
@cuda.jit
def vertex_claimed_twice(targets, distance, frontier, size):
    i = cuda.grid(1)
    v = targets[i]
    # + if cuda.atomic.cas(distance, v, -1, 1) == -1:
    if distance[v] == -1:  # here -
        distance[v] = 1  # here -
        cuda.atomic.add(frontier, v, 1)
        cuda.atomic.add(size, 0, 1)


@planted("race", (2, 64), [numbers(128), zeros(4)])
@cuda.jit
def result_stored_by_every_lane(a, out):
    i = cuda.grid(1)
    total = a[i]
    for k in range(5):
        total += cuda.shfl_xor_sync(FULL, total, 16 >> k)
    # + if cuda.laneid == 0:
    # +     out[i // 32] = total
    out[i // 32] = total  # here -


@planted("race", (2, 32), [zeros(1), np.arange(1, 130, dtype=np.int32), zeros(130)])
@cuda.jit
def stack_with_aba(top, below, out):
    # + # Tickets are never given back, so none is mistaken for another.
    # + ticket = cuda.atomic.add(top, 0, 1)
    # + cuda.atomic.add(out, ticket, 1)
    i = cuda.grid(1)  # -
    node = cuda.atomic.add(top, 0, 0)  # -
    while True:  # -
        next_node = below[node]  # here -
        seen = cuda.atomic.cas(top, 0, node, next_node)  # -
        if seen == node:  # -
            break  # -
        node = seen  # -
    cuda.atomic.add(out, node, 1)  # -
    if i % 2:  # give it back: a thread that has read `node` before may take it for unchanged  # -
        seen = cuda.atomic.add(top, 0, 0)  # -
        while True:  # -
            below[node] = seen  # here -
            now = cuda.atomic.cas(top, 0, seen, node)  # -
            if now == seen:  # -
                break  # -
            seen = now  # -


# The grid ------------------------------------------------------------


@planted("race", (3, 32), [numbers(96), zeros(3), zeros(96)])
@cuda.jit
def grid_sync_left_out(a, sums, out):
    i = cuda.grid(1)
    cuda.atomic.add(sums, cuda.blockIdx.x, a[i])  # here
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] *= 2  # here
    # + cuda.cg.this_grid().sync()
    cuda.syncthreads()  # -
    out[i] = a[i] + sums[(cuda.blockIdx.x + 1) % cuda.gridDim.x]  # here


@planted("barrier-divergence", (3, 32), [numbers(96), zeros(96)])
@cuda.jit
def grid_sync_skipped_by_a_block(a, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = a[i]
    # + grid.sync()
    if cuda.blockIdx.x < 2:
        grid.sync()  # here -
        a[i] = out[63 - i]


@planted("race", (6, 32), [numbers(6), zeros(6), zeros(1), zeros(1)])
@cuda.jit
def partial_sums_set_without_a_fence(a, partial, arrived, total):
    last = cuda.shared.array(1, int32)
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        partial[b] = a[b]  # here
        # + cuda.threadfence()
        last[0] = cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1
        cuda.threadfence()
    cuda.syncthreads()
    if last[0] and t < partial.size:
        cuda.atomic.add(total, 0, partial[t])  # here


@planted("race", (6, 32), [numbers(6), zeros(6), zeros(1), zeros(1)])
@cuda.jit
def partial_sums_read_without_a_fence(a, partial, arrived, total):
    last = cuda.shared.array(1, int32)
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        partial[b] = a[b]  # here
        cuda.threadfence()
        last[0] = cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1
        # + cuda.threadfence()
    cuda.syncthreads()
    if last[0] and t < partial.size:
        cuda.atomic.add(total, 0, partial[t])  # here


@planted("race", (6, 32), [numbers(6), zeros(6), zeros(1), zeros(1)])
@cuda.jit
def fence_of_the_wrong_scope(a, partial, arrived, total):
    last = cuda.shared.array(1, int32)
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        partial[b] = a[b]  # here
        # + cuda.threadfence()
        cuda.threadfence_block()  # -
        last[0] = cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1
        cuda.threadfence()
    cuda.syncthreads()
    if last[0] and t < partial.size:
        cuda.atomic.add(total, 0, partial[t])  # here


@planted("barrier-divergence", (3, 32), [numbers(60), 60, zeros(60)])
@cuda.jit
def grid_sync_without_the_last_block(a, n, out):
    i = cuda.grid(1)
    # + if i < n:
    # +     a[i] += 1
    if i >= n:  # -
        return  # -
    a[i] += 1  # -
    cuda.cg.this_grid().sync()  # here
    # + if i < n:
    # +     out[i] = a[n - 1 - i]
    out[i] = a[n - 1 - i]  # -


# Warps ------------------------------------------------------------


@planted("race", (1, 32), [numbers(32), zeros(32)])
@cuda.jit
def missing_syncwarp(a, out):
    tile = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # here
    # + cuda.syncwarp()
    out[t] = tile[t ^ 1]  # here


@planted("race", (1, 32), [numbers(32), zeros(32)])
@cuda.jit
def shuffle_taken_for_a_barrier(a, out):
    tile = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # here
    right = cuda.shfl_down_sync(FULL, a[t], 1)
    # + cuda.syncwarp()
    out[t] = tile[t ^ 1] + right  # here


@planted("warp-operation", (2, 40), [numbers(80), zeros(1)])
@cuda.jit
def sum_of_lanes_that_are_not_there(a, out):
    x = a[cuda.grid(1)]
    # + there = cuda.blockDim.x - cuda.threadIdx.x // 32 * 32
    k = 16
    while k > 0:
        # + y = cuda.shfl_down_sync(FULL, x, k if cuda.laneid + k < there else 0)
        # + if cuda.laneid + k < there:
        # +     x += y
        x += cuda.shfl_down_sync(FULL, x, k)  # here -
        k //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, x)


@planted("race", (1, 32), [numbers(32), zeros(32)])
@cuda.jit
def vote_taken_for_a_barrier(a, out):
    found = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        found[0] = a[0]  # here
    # + cuda.syncwarp()
    if cuda.any_sync(FULL, a[t] > 10):
        out[t] = found[0]  # here


@planted("warp-operation", (1, 32), [numbers(32), zeros(32)])
@cuda.jit
def one_side_forgets_to_meet(a, out):
    if cuda.laneid < 16:
        out[cuda.laneid] = a[cuda.laneid]
        cuda.syncwarp()  # -
        cuda.syncwarp()  # here
    else:
        cuda.syncwarp()
        out[cuda.laneid] = out[cuda.laneid - 16]


@planted("warp-operation", (1, 32), [numbers(20), 20, zeros(20)])
@cuda.jit
def shuffle_from_an_exited_lane(a, n, out):
    i = cuda.grid(1)
    # + value = a[i] if i < n else 0
    # + value = cuda.shfl_down_sync(FULL, value, 1)
    # + if i < n:
    # +     out[i] = value
    if i >= n:  # -
        return  # -
    out[i] = cuda.shfl_down_sync(cuda.activemask(), a[i], 1)  # here -


@planted("warp-operation", (2, 32), [numbers(64), zeros(64)])
@cuda.jit
def full_mask_in_a_branch(a, out):
    i = cuda.grid(1)
    # + mask = cuda.ballot_sync(FULL, a[i] > 10)
    if a[i] > 10:
        # + out[i] = cuda.popc(cuda.ballot_sync(mask, a[i] > 20))
        out[i] = cuda.popc(cuda.ballot_sync(FULL, a[i] > 20))  # here -


@planted("warp-operation", (1, 32), [numbers(32), zeros(32)])
@cuda.jit
def mask_of_one_lane_too_many(a, out):
    i = cuda.grid(1)
    if cuda.laneid < 16:
        # + out[i] = cuda.shfl_sync(HALF, a[i], 3)
        out[i] = cuda.shfl_sync(0x1FFFF, a[i], 3)  # here -


@planted("warp-operation", (1, 32), [numbers(32), zeros(32)])
@cuda.jit
def lane_outside_its_own_mask(a, out):
    i = cuda.grid(1)
    # + out[i] = cuda.shfl_xor_sync(FULL, a[i], 1)
    out[i] = cuda.shfl_xor_sync(HALF, a[i], 1)  # here -


# Loops ------------------------------------------------------------


def parents_with_a_cycle():
    parent = np.maximum(np.arange(40, dtype=np.int32) - 3, 0)
    parent[30] = 33
    return parent


@planted("endless-loop", (1, 40), [parents_with_a_cycle(), zeros(40)])
@cuda.jit
def loop_without_an_end(a, out):
    i = cuda.grid(1)
    steps = 0
    v = i
    # + while v != 0 and steps < a.size:
    while v != 0:  # here -
        v = a[v]
        steps += 1
    out[i] = steps


# Speed: nothing is wrong, but a rule on speed speaks


@planted(
    "bank-conflicts",
    (1, (32, 32)),
    [numbers(1024, np.float32).reshape(32, 32), zeros((32, 32), np.float32)],
)
@cuda.jit
def column_of_a_tile_in_one_bank(a, out):
    # + tile = cuda.shared.array((32, 33), float32)
    tile = cuda.shared.array((32, 32), float32)  # -
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]  # here


@planted("uncoalesced", (2, 32), [numbers(512), zeros(64)])
@cuda.jit
def neighbors_far_apart(a, out):
    i = cuda.grid(1)
    total = 0
    for k in range(8):
        # + total += a[64 * k + i]
        total += a[8 * i + k]  # here -
    out[i] = total


@planted("atomic-contention", (2, 64), [numbers(128), zeros(1)])
@cuda.jit
def every_lane_at_one_counter(a, count):
    # + here = cuda.ballot_sync(FULL, a[cuda.grid(1)] > 0)
    # + if cuda.laneid == 0:
    # +     cuda.atomic.add(count, 0, cuda.popc(here))
    if a[cuda.grid(1)] > 0:  # -
        cuda.atomic.add(count, 0, 1)  # here -


@planted("order-dependent", (2, 64), [numbers(128), zeros(128), zeros(1)])
@cuda.jit
def order_of_a_queue(a, queue, size):
    # + # The place of a thread's entry follows from the input alone.
    i = cuda.grid(1)
    if a[i] > 5:
        # + at = 0
        # + for k in range(i):
        # +     if a[k] > 5:
        # +         at += 1
        at = cuda.atomic.add(size, 0, 1)  # -
        queue[at] = i  # here
        # + cuda.atomic.add(size, 0, 1)
