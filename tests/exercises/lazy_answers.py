"""For every kernel to write, answers that are right and share nothing: few lanes do all the work.

Each is made twice: for one thread of the whole grid, and for one lane of each warp, or for one
thread of each block where only a block can do the work. The number of threads from one worker to
the next is `apart`.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import cuda, int32, int64, uint64

from gpukernels.device import benign_race
from gpukernels.primitives import queue_append

#: More threads than any grid has: its first thread works alone.
ALONE = 1 << 30
WARP, BLOCK = 32, 128

CLASSES = (4, 32, 256)
NOBODY = 2**31 - 1


def squares(apart: int):
    """simt-2: the runs of many threads in one."""

    @cuda.jit
    def square_runs(values, out):
        i = cuda.grid(1)
        if i % apart == 0:
            for k in range(4 * i, min(4 * (i + apart), values.size)):
                out[k] = values[k] * values[k]

    return square_runs


def sums_in_order(apart: int):
    """simt-3: one lane walks along the lists of its warp."""

    @cuda.jit
    def ordered_neighbor_sum(offsets, targets, values, order, sums):
        i = cuda.grid(1)
        if i % apart == 0:
            for k in range(i, min(i + apart, order.size)):
                total = 0
                for arc in range(offsets[order[k]], offsets[order[k] + 1]):
                    total += values[targets[arc]]
                sums[order[k]] = total

    return ordered_neighbor_sum


def sum_of_a_block(apart: int):
    """shared-2."""

    @cuda.jit
    def block_sum(values, total):
        part = cuda.shared.array(4, int32)
        i = cuda.threadIdx.x
        if i % apart == 0:
            mine = 0
            for k in range(i, min(i + apart, values.size)):
                mine += values[k]
            part[i // apart] = mine
        cuda.syncthreads()
        if i == 0:
            mine = 0
            for worker in range((127 + apart) // apart):
                mine += part[worker]
            total[0] = mine

    return block_sum


def rotation(apart: int):
    """shared-3: without rounds, which need not be."""

    @cuda.jit
    def rotate(values, rounds):
        tile = cuda.shared.array(128, int32)
        i = cuda.threadIdx.x
        if i % apart == 0:
            for k in range(i, min(i + apart, values.size)):
                tile[k] = values[k]
        cuda.syncthreads()
        if i % apart == 0:
            for k in range(i, min(i + apart, values.size)):
                values[k] = tile[(k + rounds) % values.size]

    return rotate


def transposition(apart: int):
    """shared-4: a row of the tile a warp, or all of it in one thread of a block."""

    @cuda.jit
    def transpose(a, out):
        thread = cuda.threadIdx.y * 32 + cuda.threadIdx.x
        row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
        if thread % apart == 0:
            for k in range(thread, min(thread + apart, 1024)):
                y, x = row + k // 32, column + k % 32
                if y < a.shape[0] and x < a.shape[1]:
                    out[x, y] = a[y, x]

    return transpose


def histogram_of_degrees(apart: int):
    """shared-5: counts in shared memory, so that `count` has little to bear."""

    @cuda.jit
    def histogram(degree, count):
        part = cuda.shared.array(32, int32)
        i = cuda.threadIdx.x
        if i < 32:
            part[i] = 0
        cuda.syncthreads()
        u = cuda.grid(1)
        if u % apart == 0:
            for k in range(u, min(u + apart, degree.size)):
                cuda.atomic.add(part, degree[k], 1)
        cuda.syncthreads()
        if i < 32 and part[i] > 0:
            cuda.atomic.add(count, i, part[i])

    return histogram


def sums_of_rows(apart: int):
    """representations-2: one lane walks along each list."""

    @cuda.jit
    def warp_neighbor_sum(offsets, targets, values, sums):
        if cuda.grid(1) % apart == 0:
            workers = max(cuda.gridsize(1) // apart, 1)
            for u in range(cuda.grid(1) // apart, sums.size, workers):
                total = 0
                for i in range(offsets[u], offsets[u + 1]):
                    total += values[targets[i]]
                sums[u] = total

    return warp_neighbor_sum


def sums_of_runs(apart: int):
    """representations-3."""

    @cuda.jit
    def hasty_neighbor_sum(source, target, values, sums):
        first = cuda.grid(1)
        if first % apart == 0:
            for i in range(first, min(first + apart, source.size)):
                if i == 0 or source[i - 1] != source[i]:
                    total = 0
                    k = i
                    while k < source.size and source[k] == source[i]:
                        total += values[target[k]]
                        k += 1
                    sums[source[i]] = total

    return hasty_neighbor_sum


def searches_of_lists(apart: int):
    """representations-4."""

    @cuda.jit
    def csr_search(offsets, targets, source, target, found):
        begin = cuda.grid(1)
        if begin % apart == 0:
            for i in range(begin, min(begin + apart, found.size)):
                first, last = offsets[source[i]], offsets[source[i] + 1]
                end = last
                while first < last:
                    middle = (first + last) // 2
                    if targets[middle] < target[i]:
                        first = middle + 1
                    else:
                        last = middle
                found[i] = first < end and targets[first] == target[i]

    return csr_search


def splits_of_warps(apart: int):
    """scans-2."""

    @cuda.jit
    def split_warps(values, out):
        begin = cuda.grid(1)
        if begin % apart == 0:
            for warp in range(begin, min(begin + apart, values.size), 32):
                place = warp
                for parity in range(2):
                    for i in range(warp, min(warp + 32, values.size)):
                        if values[i] % 2 == parity:
                            out[place] = values[i]
                            place += 1

    return split_warps


def completions(apart: int):
    """scans-3."""

    @cuda.jit
    def complete_scan(scanned, block_totals):
        begin = cuda.grid(1)
        if begin % apart == 0:
            before = 0
            for block in range(begin // 64):
                before += block_totals[block]
            for i in range(begin, min(begin + apart, scanned.size)):
                if i % 64 == 0 and i > begin:
                    before += block_totals[i // 64 - 1]
                scanned[i] += before

    return complete_scan


def scans_of_blocks(apart: int):
    """scans-4: with `apart` of 64, a thread a block."""

    @cuda.jit
    def scan_four(values, scanned):
        begin = 4 * cuda.grid(1)
        if cuda.grid(1) % apart == 0:
            before = 0
            for i in range(begin, min(begin + 4 * apart, values.size)):
                if i % 256 == 0:
                    before = 0
                scanned[i] = before
                before += values[i]

    return scan_four


def expansions_under_the_highest_parent(apart: int):
    """bfs-2."""

    @cuda.jit
    def expand_once(
        offsets, targets, distance, parent, frontier, frontier_size, next_frontier, next_size, level
    ):
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1), min(cuda.grid(1) + apart, frontier_size[0])):
                u = frontier[i]
                for k in range(offsets[u], offsets[u + 1]):
                    v = targets[k]
                    before = cuda.atomic.cas(distance, v, -1, level + 1)
                    if before == -1 or before == level + 1:
                        cuda.atomic.max(parent, v, u)
                    if before == -1:
                        queue_append(next_frontier, next_size, v)

    return expand_once


def spreads(apart: int):
    """bfs-3."""

    @benign_race("distance", "changed")
    @cuda.jit
    def spread(offsets, targets, distance, changed, level):
        if cuda.grid(1) % apart == 0:
            for u in range(cuda.grid(1), min(cuda.grid(1) + apart, distance.size)):
                if distance[u] == level:
                    for i in range(offsets[u], offsets[u + 1]):
                        if distance[targets[i]] == -1:
                            distance[targets[i]] = level + 1
                            changed[0] = 1

    return spread


def sorting_by_degree(apart: int):
    """queues-4: counts in local memory first, then asks each counter once."""

    @cuda.jit
    def sort_by_degree(offsets, frontier, queues, sizes):
        mine = cuda.local.array(4, int32)
        if cuda.grid(1) % apart == 0:
            for kind in range(4):
                mine[kind] = 0
            for turn in range(2):
                for i in range(cuda.grid(1), min(cuda.grid(1) + apart, frontier.size)):
                    degree = offsets[frontier[i] + 1] - offsets[frontier[i]]
                    kind = 0
                    for least in CLASSES:
                        if degree >= least:
                            kind += 1
                    if turn == 1:
                        queues[kind, mine[kind]] = frontier[i]
                    mine[kind] += 1
                if turn == 0:
                    for kind in range(4):
                        if mine[kind] > 0:
                            mine[kind] = cuda.atomic.add(sizes, kind, mine[kind])

    return sort_by_degree


def expansions_by_block(apart: int):
    """queues-2: counts what it finds, marks it, and draws room once."""

    @cuda.jit
    def expand_by_block(
        offsets, targets, distance, parent, frontier, frontier_size, next_frontier, next_size, level
    ):
        if cuda.grid(1) % apart == 0:
            size = 0
            for turn in range(2):
                slot = 0
                if turn == 1:
                    slot = cuda.atomic.add(next_size, 0, size)
                for i in range(cuda.grid(1), min(cuda.grid(1) + apart, frontier_size[0])):
                    u = frontier[i]
                    for k in range(offsets[u], offsets[u + 1]):
                        v = targets[k]
                        if turn == 0:
                            if cuda.atomic.cas(distance, v, -1, level + 1) == -1:
                                cuda.atomic.exch(parent, v, -2 - u)
                                size += 1
                        elif cuda.atomic.cas(parent, v, -2 - u, u) == -2 - u:
                            next_frontier[slot] = v
                            slot += 1

    return expand_by_block


def flags_of_new_ones(apart: int):
    """queues-3."""

    @cuda.jit
    def flag_new(neighbor, arcs, distance, flags, level):
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1), min(cuda.grid(1) + apart, arcs)):
                flags[i] = 0
                if cuda.atomic.cas(distance, neighbor[i], -1, level + 1) == -1:
                    flags[i] = 1

    return flag_new


def culls_by_number(apart: int):
    """duplicates-2, and with `apart` of 32 duplicates-3: a lane keeps the first of each vertex."""

    @cuda.jit
    def cull_by_number(vertices, kept):
        begin = cuda.grid(1)
        if begin % apart == 0:
            for i in range(begin, min(begin + apart, vertices.size)):
                first = 1
                for k in range(i // 32 * 32, i):
                    if vertices[k] == vertices[i]:
                        first = 0
                kept[i] = first

    return cull_by_number


def exact_culls(apart: int):
    """duplicates-4: a table of its own, and no atomics."""

    @cuda.jit
    def cull_exactly(vertices, kept):
        table = cuda.shared.array(256, int64)
        begin = cuda.grid(1)
        if begin % apart == 0:
            for i in range(begin, min(begin + apart, vertices.size)):
                if i % 128 == 0:
                    for slot in range(256):
                        table[slot] = -1
                slot = vertices[i] & 255
                while table[slot] != -1 and table[slot] != vertices[i]:
                    slot = (slot + 1) & 255
                kept[i] = table[slot] == -1
                table[slot] = vertices[i]

    return cull_exactly


def searches_by_one_block(apart: int):
    """bfs4k-2 and bfs4k-4."""

    @cuda.jit
    def search_by_one_block(offsets, targets, distance):
        queues = cuda.shared.array((2, 512), int32)
        size = cuda.shared.array(3, int32)
        if cuda.threadIdx.x == 0:
            queues[0, 0], size[0], size[1] = 0, 1, 0
        level = 0
        cuda.syncthreads()
        while size[level % 3] > 0:
            if cuda.threadIdx.x == 0:
                size[(level + 2) % 3] = 0
            if cuda.threadIdx.x % apart == 0:
                workers = max(cuda.blockDim.x // apart, 1)
                for i in range(cuda.threadIdx.x // apart, size[level % 3], workers):
                    u = queues[level % 2, i]
                    for k in range(offsets[u], offsets[u + 1]):
                        if cuda.atomic.cas(distance, targets[k], -1, level + 1) == -1:
                            slot = cuda.atomic.add(size, (level + 1) % 3, 1)
                            queues[(level + 1) % 2, slot] = targets[k]
            cuda.syncthreads()
            level += 1

    return search_by_one_block


def collections_of_queues(apart: int):
    """bfs4k-3: copies one value after another."""

    @cuda.jit
    def collect(offsets, values, out, size):
        begin = cuda.grid(1)
        queues = offsets.size - 1
        if begin % apart == 0 and begin < queues:
            first, last = offsets[begin], offsets[min(begin + apart, queues)]
            slot = cuda.atomic.add(size, 0, last - first)
            for k in range(first, last):
                out[slot + k - first] = values[k]

    return collect


def searches_bottom_up(apart: int):
    """direction-2: all look, then all store."""

    @cuda.jit
    def search_bottom_up(offsets, sources, distance):
        marks = cuda.shared.array(512, int32)
        begin = cuda.threadIdx.x
        level, found = 0, True
        while cuda.syncthreads_or(int32(found)):
            found = False
            if begin % apart == 0:
                for v in range(begin, min(begin + apart, distance.size)):
                    marks[v] = 0
                    if distance[v] == -1:
                        for k in range(offsets[v], offsets[v + 1]):
                            if distance[sources[k]] != -1:
                                found, marks[v] = True, 1
                                break
            cuda.syncthreads()
            if begin % apart == 0:
                for v in range(begin, min(begin + apart, distance.size)):
                    if marks[v] == 1:
                        distance[v] = level + 1
            level += 1

    return search_bottom_up


def levels_of_bits(apart: int):
    """direction-3: makes the words of its vertices one after the other."""

    @cuda.jit
    def bottom_up_level(offsets, sources, bits, distance, next_bits, level):
        begin = cuda.grid(1)
        if begin % apart == 0:
            word = 0
            for v in range(begin, min(begin + apart, distance.size)):
                if distance[v] == -1:
                    for k in range(offsets[v], offsets[v + 1]):
                        u = sources[k]
                        if bits[u // 32] >> (u % 32) & 1:
                            distance[v] = level + 1
                            word |= 1 << (v % 32)
                            break
                if v % 32 == 31 or v == distance.size - 1:
                    next_bits[v // 32] = word
                    word = 0

    return bottom_up_level


def columns(apart: int):
    """mapping-static-2."""

    @cuda.jit
    def expand_columns(sizes, item, size):
        if cuda.grid(1) % apart == 0:
            workers = max(cuda.gridsize(1) // apart, 1)
            for i in range(cuda.grid(1) // apart, sizes.size, workers):
                for k in range(sizes[i]):
                    item[k, i] = i

    return expand_columns


def sums_of_items(apart: int):
    """mapping-static-3."""

    @cuda.jit
    def sum_groups(offsets, values, total, size):
        if cuda.grid(1) % apart == 0:
            workers = max(cuda.gridsize(1) // apart, 1)
            for i in range(cuda.grid(1) // apart, offsets.size - 1, workers):
                mine = 0
                for unit in range(offsets[i], offsets[i + 1]):
                    mine += values[unit]
                total[i] = mine

    return sum_groups


def aligned_expansions(apart: int):
    """mapping-static-4."""

    @cuda.jit
    def expand_aligned(offsets, item, size):
        if cuda.grid(1) % apart == 0:
            workers = max(cuda.gridsize(1) // apart, 1)
            for i in range(cuda.grid(1) // apart, offsets.size - 1, workers):
                for unit in range(offsets[i], offsets[i + 1]):
                    item[unit] = i

    return expand_aligned


def gathers(apart: int):
    """mapping-dynamic-2: counts the long items of its block from the block's begin on."""

    @cuda.jit
    def gather(offsets, item, turn, threshold):
        begin = cuda.grid(1)
        if begin % apart == 0:
            turns = 0
            for i in range(begin // 128 * 128, min(begin + apart, offsets.size - 1)):
                if i % 128 == 0:
                    turns = 0
                long = offsets[i + 1] - offsets[i] > threshold
                if i >= begin:
                    if long:
                        turn[i] = turns
                    for unit in range(offsets[i], offsets[i + 1]):
                        item[unit] = i
                if long:
                    turns += 1

    return gather


def searches_by_ends(apart: int):
    """mapping-dynamic-3."""

    @cuda.jit
    def search_ends(offsets, item):
        begin = cuda.grid(1)
        if begin % apart == 0:
            for i in range(begin, min(begin + apart, offsets.size - 1)):
                for unit in range(offsets[i], offsets[i + 1]):
                    item[unit] = i

    return search_ends


def cuts(apart: int):
    """mapping-dynamic-4: each boundary by halving."""

    @cuda.jit
    def cut(offsets, boundary, chunk_steps):
        begin = cuda.grid(1)
        if begin % apart == 0:
            for b in range(begin, min(begin + apart, boundary.size)):
                left, count = 0, offsets.size - 1
                while count > 1:
                    middle = left + count // 2
                    if offsets[middle] + middle <= b * chunk_steps:
                        left = middle
                    count -= count // 2
                boundary[b] = left

    return cut


def relaxations_of_arcs(apart: int):
    """sssp-2."""

    @cuda.jit
    def relax_arcs(source, target, weights, distance, lower):
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1), min(cuda.grid(1) + apart, source.size)):
                near = distance[source[i]]
                if near != NOBODY and near + weights[i] < distance[target[i]]:
                    cuda.atomic.min(lower, target[i], near + weights[i])

    return relax_arcs


