"""A solution with one thing wrong fails, and the report says what."""

from __future__ import annotations

import pytest
from from_text import kernel_of

import gpukernels as gk
from gpukernels.exercises.judge import checking

#: Stands before each answer, for answers that change a type.
TYPES = "from numba import float32, float64, int32\n"
#: Exercise, a passage of its solution, what stands there instead, and what the report says then.
NEAR_MISSES = {
    "threads beyond the end sent home": (
        "simt-2",
        "    last = min(last, values.size)\n",
        "    if first >= values.size:\n        return\n",
        "index 75 is out of bounds for `values`",
    ),
    "a run that sticks out sent home": (
        "simt-2",
        "    last = min(last, values.size)\n",
        "    if last > values.size:\n        return\n",
        "`out[72]` is -1",
    ),
    "the whole rest for the last thread": (
        "simt-2",
        "    last = min(last, values.size)\n",
        "    if first > 0:\n        return\n    last = values.size\n",
        "memory requests of the busiest warp, on 400 numbers: 1,200",
    ),
    "a sum in the place of the thread": ("simt-3", "sums[u]", "sums[i]", "`sums["),
    "the order of the vertices' numbers": (
        "simt-3",
        "u = order[i]",
        "u = i",
        "warp steps, on an R-MAT graph of 1,024 vertices: 4,182, allowed at most 1,500",
    ),
    "the thread beyond the last": (
        "simt-3",
        "i < order.size",
        "i <= order.size",
        "index 300 is out of bounds for `order`",
    ),
    "one level short": ("shared-2", "apart > 0", "apart > 1", "`total[0]` is"),
    "atomics in place of the tree": (
        "shared-2",
        "    apart = 64\n    while apart > 0:\n        if i < apart:\n"
        "            tile[i] += tile[i + apart]\n        cuda.syncthreads()\n        apart //= 2\n",
        "    if i > 0:\n        cuda.atomic.add(tile, 0, tile[i])\n    cuda.syncthreads()\n",
        "atomic requests, on 128 numbers: 4, allowed at most 0",
    ),
    "a tree whose lower half is atomics": (
        "shared-2",
        "    apart = 64\n    while apart > 0:\n        if i < apart:\n"
        "            tile[i] += tile[i + apart]\n        cuda.syncthreads()\n        apart //= 2\n",
        "    for apart in (64, 32, 16):\n        if i < apart:\n"
        "            tile[i] += tile[i + apart]\n        cuda.syncthreads()\n"
        "    if 0 < i < 16:\n        cuda.atomic.add(tile, 0, tile[i])\n    cuda.syncthreads()\n",
        "atomic requests, on 128 numbers: 1, allowed at most 0",
    ),
    "12 threads add 11 numbers, and one adds 12": (
        "shared-2",
        "    apart = 64\n    while apart > 0:\n        if i < apart:\n"
        "            tile[i] += tile[i + apart]\n        cuda.syncthreads()\n        apart //= 2\n",
        "    if i < 12:\n        mine = 0\n        for k in range(i, 128, 12):\n"
        "            mine += tile[k]\n        tile[i] = mine\n    cuda.syncthreads()\n"
        "    if i == 0:\n        mine = 0\n        for k in range(12):\n"
        "            mine += tile[k]\n        tile[0] = mine\n",
        "memory requests of the busiest warp, on 128 numbers: 30, allowed at most 26",
    ),
    "two barriers a level": (
        "shared-2",
        "        cuda.syncthreads()\n        apart",
        "        cuda.syncthreads()\n        cuda.syncthreads()\n        apart",
        "barriers of all warps, on 128 numbers: 60, allowed at most 32",
    ),
    "a rotation through float32": (
        "shared-3",
        "(128, int32)",
        '(128, "float32")',
        "64 numbers, 3 rounds, schedule lockstep: `values[",
    ),
    "a transposition through float32": (
        "shared-4",
        "((32, 33), int32)",
        '((32, 33), "float32")',
        "a 32 × 32 matrix, schedule lockstep: `out[",
    ),
    "no more vertices than the budget's graph has": (
        "shared-5",
        "u < degree.size",
        "u < min(1024, degree.size)",
        "1,153 vertices of degree 31, schedule lockstep: `count[31]` is 1024",
    ),
    "no barrier in the tree": (
        "shared-2",
        "        cuda.syncthreads()\n        apart",
        "        apart",
        "race on `tile[",
    ),
    "no barrier after the store": (
        "shared-3",
        "tile[i] = mine\n        cuda.syncthreads()",
        "tile[i] = mine",
        "race on `tile[",
    ),
    "a tile without padding": (
        "shared-4",
        "(32, 33)",
        "(32, 32)",
        "bank conflicts, on a 64 × 64 matrix: 3,968, allowed at most 0",
    ),
    "a tile without a barrier": ("shared-4", "    cuda.syncthreads()\n", "", "`tile["),
    "a tile that sticks out": (
        "shared-4",
        "if row + y < a.shape[0] and",
        "if row + y <= a.shape[0] and",
        "is out of bounds for `a`",
    ),
    "no tile at all": (
        "shared-4",
        "out[column + y, row + x] = tile[x, y]",
        "out[column + y, row + x] = a[row + x, column + y]",
        "sectors a global request, on a 64 × 64 matrix:",
    ),
    "counting before all is zero": (
        "shared-5",
        "part[i] = 0\n    cuda.syncthreads()",
        "part[i] = 0",
        "`part[",
    ),
    "one vertex too many": (
        "shared-5",
        "u < degree.size",
        "u <= degree.size",
        "index 300 is out of bounds for `degree`",
    ),
    "every lane the whole list": ("representations-2", "offsets[u] + lane", "offsets[u]", "`sums["),
    "lanes a list apart": (
        "representations-2",
        "range(offsets[u] + lane, offsets[u + 1], 32)",
        "range(offsets[u] + lane, offsets[u + 1], 31)",
        "`sums[",
    ),
    "a part of the list in a row for each lane": (
        "representations-2",
        "        for i in range(offsets[u] + lane, offsets[u + 1], 32):\n",
        "        share = (offsets[u + 1] - offsets[u] + 31) // 32\n"
        "        begin = offsets[u] + lane * share\n"
        "        for i in range(begin, min(begin + share, offsets[u + 1])):\n",
        "on the R-MAT graph of the chapter: 2.89, allowed at most 2",
    ),
    "four neighbors in a row for each lane": (
        "representations-2",
        "        for i in range(offsets[u] + lane, offsets[u + 1], 32):\n            total",
        "        for first in range(offsets[u] + 4 * lane, offsets[u + 1], 128):\n"
        "          for i in range(first, min(first + 4, offsets[u + 1])):\n            total",
        "on the R-MAT graph of the chapter: 2.13, allowed at most 2",
    ),
    "sums in float32": (
        "representations-2",
        "            total += values[targets[i]]\n",
        "            total = float32(total + values[targets[i]])\n",
        "22 of its 64 elements are wrong",
    ),
    "atomics, which the colleague does not want": (
        "representations-3",
        "        sums[u] = total",
        "        cuda.atomic.add(sums, u, total)",
        "atomic requests, on a path of 300 vertices: ",
    ),
    "no more halvings than a list of 512 takes": (
        "representations-4",
        "        while first < last:\n",
        "        for _ in range(10):\n            if first >= last:\n                break\n",
        "70 queries to a star of 1,100 vertices, schedule lockstep: `found[",
    ),
    "the arc before the first": (
        "representations-3",
        "i > 0 and ",
        "",
        "index -1 is out of bounds for `source`",
    ),
    "one entry too far": (
        "representations-4",
        "targets[middle] < v",
        "targets[middle] <= v",
        "`found[",
    ),
    "a linear search": (
        "representations-4",
        "middle = (first + last) // 2",
        "middle = first",
        "targets that a thread looks at, on 256 queries",
    ),
    "a place among all votes": (
        "scans-2",
        "popc(votes & cuda.lanemask_lt())",
        "popc(votes)",
        "`out[",
    ),
    "odd ones from the middle of the warp": (
        "scans-2",
        "cuda.popc(votes) + cuda.laneid - place",
        "16 + cuda.laneid - place",
        "is out of bounds for `out`",
    ),
    "the rank of a vote, as the chapter has it": (
        "scans-2",
        "        place = cuda.popc(votes) + cuda.laneid - place\n    if i < values.size:",
        "        place = cuda.popc(votes)\n    if even:",
        "`out[18]` is -1",
    ),
    "one lane after another": (
        "scans-2",
        "    place = cuda.popc(votes & cuda.lanemask_lt())\n",
        "    place = 0\n    for lane in range(cuda.laneid):\n"
        "        place += (votes >> lane) & 1\n",
        "warp steps, on 1,000 numbers, most of them odd:",
    ),
    "the block before, twice": (
        "scans-3",
        "range(cuda.blockIdx.x - 1)",
        "range(cuda.blockIdx.x)",
        "`scanned[64]` is",
    ),
    "all but the first block": (
        "scans-3",
        "range(cuda.blockIdx.x - 1)",
        "range(1, cuda.blockIdx.x - 1)",
        "`scanned[128]` is",
    ),
    "each with its own value": (
        "scans-4",
        "        scanned[i] = before\n        before = int32(before + values[i])\n",
        "        before = int32(before + values[i])\n        scanned[i] = before\n",
        "`scanned[0]` is",
    ),
    "one value too many": (
        "scans-4",
        "min(first + 4, values.size)",
        "first + 4",
        "is out of bounds for `values`",
    ),
    "a barrier too many": (
        "scans-4",
        "    before, _ = block",
        "    cuda.syncthreads()\n    before, _ = block",
        "barriers of all warps, on 1,000 numbers, most of them odd: 24, allowed at most 16",
    ),
    "a plain test and store": (
        "bfs-2",
        "before = cuda.atomic.cas(distance, v, -1, level + 1)",
        "before = distance[v]\n            if before == -1:\n"
        "                distance[v] = level + 1",
        "race on `distance[",
    ),
    "the parent by luck, as the chapter has it": (
        "bfs-2",
        "            if before == -1 or before == level + 1:\n"
        "                cuda.atomic.max(parent, v, u)\n            if before == -1:\n",
        "            if before == -1:\n                parent[v] = u\n",
        "`parent[",
    ),
    "a parent from the same level": (
        "bfs-2",
        "before == -1 or before == level + 1",
        "before == -1 or before >= level",
        "`parent[",
    ),
    "whoever finds it, an entry": (
        "bfs-2",
        "            if before == -1:\n",
        "            if before == -1 or before == level + 1:\n",
        "queued",
    ),
    "no parent": (
        "bfs-2",
        "                cuda.atomic.max(parent, v, u)\n",
        "                pass\n",
        "`parent[1]` is -1",
    ),
    "the level's test upside down": (
        "bfs-3",
        "distance[u] != level",
        "distance[u] < level",
        "schedule warp: `distance[",
    ),
    "room for one": (
        "queues-4",
        "cuda.atomic.add(sizes, kind, cuda.popc(peers))",
        "cuda.atomic.add(sizes, kind, 1)",
        "race on `",
    ),
    "one slot for all": (
        "queues-4",
        ", cuda.ffs(peers) - 1) + rank",
        ", cuda.ffs(peers) - 1)",
        "race",
    ),
    "one leader for all classes": (
        "queues-4",
        "cuda.match_any_sync(cuda.activemask(), kind)",
        "cuda.activemask()",
        "race on `",
    ),
    "room for what is not there": (
        "queues-2",
        "min(asked[0], found.size)",
        "asked[0]",
        "index 128 is out of bounds",
    ),
    "no wait for the finders": (
        "queues-2",
        "    cuda.syncthreads()\n    kept",
        "    kept",
        "race on `asked[0]`",
    ),
    "no wait for the beginning": (
        "queues-2",
        "kept)\n    cuda.syncthreads()\n    for",
        "kept)\n    for",
        "`begin[0]`",
    ),
    "room drawn by every thread": (
        "queues-2",
        "    if cuda.threadIdx.x == 0:\n        begin[0] = cuda.atomic.add(next_size, 0, kept)",
        "    begin[0] = cuda.atomic.add(next_size, 0, kept)",
        "race on `begin[0]`",
    ),
    "a flag cleared where it was set": (
        "queues-3",
        "        flags[i] = 0\n",
        "        if flags[i] == 1 and level == 0:\n            flags[i] = 0\n",
        "had been found before",
    ),
    "a flag cleared last": (
        "queues-3",
        "            flags[i] = 1\n",
        "            flags[i] = 1\n        flags[i] = 0\n",
        "is -1 and should be",
    ),
    "the neighbor's flag": (
        "queues-3",
        "flags[i] = 0",
        "flags[(i + 1) % arcs] = 0",
        "race on `flags[",
    ),
    "a conflict dropped where the number is lower": (
        "duplicates-2",
        "            repeated = False",
        "            repeated = (word & 0xFFFFFFFF) > cuda.threadIdx.x",
        "is lost",
    ),
    "everybody keeps": (
        "duplicates-2",
        "!= vertices[i]",
        "!= -1",
        "is kept by",
    ),
    "the last lane and all before it": (
        "duplicates-3",
        "same & cuda.lanemask_lt() == 0",
        "same != 0",
        "is kept by",
    ),
    "only who is alone": (
        "duplicates-3",
        "same & cuda.lanemask_lt() == 0",
        "cuda.popc(same) == 1",
        "is lost",
    ),
    "a lane after another": (
        "duplicates-3",
        "    same = cuda.match_any_sync(0xFFFFFFFF, v)\n",
        "    same = int32(0)\n    for lane in range(32):\n"
        "        if cuda.shfl_sync(0xFFFFFFFF, v, lane) == v:\n"
        "            same |= int32(1) << lane\n",
        "warp steps, on 300 vertices, 100 of them different:",
    ),
    "a slot that is passed by without looking": (
        "duplicates-4",
        "while seen != -1 and seen != v:",
        "while seen != -1:",
        "is kept by",
    ),
    "no walk": (
        "duplicates-4",
        "while seen != -1 and seen != v:",
        "while False:",
        "is lost",
    ),
    "every walk from the first slot": (
        "duplicates-4",
        "        seen = cuda.atomic.cas(table, slot, -1, v)\n        while",
        "        slot = 0\n        seen = cuda.atomic.cas(table, slot, -1, v)\n        while",
        "slots tried, on 256 different vertices:",
    ),
    "a plain look and a plain store": (
        "duplicates-4",
        "        seen = cuda.atomic.cas(table, slot, -1, v)\n        while",
        "        seen = table[slot]\n        if seen == -1:\n            table[slot] = v\n"
        "        while",
        "race on `table[",
    ),
    "a barrier for the warp alone": (
        "bfs4k-2",
        "size[0]\n        cuda.syncthreads()",
        "size[0]\n        cuda.syncwarp()",
        "race on `size[0]`",
    ),
    "a barrier on the wrong side": (
        "bfs4k-2",
        "        length = size[0]\n        cuda.syncthreads()\n",
        "        cuda.syncthreads()\n        length = size[0]\n",
        "race on `size[0]`",
    ),
    "a barrier for who has a vertex": (
        "bfs4k-2",
        "size[0]\n        cuda.syncthreads()",
        "size[0]\n        if cuda.threadIdx.x < length:\n            cuda.syncthreads()",
        "syncthreads() is reached by",
    ),
    "a step short": ("bfs4k-3", "range(16)", "range(15)", "`out["),
    "a place among all lanes": (
        "bfs4k-3",
        "popc(votes & cuda.lanemask_lt())",
        "popc(votes)",
        "`out[",
    ),
    "every step from the same place": (
        "bfs4k-3",
        "        begin += cuda.popc(votes)\n",
        "",
        "race on `out[",
    ),
    "every lane its own queue": (
        "bfs4k-3",
        "    for k in range(16):\n",
        "    place = begin + warp_inclusive_scan(length) - length\n"
        "    for k in range(length):\n        out[place + k] = found[k]\n    for k in range(0):\n",
        "sectors stored to, on 64 queues of 2 and 16 values in turn:",
    ),
    "induced coalescing, as the chapter has it": (
        "bfs4k-3",
        "    for k in range(16):\n",
        "    shortest = length\n    for apart in (16, 8, 4, 2, 1):\n"
        "        shortest = min(shortest, cuda.shfl_xor_sync(FULL_MASK, shortest, apart))\n"
        "    for k in range(shortest):\n        out[begin + 32 * k + cuda.laneid] = found[k]\n"
        "    rest = warp_inclusive_scan(length) - length + shortest * (32 - cuda.laneid)\n"
        "    for k in range(shortest, length):\n"
        "        out[begin + rest + k - shortest] = found[k]\n"
        "    for k in range(0):\n",
        "sectors stored to, on 64 queues of 2 and 16 values in turn: 464, allowed at most 112",
    ),
    "groups of 31, 15, 7 and 3": (
        "bfs4k-4",
        "lanes = 32",
        "lanes = 31",
        "`targets` of the busiest warp, on a tree of 32 · 4 leaves: 4, allowed at most 2",
    ),
    "one halving too many": (
        "bfs4k-4",
        "lanes * length > cuda.blockDim.x",
        "lanes * length >= cuda.blockDim.x",
        "`targets` of the busiest warp, on a tree of 8 · 16 leaves: 3, allowed at most 2",
    ),
    "groups of 8 at least": (
        "bfs4k-4",
        "lanes > 4",
        "lanes > 8",
        "requests to `targets` of the busiest warp, on a tree of 32 · 4 leaves:",
    ),
    "groups of 4 throughout": (
        "bfs4k-4",
        " and lanes * length > cuda.blockDim.x",
        "",
        "steps of the longest warp, on a star of 500 vertices: 6",
    ),
    "groups of 32 throughout": (
        "bfs4k-4",
        "lanes > 4 and lanes * length",
        "lanes > 32 and lanes * length",
        "steps of the longest warp, on a star of 500 vertices: 8",
    ),
    "every lane the whole neighborhood, a block apart": (
        "bfs4k-4",
        "offsets[u + 1], lanes)",
        "offsets[u + 1], cuda.blockDim.x)",
        "`distance[",
    ),
    "a barrier of the warp, between looking and storing": (
        "direction-2",
        "        cuda.syncthreads()\n",
        "        cuda.syncwarp()\n",
        "race on `distance[",
    ),
    "a barrier after storing": (
        "direction-2",
        "        cuda.syncthreads()\n        if found:\n            distance[v] = level + 1\n",
        "        if found:\n            distance[v] = level + 1\n        cuda.syncthreads()\n",
        "race on `distance[",
    ),
    "a barrier for who has found": (
        "direction-2",
        "        cuda.syncthreads()\n",
        "        if found:\n            cuda.syncthreads()\n",
        "syncthreads() is reached by",
    ),
    "every list to its end": (
        "direction-3",
        "                break\n",
        "",
        "arcs read, on a complete graph of 64 vertices: 3,969, allowed at most 100",
    ),
    "no word where nobody is found": (
        "direction-3",
        "if cuda.laneid == 0 and v < distance.size:",
        "if cuda.laneid == 0 and v < distance.size and word != 0:",
        "bit 0 of `next_bits[1]` is 1, but vertex 32 must not be found at level 0",
    ),
    "an atomic for each that is found": (
        "direction-3",
        "    if cuda.laneid == 0 and v < distance.size:\n        next_bits[v // 32] = word\n",
        "    if cuda.laneid == 0 and v < distance.size:\n        next_bits[v // 32] = 0\n"
        "    cuda.syncwarp()\n"
        "    if found:\n        cuda.atomic.or_(next_bits, v // 32, 1 << (v % 32))\n",
        "requests to `next_bits` of the busiest warp, on a complete graph of 64 vertices: 2,",
    ),
    "the next row's unit": (
        "mapping-static-2",
        "range(lane, sizes[i], size)",
        "range(lane, sizes[i] + 1, size)",
        "along axis 0; allowed are 0 to 11",
    ),
    "one item a group": (
        "mapping-static-2",
        "range(group, sizes.size, groups)",
        "range(group, min(sizes.size, group + 1), groups)",
        "`item[",
    ),
    "virtual warps, as the chapter has them": (
        "mapping-static-2",
        "group, lane = cuda.grid(1) % groups, cuda.grid(1) // groups",
        "group, lane = cuda.grid(1) // size, cuda.grid(1) % size",
        "sectors a write, on 64 items of 24 units, 8 threads an item: 8, allowed at most 5",
    ),
    "a thread an item": (
        "mapping-static-2",
        "    for i in range(group, sizes.size, groups):\n"
        "        for k in range(lane, sizes[i], size):",
        "    for i in range(cuda.grid(1), sizes.size, cuda.gridsize(1)):\n"
        "        for k in range(sizes[i]):",
        "to `item` of the busiest warp, on 64 items of 24 units, 8 threads an item: 24",
    ),
    "a tree over two groups": (
        "mapping-static-3",
        "while apart >= size",
        "while apart > size",
        "`total[0]` is 210 and should be 78",
    ),
    "the item before, too": (
        "mapping-static-4",
        "if unit >= begin",
        "if unit >= 0",
        "race on `item[64]`",
    ),
    "from where the item begins": (
        "mapping-static-4",
        "begin - begin % size",
        "begin",
        "sectors a write, on 40 items of 203 units, 32 threads a group: 4.5, allowed at most 4",
    ),
    "a winner that takes its name back at once": (
        "mapping-dynamic-2",
        "            begin = end\n",
        "            begin = end\n            winner[0] = NOBODY\n",
        "race on `winner[0]`",
    ),
    "cleared while others read": (
        "mapping-dynamic-2",
        "        cuda.syncthreads()\n        if cuda.threadIdx.x == 0:\n"
        "            winner[0] = NOBODY\n",
        "        if cuda.threadIdx.x == 0:\n            winner[0] = NOBODY\n"
        "        cuda.syncthreads()\n",
        "race on `winner[0]`",
    ),
    "cleared while others vote": (
        "mapping-dynamic-2",
        "threshold)):\n",
        "threshold)):\n        if cuda.threadIdx.x == 0:\n            winner[0] = NOBODY\n",
        "`winner[0]`",
    ),
    "one turn and no more": (
        "mapping-dynamic-2",
        "        turns += 1\n",
        "        turns += 1\n        break\n",
        "two giants in a block, schedule lockstep: `turn[70]` is -1 and should be 1",
    ),
    "all giants retire with the first": (
        "mapping-dynamic-2",
        "        if lowest == i:\n",
        "        if end - begin > threshold:\n",
        "two giants in a block, schedule lockstep: `item[",
    ),
    "any winner, as the chapter has it": (
        "mapping-dynamic-2",
        "atomic.min",
        "atomic.exch",
        "two giants in a block, schedule lockstep: `turn[5]` is 1 and should be 0",
    ),
    "half the warp": ("mapping-dynamic-3", "step = 16", "step = 8", "`item["),
    "an owner that ends there": ("mapping-dynamic-3", "<= unit", "< unit", "`item["),
    "lanes beyond the last unit": (
        "mapping-dynamic-3",
        "        if unit < stop:\n    ",
        "",
        "is out of bounds for `item`",
    ),
    "the last lane before, as the chapter has it": (
        "mapping-dynamic-3",
        "owner + step - 1)",
        "owner + step)",
        "`item[",
    ),
    "the item after": ("mapping-dynamic-4", "+ middle <= step", "+ middle < step", "`boundary["),
    "items for nothing, as the chapter has it": (
        "mapping-dynamic-4",
        "offsets[middle] + middle <= step",
        "offsets[middle] <= step",
        "`boundary[",
    ),
    "one item at a time": (
        "mapping-dynamic-4",
        "middle = left + count // 2\n            if offsets[middle] + middle <= step:\n"
        "                left = middle\n            count -= count // 2\n",
        "middle = left + 1\n            if offsets[middle] + middle <= step:\n"
        "                left = middle\n            count -= 1\n",
        "offsets that a thread reads, on 1,024 items",
    ),
    "the last arc of a run": (
        "representations-3",
        "if i > 0 and source[i - 1] == u:",
        "if i + 1 < source.size and source[i + 1] == u:",
        "`sums[",
    ),
    "a barrier for the warp": (
        "shared-3",
        "% values.size]\n        cuda.syncthreads()",
        "% values.size]\n        cuda.syncwarp()",
        "with no barrier of the block between them: they are in different warps",
    ),
    "a tree from the whole group on": (
        "mapping-static-3",
        "while apart >= size:\n        apart //= 2",
        "while apart > size:\n        apart //= 2",
        "`total[",
    ),
    "a store for the least": (
        "sssp-2",
        "cuda.atomic.min(lower, v, length)",
        "lower[v] = length",
        "race on `lower[",
    ),
    "an atomic for every arc": (
        "sssp-2",
        "near != NO_PATH and length < distance[v]",
        "near != NO_PATH",
        "atomics, on a small world of 300 vertices:",
    ),
    "a way from where nobody is": (
        "sssp-2",
        "near != NO_PATH and length",
        "length",
        "`lower[",
    ),
    "distances as they fall": (
        "sssp-2",
        "cuda.atomic.min(lower, v, length)",
        "cuda.atomic.min(distance, v, length)",
        "`distance[1]` is overwritten, and `distance` is an input",
    ),
    "an entry for each offer": (
        "sssp-3",
        "elif length < before:",
        "else:",
        "is 0 after launch 1, but vertex 0 was not given a shorter distance",
    ),
    "an entry for an equal offer": (
        "sssp-3",
        "length < before",
        "length <= before",
        "is 3 after launch 4, but vertex 3 was not given a shorter distance",
    ),
    "the thread of the block, for a queue": (
        "queues-2",
        "i = cuda.grid(1)",
        "i = cuda.threadIdx.x",
        "a bush of 300 branches, schedule lockstep: `distance[",
    ),
    "128 places for each block": (
        "queues-2",
        "begin[0] = cuda.atomic.add(next_size, 0, kept)",
        "begin[0] = 128 * cuda.blockIdx.x\n        cuda.atomic.add(next_size, 0, kept)",
        "was found in launch 1 and is not in `next_frontier`",
    ),
    "an entry behind the queue": (
        "queues-2",
        "i < frontier_size[0]",
        "i <= frontier_size[0]",
        "index -1 is out of bounds for `offsets`",
    ),
    "what falls by 1 is not enqueued": (
        "sssp-3",
        "length < before:",
        "length < before - 1:",
        "vertex 2 was given a shorter distance in launch 1 and is not in `next_frontier`",
    ),
    "the thread of the block, for paths": (
        "sssp-3",
        "i = cuda.grid(1)",
        "i = cuda.threadIdx.x",
        "a bush of 300 branches, schedule lockstep: `distance[",
    ),
    "the whole array for the pile": (
        "sssp-4",
        "i < size",
        "i < pile.size",
        "`near_size[0]` is 117 and should be 97",
    ),
    "the thread of the block, for a pile": (
        "sssp-4",
        "i = cuda.grid(1)",
        "i = cuda.threadIdx.x",
        "300 vertices of all kinds, schedule lockstep: `near_size[0]` is",
    ),
    "no store for vertex 0 in place of the test": (
        "hbf-3",
        "            if length >= before:\n                continue\n"
        "            if ways_in[v] == 1:\n                distance[v] = length\n",
        "            if ways_in[v] == 1:\n                if v != 0:\n"
        "                    distance[v] = length\n",
        "a ring of 5 vertices, from vertex 2, schedule lockstep:",
    ),
    "the thread of the block, for classes": (
        "hbf-3",
        "i = cuda.grid(1)",
        "i = cuda.threadIdx.x",
        "a bush of 300 branches, schedule lockstep: `distance[",
    ),
    "the first 64 arcs": (
        "hbf-4",
        "range(begin + lane, end, 32)",
        "range(begin + lane, min(end, begin + 64), 32)",
        "300 long arcs into each leaf, one of them shorter by 1, schedule lockstep: `distance[",
    ),
    "the first 256 arcs": (
        "hbf-4",
        "range(begin + lane, end, 32)",
        "range(begin + lane, min(end, begin + 256), 32)",
        "`distance[371]` is 33554436 and should be 33554435; 2 of 373 are wrong",
    ),
    "lanes 33 arcs apart": (
        "hbf-4",
        "range(begin + lane, end, 32)",
        "range(begin + lane, end, 33)",
        "one of them shorter by 1, schedule lockstep: `distance[",
    ),
    "17 lanes apart": (
        "hbf-4",
        "(16, 8, 4, 2, 1):\n            least = min(least, cuda.shfl_xor_sync(",
        "(17, 8, 4, 2, 1):\n            least = min(least, cuda.shfl_down_sync(",
        "`distance[317]` is 33554436 and should be 33554435; 2 of 373 are wrong",
    ),
    "a root that is vertex 0": (
        "hbf-4",
        "            least = distance[v]\n",
        "            least = 0 if v == 0 else NO_PATH\n",
        "a root without arcs out, schedule lockstep: `distance[1]` is 2147483647 and should be 0",
    ),
    "who has ever been visited": (
        "direction-3",
        "cuda.ballot_sync(0xFFFFFFFF, found)",
        "cuda.ballot_sync(0xFFFFFFFF, v < distance.size and distance[v] != -1)",
        "bit 0 of `next_bits[0]` is 1, but vertex 0 must not be found at level 0",
    ),
    "the first 128 arcs in": (
        "direction-3",
        "range(offsets[v], offsets[v + 1])",
        "range(offsets[v], min(offsets[v + 1], offsets[v] + 128))",
        "a vertex whose 300th arc counts, schedule lockstep: bit 13 of `next_bits[9]` is 0",
    ),
    "one round of the block's threads": (
        "bfs4k-2",
        "range(cuda.threadIdx.x, length, cuda.blockDim.x)",
        "range(cuda.threadIdx.x, min(length, 128), cuda.blockDim.x)",
        "200 rays, schedule lockstep: `distance[",
    ),
    "four groups of threads for each lane": (
        "bfs4k-4",
        "cuda.threadIdx.x // lanes, length,",
        "cuda.threadIdx.x // lanes, min(length, 128),",
        "200 rays, schedule lockstep: `distance[",
    ),
    "threads of eight blocks": (
        "simt-2",
        "4 * cuda.grid(1)",
        "4 * (cuda.grid(1) % 256)",
        "1,500 numbers, schedule lockstep: race on `out[0]`",
    ),
    "threads of four blocks": (
        "scans-4",
        "4 * cuda.grid(1)",
        "4 * (cuda.grid(1) % 256)",
        "1,500 numbers, schedule lockstep: ",
    ),
    "sums of 32 bits": (
        "mapping-static-3",
        "mine += values[unit]",
        "mine = int32(mine + values[unit])",
        "items of the least numbers, 32 threads a group, schedule lockstep: `total[",
    ),
    "the first 128 items": (
        "mapping-static-2",
        "range(group, sizes.size, groups)",
        "range(group, min(sizes.size, 128), groups)",
        "300 items of up to 3 units, 1 threads an item, schedule lockstep: `item[",
    ),
    "an item as large as the threshold": (
        "mapping-dynamic-2",
        "if end - begin > threshold:",
        "if end - begin >= threshold:",
        "items of 200 and 201 units, with a threshold of 200, schedule lockstep: `turn[1]` is 0",
    ),
    "float32 lengths": (
        "sssp-3",
        "distance[u] + weights[k]",
        "int32(float32(distance[u]) + float32(weights[k]))",
        "long detours that are shorter by 1, schedule lockstep: `distance[",
    ),
    "float32 in a list": (
        "hbf-4",
        "near + weights[k]",
        "int32(float32(near) + float32(weights[k]))",
        "300 long arcs into each leaf, one of them shorter by 1, schedule lockstep: `distance[",
    ),
    "a float32 offer": (
        "sssp-2",
        "near + weights[i]",
        "int32(float32(near) + float32(weights[i]))",
        "long detours that are shorter by 1, schedule lockstep: `lower[",
    ),
    "totals that float32 rounds": (
        "scans-3",
        "before += block_totals[block]",
        "before = int32(float32(before) + float32(block_totals[block]))",
        "300 numbers, the first two beyond 2^24, schedule lockstep: `scanned[",
    ),
    "sums that float32 rounds": (
        "simt-3",
        "total += values[targets[k]]",
        "total = float32(total + values[targets[k]])",
        "a path of 300 vertices, schedule lockstep: `sums[",
    ),
    "the limit left out": ("sssp-4", "> limit", ">= limit", "`near_size[0]` is 88"),
    "the limit before taken in": (
        "sssp-4",
        "distance[v] > before",
        "distance[v] >= before",
        "`near_size[0]` is",
    ),
    "all that is not far is near": (
        "sssp-4",
        "distance[v] > before and not is_far",
        "not is_far",
        "`near_size[0]` is",
    ),
    "an atomic a vertex": (
        "sssp-4",
        "    warp_append(near, near_size, v, is_near)\n",
        "    if is_near:\n        near[cuda.atomic.add(near_size, 0, 1)] = v\n",
        "atomics, on 1,000 vertices of all kinds:",
    ),
    "distances as they stand in a word": (
        "hbf-2",
        "offer + 2**31",
        "offer & (2**32 - 1)",
        "`words[",
    ),
    "an entry for whoever comes first in a round": (
        "hbf-2",
        "key < old >> uint64(32) and old",
        "old",
        "`size[0]` is",
    ),
    "an entry for each offer that lowers": (
        "hbf-2",
        " and old & uint64(LOWER_HALF) != now",
        "",
        "`size[0]` is",
    ),
    "a store of the word": (
        "hbf-2",
        "old = cuda.atomic.min(words, v, (key << uint64(32)) | now)",
        "old = words[v]\n        words[v] = min(old, (key << uint64(32)) | now)",
        "race on `words[",
    ),
    "an atomic where a store would do": (
        "hbf-3",
        "ways_in[v] == 1",
        "ways_in[v] == 0",
        "atomics on `distance`, on a tree of 300 vertices:",
    ),
    "a store for any number of ways in": (
        "hbf-3",
        "ways_in[v] == 1",
        "ways_in[v] >= 1",
        "`distance[",
    ),
    "the root left for the end": (
        "hbf-4",
        "if lane == 0:\n            least = distance[v]",
        "if lane == 0:\n            least = NO_PATH",
        "`distance[1]` is 2147483647 and should be 0",
    ),
    "every lane reads what lane 0 writes": (
        "hbf-4",
        "if lane == 0:\n            least = distance[v]",
        "least = distance[v]",
        "race on `distance[",
    ),
    "an offer of nobody": ("hbf-4", "if near != NO_PATH:", "if True:", "`distance["),
    "the least of half a warp": ("hbf-4", "(16, 8, 4, 2, 1)", "(8, 4, 2, 1)", "`distance["),
    "an atomic of every lane": (
        "hbf-4",
        "        if lane == 0:\n            distance[v] = least",
        "        cuda.atomic.min(distance, v, least)",
        "race on `distance[",
    ),
    "a tile in global memory, as the naive kernel has it": (
        "floyd-2",
        "        length = tile[y, k] + tile[k, x]\n"
        "        if length < tile[y, x]:\n"
        "            tile[y, x] = length\n",
        "        if inside and first + k < distance.shape[0]:\n"
        "            length = distance[i, first + k] + distance[first + k, j]\n"
        "            if length < tile[y, x]:\n"
        "                distance[i, j] = tile[y, x] = length\n",
        "memory requests to `distance` of the busiest warp, on 64 vertices:",
    ),
    "x for the row": (
        "floyd-2",
        "    x, y = cuda.threadIdx.x, cuda.threadIdx.y\n",
        "    y, x = cuda.threadIdx.x, cuda.threadIdx.y\n",
        "sectors a global request, on 64 vertices: 16, allowed at most 4",
    ),
    "x for the row of the tile": (
        "floyd-2",
        "    x, y = cuda.threadIdx.x, cuda.threadIdx.y\n",
        "    y, x = cuda.threadIdx.x, cuda.threadIdx.y\n",
        "bank conflicts, on 64 vertices: 8,449, allowed at most 1,000",
    ),
    "lengths in float32": (
        "floyd-2",
        "length = tile[y, k] + tile[k, x]",
        "length = float32(tile[y, k] + tile[k, x])",
        "few arcs, 0 or 60,000,001 long, schedule lockstep: ",
    ),
    "no barrier between pivots": (
        "floyd-2",
        "            tile[y, x] = length\n        cuda.syncthreads()\n",
        "            tile[y, x] = length\n",
        "race on `tile[",
    ),
    "a barrier of the warp between pivots": (
        "floyd-2",
        "            tile[y, x] = length\n        cuda.syncthreads()\n",
        "            tile[y, x] = length\n        cuda.syncwarp()\n",
        "race on `tile[",
    ),
    "no barrier before the first pivot": (
        "floyd-2",
        "        tile[y, x] = distance[i, j]\n    cuda.syncthreads()\n",
        "        tile[y, x] = distance[i, j]\n",
        "`tile[",
    ),
    "each pair asks all pivots by itself": (
        "floyd-2",
        "        if length < tile[y, x]:\n"
        "            tile[y, x] = length\n"
        "        cuda.syncthreads()",
        "        tile[y, x] = min(tile[y, x], length)\n    cuda.syncthreads()",
        "race on `tile[",
    ),
    "a tile unset where the matrix ends": (
        "floyd-2",
        "    tile[y, x] = NO_PATH\n",
        "",
        "`tile",
    ),
    "a barrier of the block for the whole grid": (
        "floyd-3",
        "grid.sync()",
        "cuda.syncthreads()",
        "they are in different blocks, which no `syncthreads` orders",
    ),
    "x for the row in each of all pivots": (
        "floyd-3",
        "    j, i = cuda.grid(2)\n",
        "    i, j = cuda.grid(2)\n",
        "sectors a global request, on 32 vertices: 9.73, allowed at most 3",
    ),
    "a barrier of the grid behind all pivots": (
        "floyd-3",
        "                distance[i, j] = length\n        grid.sync()",
        "                distance[i, j] = length\n    grid.sync()",
        "race on `distance[",
    ),
    "sums and their least, as the chapter has it": (
        "floyd-4",
        "max(best[r, c], min(before, beside[c]))",
        "min(before + beside[c], best[r, c])",
        "`width[",
    ),
    "the narrowest way": (
        "floyd-4",
        "max(best[r, c], min(before, beside[c]))",
        "min(best[r, c], max(before, beside[c]))",
        "`width[",
    ),
    "two loads for each result": (
        "floyd-4",
        "min(before, beside[c])",
        "min(left[y + 8 * r, k], right[k, x + 8 * c])",
        "shared requests, on 64 vertices:",
    ),
    "a slice of the tile": ("floyd-4", "for k in range(TILE):", "for k in range(8):", "`width["),
    "one arc a launch": (
        "otherwise-3",
        "for first in range(0, n, 32):",
        "for first in range(0, min(n, 32), 32):",
        "`new[",
    ),
    "a sum with what is infinite on the near side": (
        "otherwise-3",
        "if there != NO_PATH and column < n:",
        "if column < n:",
        "`new[",
    ),
    "the lazy minimum as it is in the library": (
        "otherwise-3",
        "if on != NO_PATH:",
        "if True:",
        "`new[",
    ),
    "lengths of 2^30 and more are no path": (
        "otherwise-3",
        "if on != NO_PATH:",
        "if on < 2**30:",
        "paths through arcs of 2^30 and more, schedule lockstep: after",
    ),
    "every row read, whatever leads there": (
        "otherwise-3",
        """if there != NO_PATH and column < n:
                        on = distance[k, column]
                        if on != NO_PATH:
""",
        """if column < n:
                        on = distance[k, column]
                        if there != NO_PATH and on != NO_PATH:
""",
        "memory requests of the busiest warp, on 11 rings:",
    ),
    "every lane tells": (
        "otherwise-3",
        "if cuda.any_sync(FULL_MASK, fell) and lane == 0:",
        "if fell:",
        "accesses to `less`, on 11 rings:",
    ),
    "only lane 0 is asked": (
        "otherwise-3",
        "if cuda.any_sync(FULL_MASK, fell) and lane == 0:",
        "if fell and lane == 0:",
        "`new[",
    ),
    "it always goes on": (
        "otherwise-3",
        "if cuda.any_sync(FULL_MASK, fell) and lane == 0:",
        "if lane == 0:",
        "`less[0]` is set after launch",
    ),
    "in place": (
        "otherwise-3",
        "new[i, column] = best",
        "distance[i, column] = best",
        "`distance[0, 0]` is overwritten, and `distance` is an input",
    ),
    "the lazy minimum alone": (
        "otherwise-4",
        "first == NO_PATH or second == NO_PATH",
        "first == NO_PATH",
        "`product[0, 0]` is 2147483644",
    ),
    "only the second is asked": (
        "otherwise-4",
        "first == NO_PATH or second == NO_PATH",
        "second == NO_PATH",
        "`product[0, 0]` is 2147483644",
    ),
    "what is long counts as infinite": (
        "otherwise-4",
        "first == NO_PATH or second == NO_PATH",
        "first + second > 2**30",
        "`product[0, 0]` is 1073741823 and should be 2147483646",
    ),
    "sums that wrap below 0": (
        "otherwise-4",
        "best = min(best, first + second)",
        "best = min(best, int32(first + second))",
        "`product[0, 0]` is -2147483648 and should be 2147483647",
    ),
    "sums that wrap below 0 and are taken for no path": (
        "otherwise-4",
        "first == NO_PATH or second == NO_PATH",
        "first == NO_PATH or second == NO_PATH or int32(first + second) < 0",
        "`product[",
    ),
    "an arc of 2^30 and more that counts as infinite": (
        "otherwise-4",
        "first == NO_PATH or second == NO_PATH",
        "first > 2**30 or second > 2**30",
        "sums that an int32 does not hold, and large ones that it holds, schedule lockstep",
    ),
    "the columns of b for its rows": (
        "otherwise-4",
        "range(a.shape[1])",
        "range(min(a.shape[1], b.shape[1]))",
        "5 × 40 × 7, schedule lockstep: `product[",
    ),
    "sums beyond infinity alone": (
        "otherwise-4",
        "first == NO_PATH or second == NO_PATH",
        "first + second >= NO_PATH",
        "`product[0, 0]` is 2147483644",
    ),
    "a barrier of the warp alone": (
        "energy-2",
        "cuda.syncthreads()",
        "cuda.syncwarp()",
        "race on `above[",
    ),
    "a barrier for those with a sample": (
        "energy-2",
        "    cuda.syncthreads()\n",
        "        cuda.syncthreads()\n",
        "syncthreads",
    ),
    "samples through float64": (
        "energy-2",
        "        above[i] = max(samples[i] - idle, 0)\n",
        "        above[i] = float64(max(samples[i] - idle, 0))\n",
        "large samples, schedule lockstep: `above[",
    ),
    "a sum in float64": (
        "energy-3",
        "            added += mine\n",
        "            added = float64(added + mine)\n",
        "large samples in runs of 33, 0, 67 and 1, schedule lockstep: `total[0]`",
    ),
    "the highest in float64": (
        "energy-3",
        "            most = max(most, mine)\n",
        "            most = float64(max(most, mine))\n",
        "schedule lockstep: `peak[",
    ),
    "a peak that no shuffle carries": (
        "energy-3",
        "most = max(most, cuda.shfl_down_sync(FULL_MASK, most, apart))",
        "most = max(most, most)",
        "`peak[",
    ),
    "the first 32 neighbors alone": (
        "beyond-2",
        "offsets[v + 1], 32):",
        "min(offsets[v] + 32, offsets[v + 1]), 32):",
        "`border[0]` is 0 and should be 1",
    ),
    "the other half of the lanes looks at the same neighbors": (
        "beyond-2",
        "offsets[v] + lane,",
        "offsets[v] + lane % 16,",
        "`border[0]` is 0 and should be 1",
    ),
    "each 33rd neighbor": (
        "beyond-2",
        "offsets[v + 1], 32)",
        "offsets[v + 1], 33)",
        "one far neighbor at each place of 71, schedule lockstep: `border[32]` is 0",
    ),
    "each 31st neighbor": (
        "beyond-2",
        "offsets[v + 1], 32)",
        "offsets[v + 1], 31)",
        "memory requests of the busiest warp, on a star of 224 leaves in one part: 20, allowed",
    ),
    "the last neighbor of each lane decides": (
        "beyond-2",
        "            if part[targets[k]] != own:\n                far = True\n",
        "            far = part[targets[k]] != own\n",
        "one far neighbor at each place of 71, schedule lockstep: `border[0]` is 0",
    ),
    "the votes of half a warp": (
        "beyond-2",
        "cuda.any_sync(FULL_MASK, far)",
        "cuda.ballot_sync(FULL_MASK, far) & 0xFFFF",
        "`border[0]` is 0 and should be 1",
    ),
    "one lane that stops at the first far neighbor": (
        "beyond-2",
        "        for k in range(offsets[v] + lane, offsets[v + 1], 32):\n"
        "            if part[targets[k]] != own:\n                far = True\n",
        "        for k in range(offsets[v], offsets[v + 1] if lane == 0 else 0):\n"
        "            if part[targets[k]] != own:\n                far = True\n"
        "                break\n",
        "memory requests of the busiest warp, on a star of 224 leaves in one part: 452, allowed",
    ),
    "an atomic of each lane in place of the vote": (
        "beyond-2",
        "        any_far = cuda.any_sync(FULL_MASK, far)\n        if lane == 0:\n"
        "            border[v] = 1 if any_far else 0\n",
        "        cuda.atomic.max(border, v, 1 if far else 0)\n",
        "atomic requests, on a star of 224 leaves in one part: 225, allowed at most 0",
    ),
    "lane 0 decides by what it has seen": (
        "beyond-2",
        "1 if any_far else 0",
        "1 if far else 0",
        "`border[",
    ),
    "nobody stores a 0": (
        "beyond-2",
        "        if lane == 0:",
        "        if lane == 0 and any_far:",
        "`border[",
    ),
    "all agree": ("beyond-2", "any_sync(FULL_MASK, far)", "all_sync(FULL_MASK, far)", "`border["),
    "every lane asks all": (
        "beyond-2",
        "range(offsets[v] + lane, offsets[v + 1], 32)",
        "range(offsets[v], offsets[v + 1])",
        "memory requests of the busiest warp",
    ),
    "inside is the answer": (
        "beyond-3",
        "for a in range(to_border.shape[1]):",
        "for a in range(to_border.shape[1] if place[j] < 0 else 0):",
        "`rows[0, 2]` is 2147483647 and should be 49",
    ),
    "the column of the graph for that of the part": (
        "beyond-3",
        "inside[i, place[j]]",
        "inside[i, min(j, inside.shape[1] - 1)]",
        "`rows[",
    ),
    "sums that wrap below 0, of a way over a separator": (
        "beyond-3",
        "min(best, first + second)",
        "min(best, int32(first + second))",
        "and negative ones, schedule lockstep: `rows[0, 4]` is -2147483648",
    ),
    "no way to the separator": (
        "beyond-3",
        "first != NO_PATH and second",
        "second",
        "and negative ones, schedule lockstep: `rows[0, 2]` is 2147483642",
    ),
    "no way from the separator": (
        "beyond-3",
        "first != NO_PATH and second",
        "first",
        "and negative ones, schedule lockstep: `rows[1, 0]` is 2147483640",
    ),
    "a way to a separator that is negative": (
        "beyond-3",
        "first != NO_PATH and second",
        "0 <= first < NO_PATH and second",
        "and negative ones, schedule lockstep: `rows[1, 3]` is 2147483647",
    ),
    "no more than 128 separators": (
        "beyond-3",
        "range(to_border.shape[1])",
        "range(min(128, to_border.shape[1]))",
        "130 vertices, each a part, schedule lockstep: `rows[",
    ),
    "one separator is enough": (
        "beyond-3",
        "range(to_border.shape[1])",
        "range(min(1, to_border.shape[1]))",
        "`rows[",
    ),
}


