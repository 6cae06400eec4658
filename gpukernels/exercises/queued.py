"""Queues from launch to launch: their entries are judged, in any order, and nothing lies behind."""

from __future__ import annotations

import numpy as np

from .case import Results, Wrong


def closed(device, entries: np.ndarray, capacity: int):
    """Return a queue on the device that holds `entries`, and -1 in all places behind them.

    A kernel that reads an entry too many finds no vertex there.
    """
    places = np.full(capacity, -1, np.int32)
    places[: entries.size] = entries
    return device.array(places)


def compare(entries: np.ndarray, wanted: np.ndarray, launch: int) -> Results:
    """Return what :func:`judge` needs, or nothing if the queue holds the right vertices.

    Parameters
    ----------
    entries : ndarray
        The queue's entries; a vertex may stand in it more than once.
    wanted : ndarray of bool
        By vertex, whether it belongs there.
    launch : int
        Number of the launch that has filled the queue, from 0.
    """
    inside = (entries >= 0) & (entries < wanted.size)
    queued = np.zeros(wanted.size, bool)
    queued[entries[inside]] = True
    missing, extra = np.flatnonzero(wanted & ~queued), np.flatnonzero(queued & ~wanted)
    extra = np.concatenate([entries[~inside], extra])
    if not (missing.size or extra.size):
        return {}
    return {"missing": missing, "extra": extra, "vertices": wanted, "launch": np.array(launch)}


def judge(found: Results, event: str) -> Wrong | None:
    """Return what is wrong with the queue of the last launch, if :func:`compare` has found it.

    `event` ends the sentence "Vertex 3 was ...": "found", for example.
    """
    if "launch" not in found:
        return None
    launch, missing, extra = found["launch"], found["missing"], found["extra"]
    if missing.size:
        text = f"vertex {missing[0]} was {event} in launch {launch} and is not in `next_frontier`"
        if missing.size > 1:
            text += f"; {missing.size} vertices are missing"
        return Wrong(text)
    v = int(extra[0])
    why = f"but vertex {v} was not {event} in it"
    if not 0 <= v < found["vertices"].size:
        why = f"and there are only vertices 0 to {found['vertices'].size - 1}"
    return Wrong(f"`next_frontier` holds {v} after launch {launch}, {why}")
