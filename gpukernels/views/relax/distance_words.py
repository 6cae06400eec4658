"""The forms in which arrays hold distances, by the arrays' names.

``distance`` holds plain distances. A search may put more into a word, so that one atomic changes
all of it: ``word`` (uint32) holds a distance and a bit, ``words`` (uint64) a distance above a
round. In every form, a smaller value means a smaller distance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from gpukernels.trace import ArrayInfo

Decode = Callable[[np.ndarray], np.ndarray]

#: The distance that means "no path" if distances are whole numbers.
_NO_PATH = 2**31 - 1


def _plain(dtype: np.dtype, value: np.ndarray) -> np.ndarray:
    """Read distances: int32, whose largest value means "no path", or float32."""
    if np.issubdtype(dtype, np.integer):
        return np.where(value >= _NO_PATH, np.inf, value)
    return value


def _of_bits(dtype: np.dtype, bits: np.ndarray) -> np.ndarray:
    """Read the 32 bits of distances, as whole numbers with a sign."""
    return _plain(dtype, bits.astype(np.int64).astype(np.int32).view(dtype).astype(np.float64))


def _above_a_bit(dtype: np.dtype, value: np.ndarray) -> np.ndarray:
    """Read ``2 * bits + waits``."""
    return _of_bits(dtype, value // 2)


def _above_a_round(dtype: np.dtype, value: np.ndarray) -> np.ndarray:
    """Read ``key << 32 | round``, whose key orders as an unsigned number.

    A trace keeps values as float64: of 64 bits the upper 53, which leaves all of the key.
    """
    key = np.minimum(value // 2.0**32, 2.0**32 - 1).astype(np.int64)
    bits = key - 2**31
    if not np.issubdtype(dtype, np.integer):
        bits ^= (bits >> 31) & 0x7FFFFFFF
    return np.where(key == 2**32 - 1, np.inf, _of_bits(dtype, bits))


_FORMS = {("word", "uint32"): _above_a_bit, ("words", "uint64"): _above_a_round}


def reader_of(array: ArrayInfo, dtype: np.dtype, decode: Decode | None) -> Decode | None:
    """Return a function that reads distances from values of `array`, or None if it holds none.

    Parameters
    ----------
    array : ArrayInfo
        An array of a trace.
    dtype : numpy.dtype
        The type of distances.
    decode : callable, optional
        Function that reads distances from an array called ``distance``.
    """
    if array.space != "global":
        return None
    if array.name == "distance":
        return decode or partial(_plain, dtype)
    form = _FORMS.get((array.name, np.dtype(array.dtype).name))
    return form and partial(form, dtype)
