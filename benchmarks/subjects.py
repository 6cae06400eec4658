"""Everything that ``python -m benchmarks`` measures, by name, in the order of `all`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import (
    apsp,
    bfs,
    making,
    many_roots,
    mapping,
    out_of_core,
    scans,
    simulator,
    sssp,
)
from gpukernels.mapping import METHODS as MAPPINGS


@dataclass(frozen=True)
class Subject:
    """A subject, which makes one file of measurements.

    ``write(device, circumstances, folder, **options)`` measures, writes the file and returns its
    path. Its keyword-only arguments are the subject's options. `quick` has the options of a run
    that gives a result within a minute, and `choices` the names that some options accept. `gpu` is
    False if it measures no GPU; then `device` is None. `alone` is True if it runs only when it is
    named, and not with ``all``. `about` is a line of help.
    """

    about: str
    write: Callable[..., Path]
    quick: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    gpu: bool = True
    alone: bool = False

    @property
    def options(self) -> set[str]:
        """The names of the subject's options."""
        every = inspect.signature(self.write).parameters.values()
        return {p.name for p in every if p.kind is p.KEYWORD_ONLY}


_SHORT = {"shrink": 4, "repeat": 3}
_FEW = {**_SHORT, "roots": 2, "patience": 0.3}

SUBJECTS: dict[str, Subject] = {
    "scans": Subject("scans and searches in sorted arrays", scans.write, _SHORT),
    "mapping": Subject(
        "mapping techniques on the papers' workloads",
        mapping.write,
        _SHORT,
        {"methods": tuple(MAPPINGS)},
    ),
    "bfs": Subject(
        "breadth-first searches of large graphs",
        bfs.write,
        {**_FEW, "families": ("rmat", "road")},
        {"families": bfs.FAMILY_NAMES, "methods": bfs.NAMES},
    ),
    "sssp": Subject(
        "shortest paths from a root in large graphs",
        sssp.write,
        {**_FEW, "families": ("rmat", "grid")},
        {"families": sssp.FAMILY_NAMES, "methods": sssp.NAMES},
    ),
    "many_roots": Subject(
        "searches from many roots, all at once and one after another",
        many_roots.write,
        _SHORT,
        {"families": many_roots.FAMILY_NAMES},
    ),
    "apsp": Subject(
        "shortest paths of all pairs",
        apsp.write,
        {"quick": True, "repeat": 3, "sizes": (512, 1024)},
        {"methods": apsp.NAMES},
    ),
    "out_of_core": Subject(
        "all pairs of matrices larger than the device", out_of_core.write, {"shrink": 3}
    ),
    "making": Subject(
        "making and reading graphs, compared with SciPy, on the CPU",
        making.write,
        {"scale": 14, "repeat": 3},
        gpu=False,
        alone=True,
    ),
    "simulator": Subject(
        "the SIMT machine, compared with numba's simulator, on the CPU",
        simulator.write,
        {"vertices": 256, "large": 4096, "repeat": 3},
        gpu=False,
        alone=True,
    ),
}