def expansions_of_paths(apart: int):
    """sssp-3."""

    @benign_race("distance")
    @cuda.jit
    def expand_paths(
        offsets, targets, weights, distance, frontier, frontier_size, next_frontier, next_size
    ):
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1), min(cuda.grid(1) + apart, frontier_size[0])):
                u = frontier[i]
                for k in range(offsets[u], offsets[u + 1]):
                    length = distance[u] + weights[k]
                    if length < cuda.atomic.min(distance, targets[k], length):
                        queue_append(next_frontier, next_size, targets[k])

    return expand_paths


def splits_of_piles(apart: int):
    """sssp-4: counts first, then draws room once for each queue."""

    @cuda.jit
    def split_pile(pile, size, distance, before, limit, near, near_size, far, far_size):
        begin = cuda.grid(1)
        if begin % apart == 0:
            nears, fars = 0, 0
            for turn in range(2):
                if turn == 1:
                    if nears > 0:
                        nears = cuda.atomic.add(near_size, 0, nears)
                    if fars > 0:
                        fars = cuda.atomic.add(far_size, 0, fars)
                for i in range(begin, min(begin + apart, size)):
                    length = distance[pile[i]]
                    if length > limit:
                        if turn == 1:
                            far[fars] = pile[i]
                        fars += 1
                    elif length > before:
                        if turn == 1:
                            near[nears] = pile[i]
                        nears += 1

    return split_pile


