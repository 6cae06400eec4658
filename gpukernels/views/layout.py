"""Where to draw the vertices: stress majorization with bitwise repeatable results.

Two vertices that are k arcs apart are drawn about k units apart (Gansner, Koren and North, 2004).
Pages with the result are compared byte by byte, so no sum may depend on the order of the additions.
Therefore forces are rounded to fixed point and added as integers.
"""

from __future__ import annotations

import numpy as np

_FIXED = float(1 << 24)


def _hops(n: int, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the number of arcs between each two vertices, from all at once, level by level."""
    order = np.argsort(np.concatenate([source, target]), kind="stable")
    neighbor = np.concatenate([target, source])[order]
    degree = np.bincount(source, minlength=n) + np.bincount(target, minlength=n)
    first = np.cumsum(degree) - degree
    hops = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    root = vertex = np.arange(n)
    level = 0
    while root.size:
        level += 1
        count = degree[vertex]
        arc = np.arange(count.sum()) + np.repeat(first[vertex] - np.cumsum(count) + count, count)
        root, vertex = np.repeat(root, count), neighbor[arc]
        root, vertex = np.divmod(np.unique((root * n + vertex)[np.isinf(hops[root, vertex])]), n)
        hops[root, vertex] = level
    return hops


def _sum_rows(forces: np.ndarray) -> np.ndarray:
    return np.rint(forces * _FIXED).astype(np.int64).sum(axis=1) / _FIXED


def _majorize(distance: np.ndarray, seed: int, rounds: int) -> np.ndarray:
    k = len(distance)
    first = int(distance[0].argmax())
    second = int(distance[first].argmax())
    third = int(np.minimum(distance[first], distance[second]).argmax())
    fourth = int(distance[third].argmax())
    place = np.stack(
        [distance[first] - distance[second], distance[third] - distance[fourth]], axis=1
    ).astype(np.float64)
    place += np.random.default_rng(seed).integers(-100, 101, size=(k, 2)) / 1000.0
    apart = distance.astype(np.float64)
    np.fill_diagonal(apart, 1.0)
    pull = 1.0 / (apart * apart)
    np.fill_diagonal(pull, 0.0)
    weight = _sum_rows(pull)
    for _ in range(rounds):
        dx = place[:, 0][:, None] - place[:, 0][None, :]
        dy = place[:, 1][:, None] - place[:, 1][None, :]
        length = np.maximum(np.sqrt(dx * dx + dy * dy), 1e-6)
        stretch = apart / length
        x = _sum_rows(pull * (place[:, 0][None, :] + stretch * dx)) / weight
        y = _sum_rows(pull * (place[:, 1][None, :] + stretch * dy)) / weight
        place = np.stack([x, y], axis=1)
    return place


def _lay_flat(place: np.ndarray) -> np.ndarray:
    place = place - np.rint(place.mean(axis=0) * _FIXED) / _FIXED
    xx, yy, xy = ((place[:, a] * place[:, b]).sum() for a, b in ((0, 0), (1, 1), (0, 1)))
    angle = -0.5 * np.arctan2(2 * xy, xx - yy)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack(
        [place[:, 0] * cos - place[:, 1] * sin, place[:, 0] * sin + place[:, 1] * cos], axis=1
    )


def _shelve(parts: list[np.ndarray], aspect: float) -> list[np.ndarray]:
    """Set the components side by side, the largest first, in rows of about the same width."""
    sizes = [part.max(axis=0) - part.min(axis=0) + 1.2 for part in parts]
    area = sum(float(w * h) for w, h in sizes)
    width = max(float(sizes[0][0]), (area * aspect) ** 0.5)
    x = y = tall = 0.0
    placed = []
    for part, (w, height) in zip(parts, sizes, strict=True):
        if x > 0 and x + w > width + 1e-9:
            x, y, tall = 0.0, y + tall, 0.0
        placed.append(part - part.min(axis=0) + 0.6 + np.array([x, y]))
        x, tall = x + float(w), max(tall, float(height))
    return placed


def stress_layout(
    n: int,
    source: np.ndarray,
    target: np.ndarray,
    *,
    seed: int = 0,
    rounds: int | None = None,
    aspect: float = 1.5,
) -> np.ndarray:
    """Place the vertices of a graph in the plane.

    Parameters
    ----------
    n : int
        Number of vertices.
    source, target : numpy.ndarray
        Arcs, of shape (m,); their direction is ignored.
    seed : int
        Seed of the small perturbation that separates vertices with the same distances.
    rounds : int, optional
        Majorization rounds; each costs O(n^2) for the largest component. 200, and 60 above 200
        vertices.
    aspect : float
        Width over height that disconnected components are arranged towards.

    Returns
    -------
    numpy.ndarray
        float64, of shape (n, 2), in units of about one arc length. The same input gives the same
        bits.
    """
    place = np.zeros((n, 2))
    if n == 0:
        return place
    hops = _hops(n, np.asarray(source), np.asarray(target))
    left = np.ones(n, dtype=bool)
    members: list[np.ndarray] = []
    for root in range(n):
        if left[root]:
            reached = np.flatnonzero(np.isfinite(hops[root]))
            members.append(reached)
            left[reached] = False
    members.sort(key=lambda group: (-len(group), int(group[0])))
    parts = []
    for group in members:
        if len(group) == 1:
            parts.append(np.zeros((1, 2)))
            continue
        distance = hops[np.ix_(group, group)]
        turns = rounds or (200 if len(group) <= 200 else 60)
        parts.append(_lay_flat(_majorize(distance, seed, turns)))
    for group, part in zip(members, _shelve(parts, aspect), strict=True):
        place[group] = part
    return place


def spread(place: np.ndarray, gap: float, rounds: int = 60) -> np.ndarray:
    """Push vertices apart until hardly two of them are closer than `gap`.

    Parameters
    ----------
    place : numpy.ndarray
        float64, of shape (n, 2).
    gap : float
        Least distance wanted.
    rounds : int
        Most rounds; each costs O(n^2).
    """
    for _ in range(rounds):
        dx = place[:, 0][:, None] - place[:, 0][None, :]
        dy = place[:, 1][:, None] - place[:, 1][None, :]
        length = np.sqrt(dx * dx + dy * dy)
        np.fill_diagonal(length, np.inf)
        close = length < gap
        if not close.any():
            break
        length = np.clip(length, 1e-3, 1e9)
        # Half of the overlap each, and a little less so that crowds settle.
        push = np.where(close, 0.45 * (gap - length) / length, 0.0)
        shift = np.stack([_sum_rows(push * dx), _sum_rows(push * dy)], axis=1)
        place = place + shift
    return place


def grid_layout(n: int, aspect: float = 1.5) -> np.ndarray:
    """Place vertices in reading order on a grid: for graphs too large to draw their arcs."""
    columns = max(1, int(np.ceil((n * aspect) ** 0.5)))
    order = np.arange(n)
    return np.stack([order % columns, order // columns], axis=1).astype(np.float64)
