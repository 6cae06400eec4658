"""Kill runs at random moments and let others go on: ``killed_runs.py folder kills seed``.

Started by `test_killed` in a process of its own, which forks one run after another, so that each
begins at once. Prints as JSON how many were killed, and what those that were not have found.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import gpukernels as gk


def graph() -> gk.Graph:
    """Return a graph whose distances are rounded otherwise if a block is closed twice."""
    g = gk.erdos_renyi(34, 6, seed=4, directed=True)
    return gk.Graph(g.offsets, g.targets, np.random.default_rng(4).random(g.m).astype("f4") ** 9)


def run(file: Path) -> gk.APSPResult:
    """Make the run, or go on with it."""
    device = gk.SimtDevice()
    return gk.apsp(graph(), "out_of_core", device, memory=6656, tile=16, file=file)


def fork(file: Path, seconds: float) -> bool:
    """Let a new process go on with the run; return whether it was killed after `seconds`."""
    child = os.fork()
    if child == 0:
        run(file)
        os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return False
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main(folder: Path, kills: int, seed: int) -> None:
    """Kill so many runs, and finish those that are left."""
    expected = run(folder / "whole.npy").distance.tobytes()
    again = gk.apsp(np.load(folder / "whole.npy"), "out_of_core", gk.SimtDevice(), memory=6656)
    start = time.monotonic()
    fork(folder / "timed.npy", 60.0)
    took = time.monotonic() - start
    random.seed(seed)
    killed = finished = 0
    same, states = [], set()
    file = folder / "d.npy"
    while killed < kills:
        if fork(file, random.uniform(0, took)):
            killed += 1
            states.add(tuple(sorted(f.name for f in folder.glob("d.npy*"))))
        # A run of which nothing is left to do ends this chain of kills.
        if file.exists() and not file.with_name("d.npy.json").exists():
            same.append(file.read_bytes() == (folder / "whole.npy").read_bytes())
            file.unlink()
            finished += 1
    # The last may have been killed while it wrote its first word of a new result.
    if any(folder.glob("d.npy*")) or not finished:
        same.append(run(file).distance.tobytes() == expected)
    left = sorted(f.name for f in folder.glob("d.npy.*"))
    report = {"killed": killed, "same": same, "states": sorted(states), "left": left}
    print(json.dumps(report | {"rounded": again.distance.tobytes() != expected}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
