"""Queues from launch to launch: their entries are judged, in any order, and nothing lies behind."""

from __future__ import annotations

import numpy as np

from .case import Results, Wrong


def begun(device, n: int, root: int, at_root: int = 0, elsewhere: int = -1):
    """Return an array on the device with an element for each vertex, one of them for the root."""
    values = np.full(n, elsewhere, np.int32)
    values[root] = at_root
    return device.array(values)


def closed(device, entries: np.ndarray, capacity: int):
    """Return a queue on the device that holds `entries`, and -1 in all places behind them.

    A kernel that reads an entry too many finds no vertex there.
    """
    places = np.full(capacity, -1, np.int32)
    places[: entries.size] = entries
    return device.array(places)


def compare(entries: np.ndarray, wanted: np.ndarray, launch: int) -> Results:
    """Return the results for :func:`judge`, or none if the queue holds the right vertices.

    A vertex may stand in the queue more than once; `wanted` says by vertex whether it belongs
    there. `launch` is the number of the launch that has filled the queue, from 0.
    """
    inside = (entries >= 0) & (entries < wanted.size)
    queued = np.zeros(wanted.size, bool)
    queued[entries[inside]] = True
    missing = np.flatnonzero(wanted & ~queued)
    right = inside.copy()
    right[inside] = wanted[entries[inside]]
    if right.all() and not missing.size:
        return {}
    arrays = {"missing": missing, "queue": entries, "right": right}
    return {**arrays, "vertices": wanted, "launch": np.array(launch)}


def judge(results: Results, event: str) -> Wrong | None:
    """Return the fault of the last launch's queue, if :func:`compare` has found one.

    `event` ends the sentence "Vertex 3 was ...": "found", for example.
    """
    if "launch" not in results:
        return None
    launch, missing = results["launch"], results["missing"]
    if missing.size:
        text = f"vertex {missing[0]} was {event} in launch {launch} and is not in `next_frontier`"
        if missing.size > 1:
            text += f"; {missing.size} vertices are missing"
        # The line that gave the vertex its distance should have enqueued it.
        return Wrong(text, "distance", int(missing[0]))
    place = int(np.argmin(results["right"]))
    v = int(results["queue"][place])
    why = f"but vertex {v} was not {event} in it"
    if not 0 <= v < results["vertices"].size:
        why = f"and there are only vertices 0 to {results['vertices'].size - 1}"
    text = f"`next_frontier[{place}]` is {v} after launch {launch}, {why}"
    return Wrong(text, "next_frontier", place)
