"""Check offsets: they must be an exclusive prefix sum with its total at the end."""

from __future__ import annotations

import numpy as np

from gpukernels.checks import as_array
from gpukernels.errors import InvalidArgument

#: The most units that int32 offsets can count.
MAX_UNITS = 2**31 - 1


def check_offsets(offsets) -> np.ndarray:
    """Return `offsets` as int32 if they are an exclusive prefix sum with its total at the end.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        The first unit of each item, and the number of units.

    Raises
    ------
    InvalidArgument
        If they are not a 1-D array of integers, do not begin at 0, decrease anywhere, or count more
        than 2^31 - 1 units.
    """
    offsets = as_array("offsets", offsets)
    if offsets.ndim != 1 or offsets.size == 0:
        raise InvalidArgument("offsets.shape", offsets.shape, "(items + 1,)")
    if offsets.dtype.kind not in "iu":
        raise InvalidArgument("offsets.dtype", offsets.dtype.name, "an integer type")
    if offsets[0] != 0:
        raise InvalidArgument("offsets[0]", int(offsets[0]), "0")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size:
        i = int(falls[0]) + 1
        allowed = f"at least offsets[{i - 1}] = {offsets[i - 1]}"
        raise InvalidArgument(f"offsets[{i}]", int(offsets[i]), allowed)
    if int(offsets[-1]) > MAX_UNITS:
        raise InvalidArgument("offsets[-1]", int(offsets[-1]), f"at most {MAX_UNITS} units")
    return offsets.astype(np.int32)
