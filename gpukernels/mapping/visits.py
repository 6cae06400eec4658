"""The visits of `expand` at a unit: write its item, or add up its value.

A technique takes a *visit*, a device function ``visit(work, item, unit)``, and calls it once for
every unit of every item. It passes on ``work``, a tuple of arrays, without using it. A
breadth-first search passes its own visit: there ``item`` is a vertex of the frontier and ``unit``
the place of one of its arcs.
"""

from __future__ import annotations

from numba import cuda


@cuda.jit(device=True)
def write_item(work, item, unit):
    """Store `item` at `unit` of the array ``work[0]``: the papers' ``Output[i] = item``."""
    work[0][unit] = item


@cuda.jit(device=True)
def add_value(work, item, unit):
    """Add the value at `unit` to the total of `item`; ``work`` holds values and totals.

    Atomic, because any two threads of the grid may have units of the same item.
    """
    cuda.atomic.add(work[1], item, work[0][unit])
