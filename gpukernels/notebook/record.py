"""Stored measurements: what was measured, on which device, when, and at which commit.

They live in ``data/benchmarks`` of the repository, one JSON file a subject. A wheel has a copy
beside this file. Chapters print their tables from there.
"""

from __future__ import annotations

import json
from pathlib import Path

#: A link to ``data/benchmarks`` in the repository; a wheel holds the files.
FOLDER = Path(__file__).with_name("benchmarks")


def kept(name: str, folder: Path = FOLDER) -> dict:
    """Return a subject's measurements."""
    return json.loads((folder / f"{name}.json").read_text())


def by_search(row: dict, figure: str) -> dict[str, float | None]:
    """Return a figure of every search of a row of stored searches, by label.

    Parameters
    ----------
    row : dict
        What stands there for one graph.
    figure : str
        Such as ``"kernel_ms"`` or ``"call_ms"``; None where a search has none: the CPU no kernels,
        and a search that was given up no time.
    """
    return {label: found.get(figure) for label, found in row["searches"].items()}


#: The times of a search that are compared: a figure of `search_time.time_search`, and its name.
TIMES = {
    "kernel_ms": "kernels",
    "call_ms": "whole call",
    "roots_kernel_ms": "kernels, other roots",
}


def runs(
    measurements: dict, *searches: str, figures: dict[str, str] = TIMES
) -> list[tuple[str, str, dict[str, float | str]]]:
    """Return figures of searches, by search and graph, as `CompareView` takes them.

    Parameters
    ----------
    measurements : dict
        What :func:`kept` returns of ``bfs``, ``frontier_bfs`` or ``sssp``.
    *searches : str
        Their labels; of none, all that are measured with the options that they have by default.
    figures : dict of str to str
        The figures and their names. The share of the bandwidth is given in percent.
    """
    found = []
    for row in measurements["times"]:
        for label, told in row["searches"].items():
            if label in searches or (not searches and "=" not in label):
                none = "given up" if "stopped_after_ms" in told else "no GPU"
                times = {name: told.get(figure, none) for figure, name in figures.items()}
                if (name := figures.get("share_of_bandwidth")) and times[name] != none:
                    times[name] *= 100
                found.append((label, row["graph"], times))
    return found


def provenance(measurements: dict, *searches: str) -> str:
    """Return the half line that stands under a table of times.

    Of the `searches` that it shows, all by default, those that name a date and a commit of their
    own were measured apart from the others: one or two are named, of more their graphs. So are
    works, which may name a device, too.
    """
    text = "{device}, driver {driver}, numba-cuda {numba_cuda}; {date}, commit {commit}"
    apart: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for row in (*measurements.get("times", ()), *measurements.get("to_host", ())):
        told_of = row.get("searches", {row["work"]: row} if "work" in row else {})
        for label, told in told_of.items():
            if "commit" in told and (not searches or label in searches):
                when = f"on {told['date']}, commit {told['commit']}"
                if "device" in told:
                    when += f", {told['device']}"
                labels, graphs = apart.setdefault(when, ({}, {}))
                labels[label] = graphs[row.get("graph", label)] = None
    ends = []
    for when, (labels, graphs) in apart.items():
        what = "" if len(labels) <= 2 else "some of "
        ends.append(f"; {what}{' and '.join(graphs if what else labels)} {when}")
    return text.format(**measurements) + "".join(sorted(ends))
