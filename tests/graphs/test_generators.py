import networkx
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.stats import kstest

import gpukernels as gk

SEEDED = {
    "rmat": lambda seed: gk.rmat(8, 8, seed),
    "kron": lambda seed: gk.kron(8, 8, seed),
    "erdos_renyi": lambda seed: gk.erdos_renyi(300, 4, seed),
    "erdos_renyi_directed": lambda seed: gk.erdos_renyi(300, 4, seed, directed=True),
    "small_world": lambda seed: gk.small_world(300, 6, 0.2, seed),
    "forest_fire": lambda seed: gk.forest_fire(300, 0.35, seed),
    "delaunay": lambda seed: gk.delaunay(300, seed, weighted=True),
    "road_grid": lambda seed: gk.road_grid(20, 15, seed, weighted=True),
    "random_weights": lambda seed: gk.random_weights(gk.example(), seed=seed),
}
SIMPLE = [*SEEDED.keys() - {"rmat"}]


def same(g, h):
    weights = g.weights is None or np.array_equal(g.weights, h.weights)
    return weights and np.array_equal(g.offsets, h.offsets) and np.array_equal(g.targets, h.targets)


def components(g):
    return connected_components(g.to_scipy(), connection="weak")[0]


def farthest(g, root=0):
    return int(shortest_path(g.to_scipy(), unweighted=True, indices=root).max())


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_gives_one_graph_and_another_seed_another(name):
    assert same(SEEDED[name](1), SEEDED[name](1))
    assert not same(SEEDED[name](1), SEEDED[name](2))


@pytest.mark.parametrize("name", SEEDED)
def test_generated_graphs_pass_full_validation(name):
    g = SEEDED[name](3)
    gk.Graph(g.offsets, g.targets, g.weights, g.directed)
    assert g.sorted_rows


@pytest.mark.parametrize("name", sorted(SIMPLE))
def test_simple_graphs_have_neither_loops_nor_parallel_arcs(name):
    source, target = SEEDED[name](4).coo
    assert (source != target).all()
    assert np.unique(np.column_stack([source, target]), axis=0).shape[0] == source.size


def test_rmat_has_the_arcs_asked_for_and_the_skew_of_its_quadrants():
    g = gk.rmat(12, 16, seed=5)
    assert (g.n, g.m, g.directed) == (4096, 65536, True)
    source, target = g.coo
    half = g.n // 2
    shares = [
        np.mean((source < half) & (target < half)),
        np.mean((source < half) & (target >= half)),
        np.mean((source >= half) & (target < half)),
        np.mean((source >= half) & (target >= half)),
    ]
    np.testing.assert_allclose(shares, [0.57, 0.19, 0.19, 0.05], atol=0.01)
    lowest_bit = [np.mean((source % 2 == r) & (target % 2 == c)) for r in (0, 1) for c in (0, 1)]
    np.testing.assert_allclose(lowest_bit, [0.57, 0.19, 0.19, 0.05], atol=0.01)
    assert g.out_degree.max() > 20 * g.out_degree.mean()
    assert gk.rmat(12, 16, seed=5, parallel="min", self_loops="remove").m < g.m
    assert not gk.rmat(5, seed=5, directed=False).directed


def test_kron_is_an_rmat_draw_made_simple_with_shuffled_ids():
    g = gk.kron(10, 8, seed=5)
    assert not g.directed
    assert g.m <= 2 * 8 * g.n
    assert g.out_degree.max() > 10 * g.out_degree.mean()
    first = g.out_degree[: g.n // 2].sum() / g.m
    assert 0.4 < first < 0.6, "without the shuffle the first half would hold three quarters"


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("n", "mean_degree"), [(0, 0), (1, 0), (2, 1), (50, 49), (50, 40), (50, 0.5), (400, 6)]
)
def test_erdos_renyi_has_the_mean_degree(n, mean_degree, directed):
    g = gk.erdos_renyi(n, mean_degree, seed=1, directed=directed)
    assert g.n == n
    assert abs(g.m - n * mean_degree) <= 1
    if n == 50 and mean_degree == 49:
        assert same(g, gk.complete(50))


def test_erdos_renyi_draws_every_edge_equally_often():
    counts = np.zeros((6, 6), dtype=int)
    for seed in range(600):
        np.add.at(counts, gk.erdos_renyi(6, 2, seed).coo, 1)
    edges = counts[np.triu_indices(6, 1)]
    assert edges.sum() == 600 * 6
    # 15 edges, each drawn 240 times on average with a standard deviation of 12.
    assert np.abs(edges - 240).max() < 4 * 12
    assert (np.diag(counts) == 0).all()


