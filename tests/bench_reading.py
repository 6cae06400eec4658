"""Reading a graph file beside Python's own splitting of it into numbers, in one run."""

from __future__ import annotations

import time

import numpy as np
import pytest

import gpukernels as gk

ARCS, IDS = 1_000_000, 200_000
HEADS = {
    "g.gr": f"p sp {IDS} {ARCS}\n",
    "g.mtx": f"%%MatrixMarket matrix coordinate integer general\n{IDS} {IDS} {ARCS}\n",
    "g.txt": "",
}


def seconds(call) -> float:
    """Return the least processor time of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", HEADS)
def test_a_million_arcs_are_read_sooner_than_python_splits_them_into_numbers(tmp_path, name):
    ends = np.random.default_rng(0).integers(1, IDS + 1, (ARCS, 2)).tolist()
    rows = "".join(f"{u} {v} {u}\n" for u, v in ends)
    lead = "a " if name == "g.gr" else ""
    (tmp_path / name).write_text(HEADS[name] + "".join(f"{lead}{u} {v} {u}\n" for u, v in ends))
    read = seconds(lambda: gk.read(tmp_path / name))
    split = seconds(lambda: list(map(int, rows.split())))
    print(f"\n{name}: read in {read:.2f} s, split in {split:.2f} s, ratio {read / split:.2f}")
    assert read < split