def words_lowered(apart: int):
    """hbf-2."""

    @cuda.jit
    def lower_words(vertex, length, round, words, queue, size):
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1), min(cuda.grid(1) + apart, vertex.size)):
                key = uint64(int64(length[i]) + 2**31)
                word = (key << uint64(32)) | uint64(round)
                old = cuda.atomic.min(words, vertex[i], word)
                if key < old >> uint64(32) and old & uint64(2**32 - 1) != round:
                    queue_append(queue, size, vertex[i])

    return lower_words


def relaxations_by_class(apart: int):
    """hbf-3."""

    @benign_race("distance")
    @cuda.jit
    def relax_by_class(
        offsets, targets, weights, ways_in, distance, frontier, frontier_size,
        next_frontier, next_size,
    ):  # fmt: skip
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1), min(cuda.grid(1) + apart, frontier_size[0])):
                u = frontier[i]
                for k in range(offsets[u], offsets[u + 1]):
                    v = targets[k]
                    before, length = distance[v], distance[u] + weights[k]
                    if length < before:
                        if ways_in[v] == 1:
                            distance[v] = length
                        else:
                            before = cuda.atomic.min(distance, v, length)
                        if length < before:
                            queue_append(next_frontier, next_size, v)

    return relax_by_class


def ends_of_leaves(apart: int):
    """hbf-4."""

    @cuda.jit
    def end_leaves(offsets_in, sources, weights, out_degree, distance):
        if cuda.grid(1) % apart == 0:
            for v in range(cuda.grid(1) // 32, min((cuda.grid(1) + apart) // 32, distance.size)):
                if out_degree[v] == 0:
                    least = distance[v]
                    for k in range(offsets_in[v], offsets_in[v + 1]):
                        near = distance[sources[k]]
                        if near != NOBODY:
                            least = min(least, near + weights[k])
                    distance[v] = least

    return end_leaves


def closings_of_tiles(apart: int):
    """floyd-2: by the first thread of all in every block, or by one lane of each warp."""

    @cuda.jit
    def close_tiles(distance):
        n = distance.shape[0]
        first, t = cuda.blockIdx.x * 16, cuda.threadIdx.y * 16 + cuda.threadIdx.x
        last = min(first + 16, n)
        for k in range(first, last):
            if t % apart == 0:
                for e in range(t, min(t + apart, 256)):
                    i, j = first + e // 16, first + e % 16
                    if i < last and j < last:
                        length = distance[i, k] + distance[k, j]
                        if length < distance[i, j]:
                            distance[i, j] = length
            cuda.syncthreads()

    return close_tiles


def pivots_in_one_launch(apart: int):
    """floyd-3."""

    @cuda.jit
    def relax_all_pivots(distance):
        n, grid = distance.shape[0], cuda.cg.this_grid()
        block = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        t = block * 64 + cuda.threadIdx.y * 16 + cuda.threadIdx.x
        for k in range(n):
            if t % apart == 0:
                for e in range(t, min(t + apart, n * n)):
                    i, j = e // n, e % n
                    length = distance[i, k] + distance[k, j]
                    if length < distance[i, j]:
                        distance[i, j] = length
            grid.sync()

    return relax_all_pivots


def widenings_of_tiles(apart: int):
    """floyd-4."""

    @cuda.jit
    def widen_tiles(width, pivot):
        down, across = cuda.blockIdx.y, cuda.blockIdx.x
        t = cuda.threadIdx.y * 8 + cuda.threadIdx.x
        if down != pivot and across != pivot and t % apart == 0:
            for e in range(32 * t // 2, min(32 * (t + apart) // 2, 1024)):
                i, j = 32 * down + e // 32, 32 * across + e % 32
                best = width[i, j]
                for k in range(32 * pivot, 32 * pivot + 32):
                    best = max(best, min(width[i, k], width[k, j]))
                width[i, j] = best

    return widen_tiles


def squares_of_rows(apart: int):
    """otherwise-3."""

    @benign_race("less")
    @cuda.jit
    def square(distance, new, less):
        n = distance.shape[0]
        if cuda.grid(1) % apart == 0:
            for i in range(cuda.grid(1) // 32, min((cuda.grid(1) + apart) // 32, n)):
                fell = False
                for j in range(n):
                    best = distance[i, j]
                    for k in range(n):
                        there = distance[i, k]
                        if there != NOBODY:
                            on = distance[k, j]
                            if on != NOBODY and there + on < best:
                                best = there + on
                                fell = True
                    new[i, j] = best
                if fell:
                    less[0] = 1

    return square


def products(apart: int):
    """otherwise-4."""

    @cuda.jit
    def multiply(a, b, product):
        thread = cuda.threadIdx.y * 32 + cuda.threadIdx.x
        block = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        number = block * 128 + thread
        size = product.shape[0] * product.shape[1]
        if number % apart == 0:
            for e in range(number, min(number + apart, size)):
                i, j = e // product.shape[1], e % product.shape[1]
                best = NOBODY
                for k in range(a.shape[1]):
                    if a[i, k] != NOBODY and b[k, j] != NOBODY:
                        best = min(best, a[i, k] + b[k, j])
                product[i, j] = best

    return multiply


def pairs_of_samples(apart: int):
    """energy-2."""

    @cuda.jit
    def spend(samples, idle, above, spent):
        i = cuda.grid(1)
        if i % apart == 0:
            for k in range(i, min(i + apart, samples.size)):
                above[k] = max(samples[k] - idle, 0)
                spent[k] = above[k]
                if k % 64 < 63 and k + 1 < samples.size:
                    spent[k] += max(samples[k + 1] - idle, 0)

    return spend


def tallies(apart: int):
    """energy-3."""

    @cuda.jit
    def tally(offsets, watts, total, peak):
        if cuda.grid(1) % apart == 0:
            first = cuda.grid(1) // 32
            for run in range(first, min(first + apart // 32, total.size)):
                added, most = 0, 0
                for k in range(offsets[run], offsets[run + 1]):
                    added += watts[k]
                    most = max(most, watts[k])
                total[run] = added
                peak[run] = most

    return tally


def marks_of_rows(apart: int):
    """beyond-2."""

    @cuda.jit
    def mark(offsets, targets, part, border):
        thread = cuda.grid(1)
        if thread % apart == 0:
            for v in range(thread // 32, min((thread + apart) // 32, border.shape[0])):
                far = 0
                for k in range(offsets[v], offsets[v + 1]):
                    if part[targets[k]] != part[v]:
                        far = 1
                border[v] = far

    return mark


def joins(apart: int):
    """beyond-3."""

    @cuda.jit
    def join(inside, to_border, onward, place, rows):
        thread = cuda.threadIdx.y * 32 + cuda.threadIdx.x
        block = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        number = block * 128 + thread
        size = rows.shape[0] * rows.shape[1]
        if number % apart == 0:
            for e in range(number, min(number + apart, size)):
                i, j = e // rows.shape[1], e % rows.shape[1]
                best = NOBODY
                if place[j] >= 0:
                    best = inside[i, place[j]]
                for a in range(to_border.shape[1]):
                    if to_border[i, a] != NOBODY and onward[a, j] != NOBODY:
                        best = min(best, to_border[i, a] + onward[a, j])
                rows[i, j] = best

    return join


#: What makes the lazy answers of each exercise, and how far apart the workers of the second are.
LAZY: dict[str, tuple[Callable, int]] = {
    "simt-2": (squares, WARP),
    "simt-3": (sums_in_order, WARP),
    "shared-2": (sum_of_a_block, WARP),
    "shared-3": (rotation, WARP),
    "shared-4": (transposition, WARP),
    "shared-5": (histogram_of_degrees, WARP),
    "representations-2": (sums_of_rows, WARP),
    "representations-3": (sums_of_runs, WARP),
    "representations-4": (searches_of_lists, WARP),
    "scans-2": (splits_of_warps, WARP),
    "scans-3": (completions, WARP),
    "scans-4": (scans_of_blocks, 64),
    "bfs-2": (expansions_under_the_highest_parent, WARP),
    "bfs-3": (spreads, WARP),
    "queues-2": (expansions_by_block, WARP),
    "queues-3": (flags_of_new_ones, WARP),
    "queues-4": (sorting_by_degree, WARP),
    "duplicates-2": (culls_by_number, WARP),
    "duplicates-3": (culls_by_number, WARP),
    "duplicates-4": (exact_culls, BLOCK),
    "bfs4k-2": (searches_by_one_block, WARP),
    "bfs4k-3": (collections_of_queues, WARP),
    "bfs4k-4": (searches_by_one_block, WARP),
    "direction-2": (searches_bottom_up, WARP),
    "direction-3": (levels_of_bits, WARP),
    "mapping-static-2": (columns, WARP),
    "mapping-static-3": (sums_of_items, WARP),
    "mapping-static-4": (aligned_expansions, WARP),
    "mapping-dynamic-2": (gathers, WARP),
    "mapping-dynamic-3": (searches_by_ends, WARP),
    "mapping-dynamic-4": (cuts, WARP),
    "sssp-2": (relaxations_of_arcs, WARP),
    "sssp-3": (expansions_of_paths, WARP),
    "sssp-4": (splits_of_piles, WARP),
    "hbf-2": (words_lowered, WARP),
    "hbf-3": (relaxations_by_class, WARP),
    "hbf-4": (ends_of_leaves, WARP),
    "floyd-2": (closings_of_tiles, WARP),
    "floyd-3": (pivots_in_one_launch, WARP),
    "floyd-4": (widenings_of_tiles, WARP),
    "otherwise-3": (squares_of_rows, WARP),
    "otherwise-4": (products, WARP),
    "energy-2": (pairs_of_samples, WARP),
    "energy-3": (tallies, WARP),
    "beyond-2": (marks_of_rows, WARP),
    "beyond-3": (joins, WARP),
}