@given(st.integers(0, 2**31 - 2).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2**62))))
def test_pairs_are_numbered_without_a_gap_or_an_overlap(case):
    from gpukernels.graphs.generators import _unordered_pairs

    n, index = case
    index %= max(n * (n - 1) // 2, 1)
    u, v = (int(x[0]) for x in _unordered_pairs(np.array([index], dtype=np.int64)))
    assert 0 <= v < u
    assert u * (u - 1) // 2 + v == index


def test_small_world_without_rewiring_is_a_ring_lattice():
    g = gk.small_world(20, 4, 0.0)
    ring = networkx.to_numpy_array(networkx.circulant_graph(20, [1, 2]), dtype=int)
    np.testing.assert_array_equal(g.dense(), ring)


def test_small_world_rewires_the_share_asked_for_and_shrinks_the_diameter():
    n, degree = 1000, 6
    ring, g = gk.small_world(n, degree, 0.0), gk.small_world(n, degree, 0.1, seed=3)
    assert g.m == ring.m == n * degree
    source, target = g.coo
    distance = np.minimum((source - target) % n, (target - source) % n)
    far = np.mean(distance > degree // 2)
    assert 0.07 < far < 0.13
    assert farthest(g) < farthest(ring) / 5
    everywhere = gk.small_world(9, 8, 1.0)
    assert same(everywhere, gk.complete(9)), "no edge finds a new end: all stay"


@pytest.mark.parametrize("seed", range(20))
def test_small_world_stays_simple_when_most_edges_jump_into_each_other(seed):
    g = gk.small_world(16, 8, 1.0, seed)
    source, target = g.coo
    assert g.m == 16 * 8
    assert (source != target).all()
    assert np.unique(source * 16 + target).size == g.m


def test_forest_fire_links_each_vertex_to_earlier_ones_and_stays_whole():
    g = gk.forest_fire(2000, 0.35, seed=2)
    source, target = g.coo
    assert (target < source).all()
    assert (g.out_degree[1:] >= 1).all()
    assert components(g) == 1
    assert gk.forest_fire(2000, 0.0, seed=2, backward=0.0).m == 1999, "without fire a tree"
    assert g.in_degree.max() > 10 * g.in_degree.mean()
    densities = [gk.forest_fire(n, 0.4, seed=2).m / n for n in (100, 1000, 10000)]
    assert densities == sorted(densities), "it densifies as it grows"
    assert gk.forest_fire(0).n == 0
    assert gk.forest_fire(1).m == 0


def test_forest_fire_spreads_by_a_geometric_number_of_neighbors():
    # Vertices 1 and 2 can only link to 0; vertex 3 burns on from its ambassador with what is there.
    links = [gk.forest_fire(3, 0.5, seed, backward=0.0).out_degree[2] for seed in range(2000)]
    # The ambassador is 0 (no out-neighbor) or 1 (one, taken with probability 0.5), equally likely.
    assert abs(np.mean(np.array(links) == 2) - 0.25) < 0.04


def test_forest_fire_runs_forward_to_earlier_and_backward_to_later_vertices():
    def burnt_by_the_last(forward, backward, seed):
        g = gk.forest_fire(30, forward, seed, backward=backward)
        return g.targets[g.offsets[29] :]

    # So the ambassador, drawn uniformly from 0 .. 28, is the latest vertex burnt or the earliest.
    latest = [burnt_by_the_last(0.9, 0.0, seed).max() for seed in range(300)]
    earliest = [burnt_by_the_last(0.0, 0.9, seed).min() for seed in range(300)]
    assert abs(np.mean(latest) - 14) < 2
    assert abs(np.mean(earliest) - 14) < 2
    assert np.mean([burnt_by_the_last(0.0, 0.9, seed).max() for seed in range(300)]) > 20


def test_delaunay_is_the_triangulation_of_its_positions():
    g = gk.delaunay(200, seed=4, weighted=True)
    assert components(g) == 1
    assert networkx.check_planarity(g.to_networkx())[0]
    assert 5 < g.out_degree.mean() < 6
    source, target = g.coo
    lengths = np.linalg.norm(g.positions[source] - g.positions[target], axis=1)
    np.testing.assert_allclose(g.weights, lengths, atol=1e-6)
    nearest = np.linalg.norm(g.positions[:, None] - g.positions[None], axis=2)
    np.fill_diagonal(nearest, np.inf)
    assert g.dense(absent=0)[np.arange(g.n), nearest.argmin(axis=1)].all()
    assert kstest(g.positions.ravel(), "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 9), (9, 1), (2, 2), (40, 30)])
def test_road_grid_is_connected_long_and_of_low_degree(rows, columns):
    g = gk.road_grid(rows, columns, seed=6, weighted=True)
    assert g.n == rows * columns
    assert components(g) == 1
    source, target = g.coo
    steps = np.abs(source // columns - target // columns) + np.abs(
        source % columns - target % columns
    )
    assert (steps == 1).all()
    assert farthest(g) >= rows + columns - 2
    assert g.weights is not None
    assert g.n == 1 or (g.weights.min() >= 50 and g.weights.max() <= 150)
    if g.n == 1200:
        assert g.m == round(1200 * 2.8 / 2) * 2
        assert gk.road_grid(40, 30, mean_degree=0).m == 2 * 1199, "the least is a tree"
        assert gk.road_grid(40, 30, mean_degree=4).m == 2 * (40 * 29 + 39 * 30)


def test_the_fixed_graphs_are_those_of_networkx():
    np.testing.assert_array_equal(
        gk.path(7).dense(), networkx.to_numpy_array(networkx.path_graph(7))
    )
    np.testing.assert_array_equal(
        gk.star(7).dense(), networkx.to_numpy_array(networkx.star_graph(6))
    )
    np.testing.assert_array_equal(
        gk.complete(7).dense(), networkx.to_numpy_array(networkx.complete_graph(7))
    )
    assert gk.path(4, directed=True).m == 3
    assert gk.star(4, directed=True).out_degree.tolist() == [3, 0, 0, 0]
    assert [f(n).m for f in (gk.path, gk.star, gk.complete) for n in (0, 1)] == [0] * 6


def test_the_running_example_is_as_its_docstring_says():
    g = gk.example()
    distance = shortest_path(g.to_scipy(), unweighted=True, indices=0)
    assert np.bincount(distance[np.isfinite(distance)].astype(int)).tolist() == [1, 7, 3, 2, 1, 1]
    assert (g.out_degree[0], g.out_degree[8], g.out_degree[15]) == (7, 5, 0)
    assert components(g) == 2
    assert not g.directed
    apart = np.linalg.norm(g.positions[:, None] - g.positions[None], axis=2)
    assert apart[np.triu_indices(16, 1)].min() >= 1


@examples(30, soak=600)
@given(st.integers(-50, 50), st.integers(0, 60), st.integers(0, 99))
def test_random_weights_lie_in_their_range_and_agree_both_ways(low, width, seed):
    for g in (gk.example(), gk.rmat(4, 4, seed), gk.rmat(4, 4, seed, directed=False)):
        w = gk.random_weights(g, low, low + width, seed)
        assert (w.weights >= low).all()
        assert (w.weights <= low + width).all()
        assert np.array_equal(w.offsets, g.offsets)
        assert np.array_equal(w.targets, g.targets)
        gk.Graph(w.offsets, w.targets, w.weights, w.directed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gk.rmat(31), "scale = 31: must be a whole number from 0 to 30"),
        (lambda: gk.rmat(4.0), "scale = 4.0"),
        (lambda: gk.rmat(4, -1), "edge_factor = -1"),
        (lambda: gk.rmat(30, 16), "edge_factor = 16: must be a whole number from 0 to 1"),
        (lambda: gk.rmat(4, a=0.9, b=0.2), r"a \+ b \+ c = 1.2"),
        (lambda: gk.rmat(4, a=-0.1), "a = -0.1: must be from 0 to 1"),
        (lambda: gk.rmat(4, parallel="sum"), "parallel = 'sum'"),
        (lambda: gk.erdos_renyi(10, 10), "mean_degree = 10: must be from 0 to n - 1 = 9"),
        (lambda: gk.erdos_renyi(10, float("nan")), "mean_degree = nan"),
        (lambda: gk.small_world(10, 3, 0.1), "degree = 3: must be even"),
        (lambda: gk.small_world(10, 10, 0.1), "degree = 10: must be a whole number from 0 to 9"),
        (lambda: gk.small_world(10, 4, 1.5), "rewire = 1.5: must be from 0 to 1"),
        (lambda: gk.forest_fire(10, 1.0), "forward = 1.0: must be from 0 to less than 1"),
        (lambda: gk.delaunay(2), "n = 2: must be a whole number from 3"),
        (lambda: gk.road_grid(0, 5), "rows = 0"),
        (lambda: gk.road_grid(5, 5, mean_degree=5), "mean_degree = 5: must be from 0 to 4"),
        (lambda: gk.path(-1), "n = -1"),
        (lambda: gk.random_weights(gk.path(2), 5, 4), "high = 4: must be a whole number from 5"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(make, message):
    with pytest.raises(gk.InvalidArgument, match=message):
        make()
