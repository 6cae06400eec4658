"""The tables of the papers, each with the measurement of ours to compare it with."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pair:
    """A paper's table of times and our file of measurements.

    Parameters
    ----------
    paper, table : str
        Key of the paper, name of the table.
    file : str
        The name of our file in ``data/benchmarks``.
    methods : dict of str to (str, tuple of str)
        By column of the table: its name on the page, and patterns of our searches, of which the
        fastest is shown. Without patterns, we have no such search. A pattern that begins with
        ``!`` excludes searches. A name in braces is replaced by the value of this name in our row.
    graphs : dict of str to str
        By row of the table, the name of the same kind of graph in our file.
    differs : dict of str to str
        By row, a sentence on the difference between the graphs.
    without : dict of str to str
        By column, the reason why we have no measurement.
    """

    paper: str
    table: str
    file: str
    methods: dict[str, tuple[str, tuple[str, ...]]]
    graphs: dict[str, str] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)


#: Harish and Narayanan's search is a virtual warp of one thread, and the papers count it as such.
GROUPS = ("harish", "virtual_warp*")
#: Patterns of the searches among which the page looks for our fastest.
ON_GPU = ("*", "!sequential", "!all cores", "!SciPy*", "!min_plus*")

BFS4K = Pair(
    "busato2015bfs4k",
    "Table 2",
    "bfs",
    {
        "Harish": ("Harish", ("harish",)),
        "Edge Parallel": ("Edge Parallel", ("edge_parallel",)),
        "Static Virtual Warp": ("Virtual Warp, best size", GROUPS),
        "Luo": ("Luo", ("luo",)),
        "Garland": ("Garland", ("hybrid",)),
        "BFS-4K": ("BFS-4K", ("bfs4k*",)),
    },
    {
        "random.2Mv.128Me": "random",
        "Gen-SmallWorld": "small world",
        "rmat.2Mv.128Me": "rmat",
        "roadNet-CA": "road",
        "kron_g500-lon20": "kron",
        "Gen-ForestFire": "forest fire",
    },
    {
        "random.2Mv.128Me": "The same recipe, another random graph.",
        "Gen-SmallWorld": "The same recipe, another random graph.",
        "rmat.2Mv.128Me": "Also R-MAT, with Graph500's probabilities.",
        "roadNet-CA": "Ours is a generated grid of streets instead of the roads of California.",
    },
)

HBF = Pair(
    "busato2016hbf",
    "Table 2",
    "sssp",
    {
        "Bellman-Ford, one core": ("Bellman-Ford, one core", ()),
        "Boost Dijkstra, one core": ("Dijkstra, one core", ("sequential",)),
        "LoneStar": ("LoneStar", ("topology_driven",)),
        "Workfront Sweep / Near-Far": (
            "Workfront Sweep / Near-Far",
            ("workfront_sweep", "near_far"),
        ),
        "H-BF": ("H-BF", ("hbf*",)),
    },
    {"rmat.3Mv.20Me": "rmat"},
    {"rmat.3Mv.20Me": "The same sizes, another random graph; the paper does not name its weights."},
    without={"Bellman-Ford, one core": "our row of one core is Dijkstra's heap"},
)

STAND_IN = (
    "Generated with the paper's counts of vertices, edges and degrees; our weights are positive."
)
SWITCHED = Pair(
    "busato2016hbf",
    "Table 3",
    "hbf_switches",
    {
        "Bellman-Ford, one core": ("Bellman-Ford, one core", ()),
        "H-BF without": ("H-BF, one optimization off", ("{in_the_paper}",)),
        "H-BF with": ("H-BF", ("hbf",)),
    },
    {
        "hugetrace_00000": "hugetrace-like",
        "wiki-talk": "wiki-talk-like",
        "as-Skitter": "Skitter-like",
        "random_2Mv.128Me": "random",
    },
    {
        "hugetrace_00000": f"Off: warp workload. {STAND_IN}",
        "wiki-talk": f"Off: edge classification. {STAND_IN}",
        "as-Skitter": f"Off: dynamic virtual warps and dynamic parallelism. {STAND_IN}",
        "random_2Mv.128Me": "Off: the 64-bit atomic. The same recipe; some of their weights are "
        "negative, none of ours.",
    },
    without={"Bellman-Ford, one core": "our row of one core is Dijkstra's heap"},
)

ALL_PAIRS = Pair(
    "padamata2013graph",
    "Results, all pairs",
    "apsp",
    {
        "one core": ("Floyd-Warshall, one core", ("sequential",)),
        "matrix products": ("Repeated squaring", ("repeated_squaring",)),
        "naive": ("Floyd-Warshall, naive", ("naive",)),
        "blocked, 4 x 2": ("Blocked, 4 × 2 per thread", ("blocked tile=32 per_thread=4x2",)),
    },
)

COURSE_BFS = (
    "Experiments, by size",
    "Experiments, by density",
    "Experiments, by largest degree",
)

#: The papers' names of mapping techniques, and ours.
TECHNIQUES = {
    "Work-items to threads": "work_item_to_thread",
    "Virtual Warps": "virtual_warp",
    "Dyn. Virtual Warps": "dynamic_virtual_warp",
    "CTA+Warp+Scan": "cta_warp_scan",
    "Local Warp Search": "local_warp_search",
    "Two-Phase": "two_phase",
    "Multi-phase": "multi_phase",
}
#: Ways to find duplicates, in Fig. 13(b) and in ours.
FILTERS = {"Garland": "merrill", "Hash64 (BFS-4K)": "hash64"}
