"""Interactive figures that play recorded traces, in a notebook and in a page without a kernel."""

from gpukernels.views.compare import CompareView
from gpukernels.views.energy import EnergyView
from gpukernels.views.frontier import FrontierView
from gpukernels.views.graph import GraphView
from gpukernels.views.hash import HashView
from gpukernels.views.mapping import MappingView
from gpukernels.views.memory import MemoryView
from gpukernels.views.parts import PartsView
from gpukernels.views.relax import RelaxView
from gpukernels.views.scan import ScanView
from gpukernels.views.tile import TileView
from gpukernels.views.warp import WarpView
from gpukernels.views.workers import WorkersView

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
