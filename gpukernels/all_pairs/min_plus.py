"""The (min, +) product of two matrices, by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import check_flag
from gpukernels.device import Device, chosen_device
from gpukernels.errors import InvalidArgument

from .encoding import ABSENT, FLOAT32_MAX, UNREACHED, absent_in, padded
from .matrix_checks import checked_matrix
from .on_device import Launches
from .result import make_infinite
from .tiles import PRODUCT_TILES, form_of


def min_plus(
    a: ArrayLike,
    b: ArrayLike,
    device: Device | None = None,
    *,
    tile: int | None = None,
    per_thread: str | None = None,
    lazy: bool = False,
    padding: bool = True,
) -> NDArray[np.int32] | NDArray[np.float32]:
    """Multiply two matrices, with sums for products and the minimum for the sum.

    Parameters
    ----------
    a, b : array of int or float, shapes (n, k) and (k, m)
        The factors. No arc is infinity, or for whole numbers 2^31 - 1 (in int64 also 2^63 - 1). If
        one holds floats, both are rounded to float32. Then a result differs from the exact one by
        at most 2^-22 (abs(a[i, k]) + abs(b[k, j])) for some k, besides 2^-149 for tiny numbers.
    device : SimtDevice or CudaDevice, optional
        Where to run; by default :func:`gpukernels.default_device`.
    tile : int, optional
        Rows and columns of a tile: 16, 32, 64 or 128. Unless given, 16 for small matrices, else 64.
    per_thread : str, optional
        Elements of a thread, across and down: ``"1x1"``, ``"4x2"``, ``"4x4"`` or ``"8x8"``.
    lazy : bool
        Whether to skip additions to infinite lengths, and the minimum after each of them.
    padding : bool
        Whether rows of shared memory are padded, so that no two lanes meet at a bank.

    Returns
    -------
    ndarray of int32 or float32, shape (n, m)
        ``[i, j]`` is the least ``a[i, k] + b[k, j]`` over all k.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit each other, an element is no length, or sums might be too large.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.min_plus([[0, 5], [2, 0]], [[0, 1], [-3, 0]])
    array([[ 0,  1],
           [-3,  0]], dtype=int32)
    """
    lazy, padding = check_flag("lazy", lazy), check_flag("padding", padding)
    device = chosen_device(device)
    a, b = checked_matrix("a", a), checked_matrix("b", b)
    if a.shape[1] != b.shape[0]:
        raise InvalidArgument("b.shape", b.shape, f"({a.shape[1]}, m), as a has so many columns")
    if a.dtype != b.dtype:
        a, b = (np.where(x == UNREACHED, np.inf, x).astype(np.float32)
                if x.dtype == np.int32 else x for x in (a, b))  # fmt: skip
    absent, infinite = _bounds(a, b)
    (n, depth), m = a.shape, b.shape[1]
    form = form_of(max(n, m, depth), a.dtype, tile, per_thread, PRODUCT_TILES,
                   lazy=lazy, padding=padding)  # fmt: skip
    high, middle, wide = map(form.whole, (n, depth, m))
    none = device.full((high, wide), absent, a.dtype)
    result = device.empty((high, wide), a.dtype)
    left, right = (
        device.array(padded(np.minimum(x, absent_in(x)), shape))
        for x, shape in ((a, (high, middle)), (b, (middle, wide)))
    )
    if middle == 0:
        result = none
    else:
        Launches(device, form, infinite).product(left, right, none, result)
    product = np.ascontiguousarray(device.read(result)[:n, :m])
    make_infinite(infinite, product)
    return product


def _bounds(a: NDArray, b: NDArray) -> tuple[float, float]:
    """Return the value for infinity, and the least value that counts as infinite.

    As in `lengths`: an infinite length may have fallen by the most negative element.
    """
    whole = a.dtype == np.int32
    end = UNREACHED if whole else np.inf
    least = [min(0, x.min(initial=0, where=x != end).item()) for x in (a, b)]
    most = sum(max(0, x.max(initial=0, where=x != end).item()) for x in (a, b))
    absent = ABSENT if whole else np.inf
    infinite = absent + min(least) if whole else np.inf
    limit, fall = (infinite, ABSENT) if whole else (FLOAT32_MAX, FLOAT32_MAX)
    if most >= limit or -sum(least) > fall or (whole and -min(least) > ABSENT // 2):
        allowed = "small enough that no sum is beyond 2^29" if whole else "within float32"
        raise InvalidArgument("the range of sums", (sum(least), most), allowed)
    return absent, a.dtype.type(infinite)
