"""Make the graphs of this folder again: ``python data/make_graphs.py``.

They are the library's own generated graphs, written by the rules of three file formats, so that the
book can read real files without owing them to anyone.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

import gpukernels as gk

FOLDER = Path(__file__).parent


def example() -> gk.Graph:
    """Return the running example, without the vertex that no edge names."""
    g = gk.example()
    source, target = g.coo
    return gk.Graph.from_arcs(15, source, target)


def roads() -> gk.Graph:
    """Return a road-like graph with street lengths in meters: 1,536 junctions."""
    return gk.road_grid(32, 48, seed=9, weighted=True)


def triangles() -> gk.Graph:
    """Return a Delaunay triangulation of 400 points."""
    return gk.delaunay(400, seed=20)


def links() -> gk.Graph:
    """Return a skewed directed graph of the kind that links make, without vertices of no arc."""
    g = gk.rmat(11, 6, seed=11, parallel="min", self_loops="remove")
    source, target = g.coo
    used, ends = np.unique(np.concatenate([source, target]), return_inverse=True)
    return gk.Graph.from_arcs(used.size, *np.split(ends, 2), labels=used)


def _once(g: gk.Graph):
    source, target = g.coo
    return zip(source[source >= target].tolist(), target[source >= target].tolist(), strict=True)


def write_example() -> str:
    """Return the running example as an edge list with the ids of the book."""
    edges = sorted((v, u) for u, v in _once(example()))
    lines = ["# Undirected graph: the running example, 16 vertices of which 15 stands alone"]
    lines += [f"# Nodes: 15 Edges: {len(edges)}", "# FromNodeId\tToNodeId"]
    return "\n".join([*lines, *(f"{u}\t{v}" for u, v in edges)]) + "\n"


def write_roads() -> str:
    """Return the roads in DIMACS format: both arcs of every street."""
    g = roads()
    arcs = zip(*(x.tolist() for x in (*g.coo, g.weights)), strict=True)
    lines = ["c road_grid(32, 48, seed=9, weighted=True), lengths in meters", f"p sp {g.n} {g.m}"]
    return "\n".join([*lines, *(f"a {u + 1} {v + 1} {w}" for u, v, w in arcs)]) + "\n"


def write_triangles() -> str:
    """Return the triangulation in Matrix Market format: the lower triangle of its matrix."""
    g = triangles()
    lines = ["%%MatrixMarket matrix coordinate pattern symmetric", "% delaunay(400, seed=20)"]
    lines += [f"{g.n} {g.n} {g.m // 2}"]
    return "\n".join([*lines, *(f"{u + 1} {v + 1}" for u, v in _once(g))]) + "\n"


def write_links() -> str:
    """Return the links as an edge list with ids that leave gaps and lines that end in CR LF."""
    g = links()
    source, target = (g.labels[end].tolist() for end in g.coo)
    lines = ["# Directed graph: rmat(11, 6, seed=11), simple", f"# Nodes: {g.n} Edges: {g.m}"]
    arcs = (f"{u}\t{v}" for u, v in zip(source, target, strict=True))
    return "\r\n".join([*lines, *arcs]) + "\r\n"


#: File name -> (graph as reading must give it, text of the file).
GRAPHS = {
    "example.txt": (example, write_example),
    "roads.gr.gz": (roads, write_roads),
    "triangles.mtx": (triangles, write_triangles),
    "links.txt.gz": (links, write_links),
}


if __name__ == "__main__":
    for name, (_, text) in GRAPHS.items():
        content = text().encode()
        # Without a time stamp, the same graph is the same bytes.
        content = gzip.compress(content, mtime=0) if name.endswith(".gz") else content
        (FOLDER / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")
