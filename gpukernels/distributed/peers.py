"""GPUs of one host, or SIMT machines in their place, and copies from one to another.

A process reaches all GPUs of its host, each in a context of its own, of which one is current. A GPU
reads the memory of another GPU directly only if it has been given *peer access* to it. A copy
without peer access goes through the host's memory, even if a faster link joins the two. Peer access
is requested from the driver once per pair; numba never requests it.

Launches go to the default stream of the GPU that is current, and do not wait for those of others.
So a copy here is in both orders: it begins after all that was launched on either side, and all that
is launched afterwards on either begins after it. The host waits for none of this.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gpukernels.checks import is_whole
from gpukernels.device import CudaDevice, Device, SimtDevice
from gpukernels.errors import InvalidArgument

#: Numbers of the GPUs that this process has used together with others.
_used: set[int] = set()
#: Pairs of GPUs of which the first has been given access to the memory of the second.
_given: set[tuple[int, int]] = set()


class Peers:
    """SIMT machines, by number: a launch is over when it returns, and so is a copy."""

    def __init__(self, devices: Sequence[Device]):
        self.devices = list(devices)

    def on(self, i: int) -> AbstractContextManager[Any]:
        """Make device `i` current for a ``with`` block, inside which alone it is used."""
        return contextlib.nullcontext()

    def send(self, i: int, source: Any, j: int, to: Any) -> None:
        """Copy an array of device `i` to one of device `j`, between launches before and after."""
        np.copyto(to, source, casting="no")


class CudaPeers(Peers):
    """CUDA GPUs of this process, by the numbers that numba gives them.

    Each is given access to the memory of the others where that is possible, until the process ends.
    """

    def __init__(self, numbers: Sequence[int]):
        from numba import cuda
        from numba.cuda.cudadrv import driver

        self._cuda, self._driver = cuda, driver
        self._numbers = list(numbers)
        self._gpus = [cuda.gpus[number] for number in numbers]
        self._contexts, self.devices = [], []
        _part_at_exit()
        _used.update(numbers)
        for gpu in self._gpus:
            with gpu:
                self._contexts.append(cuda.current_context())
                self.devices.append(CudaDevice())
        for i, j in itertools.permutations(range(len(numbers)), 2):
            with self.on(i):
                self._reach(i, j)

    def _reach(self, i: int, j: int) -> None:
        """Give GPU `i`, which is current, access to the memory of GPU `j` if it can have it."""
        from cuda.bindings.driver import CUresult

        if not self._contexts[i].can_access_peer(int(self._gpus[j].id)):
            return
        try:
            self._contexts[i].enable_peer_access(self._contexts[j].handle)
            _given.add((self._numbers[i], self._numbers[j]))
        except self._driver.CudaAPIError as error:
            if error.code != CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
                raise

    def on(self, i: int) -> AbstractContextManager[Any]:
        """Make GPU `i` current for a ``with`` block."""
        return self._gpus[i]

    def send(self, i: int, source: Any, j: int, to: Any) -> None:
        """Queue a copy of a contiguous array of GPU `i` to one of GPU `j`."""
        with self.on(j):
            ready = self._cuda.event(timing=False)
            ready.record()
        with self.on(i):
            ready.wait()
            self._copy(i, source, j, to)
            sent = self._cuda.event(timing=False)
            sent.record()
        with self.on(j):
            sent.wait()

    def _copy(self, i: int, source: Any, j: int, to: Any) -> None:
        """Queue the copy itself behind what is launched on GPU `i`, which is current."""
        assert (source.shape, source.dtype) == (to.shape, to.dtype)
        self._driver.driver.cuMemcpyPeerAsync(
            self._driver.device_pointer(to), self._contexts[j].handle,
            self._driver.device_pointer(source), self._contexts[i].handle, source.nbytes, 0,
        )  # fmt: skip


def part() -> None:
    """Destroy what waits for it, then take peer access back, each GPU's while it is current.

    numba destroys events, arrays and kernels that are no longer needed some at a time, with
    whatever GPU is current; at the end of a process that is the GPU that came last, or none.
    """
    from numba import cuda
    from numba.cuda.cudadrv import driver

    contexts = {}
    for number in sorted(_used):
        with cuda.gpus[number]:
            contexts[number] = context = cuda.current_context()
            context.synchronize()
            # A memory manager from elsewhere, such as RMM's, has its own.
            for held in (context.memory_manager, context):
                if hasattr(held, "deallocations"):
                    held.deallocations.clear()
    for i, j in sorted(_given):
        # After cuda.close() there is a new context, which has been given nothing.
        with cuda.gpus[i], contextlib.suppress(driver.CudaAPIError):
            driver.driver.cuCtxDisablePeerAccess(contexts[j].handle)
    _given.clear()
    _used.clear()


@functools.cache
def _part_at_exit() -> None:
    """Have GPUs part before the interpreter's own end, which keeps no order between them."""

    def quietly() -> None:
        with contextlib.suppress(Exception):  # a GPU that is lost already: nothing left to report
            part()

    atexit.register(quietly)


def peers_of(devices: Any) -> Peers:
    """Return the devices of a list: numbers of GPUs, or SIMT machines.

    InvalidArgument if it is no such list, a device is there twice, or there is no such GPU.
    """
    allowed = "a list of different numbers of GPUs, or of different SimtDevice()"
    if isinstance(devices, str) or not isinstance(devices, Sequence) or not devices:
        raise InvalidArgument("devices", devices, allowed)
    if all(isinstance(device, SimtDevice) for device in devices):
        if len(set(map(id, devices))) < len(devices):
            raise InvalidArgument("devices", devices, allowed)
        return Peers(devices)
    if not all(is_whole(number) for number in devices) or len(set(devices)) < len(devices):
        raise InvalidArgument("devices", devices, allowed)
    count = gpus_here()
    for number in devices:
        if not 0 <= number < count:
            allowed = f"one of the {count} GPUs that answer, counted from 0"
            raise InvalidArgument("devices", number, allowed)
    return CudaPeers([int(number) for number in devices])


def gpus_here() -> int:
    """Return how many GPUs answer in this process."""
    try:
        from numba import cuda

        return len(cuda.gpus) if cuda.is_available() else 0
    except Exception:  # a broken driver installation is the same as none
        return 0
