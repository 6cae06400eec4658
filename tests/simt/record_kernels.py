"""Kernels over structured arrays, dynamic shared memory and complex numbers.

numba's simulator runs them, too, like those of ``simulator_kernels``.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, from_dtype, int16, int32

PARTICLE = np.dtype([("x", np.float32), ("y", np.float32), ("k", np.int32)], align=True)
MIXED = np.dtype(
    [("small", np.int8), ("big", np.float64), ("row", np.int16, (3,)), ("k", np.int32)], align=True
)
PACKED = np.dtype([("value", np.float64), ("k", np.int32), ("tag", np.int8)])  # 13 bytes
TABLE = np.array([(1.5, 2.5, 3), (4.5, 5.5, 6)], PARTICLE)
particle, mixed = from_dtype(PARTICLE), from_dtype(MIXED)


@cuda.jit
def move(a, out):
    i = cuda.grid(1)
    if i < a.size:
        a[i].x += a[i].y * 2
        a[i]["k"] = a[i]["k"] + i
        out[i] = a[i].x + a[i].k


@cuda.jit
def by_column(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a["x"][i] + a["y"][a.size - 1 - i]
        cuda.atomic.add(a["k"], 0, 1)


@cuda.jit
def by_reference(a, out):
    i = cuda.grid(1)
    if i < a.size:
        r = a[i]
        for j in range(i % 3):
            r = a[(i + j) % a.size]
        if i % 2 == 0:
            r = a[0]
        out[i] = r.k
        own = a[i]
        own.x = r["k"] * 2.0
        own["y"] += 1


@cuda.jit(device=True)
def norm(p):
    return p.x * p.x + p.y * p.y


@cuda.jit
def called(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = norm(a[i])


@cuda.jit
def through_shared(a, out):
    tile = cuda.shared.array(16, particle)
    own = cuda.local.array(2, mixed)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    own[1].big = tile[15 - t].x
    own[1].small = t
    own[1].k = tile[t].k
    out[i] = own[1].big + own[1].small + own[1].k


@cuda.jit
def nested(a, out):
    i = cuda.grid(1)
    if i < a.size:
        total = 0
        for k in range(3):
            a[i].row[k] += i
            total += a[i].row[k]
        a[i]["big"] = total / 2
        out[i] = total + a[i].k + a["row"][i, 1]


@cuda.jit
def packed(a, out):
    i = cuda.grid(1)
    if i < a.size:
        a[i].value += a[i].tag
        out[i] = a[i].value + a[i].k


@cuda.jit
def of_a_table(out):
    i = cuda.grid(1)
    table = cuda.const.array_like(TABLE)
    out[i] = table[i % 2].x + table[i % 2].k + TABLE[i % 2].y


@cuda.jit
def rows_of_records(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        row = a[x]
        row[y].k += 1
        a[x, y].x = row[y].k * a.shape[1]
        out[x, y] = a["x"][x, y]


@cuda.jit
def carved(a, out):
    n = cuda.blockDim.x
    ints = cuda.shared.array(0, int32)
    floats = cuda.shared.array(0, float32)
    own, others = ints[:n], floats[n : 2 * n]
    t, i = cuda.threadIdx.x, cuda.grid(1)
    own[t] = a[i]
    others[t] = a[i] / 2
    cuda.syncthreads()
    out[i] = own[n - 1 - t] + others[(t + 1) % n]


@cuda.jit
def reinterpreted(a, out):
    words = cuda.shared.array(0, int32)
    halves = cuda.shared.array(0, int16)
    t = cuda.threadIdx.x
    words[t] = a[t]
    cuda.syncthreads()
    out[t, 0] = halves[2 * t]
    out[t, 1] = halves[2 * t + 1]
    out[t, 2] = halves.size


@cuda.jit
def complex_arithmetic(z, w, out):
    i = cuda.grid(1)
    if i < z.size:
        total = z[i] * w[i] + 2j
        if total != z[i]:
            total -= z[i].conjugate() / (1 + abs(w[i]))
        out[i, 0] = total
        out[i, 1] = complex(z[i].imag, w[i].real) ** 2
        out[i, 2] = -z[i] + 3


#: numba's simulator supports no copies of whole records and no constant records.
NOT_SIMULATED = ("through_shared", "of_a_table")


def cases():
    """Return {name: (kernel, grid, block, arguments, bytes of dynamic shared memory)}."""
    rng = np.random.default_rng(11)

    def filled(dtype, *shape):
        a = np.zeros(shape, dtype)
        for name in dtype.names:
            a[name] = rng.integers(-20, 20, a[name].shape)
        return a

    def ints(n):
        return rng.integers(0, 1 << 20, n).astype(np.int32)

    def numbers(n, dtype):
        return (rng.normal(0, 2, n) + 1j * rng.normal(0, 2, n)).astype(dtype)

    def out(*shape):
        return np.zeros(shape)

    pair = numbers(40, np.complex128), numbers(40, np.complex128)
    return {
        "move": (move, 2, 32, (filled(PARTICLE, 45), out(45)), 0),
        "by_column": (by_column, 2, 32, (filled(PARTICLE, 45), out(45)), 0),
        "by_reference": (by_reference, 1, 40, (filled(PARTICLE, 33), out(33)), 0),
        "called": (called, 2, 32, (filled(PARTICLE, 45), out(45)), 0),
        "through_shared": (through_shared, 3, 16, (filled(PARTICLE, 48), out(48)), 0),
        "nested": (nested, 1, 64, (filled(MIXED, 45), out(45)), 0),
        "packed": (packed, 2, 32, (filled(PACKED, 45), out(45)), 0),
        "of_a_table": (of_a_table, 1, 32, (out(32),), 0),
        "rows_of_records": (
            rows_of_records, (2, 2), (4, 4), (filled(PARTICLE, 7, 6), out(7, 6)), 0
        ),
        "carved": (carved, 3, 16, (ints(48), out(48)), 128),
        "reinterpreted": (reinterpreted, 1, 32, (ints(32), np.zeros((32, 3), np.int64)), 128),
        "complex_arithmetic": (
            complex_arithmetic, 2, 32, (*pair, np.zeros((40, 3), np.complex128)), 0
        ),
    }  # fmt: skip
