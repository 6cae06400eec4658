"""Finds a side of each vertex with room for a loop or for the vertex's name.

The result must be the same on every machine, so only sums, products and roots are used. Small
errors must not change it either: the first of the eight sides that is clear enough is chosen. If
none is, the clearest side is chosen, compared in tenths.
"""

from __future__ import annotations

import numpy as np

#: The eight sides of a vertex as unit vectors, y downwards; ``js/drawing.js`` has them, too.
_HALF = float(np.sqrt(0.5))
SIDES = np.array(
    [
        (_HALF, -_HALF),
        (-_HALF, -_HALF),
        (_HALF, _HALF),
        (-_HALF, _HALF),
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, -1.0),
        (0.0, 1.0),
    ]
)
#: Loops stand upright if there is room; a name stands at the upper right.
LOOP_ORDER = (6, 0, 1, 4, 5, 7, 2, 3)
#: A side with this distance to all other marks, in SVG units, is clear.
CLEAR = 2.0
#: Number of samples on a line, and around a loop.
_SAMPLES, _AROUND = 24, 12
#: Size of a name: each digit, and its height.
_DIGIT, _TALL = 6.0, 9.0
#: Half the size of a value that stands on its line.
_VALUE = 6.0


def loop_reach(radius: float) -> float:
    """Return how far from its vertex's middle a loop's far end lies, in SVG units."""
    return radius - 1 + loop_size(radius) + _loop_rise(radius)


def loop_size(radius: float) -> float:
    """Return the radius of a loop around a dot of `radius`."""
    return max(0.7 * radius, 3.0)


def _loop_rise(radius: float) -> float:
    return float(np.sqrt(max(loop_size(radius) ** 2 - 9.0, 0.0)))


def _samples(x, y, tail, head, bent, directed) -> np.ndarray:
    """Return points along each line that joins two vertices: (lines, samples, 2)."""
    joins = tail != head
    a, b, bow = tail[joins], head[joins], np.where(bent[joins] & directed, 0.14, 0.0)
    p, q = np.stack([x[a], y[a]], axis=1), np.stack([x[b], y[b]], axis=1)
    along = q - p
    bend = (p + q) / 2 + bow[:, None] * np.stack([-along[:, 1], along[:, 0]], axis=1)
    t = (np.arange(_SAMPLES + 1) / _SAMPLES)[None, :, None]
    points = (1 - t) ** 2 * p[:, None] + 2 * t * (1 - t) * bend[:, None] + t * t * q[:, None]
    return points


def _chosen(room: np.ndarray, order: tuple[int, ...]) -> int:
    """Return the first side of `order` that is clear, else the clearest."""
    tenths = np.rint(10 * room).astype(np.int64)
    for side in order:
        if tenths[side] >= 10 * CLEAR:
            return side
    return max(order, key=lambda side: (tenths[side], -order.index(side)))


def find_room(x, y, tail, head, bent, width, height, radius, directed, named):
    """Choose a side for each loop and, where vertices are `named`, for each name.

    Parameters
    ----------
    x, y : numpy.ndarray
        int64, of shape (n,), in tenths of an SVG unit.
    tail, head, bent : numpy.ndarray
        The lines, as a `Drawing` has them.
    width, height, radius : float
        Size of the paper, and radius of a dot, in SVG units.
    directed, named : bool
        Whether opposite arcs are bent apart; whether vertices have names.

    Returns
    -------
    loops, names : numpy.ndarray
        int64, a row of `SIDES` for each line (0 where it is no loop) and for each vertex.
    """
    x, y = x / 10.0, y / 10.0
    at = np.stack([x, y], axis=1)
    lines = _samples(x, y, tail, head, bent, directed)
    points = lines.reshape(-1, 2)
    loops = np.zeros(len(tail), dtype=np.int64)
    middle, size = radius - 1 + _loop_rise(radius), loop_size(radius)
    circles = []
    for k in np.flatnonzero(tail == head):
        v = tail[k]
        others = np.delete(at, v, axis=0)
        centers = at[v] + middle * SIDES
        # Points within the vertex are hidden under its dot.
        near = points[((points - at[v]) ** 2).sum(axis=1) > radius * radius]
        room = np.minimum(_nearest(centers, near) - size, _nearest(centers, others) - size - radius)
        loops[k] = side = _chosen(_inside(room, centers, size, size, width, height), LOOP_ORDER)
        turn = 2 * np.arange(_AROUND) / _AROUND - 1
        rise = np.sqrt(1 - turn * turn)
        rim = np.concatenate([np.stack([turn, rise], 1), np.stack([turn, -rise], 1)])
        circles.append(centers[side] + size * rim)
    names = np.zeros(len(x) if named else 0, dtype=np.int64)
    if not named:
        return loops, names
    points = np.concatenate([points, *circles])
    values = [line[_SAMPLES // 2] for line in lines]
    values += [
        at[tail[k]] + loop_reach(radius) * SIDES[loops[k]] for k in np.flatnonzero(tail == head)
    ]
    taken = np.array(values).reshape(-1, 2)
    half = []
    for v in range(len(x)):
        wide = _DIGIT * len(str(v)) / 2
        centers = at[v] + name_offsets(radius, wide)
        others = np.delete(at, v, axis=0)
        room = np.minimum.reduce(
            [
                _apart(centers, points, wide, _TALL / 2),
                _apart(centers, others, wide + radius, _TALL / 2 + radius),
                _apart(centers, taken, wide + _VALUE, _TALL / 2 + _VALUE) + CLEAR,
                *(_apart(centers, c[None], wide + w, _TALL) + CLEAR for c, w in half),
            ]
        )
        names[v] = side = _chosen(
            _inside(room, centers, wide, _TALL / 2, width, height), tuple(range(8))
        )
        half.append((centers[side], wide))
    return loops, names


def name_offsets(radius: float, wide: float) -> np.ndarray:
    """Return where the middle of a name `wide` to each side lies from its vertex, by `SIDES`."""
    sign = np.sign(SIDES)
    corner = (sign != 0).all(axis=1)[:, None]
    beside = sign * np.array([radius + 6 + wide, radius + 6 + _TALL / 2])
    return np.where(corner, sign * np.array([radius + 1.5 + wide, radius + 2.0]), beside)


def _inside(room, centers, wide, tall, width, height) -> np.ndarray:
    """Return the room of each side, less where a mark would leave the paper."""
    low = np.minimum(centers[:, 0] - wide, centers[:, 1] - tall)
    high = np.minimum(width - centers[:, 0] - wide, height - centers[:, 1] - tall)
    return np.minimum(room, 100.0) + 1000 * np.minimum(np.minimum(low, high), 0.0)


def _nearest(centers: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return how far each center is from the nearest point."""
    if not len(points):
        return np.full(len(centers), 100.0)
    apart = centers[:, None] - points[None]
    return np.sqrt((apart * apart).sum(axis=2).min(axis=1))


def _apart(centers: np.ndarray, points: np.ndarray, wide: float, tall: float) -> np.ndarray:
    """Return how far a box around each center is from the nearest point; negative within it."""
    if not len(points):
        return np.full(len(centers), 100.0)
    apart = np.abs(centers[:, None] - points[None])
    return np.maximum(apart[:, :, 0] - wide, apart[:, :, 1] - tall).min(axis=1)
