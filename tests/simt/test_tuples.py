"""Tuples in all forms that numba accepts, also named ones and members of enumerations."""

from __future__ import annotations

import enum
from collections import namedtuple

import numpy as np
from launching import launched
from numba import cuda
from thread_by_thread import alone

N = 40
Edge = namedtuple("Edge", "source target weight", defaults=(1,))
ORIGIN = Edge(3, 4)


class Direction(enum.IntEnum):
    PUSH = 1
    PULL = 2


class State(enum.Enum):
    NEW = 10
    SEEN = 20


A = np.random.default_rng(5).integers(0, 5, N)
with_a = alone(A, np.zeros((N, 8), np.int64), blocks=2, threads=20)


@with_a
@cuda.jit
def indexed(a, out):
    i = cuda.grid(1)
    own = (a[i], i, a[0])
    out[i, 0] = own[i % 3]
    out[i, 1] = own[1:][0] + 10 * own[::-1][0] + 100 * len(own[:-1]) + 1000 * own[-1]
    nested = ((i, 2), (a[i], 4))
    out[i, 2] = nested[i % 2][1] + nested[a[i] % 2][0]
    out[i, 3] = out.shape[i % 2]
    first, rest = a[:3], a[3:]
    both = (first, rest)
    out[i, 4] = both[i % 2].size + both[a[i] % 2][a[i] % 3]
    out[i, 5] = (*own, 7, *own[:1])[3] + len(own + (1, 2))  # noqa: RUF005
    k = 1
    out[i, 6] = own[k]


@with_a
@cuda.jit
def compared(a, out):
    i = cuda.grid(1)
    own, other = (a[i], i % 3), (2, 1)
    out[i, 0] = (own == other) + 2 * (own != other) + 4 * (own == (1, 2, 3))
    out[i, 1] = (own < other) + 2 * (own <= other) + 4 * (own > other) + 8 * (own >= other)
    out[i, 2] = (own < (2,)) + 2 * (own > (2,)) + 4 * (own <= (2, 1, 0))
    out[i, 3] = ((own, 1) == ((2, 1), 1)) + 2 * ((own, 1) < ((2, 1), a[0]))
    out[i, 4] = (a[i] in (1, 3)) + 2 * (i not in own)
    out[i, 5] = (own < (2.5, 0)) + 2 * (own == (2.0, 1))
    if own:
        out[i, 6] += 1
    if ():
        out[i, 6] += 2
    out[i, 7] = own is not None


@cuda.jit
def same(a, out):
    i = cuda.grid(1)
    out[i, 0] = (a[i] is a[0]) + 2 * (a[i] is not i)


def test_numbers_of_one_type_are_the_same_where_they_are_equal(scheduled_device):
    _, array = launched(scheduled_device, same, 2, 20, A, np.zeros((N, 1), np.int64))
    np.testing.assert_array_equal(array[:, 0], (A == A[0]) + 2 * (A != np.arange(N)))


@cuda.jit(device=True)
def lighter(one, other):
    if one.weight < other.weight:
        return one
    return Edge(other.target, other.source, weight=other.weight)


@cuda.jit(device=True)
def sum_of(*parts):
    total = 0
    for part in parts:
        total += part
    return total + len(parts)


@alone(A, np.zeros((N, 8), np.int64), Edge(5, 6, 2), blocks=2, threads=20)
@cuda.jit
def named(a, out, given):
    i = cuda.grid(1)
    edge = Edge(i, target=a[i], weight=1)
    best = lighter(given, Edge(i, a[i], a[0] + i % 3))
    out[i, 0] = edge.source + 10 * edge.target + 100 * edge.weight
    out[i, 1] = best.source + 10 * best.target + 100 * best.weight
    source, target, weight = best
    out[i, 2] = source + target + weight + edge[i % 3]
    out[i, 3] = (edge == (i, a[i], 1)) + 2 * (edge < best) + ORIGIN.target
    chosen = edge if a[i] > 2 else given
    out[i, 4] = chosen.weight + chosen[0]
    if i % 2:
        chosen = best
    for part in chosen:
        out[i, 5] += part
    out[i, 6] = sum_of(a[i], i) + sum_of(i) + sum_of(*edge) + sum_of(1, *(i, 2))


@with_a
@cuda.jit
def either(a, out):
    i = cuda.grid(1)
    low, high = (a[i], i) if a[i] < i else (i, a[i])
    out[i, 0] = low + 100 * high
    part = a[i:] if a[i] > 2 else a[:3]
    out[i, 1] = part.size + part[0]
    mixed = (1, 2.5) if i % 2 else (3, 4)
    out[i, 2] = int(mixed[1] * 2)
    nested = ((i, 1), 2) if i % 3 else ((1, i), a[i])
    out[i, 3] = nested[0][0] + 10 * nested[0][1] + 100 * nested[1]
    out[i, 4] = ((i, 1) if a[i] > 2 else (a[i], 2))[0]


@with_a
@cuda.jit
def members(a, out):
    i = cuda.grid(1)
    way = Direction.PUSH if a[i] > 2 else Direction.PULL
    out[i, 0] = (way == Direction.PUSH) + 2 * (way is Direction.PULL) + 4 * Direction.PULL
    state = State.NEW
    if a[i] > 1:
        state = State.SEEN
    out[i, 1] = (state == State.NEW) + 2 * (state is State.SEEN) + 4 * (state != State.SEEN)
    out[i, 2] = state.value + Direction.PULL.value
    for k in range(Direction.PULL):
        out[i, 3] += k + Direction.PULL
