"""Graph algorithms on the GPU as numba.cuda kernels, and a machine that runs them anywhere.

As in::

    import gpukernels as gk

    g = gk.rmat(scale=10, edge_factor=16, seed=1)
    result = gk.bfs(g, root=0, method="bfs4k")      # on a GPU, or without one
    with gk.trace() as t:                           # warp by warp, whatever the hardware
        gk.bfs(g, root=0, method="virtual_warp", warp_size=4)
    t.summary()                                     # SIMD efficiency, sectors per request ...

Every name below has a page of its own: ``help(gk.bfs)``.

Graphs
    Graph; read a file, from_networkx, from_scipy; or make one: complete, delaunay, erdos_renyi,
    example, forest_fire, kron, path, rmat, road_grid, small_world, star; random_weights.
Techniques
    bfs searches breadth-first and gives a BFSResult, sssp finds shortest paths from one root and
    gives an SSSPResult; bfs_many and sssp_many do so from many and give a BFSManyResult and an
    SSSPManyResult. apsp finds those of all pairs and gives an APSPResult, min_plus is its product
    of matrices; expand maps work to threads and gives a Mapping; methods tabulates what each knows.
    tune_bfs4k sets the knobs of a search; choose_mapping makes a Choice from the figures of a
    workload, and workload draws the papers'. reference searches on the CPU.
Devices
    default_device is a CudaDevice if a GPU answers, else a SimtDevice; both are a Device. trace
    records what warps do on the SIMT machine, traced does so for one call. local_client starts
    processes that share the roots or tiles of one call, as those of any Dask client do.
Kernels of your own
    check finds faults, benign_race declares harmless races, show lists source, sass machine code.
Figures
    CompareView, EnergyView, FrontierView, GraphView, HashView, MappingView, MemoryView,
    PartsView, RelaxView, ScanView, TileView, WarpView, WorkersView.
Exercises
    exercises lists them, exercise("bfs-3") is one of them.
Errors
    ExerciseFailed, GraphFormatError, InvalidArgument, LengthOverflow, MissingTool,
    NegativeCycleError, NegativeWeightError, RoundingError, TileError, UnknownMethod,
    VertexOutOfRange; others: errors.
"""

# A name is imported when it is first used, from its place in __init__.pyi: a search needs no
# figures, and a program that prints its help no numba. With an `__all__`, help(gk) prints the pages
# of all classes and functions one after another, five thousand lines.
import ast as _ast
import importlib as _importlib
import sys as _sys
from pathlib import Path as _Path
from types import ModuleType as _ModuleType
from typing import Any as _Any

# Before numba: it refuses versions that break each other.
from gpukernels.notebook import versions as _versions  # noqa: F401

_HERE = _Path(__file__).parent
_PLACES = {
    str(name.asname): (str(node.module), name.name)
    for node in _ast.parse((_HERE / "__init__.pyi").read_text()).body
    if isinstance(node, _ast.ImportFrom)
    for name in node.names
}


class _Package(_ModuleType):
    def __getattr__(self, name: str) -> _Any:
        is_room = (_HERE / name).is_dir() or (_HERE / f"{name}.py").is_file()
        if not (is_room or name in _PLACES):
            raise AttributeError(f"module 'gpukernels' has no attribute {name!r}")
        module, its_name = _PLACES.get(name, (__name__, name))
        if module == __name__:
            attribute = _importlib.import_module(f"{module}.{its_name}")
        else:
            attribute = getattr(_importlib.import_module(module), its_name)
        self.__dict__[name] = attribute
        return attribute

    def __setattr__(self, name: str, value: _Any) -> None:
        # gk.trace is the function of that name, also once the room of that name is imported.
        if not (isinstance(value, _ModuleType) and name in _PLACES):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple:
        # Functions that use gk go to workers, and take it along by its name.
        return _importlib.import_module, (__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_PLACES})


_sys.modules[__name__].__class__ = _Package

#: The release; pyproject.toml and CITATION.cff follow it.
__version__ = "0.1.0"
