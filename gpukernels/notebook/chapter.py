"""The set-up for the first cell of every chapter, and the tools that show results in the others."""

from __future__ import annotations

import sys

from gpukernels.notebook import assertions, colab, no_gpu
from gpukernels.notebook import record as record
from gpukernels.notebook.counters import executed as executed
from gpukernels.notebook.counters import kept_counters as kept_counters
from gpukernels.notebook.measured import own_gpu as own_gpu
from gpukernels.notebook.measured import timed as timed
from gpukernels.notebook.plot import Plot as Plot
from gpukernels.notebook.plot import listed as listed
from gpukernels.notebook.plot import panels as panels
from gpukernels.notebook.table import Table as Table


def set_up() -> None:
    """Make a notebook ready for a chapter.

    If a reader has changed the graph, an assertion that fails prints a message and lets the cell go
    on (`assertions`). numba's error about a missing GPU names a launch that needs no GPU
    (`no_gpu`). On Colab the name of the device that will run kernels is printed (`colab`).
    Importing `gpukernels` does none of this.
    """
    assertions.soften_in_notebook()
    no_gpu.name_the_machine()
    if "google.colab" in sys.modules:
        colab.set_up()
