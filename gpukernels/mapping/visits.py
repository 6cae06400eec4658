"""What the techniques do at a unit when `expand` asks: write its item, or add up its value.

A technique takes a *visit*, a device function ``visit(work, item, unit)`` that it calls once for
every unit of every item; ``work`` is a tuple of arrays that it hands on without looking inside. A
breadth-first search passes a visit of its own: ``item`` is then a vertex of the frontier and
``unit`` the place of one of its arcs.
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

    Atomic, because the units of one item may meet in any two threads of the grid.
    """
    cuda.atomic.add(work[1], item, work[0][unit])
