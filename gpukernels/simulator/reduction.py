"""``cuda.reduce``: fold an array by a function of two numbers, in one block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpukernels.simulator.arrays import DeviceArray, plain
from gpukernels.simulator.kernels import Kernel
from gpukernels.simulator.written import kernel_from

BLOCK = 128
TEXT = """
def fold(values, init, out):
    shared = cuda.shared.array({block}, values.dtype)
    t = cuda.threadIdx.x
    if t < values.size:
        total = values[t]
        for i in range(t + {block}, values.size, {block}):
            total = combine(total, values[i])
        shared[t] = total
    cuda.syncthreads()
    width = {block} // 2
    while width > 0:
        if t < width and t + width < values.size:
            shared[t] = combine(shared[t], shared[t + width])
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[0] = combine(init, shared[0])
"""


class Reduce:
    """An array is folded by a call; the function is called by threads, in no fixed order.

    Parameters
    ----------
    functor : function
        Takes two numbers and returns one; associative, as for a GPU.
    """

    def __init__(self, functor: Callable):
        from numba import cuda

        function = functor if hasattr(functor, "py_func") else Kernel(functor, [], True)
        values = {"cuda": cuda, "combine": function}
        self._kernel = kernel_from(TEXT.format(block=BLOCK), "fold", values)

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """Return the result, or write it to the first element of `res`.

        Parameters
        ----------
        arr : array of the host or the device
            One dimension.
        size : int, optional
            How many of its elements; by default all.
        res : array of the device, optional
            Takes the result, which then is not returned.
        init : number
            The value to begin with, and the result of no elements.
        """
        if arr.ndim != 1:
            raise TypeError("only support 1D array")
        size = arr.size if size is None else size
        if size > arr.size:
            raise ValueError("size > array length")
        values = plain(arr)[:size]
        out = np.full(1, init, arr.dtype)
        if size:
            self._kernel[1, BLOCK](np.ascontiguousarray(values), arr.dtype.type(init), out)
        if res is None:
            return out[0]
        DeviceArray(plain(res))[0] = out[0]
        return None
