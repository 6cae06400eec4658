"""Counters computed from a trace, each with the profiler counter that it stands for on hardware.

They count the requests of the program. The machine has no caches, no latencies and no occupancy, so
no counter here is a time. The cost of a single request is in `costs`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.trace.costs import SECTOR_BYTES, Costs
from gpukernels.trace.record import (
    ATOMIC,
    BARRIER,
    BRANCH,
    LOAD,
    STORE,
    WARP_SIZE,
    Launch,
    Record,
    Requests,
    Shuffles,
    Steps,
    lanes_of,
)

ANY_KIND = (LOAD, STORE, ATOMIC)


def _ratio(numerator, denominator) -> float:
    return float(numerator) / float(denominator) if denominator else float("nan")


def mean(values: np.ndarray) -> float:
    """Return the mean of `values`, or NaN if there are none."""
    return _ratio(values.sum(), values.size)


def warp_steps(trace: Record) -> int:
    """Return the number of statements that warps executed.

    Hardware: ``smsp__inst_executed.sum``, which counts instructions.
    """
    return len(trace.steps)


def simd_efficiency(trace: Record) -> float:
    """Return the mean fraction of a warp's 32 lanes that are active in a step, 0 to 1.

    Hardware: ``smsp__thread_inst_executed_per_inst_executed.ratio`` / 32, a mean over instructions.
    """
    active = np.bitwise_count(trace.steps.mask).sum(dtype=np.int64)
    return _ratio(active, WARP_SIZE * len(trace.steps))


def divergent_branches(trace: Record) -> int:
    """Return how often a branch split the active lanes of a warp.

    Hardware: ``smsp__sass_branch_targets_threads_divergent.sum``.
    """
    steps = trace.steps
    branch = steps.kind == BRANCH
    return int(np.count_nonzero(branch & (steps.taken != 0) & (steps.taken != steps.mask)))


def barriers(trace: Record) -> int:
    """Return the number of warp-level arrivals at a barrier."""
    return int(np.count_nonzero(trace.steps.kind == BARRIER))


def requests(trace: Record, space: str | None = "global", kinds=ANY_KIND) -> int:
    """Return the number of memory requests, one per warp and access.

    A `space` of None counts requests to all memories.

    Hardware: ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`` (and ``_st``, ``_atom``).
    """
    return len(trace.select(space=space, kind=kinds).requests)


def accesses(trace: Record, space: str | None = None, kinds=ANY_KIND) -> int:
    """Return the number of elements that all lanes request: a request of 32 lanes counts 32."""
    return len(trace.select(space=space, kind=kinds).requests.index)


def _costs(trace, space, kinds):
    return Costs(trace.select(space=space, kind=kinds))


def sectors(trace: Record, kinds=ANY_KIND) -> np.ndarray:
    """Return the number of 32-byte sectors that each global request moves (one entry per request).

    An atomic moves a sector again in each pass, see :class:`~gpukernels.trace.costs.Costs`.

    Hardware: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`` (and ``_st``, ``_atom``, ``_red``).
    It counts less if the compiler knows that an atomic's address is the same for all lanes: then
    the warp first adds up its values, and one lane makes the request.
    """
    return _costs(trace, "global", kinds).sectors


def lines(trace: Record, kinds=ANY_KIND) -> np.ndarray:
    """Return the number of 128-byte cache lines of each global request (one entry per request)."""
    return _costs(trace, "global", kinds).lines


def sectors_per_request(trace: Record, kinds=ANY_KIND) -> float:
    """Return the mean number of 32-byte sectors per global request; 32 x 4 bytes need 4.

    Hardware: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`` / ``l1tex__t_requests_..._ld.sum``.
    """
    return mean(sectors(trace, kinds))


def coalescing_efficiency(trace: Record, kinds=ANY_KIND) -> float:
    """Return distinct bytes requested / bytes of the sectors moved in global memory, 0 to 1.

    Hardware: ``smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`` / 100, which counts
    a byte once for every lane that requests it. Here a byte counts once per request, even if
    colliding lanes of an atomic move its sector several times.
    """
    costs = _costs(trace, "global", kinds)
    return _ratio(costs.useful.sum(), costs.sectors.sum() * SECTOR_BYTES)


def shared_passes(trace: Record, kinds=ANY_KIND) -> np.ndarray:
    """Return the passes over the banks of each shared-memory request (one entry per request).

    Hardware: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`` (and ``_st``, ``_atom``).
    """
    return _costs(trace, "shared", kinds).wavefronts


def bank_conflicts(trace: Record, kinds=ANY_KIND) -> np.ndarray:
    """Return the extra passes of each shared-memory request: 0 if no two words share a bank.

    Lanes on the same word do not conflict. The passes that wide elements need are not counted: 32
    adjacent words of 8 bytes take two passes, one per half of the warp, and no conflict.
    `shared_passes` counts both.

    Hardware: ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`` (and ``_st``, ``_atom``).
    The total without a suffix counts other traffic too: some in kernels that use no shared memory.
    """
    return _costs(trace, "shared", kinds).conflicts


def bank_conflicts_per_request(trace: Record, kinds=ANY_KIND) -> float:
    """Return the mean number of extra passes per shared-memory request."""
    return mean(bank_conflicts(trace, kinds))


def local_sectors(trace: Record, kinds=(LOAD, STORE)) -> np.ndarray:
    """Return the number of 32-byte sectors of each local-memory request (one entry per request).

    An array of ``cuda.local.array`` lies in device memory unless the compiler knows every index.

    Hardware: ``l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum`` (and ``_st``); the requests are
    ``requests(trace, "local")``, on hardware ``l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum``.
    """
    return _costs(trace, "local", kinds).sectors


def atomic_conflicts(trace: Record) -> np.ndarray:
    """Return, for each atomic request, how many lanes wait for another lane on their element.

    Hardware: no single counter; ``lts__t_sectors_op_atom.sum`` and ``_red.sum`` rise with it.
    """
    costs = _costs(trace, None, ATOMIC)
    return costs.lanes - costs.elements


def per_warp(table: Steps | Requests | Shuffles, launch: Launch, weights=None) -> np.ndarray:
    """Return the number of rows of `table` per warp of a launch, shape (blocks, warps of a block).

    Parameters
    ----------
    table : Steps, Requests or Shuffles
        The rows; rows of other launches are left out.
    launch : Launch
        One of ``trace.launches``.
    weights : numpy.ndarray, optional
        int64, the weight of each row; by default 1.
    """
    mine, warp = _warps(table, launch)
    weights = weights if weights is None else weights[mine]
    shape = launch.blocks, launch.warps_per_block
    warp = warp.astype(np.intp, copy=False)
    return np.bincount(warp, weights, shape[0] * shape[1]).astype(np.int64).reshape(shape)


def per_thread(table: Steps | Requests | Shuffles, launch: Launch) -> np.ndarray:
    """Return the number of rows of `table` in which each thread of a launch is active.

    In a table of requests this is the number of elements that the thread requests.

    Returns
    -------
    numpy.ndarray
        int64, shape (blocks, warps of a block, 32); 0 for lanes that were not launched.
    """
    mine, warp = _warps(table, launch)
    row, lane = lanes_of(table.mask[mine])
    shape = launch.blocks, launch.warps_per_block, WARP_SIZE
    thread = (warp[row] * WARP_SIZE + lane).astype(np.intp, copy=False)
    return np.bincount(thread, minlength=np.prod(shape)).reshape(shape)


def _launched(lanes, launch):
    """Return only the lanes that were launched, from a result of `per_thread`."""
    return lanes.reshape(launch.blocks, -1)[:, : launch.threads_per_block]


def _warps(table, launch):
    """Return the rows of a launch, and the number of each row's warp, counted over all blocks."""
    mine = np.flatnonzero(table.launch == launch.index)
    return mine, table.block[mine].astype(np.int64) * launch.warps_per_block + table.warp[mine]


