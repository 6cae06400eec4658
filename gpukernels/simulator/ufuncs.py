"""``vectorize`` and ``guvectorize`` with ``target="cuda"``: functions of whole arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.simt.translate import intrinsics
from gpukernels.simulator.arrays import DeviceArray, MappedArray
from gpukernels.simulator.kernels import Kernel, parsed
from gpukernels.simulator.written import kernel_from


def _host(value: Any) -> NDArray:
    return value.data if isinstance(value, DeviceArray) else np.asarray(value)


def _as_given(result: NDArray, inputs: tuple, out: Any) -> Any:
    """Return a result where the inputs are: on the device if one of them is."""
    if out is not None:
        return out
    on_device = any(isinstance(value, (DeviceArray, MappedArray)) for value in inputs)
    return DeviceArray(result) if on_device else result


class Vectorized:
    """A function of numbers that is called with arrays, one element per thread.

    Parameters
    ----------
    function : function
        Takes numbers and returns one.
    types : list of signatures
        The first to which all inputs cast safely is used.
    """

    def __init__(self, function: Callable, types: list):
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._loops = [
            [intrinsics.as_dtype(a) for a in (*one.args, one.return_type)] for one in types
        ]
        self._count = len(types[0].args)
        names = [f"a{k}" for k in range(self._count)]
        elements = ", ".join(f"{name}[i]" for name in names)
        text = (
            f"def elementwise(out, {', '.join(names)}):\n"
            "    i = cuda.grid(1)\n"
            "    if i < out.size:\n"
            f"        out[i] = function({elements})\n"
        )
        self._kernel = kernel_from(text, "elementwise", _values(function))

    def __call__(self, *inputs: Any, out: Any = None, stream: Any = 0) -> Any:
        """Return the results, of the common shape of the inputs."""
        if len(inputs) == self._count + 1:
            *inputs, out = inputs
        arrays = [_host(value) for value in inputs]
        *dtypes, result_type = _first_that_takes(self._loops, arrays, self.__name__)
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        flat = [
            np.ascontiguousarray(np.broadcast_to(array, shape).astype(dtype)).reshape(-1)
            for array, dtype in zip(arrays, dtypes, strict=True)
        ]
        result = np.zeros(int(np.prod(shape, dtype=np.int64)), result_type)
        self._kernel.forall(result.size)(result, *flat)
        result = result.reshape(shape)
        if out is not None:
            _host(out)[...] = result
        return _as_given(result, tuple(inputs), out)


class Generalized:
    """A function of small arrays that is called with stacks of them, one of them per thread.

    Parameters
    ----------
    function : function
        Takes arrays, and writes the last ones.
    types : list of signatures
        Of all arrays; the first to which all inputs cast safely is used.
    layout : str
        The shapes, as in ``"(m,n),(n,p)->(m,p)"``.
    """

    def __init__(self, function: Callable, types: list, layout: str):
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        before, after = layout.replace(" ", "").split("->")
        self._inputs, self._outputs = _shapes(before), _shapes(after)
        self._loops = [[intrinsics.as_dtype(getattr(a, "dtype", a)) for a in t.args] for t in types]
        names = [f"a{k}" for k in range(len(types[0].args))]
        parts = [
            f"{name}[i]" if hasattr(kind, "ndim") else f"{name}[i, 0]"  # numba passes numbers so
            for name, kind in zip(names, types[0].args, strict=True)
        ]
        text = (
            f"def outer({', '.join(names)}):\n"
            "    i = cuda.grid(1)\n"
            "    if i < a0.shape[0]:\n"
            f"        function({', '.join(parts)})\n"
        )
        self._kernel = kernel_from(text, "outer", _values(function))

    def __call__(self, *inputs: Any, out: Any = None, stream: Any = 0) -> Any:
        """Return the results, of which the outer shape is the common one of the inputs."""
        if len(inputs) == len(self._inputs) + 1:
            *inputs, out = inputs
        arrays = [_host(value) for value in inputs]
        dtypes = _first_that_takes(self._loops, arrays, self.__name__)
        inner = [
            array.shape[array.ndim - len(names) :]
            for array, names in zip(arrays, self._inputs, strict=True)
        ]
        sizes = self._sizes(inner)
        shape = np.broadcast_shapes(
            *(a.shape[: a.ndim - len(own)] for a, own in zip(arrays, inner, strict=True))
        )
        stack = int(np.prod(shape, dtype=np.int64))
        values = [
            np.array(np.broadcast_to(array, (*shape, *own)), dtype, order="C").reshape(
                stack, *(own or (1,))
            )
            for array, own, dtype in zip(arrays, inner, dtypes, strict=False)
        ]
        dims = [tuple(sizes[name] for name in names) for names in self._outputs]
        results = [
            np.zeros((stack, *(own or (1,))), dtype)
            for own, dtype in zip(dims, dtypes[len(values) :], strict=True)
        ]
        self._kernel.forall(stack)(*values, *results)
        shaped = [r.reshape(*shape, *own) for r, own in zip(results, dims, strict=True)]
        if out is not None:
            _host(out)[...] = shaped[0]
        finished = [_as_given(result, tuple(inputs), out) for result in shaped]
        return finished[0] if len(finished) == 1 else tuple(finished)

    def _sizes(self, shapes: list[tuple[int, ...]]) -> dict[str, int]:
        """Return the size of each dimension that the layout names."""
        sizes: dict[str, int] = {}
        for names, own in zip(self._inputs, shapes, strict=True):
            for name, size in zip(names, own, strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.__name__}: dimension {name} has {sizes[name]} and {size} elements"
                    )
        return sizes


def _first_that_takes(loops: list[list], arrays: list[NDArray], name: str) -> list:
    """Return the types of the first loop to which all inputs cast safely."""
    for dtypes in loops:
        pairs = zip(arrays, dtypes, strict=False)
        if all(np.can_cast(array.dtype, dtype, "safe") for array, dtype in pairs):
            return dtypes
    kinds = ", ".join(str(array.dtype) for array in arrays)
    raise TypeError(f"no matching signature of {name} for input types: {kinds}")


def _shapes(text: str) -> list[tuple[str, ...]]:
    return [
        tuple(name for name in part.split(",") if name) for part in re.findall(r"\(([^)]*)\)", text)
    ]


def _values(function: Callable) -> dict[str, Any]:
    from numba import cuda

    wrapped = function if hasattr(function, "py_func") else Kernel(function, [], True)
    return {"cuda": cuda, "function": wrapped}


def vectorize(types: Any, **options: Any) -> Callable[[Callable], Vectorized]:
    """Return the decorator of ``numba.vectorize(types, target="cuda")``."""
    return lambda function: Vectorized(function, parsed(types))


def guvectorize(types: Any, layout: str, **options: Any) -> Callable[[Callable], Generalized]:
    """Return the decorator of ``numba.guvectorize(types, layout, target="cuda")``."""
    return lambda function: Generalized(function, parsed(types), layout)
