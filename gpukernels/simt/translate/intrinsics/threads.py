"""Where a thread is: ``cuda.threadIdx`` and its kin, ``cuda.grid``, ``cuda.gridsize``."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.translate import typing
from gpukernels.simt.translate.intrinsics.arguments import argument_nodes, constant_int
from gpukernels.simt.translate.values import TupleType, Value

_AXES = {"x": 0, "y": 1, "z": 2}


def attribute(translator, path, node) -> Value | None:
    """Return the value of ``cuda.threadIdx.x`` and its kin, or None for another `path`."""
    if path is None or not path.startswith("cuda."):
        return None
    parts = path.split(".")
    if len(parts) == 2:
        if parts[1] == "laneid":
            return _index(translator, "lane", 0)
        if parts[1] == "warpsize":
            return Value(
                typing.INT32, translator.program.constant(np.int32(32)), constant=np.int32(32)
            )
        return None
    if len(parts) != 3 or parts[2] not in _AXES:
        return None
    axis = _AXES[parts[2]]
    if parts[1] == "threadIdx":
        return _index(translator, "thread", axis)
    if parts[1] == "blockIdx":
        return _index(translator, "block", axis)
    if parts[1] in ("blockDim", "gridDim"):
        name = "block_dims" if parts[1] == "blockDim" else "grid_dims"
        return Value(typing.INT32, f"run.{name}[{axis}]")
    return None


def _index(translator, name, axis):
    code = translator.temporary(f"g.index({(name, axis)!r}, {translator.active})")
    return Value(typing.INT64 if name == "grid" else typing.INT32, code)


def _grid(t, node, hint):
    ndim = constant_int(t, *argument_nodes(t, node, 1), "the argument of cuda.grid")
    items = [_index(t, "grid", axis) for axis in range(ndim)]
    return items[0] if ndim == 1 else Value(TupleType((typing.INT64,) * ndim), items=items)


def _gridsize(t, node, hint):
    ndim = constant_int(t, *argument_nodes(t, node, 1), "the argument of cuda.gridsize")
    items = [Value(typing.INT64, f"run.grid_size[{axis}]") for axis in range(ndim)]
    return items[0] if ndim == 1 else Value(TupleType((typing.INT64,) * ndim), items=items)


CALLS = {"cuda.grid": _grid, "cuda.gridsize": _gridsize}