def work_per_thread(trace: Record, array: str, launch: int | None = None) -> np.ndarray:
    """Return the number of elements of `array` that each thread loaded, in thread order.

    Parameters
    ----------
    array : str
        For graph kernels usually ``"targets"``: one element is one edge.
    launch : int, optional
        Index of the launch; by default the sum over all launches, which must have one shape.
    """
    table = trace.select(array=array, kind=LOAD).requests
    launched = [item for item in trace.launches if launch is None or item.index == launch]
    shapes = {(item.blocks, item.threads_per_block) for item in launched}
    if len(shapes) != 1:
        raise ValueError(f"launch={launch}: the launches have {len(shapes)} shapes; choose one")
    lanes = sum(per_thread(table, item) for item in launched)
    return _launched(lanes, launched[0]).ravel()


@dataclass(frozen=True)
class Balance:
    """The balance of work: max / mean over threads, warps and blocks (1 is perfect)."""

    threads: float
    warps: float
    blocks: float


def balance(trace: Record, launch: int = 0) -> Balance:
    """Return the balance of one launch, in steps: of active threads, of warps, of blocks."""
    shape = trace.launches[launch]
    threads = _launched(per_thread(trace.steps, shape), shape)
    warps = per_warp(trace.steps, shape)
    shares = threads, warps, warps.sum(axis=1)
    return Balance(*(_ratio(share.max(), share.mean()) for share in shares))
