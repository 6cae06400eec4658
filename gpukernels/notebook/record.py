"""Stored measurements, with device, date and commit.

They are in ``data/benchmarks`` of the repository, one JSON file per subject. A wheel has a copy
next to this file. Chapters print their tables from these files.
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
        A row of the record, for one graph.
    figure : str
        Such as ``"kernel_ms"`` or ``"call_ms"``. The result is None for a search without it: the
        CPU runs no kernels, and a search that was given up has no time.
    """
    return {label: search.get(figure) for label, search in row["searches"].items()}


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
        Result of :func:`kept` for ``bfs``, ``frontier_bfs`` or ``sssp``.
    *searches : str
        Labels of searches; by default all that were measured with their default options.
    figures : dict of str to str
        The figures and their names. The share of the bandwidth is returned in percent.
    """
    results = []
    for row in measurements["times"]:
        for label, search in row["searches"].items():
            if label in searches or (not searches and "=" not in label):
                none = "given up" if "stopped_after_ms" in search else "no GPU"
                times = {name: search.get(figure, none) for figure, name in figures.items()}
                if (name := figures.get("share_of_bandwidth")) and times[name] != none:
                    times[name] *= 100
                results.append((label, row["graph"], times))
    return results


def provenance(measurements: dict, *searches: str) -> str:
    """Return the line under a table of times: device, versions, date and commit.

    Some searches have their own date and commit, because they were measured at another time. The
    line gives these too, for the shown `searches`, by default all: with the labels of one or two
    searches, or with the graphs of more. Other measured works, which may also have their own
    device, are treated in the same way.
    """
    text = "{device}, driver {driver}, numba-cuda {numba_cuda}; {date}, commit {commit}"
    apart: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for row in (*measurements.get("times", ()), *measurements.get("to_host", ())):
        measured_by_label = row.get("searches", {row["work"]: row} if "work" in row else {})
        for label, measured in measured_by_label.items():
            if "commit" in measured and (not searches or label in searches):
                when = f"on {measured['date']}, commit {measured['commit']}"
                if "device" in measured:
                    when += f", {measured['device']}"
                labels, graphs = apart.setdefault(when, ({}, {}))
                labels[label] = graphs[row.get("graph", label)] = None
    ends = []
    for when, (labels, graphs) in apart.items():
        what = "" if len(labels) <= 2 else "some of "
        ends.append(f"; {what}{' and '.join(graphs if what else labels)} {when}")
    return text.format(**measurements) + "".join(sorted(ends))
