"""Everything that ``python -m gpukernels.bench`` measures, by name, in the order of `all`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpukernels.bench import (
    apsp,
    bfs,
    calls,
    counters,
    directions,
    duplicates,
    energy,
    foundations,
    frontier_bfs,
    hbf_switches,
    knobs,
    making,
    many_roots,
    mapping,
    out_of_core,
    sanitizer,
    scans,
    simulator,
    sssp,
    two_gpus,
)
from gpukernels.bench.all_cores import ALL_CORES, alone
from gpukernels.mapping import METHODS as MAPPINGS
from gpukernels.shortest_paths import METHODS as PATHS
from gpukernels.traversal import METHODS as SEARCHES


@dataclass(frozen=True)
class Subject:
    """One file of measurements.

    Attributes
    ----------
    about : str
        A line of help.
    write : callable
        ``write(device, circumstances, folder, **options)`` measures, writes the file and returns
        its path; its options are its keyword-only arguments.
    quick : mapping
        The options of a run in which a user sees a result within a minute.
    choices : mapping
        Which names the options that choose some accept.
    gpu : bool
        Whether it measures a GPU; otherwise `device` is None.
    alone : bool
        Whether it runs only when it is named, and not with ``all``.
    """

    about: str
    write: Callable[..., Path]
    quick: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    gpu: bool = True
    alone: bool = False

    @property
    def options(self) -> set[str]:
        """The names of its options."""
        every = inspect.signature(self.write).parameters.values()
        return {p.name for p in every if p.kind is p.KEYWORD_ONLY}

    def needs_gpu(self, options: Mapping[str, Any]) -> bool:
        """Return whether a run with these options measures a GPU."""
        return self.gpu and not alone(options.get("methods"))


_SHORT = {"shrink": 4, "repeat": 3}
_FEW = {**_SHORT, "roots": 2, "patience": 0.3}

SUBJECTS: dict[str, Subject] = {
    "simt": Subject("a copy at strides 1 to 8", foundations.write_copy, _SHORT),
    "representations": Subject("a neighbor sum by representation", foundations.write_sums, _SHORT),
    "scans": Subject("scans and searches in sorted arrays", scans.write, _SHORT),
    "mapping": Subject(
        "mapping techniques on the papers' workloads",
        mapping.write,
        _SHORT,
        {"methods": tuple(MAPPINGS)},
    ),
    "directions": Subject(
        "mapping techniques, reading units beside writing them",
        directions.write,
        _SHORT,
        {"methods": tuple(MAPPINGS)},
    ),
    "frontier_bfs": Subject("the searches of the chapter on frontiers", frontier_bfs.write, _SHORT),
    "duplicates": Subject(
        "ways to keep duplicates out of a frontier",
        duplicates.write,
        _SHORT,
        {"families": duplicates.MEASURED},
    ),
    "bfs": Subject(
        "breadth-first searches of large graphs",
        bfs.write,
        {**_FEW, "families": ("rmat", "road")},
        {"families": bfs.FAMILY_NAMES, "methods": tuple(SEARCHES)},
    ),
    "sssp": Subject(
        "shortest paths from a root in large graphs",
        sssp.write,
        {**_FEW, "families": ("rmat", "grid")},
        {"families": sssp.FAMILY_NAMES, "methods": (*PATHS, ALL_CORES)},
    ),
    "hbf_switches": Subject(
        "H-BF with one optimization off",
        hbf_switches.write,
        {**_FEW, "families": ("Skitter-like",)},
        {"families": hbf_switches.FAMILY_NAMES},
    ),
    "many_roots": Subject(
        "searches from many roots at once, beside one after the other",
        many_roots.write,
        {**_SHORT, "tried": ()},
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
    "energy": Subject(
        "watts and joules of mapping techniques and searches",
        energy.write,
        {"shrink": 4, "methods": ("work_item_to_thread", "merge_path"), "seconds": 0.5},
        {"methods": tuple(MAPPINGS)},
    ),
    "knobs": Subject(
        "every knob of the fastest kernels, beside what the GPU allows",
        knobs.write,
        {"shrink": 6, "seconds": 5.0},
        {"works": knobs.WORK_NAMES},
        alone=True,
    ),
    "counters": Subject(
        "counters of the machine beside those of Nsight Compute (needs ncu)",
        counters.write_profiled,
        {"groups": ("representations",)},
        {"groups": counters.GROUPS},
        alone=True,
    ),
    "sanitizer": Subject(
        "who finds planted errors: the machine or compute-sanitizer (needs it)",
        sanitizer.write,
        {"works": ("missing_barrier", "tail_off_by_one")},
        alone=True,
    ),
    "two_gpus": Subject(
        "one GPU of a host and two (needs two GPUs, and Dask)",
        two_gpus.write,
        {"shrink": 4, "repeat": 2},
        {"works": two_gpus.WORKS},
        alone=True,
    ),
    "calls": Subject(
        "what a call costs beside its kernels",
        calls.write,
        {"scale": 14, "repeat": 3},
        {"methods": tuple(SEARCHES)},
        alone=True,
    ),
    "making": Subject(
        "making and reading graphs beside SciPy, on the CPU",
        making.write,
        {"scale": 14, "repeat": 3},
        gpu=False,
        alone=True,
    ),
    "simulator": Subject(
        "the SIMT machine beside numba's simulator, on the CPU",
        simulator.write,
        {"vertices": 256, "large": 4096, "repeat": 3},
        gpu=False,
        alone=True,
    ),
}
