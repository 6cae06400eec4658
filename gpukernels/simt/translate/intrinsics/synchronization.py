"""Barriers of a block, a warp and the grid, and fences."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.check.release_acquire import BLOCK, DEVICE
from gpukernels.simt.run import warp
from gpukernels.simt.run.turns import Scope, Vote
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.intrinsics.arguments import argument_nodes, named_arguments
from gpukernels.simt.translate.intrinsics.names import GRID_GROUP
from gpukernels.simt.translate.values import ObjectType, Value
from gpukernels.trace import BARRIER


def _barrier(vote):
    def barrier(t, node, hint):
        t.note(BARRIER)
        predicate = "None"
        if vote is not Vote.PLAIN:
            (value,) = named_arguments(t, node, ("predicate",))
            predicate = t.predicate(value, node, bools=False).code
        result = _wait(t, Scope.BLOCK, vote, predicate)
        return None if vote is Vote.PLAIN else Value(typing.INT32, t.temporary(result))

    return barrier


def _wait(t, scope, vote, predicate):
    t.program.waits = True
    barrier = f"Barrier(Scope.{scope.name}, Vote.{vote.name}, {t.active}, {predicate}, {t.where})"
    result = f"(yield {barrier})" if t.program.yielding else f"run.barrier({barrier})"
    if vote is Vote.PLAIN:
        t.emit(result)
    return result


def grid_sync(t, node, hint):
    """Handle ``cuda.cg.this_grid().sync()``."""
    t.program.cooperative = True
    t.note(BARRIER)
    _wait(t, Scope.GRID, Vote.PLAIN, "None")
    return Value(typing.INT32, t.program.constant(np.int32(0)), constant=np.int32(0))


def _this_grid(t, node, hint):
    t.program.cooperative = True
    return Value(ObjectType(GRID_GROUP))


def syncwarp(t, node, hint):
    """Handle ``cuda.syncwarp(mask)``."""
    t.note(BARRIER)
    values = named_arguments(t, node, ("mask",), optional=1)
    mask = values[0].code if values else t.literal(0xFFFFFFFF).code
    t.program.syncwarps += 1
    if t.program.parted or t.program.lanes:
        t.emit(f"yield arrive({t.active}, 'syncwarp', {t.where}, None, {mask})")
        return None
    if t.program.yielding:
        t.emit("yield None")
    t.program.namespace["check_mask"] = warp.check_mask
    t.emit(f"check_mask({t.active}, {mask}, 'syncwarp', {t.where})")
    return None


def _fence(scope):
    def fence(t, node, hint):
        argument_nodes(t, node, 0)
        t.program.fences = True
        t.emit(f"run.fence({t.active}, {scope!r})")
        return None

    return fence


def _nanosleep(t, node, hint):
    t.expression(*argument_nodes(t, node, 1))
    return None


CALLS = {
    "cuda.syncthreads": _barrier(Vote.PLAIN),
    "cuda.syncthreads_count": _barrier(Vote.COUNT),
    "cuda.syncthreads_and": _barrier(Vote.AND),
    "cuda.syncthreads_or": _barrier(Vote.OR),
    "cuda.syncwarp": syncwarp,
    "cuda.cg.this_grid": _this_grid,
    "cuda.threadfence": _fence(DEVICE),
    "cuda.threadfence_block": _fence(BLOCK),
    "cuda.threadfence_system": _fence(DEVICE),
    "cuda.nanosleep": _nanosleep,
}
