"""Checks of a matrix of arc lengths, all of it or some rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import as_array, as_numbers
from gpukernels.cores.slabs import on_all_cores
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import DENSE_LIMIT, no_arc
from gpukernels.graphs.kernel_weights import in_32_bits


def checked_matrix(name: str, values: ArrayLike) -> NDArray:
    """Return a matrix as int32 or float32; InvalidArgument unless it holds such lengths."""
    array = checked_shape(name, values)
    return checked_rows(name, array, row_type(array.dtype, True))


def row_type(dtype: np.dtype, kernels: bool) -> np.dtype:
    """Return the type of rows of a matrix of that type: of 4 bytes for kernels, or as it is."""
    checked = as_numbers("dtype", np.empty(0, dtype)).dtype
    return np.dtype(f"{checked.kind}{4 if kernels else checked.itemsize}")


def checked_shape(name: str, values: ArrayLike, limit: int = DENSE_LIMIT) -> NDArray:
    """Return a matrix of numbers, with one of the types of a graph's weights.

    InvalidArgument unless it has at most `limit` rows and columns.
    """
    array = as_array(name, values)
    if array.dtype.kind not in "iuf":
        allowed = "a matrix of an integer or float type" + (", or a Graph" if name == "g" else "")
        raise InvalidArgument(name, values, allowed)
    check_size(name, array, limit)
    # Shorter types are converted some rows at a time, for a memory map may be large.
    short = hasattr(values, "dtype") and array.itemsize <= 4
    return array if short else as_numbers(name, values)


def check_size(name: str, array: NDArray, limit: int = DENSE_LIMIT) -> None:
    """Raise InvalidArgument unless a matrix has at most `limit` rows and columns."""
    if array.ndim != 2 or max(array.shape) > limit:
        allowed = f"2-D, of at most {limit:,} rows and columns"
        raise InvalidArgument(f"{name}.shape", array.shape, allowed)


def checked_square(name: str, values: ArrayLike, limit: int) -> NDArray:
    """Return such a matrix; InvalidArgument unless it has as many rows as columns."""
    array = checked_shape(name, values, limit)
    if array.shape[0] != array.shape[1]:
        raise InvalidArgument(f"{name}.shape", array.shape, f"square, or {name} a Graph")
    return array


def check_diagonal(name: str, array: NDArray, first: int = 0) -> None:
    """Raise InvalidArgument unless the diagonal, of rows from `first` on, is 0."""
    diagonal = array.diagonal(first)
    if diagonal.any():
        at = int(np.argmax(diagonal != 0))
        allowed = "0, as every diagonal element of a matrix of arc lengths"
        raise InvalidArgument(f"{name}[{first + at}, {first + at}]", diagonal[at].item(), allowed)


def checked_rows(name: str, array: NDArray, dtype: np.dtype, first: int = 0) -> NDArray:
    """Return rows, the first of which is number `first`, in a type of `row_type`.

    InvalidArgument if an element is no length, or kernels cannot take it.
    """
    if array.dtype == dtype and dtype.kind == "i":
        return array  # whatever it holds is allowed
    result = np.empty(array.shape, dtype)

    def check(begin: int, end: int) -> None:
        result[begin:end] = _checked(name, array[begin:end], dtype, first + begin)

    on_all_cores(check, array.shape)
    return result


def _checked(name: str, array: NDArray, dtype: np.dtype, first: int) -> NDArray:
    """Return such rows, few enough for a cache."""
    result = array = as_numbers(name, array)
    wrong, allowed = np.zeros(array.shape, bool), "a length"
    if dtype != array.dtype:
        result, wrong, allowed = in_32_bits(array)
    if dtype.kind == "f":
        wrong |= np.isnan(array) | (array == -np.inf)
        allowed += "; infinity where there is no arc"
    else:
        none = array == no_arc(array.dtype)
        result, wrong = np.where(none, no_arc(dtype), result), wrong & ~none
        allowed += f"; {no_arc(array.dtype)} where there is no arc"
    if wrong.any():
        i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        raise InvalidArgument(f"{name}[{first + i}, {j}]", array[i, j].item(), allowed)
    return result
