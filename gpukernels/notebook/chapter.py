"""What the first cell of every chapter calls, and what its other cells show results with."""

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

    An assertion that fails tells a reader who has changed the graph, and lets the cell go on
    (`assertions`). numba's error about a missing GPU names the launch that needs none (`no_gpu`).
    On Colab the device is named that will run kernels (`colab`). Importing `gpukernels` does
    nothing of this.
    """
    assertions.soften_in_notebook()
    no_gpu.name_the_machine()
    if "google.colab" in sys.modules:
        colab.set_up()
