"""Arrays of a device whose memory is the host's: what ``cuda.to_device`` returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels import simt

NOT_CONTIGUOUS = (
    "the array is not contiguous, and cannot be copied to a device in one piece; pass "
    "np.ascontiguousarray(...) of it"
)


class DeviceArray:
    """An array on the device, with the methods of numba's ``DeviceNDArray``.

    Parameters
    ----------
    data : numpy.ndarray
        The elements, which kernels change in place.
    """

    def __init__(self, data: NDArray):
        self.data = data

    shape = property(lambda self: self.data.shape)
    strides = property(lambda self: self.data.strides)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    nbytes = alloc_size = property(lambda self: self.data.nbytes)
    flags = property(lambda self: self.data.flags)
    stream = 0

    @property
    def T(self) -> DeviceArray:
        """The transposed array, of the same memory."""
        return DeviceArray(self.data.T)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = dict(self.data.__array_interface__)
        return {**interface, "version": 3, "stream": None}

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        return np.array(self.data, dtype=dtype, copy=True)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<array on the device: {self.dtype}, shape {self.shape}>"

    def __getitem__(self, index: Any) -> Any:
        part = self.data[_basic(index)]
        return DeviceArray(part) if isinstance(part, np.ndarray) else part

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[_basic(index)] = value.data if isinstance(value, DeviceArray) else value

    def getitem(self, index: Any, stream: Any = 0) -> Any:
        """Return ``self[index]``."""
        return self[index]

    def setitem(self, index: Any, value: Any, stream: Any = 0) -> None:
        """Do ``self[index] = value``."""
        self[index] = value

    def copy_to_host(self, ary: NDArray | None = None, stream: Any = 0) -> NDArray:
        """Return a copy of the elements, or write them to `ary` and return it."""
        if ary is None:
            return self.data.copy(order="K")
        _check_alike(self.data, ary)
        np.copyto(ary, self.data)
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Write the elements of `ary`, of the host or the device, to this array."""
        source = ary.data if isinstance(ary, DeviceArray) else np.asarray(ary)
        _check_alike(self.data, source)
        np.copyto(self.data, source)

    def reshape(self, *shape: Any, order: str = "C") -> DeviceArray:
        """Return the same memory with another shape."""
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return DeviceArray(_view(self.data, self.data.reshape(shape, order=order)))

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceArray:
        """Return the same memory with one dimension."""
        return DeviceArray(_view(self.data, self.data.ravel(order=order)))

    def transpose(self, axes: Any = None) -> DeviceArray:
        """Return the same memory with its axes in another order."""
        return DeviceArray(self.data.transpose(axes))

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceArray:
        """Return the same memory without axes of length 1."""
        return DeviceArray(self.data.squeeze(axis))

    def view(self, dtype: DTypeLike) -> DeviceArray:
        """Return the same memory as elements of another type."""
        return DeviceArray(self.data.view(dtype))

    def split(self, section: int, stream: Any = 0) -> list[DeviceArray]:
        """Return the parts of `section` elements each, of an array of one dimension."""
        starts = range(0, self.size, section)
        return [DeviceArray(self.data[start : start + section]) for start in starts]

    def is_c_contiguous(self) -> bool:
        """Return whether the last axis is dense, and each other one follows."""
        return bool(self.data.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Return whether the first axis is dense, and each other one follows."""
        return bool(self.data.flags.f_contiguous)


class MappedArray(np.ndarray):
    """Memory that host and device share: a NumPy array that kernels take as it is."""

    def copy_to_host(self, ary: NDArray | None = None, stream: Any = 0) -> NDArray:
        """Return a copy of the elements, or write them to `ary` and return it."""
        return DeviceArray(self.view(np.ndarray)).copy_to_host(ary)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Write the elements of `ary` to this array."""
        DeviceArray(self.view(np.ndarray)).copy_to_device(ary)


def empty(shape: Any, dtype: DTypeLike, order: str = "C") -> NDArray:
    """Return an array whose elements count as unwritten; reads of them are found."""
    if order not in ("C", "F"):
        raise ValueError(f"order={order!r}; allowed are 'C' and 'F'")
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if order == "C" or len(shape) < 2:
        return simt.uninitialized(shape, dtype)
    return np.empty(shape, dtype, order="F")


def contiguous(array: NDArray) -> NDArray:
    """Return `array`, refusing one that numba cannot copy to a device in one piece.

    Raises
    ------
    ValueError
        If it is contiguous in neither order.
    """
    __tracebackhide__ = True
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError(NOT_CONTIGUOUS)
    return array


def plain(value: Any) -> Any:
    """Return a kernel's argument as the machine takes it."""
    __tracebackhide__ = True
    if isinstance(value, DeviceArray):
        return value.data
    if isinstance(value, MappedArray):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray):
        return contiguous(value)
    if isinstance(value, tuple):
        items = [plain(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, Direction):
        return plain(value.value)
    if hasattr(value, "__cuda_array_interface__"):
        raise TypeError(
            f"a {type(value).__name__} lies in the memory of a GPU, which the machine cannot read"
        )
    return value


class Direction:
    """``cuda.In(array)``, ``cuda.Out(array)``, ``cuda.InOut(array)``: how an array is copied."""

    def __init__(self, value: ArrayLike):
        self.value = value


def _basic(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if not (part is Ellipsis or isinstance(part, (int, np.integer, slice, str))):
            raise NotImplementedError(
                f"index={index!r}; allowed for an array on the device are integers and slices"
            )
    return index


def _check_alike(one: NDArray, other: NDArray) -> None:
    if one.dtype != other.dtype:
        raise TypeError(f"incompatible dtype: {one.dtype} and {other.dtype}")
    if one.shape != other.shape:
        raise ValueError(f"incompatible shape: {one.shape} and {other.shape}")


def _view(array: NDArray, other: NDArray) -> NDArray:
    if other.size and not np.shares_memory(array, other):
        raise NotImplementedError("operation requires copying")
    return other
