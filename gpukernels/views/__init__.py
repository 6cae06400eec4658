"""Interactive figures that play recorded traces, in a notebook and in a page without a kernel."""

from gpukernels.views.compare.view import CompareView
from gpukernels.views.energy.view import EnergyView
from gpukernels.views.frontier.view import FrontierView
from gpukernels.views.graph.view import GraphView
from gpukernels.views.hash.view import HashView
from gpukernels.views.mapping.view import MappingView
from gpukernels.views.memory.view import MemoryView
from gpukernels.views.parts.view import PartsView
from gpukernels.views.relax.view import RelaxView
from gpukernels.views.scan.view import ScanView
from gpukernels.views.tile.view import TileView
from gpukernels.views.warp.view import WarpView
from gpukernels.views.workers.view import WorkersView

__all__ = [
    "CompareView",
    "EnergyView",
    "FrontierView",
    "GraphView",
    "HashView",
    "MappingView",
    "MemoryView",
    "PartsView",
    "RelaxView",
    "ScanView",
    "TileView",
    "WarpView",
    "WorkersView",
]