@pytest.mark.parametrize(
    ("name", "passage", "instead", "says"), NEAR_MISSES.values(), ids=NEAR_MISSES
)
def test_a_near_miss_is_found(name, passage, instead, says, tmp_path, monkeypatch):
    ex = gk.exercise(name)
    assert ex.solution.text.count(passage) == 1
    kernel = kernel_of(ex, TYPES + ex.solution.text.replace(passage, instead), tmp_path)
    with monkeypatch.context() as patch:
        # Most are found in lockstep already; the other schedules are for those that are not.
        patch.setattr(checking, "SCHEDULES", checking.SCHEDULES[:1])
        report = ex.check(kernel, raises=False)
    if says not in repr(report):
        report = ex.check(kernel, raises=False)
    assert not report.passed
    assert says in repr(report)


#: Right answers of queues-4 that share nothing, and the budget that they miss.
DEAR_APPENDS = {
    "an atomic a lane": (
        "    slot = cuda.atomic.add(sizes, kind, 1)\n",
        "lanes that wait at a counter",
    ),
    "one lane after another": (
        "    for lane in range(32):\n"
        "        if cuda.laneid == lane:\n"
        "            slot = cuda.atomic.add(sizes, kind, 1)\n",
        "atomics at the counters",
    ),
}


@pytest.mark.parametrize("name", DEAR_APPENDS)
def test_an_append_that_shares_no_atomic_is_right_and_too_dear(name, tmp_path):
    lines, missed = DEAR_APPENDS[name]
    ex = gk.exercise("queues-4")
    start = ex.solution.text.index("    peers = cuda.match_any_sync")
    end = ex.solution.text.index("    if slot < queues.shape[1]")
    text = ex.solution.text[:start] + lines + ex.solution.text[end:]
    report = ex.check(kernel_of(ex, text, tmp_path), raises=False)
    wrong = [finding for finding in report.findings if not finding.passed]
    assert all("allowed at most" in repr(finding) for finding in wrong)
    assert missed in repr(report)
    assert not report.passed
