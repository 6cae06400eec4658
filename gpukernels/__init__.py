"""Graph algorithms on the GPU as numba.cuda kernels, and a machine that runs them anywhere.

As in::

    import gpukernels as gk

    g = gk.rmat(scale=10, edge_factor=16, seed=1)
    result = gk.bfs(g, root=0, method="bfs4k")      # on a GPU, or without one
    with gk.trace() as t:                           # warp by warp, whatever the hardware
        gk.bfs(g, root=0, method="virtual_warp", warp_size=4)
    t.summary()                                     # SIMD efficiency, sectors a request ...

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
    ExerciseFailed, GraphFormatError, InvalidArgument, MissingTool, NegativeCycleError,
    NegativeWeightError, RoundingError, TileError, UnknownMethod, VertexOutOfRange; others: errors.
"""

# A name imported "as" itself is public, to readers and type checkers alike. With an `__all__`,
# help(gk) prints the pages of all classes and functions one after another, five thousand lines.
# Before numba: it refuses versions that break each other.
from gpukernels.notebook import versions  # noqa: F401

# isort: split
from gpukernels import reference as reference
from gpukernels import reference as sequential  # noqa: F401  # its earlier name
from gpukernels.all_pairs import APSPResult as APSPResult
from gpukernels.all_pairs import apsp as apsp
from gpukernels.all_pairs import min_plus as min_plus
from gpukernels.device import CudaDevice as CudaDevice
from gpukernels.device import Device as Device
from gpukernels.device import SimtDevice as SimtDevice
from gpukernels.device import benign_race as benign_race
from gpukernels.device import default_device as default_device
from gpukernels.device import trace as trace
from gpukernels.device import traced as traced
from gpukernels.distributed import local_client as local_client
from gpukernels.errors import GraphFormatError as GraphFormatError
from gpukernels.errors import InvalidArgument as InvalidArgument
from gpukernels.errors import MissingTool as MissingTool
from gpukernels.errors import NegativeCycleError as NegativeCycleError
from gpukernels.errors import NegativeWeightError as NegativeWeightError
from gpukernels.errors import RoundingError as RoundingError
from gpukernels.errors import TileError as TileError
from gpukernels.errors import UnknownMethod as UnknownMethod
from gpukernels.errors import VertexOutOfRange as VertexOutOfRange
from gpukernels.exercises import ExerciseFailed as ExerciseFailed
from gpukernels.exercises import exercise as exercise
from gpukernels.exercises import exercises as exercises
from gpukernels.graphs.generators import complete as complete
from gpukernels.graphs.generators import delaunay as delaunay
from gpukernels.graphs.generators import erdos_renyi as erdos_renyi
from gpukernels.graphs.generators import example as example
from gpukernels.graphs.generators import forest_fire as forest_fire
from gpukernels.graphs.generators import kron as kron
from gpukernels.graphs.generators import path as path
from gpukernels.graphs.generators import random_weights as random_weights
from gpukernels.graphs.generators import rmat as rmat
from gpukernels.graphs.generators import road_grid as road_grid
from gpukernels.graphs.generators import small_world as small_world
from gpukernels.graphs.generators import star as star
from gpukernels.graphs.graph import Graph as Graph
from gpukernels.graphs.io import from_networkx as from_networkx
from gpukernels.graphs.io import from_scipy as from_scipy
from gpukernels.graphs.io import read as read
from gpukernels.graphs.workloads import workload as workload
from gpukernels.mapping import Mapping as Mapping
from gpukernels.mapping import expand as expand
from gpukernels.mapping.choose import Choice as Choice
from gpukernels.mapping.choose import choose_mapping as choose_mapping
from gpukernels.notebook.assembly import sass as sass
from gpukernels.notebook.families import methods as methods
from gpukernels.notebook.listing import show as show
from gpukernels.shortest_paths import SSSPResult as SSSPResult
from gpukernels.shortest_paths import sssp as sssp
from gpukernels.shortest_paths.batches import SSSPManyResult as SSSPManyResult
from gpukernels.shortest_paths.batches import sssp_many as sssp_many
from gpukernels.simt.linting import check as check
from gpukernels.traversal import BFSResult as BFSResult
from gpukernels.traversal import bfs as bfs
from gpukernels.traversal.bfs4k import tune_bfs4k as tune_bfs4k
from gpukernels.traversal.many_roots import BFSManyResult as BFSManyResult
from gpukernels.traversal.many_roots import bfs_many as bfs_many
from gpukernels.views import CompareView as CompareView
from gpukernels.views import EnergyView as EnergyView
from gpukernels.views import FrontierView as FrontierView
from gpukernels.views import GraphView as GraphView
from gpukernels.views import HashView as HashView
from gpukernels.views import MappingView as MappingView
from gpukernels.views import MemoryView as MemoryView
from gpukernels.views import PartsView as PartsView
from gpukernels.views import RelaxView as RelaxView
from gpukernels.views import ScanView as ScanView
from gpukernels.views import TileView as TileView
from gpukernels.views import WarpView as WarpView
from gpukernels.views import WorkersView as WorkersView

#: The release; pyproject.toml and CITATION.cff follow it.
__version__ = "0.1.0"
