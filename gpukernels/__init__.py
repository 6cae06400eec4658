"""Graph algorithms on the GPU as numba.cuda kernels, and a machine that runs them anywhere."""

from gpukernels import assertions, no_gpu, sequential
from gpukernels.assembly import MissingTool, sass
from gpukernels.device import CudaDevice, SimtDevice, benign_race, default_device, trace
from gpukernels.errors import (
    GraphFormatError,
    InvalidArgument,
    NegativeCycleError,
    NegativeWeightError,
    UnknownMethod,
    VertexOutOfRange,
)
from gpukernels.exercises import ExerciseFailed, exercise
from gpukernels.generators import (
    complete,
    delaunay,
    erdos_renyi,
    example,
    forest_fire,
    kron,
    path,
    random_weights,
    rmat,
    road_grid,
    small_world,
    star,
)
from gpukernels.graph import Graph
from gpukernels.io import from_networkx, from_scipy, read
from gpukernels.listing import show
from gpukernels.mapping import Mapping, expand
from gpukernels.mapping.choose import Choice, choose_mapping
from gpukernels.simt.linting import check
from gpukernels.traversal import BFSResult, bfs
from gpukernels.traversal.bfs4k import tune_bfs4k
from gpukernels.views import (
    FrontierView,
    GraphView,
    HashView,
    MappingView,
    MemoryView,
    ScanView,
    WarpView,
)
from gpukernels.workloads import workload

#: The release; pyproject.toml and CITATION.cff follow it.
__version__ = "0.1.0"

__all__ = [
    "BFSResult",
    "Choice",
    "CudaDevice",
    "ExerciseFailed",
    "FrontierView",
    "Graph",
    "GraphFormatError",
    "GraphView",
    "HashView",
    "InvalidArgument",
    "Mapping",
    "MappingView",
    "MemoryView",
    "MissingTool",
    "NegativeCycleError",
    "NegativeWeightError",
    "ScanView",
    "SimtDevice",
    "UnknownMethod",
    "VertexOutOfRange",
    "WarpView",
    "benign_race",
    "bfs",
    "check",
    "choose_mapping",
    "complete",
    "default_device",
    "delaunay",
    "erdos_renyi",
    "example",
    "exercise",
    "exercises",
    "expand",
    "forest_fire",
    "from_networkx",
    "from_scipy",
    "kron",
    "path",
    "random_weights",
    "read",
    "rmat",
    "road_grid",
    "sass",
    "sequential",
    "show",
    "small_world",
    "star",
    "trace",
    "tune_bfs4k",
    "workload",
]

assertions.soften_in_notebook()
no_gpu.name_the_machine()
