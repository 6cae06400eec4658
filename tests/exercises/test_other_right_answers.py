"""An answer that is right in another way than the solution is accepted, whatever was drawn."""

from __future__ import annotations

import pytest
from from_text import kernel_of

import gpukernels as gk

#: Exercise, and passages of its solution with the lines that stand there instead.
RIGHT = {
    "one barrier, and two tiles in turn": (
        "shared-3",
        ("shared.array(128,", "shared.array((2, 128),"),
        ("    tile[i] = values[i]\n", "    tile[0, i] = values[i]\n"),
        ("for _ in", "for k in"),
        (
            "        mine = tile[(i + 1) % values.size]\n        cuda.syncthreads()\n"
            "        tile[i] = mine\n",
            "        tile[(k + 1) % 2, i] = tile[k % 2, (i + 1) % values.size]\n",
        ),
        ("    values[i] = tile[i]", "    values[i] = tile[rounds % 2, i]"),
    ),
    "levels by their number": (
        "shared-2",
        ("    apart = 64\n    while apart > 0:\n", "    for level in range(7):\n"),
        ("        if i < apart:\n", "        apart = 64 >> level\n        if i < apart:\n"),
        ("        apart //= 2\n", ""),
    ),
    "rows of 35 words": ("shared-4", ("(32, 33)", "(32, 35)")),
    "no atomics for degrees that a block lacks": (
        "shared-5",
        ("    if i < 32:\n        cuda", "    if i < 32 and part[i] > 0:\n        cuda"),
    ),
    "a list from its end": (
        "representations-2",
        (
            "range(offsets[u] + lane, offsets[u + 1], 32)",
            "range(offsets[u + 1] - 1 - lane, offsets[u] - 1, -32)",
        ),
    ),
    "the last arc of a run, backwards": (
        "representations-3",
        (
            "if i > 0 and source[i - 1] == u:",
            "if i + 1 < source.size and source[i + 1] == u:",
        ),
        ("while i < source.size and source", "while i >= 0 and source"),
        ("i += 1", "i -= 1"),
    ),
    "an element in a register, too": (
        "floyd-2",
        (
            "    tile[y, x] = NO_PATH\n    if inside:\n        tile[y, x] = distance[i, j]\n",
            "    mine = distance[i, j] if inside else NO_PATH\n    tile[y, x] = mine\n",
        ),
        (
            "        if length < tile[y, x]:\n            tile[y, x] = length\n",
            "        if length < mine:\n            mine = tile[y, x] = length\n",
        ),
        ("        distance[i, j] = tile[y, x]", "        distance[i, j] = mine"),
    ),
    "rows of 17 words": ("floyd-2", ("(SIDE, SIDE)", "(SIDE, 17)")),
    "a pivot's own row and column left out": (
        "floyd-3",
        ("if i < n and j < n:", "if i < n and j < n and i != k and j != k:"),
    ),
    "an element of b only where it counts": (
        "otherwise-4",
        (
            "            first, second = a[i, k], b[k, j]\n"
            "            if first == NO_PATH or second == NO_PATH:\n                continue\n",
            "            first = a[i, k]\n"
            "            if first == NO_PATH:\n                continue\n"
            "            second = b[k, j]\n"
            "            if second == NO_PATH:\n                continue\n",
        ),
    ),
    "no barrier, and nothing shared": (
        "energy-2",
        ("    cuda.syncthreads()\n", ""),
        ("spent[i] += above[i + 1]", "spent[i] += max(samples[i + 1] - idle, 0)"),
    ),
    "sums and peaks in all lanes": (
        "energy-3",
        ("added += cuda.shfl_down_sync", "added += cuda.shfl_xor_sync"),
        ("max(most, cuda.shfl_down_sync", "max(most, cuda.shfl_xor_sync"),
    ),
    "an end at a lane's first far neighbor": (
        "beyond-2",
        ("                far = True\n", "                far = True\n                break\n"),
    ),
    "the way inside the part at the end": (
        "beyond-3",
        ("        if place[j] >= 0:\n            best = inside[i, place[j]]\n", ""),
        (
            "        rows[i, j] = best",
            "        if place[j] >= 0:\n            best = min(best, inside[i, place[j]])\n"
            "        rows[i, j] = best",
        ),
    ),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("answer", RIGHT)
def test_another_right_answer_is_accepted(answer, seed, tmp_path):
    name, *changes = RIGHT[answer]
    ex = gk.exercise(name)
    text = ex.solution.text
    for passage, instead in changes:
        assert text.count(passage) == 1, passage
        text = text.replace(passage, instead)
    assert ex.check(kernel_of(ex, text, tmp_path), seed=seed).passed
