"""The names of figures in addresses, and the addresses that a build refuses."""

from __future__ import annotations

import numpy as np
import pytest
from javascript import asked

import gpukernels as gk
from gpukernels.errors import InvalidArgument
from gpukernels.views import CompareView, FrontierView, GraphView, RelaxView
from gpukernels.views.address import address_problem, figure_id, slug

EXAMPLE = gk.example()
WORDS = [
    "near_far, delta 16",
    "D × D",
    "3, 3 ... 4, 4",
    "Ärger",
    "İstanbul K",
    "×",
    "",
    "a-B",
    "100%",
]


def graph(**options):
    return GraphView(EXAMPLE, np.arange(48).reshape(3, 16), **options)


def levels():
    traces = {}
    for name in ("harish", "a, b & c"):
        with gk.trace() as t:
            gk.bfs(EXAMPLE, method="harish")
        traces[name] = t
    return FrontierView(EXAMPLE, traces)


def relaxed(names, **options):
    g = gk.random_weights(EXAMPLE, seed=1)
    with gk.trace() as t:
        gk.sssp(g, method="harish")
    return RelaxView(g, dict.fromkeys(names, t.trace), **options)


def test_a_figure_is_called_by_its_name_or_else_its_title():
    assert graph(title="One search, level by level").address == "#fig-one-search-level-by-level"
    assert graph(title="One search", name="levels-2").address == "#fig-levels-2"
    assert graph(title="×").address == "#fig-graph"
    # Text before the figure or in it does not change its address, and its record does not grow.
    assert graph(title="One search").address == graph(title="One search", step=2).address
    assert "name" not in graph().payload


@pytest.mark.parametrize("name", ["Levels", "two words", "-a", "a-", "a--b", "ä", "fig#", 3, None])
def test_a_name_that_no_address_can_hold_is_refused(name):
    with pytest.raises(InvalidArgument, match=r"name = .*lowercase letters, digits"):
        graph(name=name)


def test_python_and_pages_call_figures_alike():
    called = asked(["words"], "(words) => words.map(slugOf)")
    assert called(WORDS) == [slug(word) for word in WORDS]
    records = [{"title": word, "view": "graph"} for word in WORDS] + [
        {"title": "A", "name": "b", "view": "graph"}
    ]
    assert asked(["words"], "(all) => all.map(figureId)")(records) == [
        figure_id(record) for record in records
    ]


LISTS = [
    WORDS[:5],
    ["delta 1", "delta-1", "delta 16"],
    ["a b", "a-b"],
    ["×", "+", "%41", "a&b=c", "#"],
    ["run", "step"],
    ["100%", "100"],
]


@pytest.mark.parametrize("entries", LISTS)
def test_every_entry_of_a_list_has_a_word_of_its_own_that_outlives_an_address(entries):
    script = """(entries) => entries.map((_, k) => {
      const text = writeAddress("fig-a", [["run", wordFor(entries, k)], ["step", "3"]]);
      const read = readAddress(text);
      return [read.id, wordAt(entries, read.state[0][1]), read.state[1].join()];
    })"""
    back = asked(["address", "words"], script)(entries)
    assert back == [["fig-a", k, "step,3"] for k in range(len(entries))]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("step=2", ""),
        ("", ""),
        ("step=3", 'no step "3", but 0 to 2'),
        ("step=-1", 'no step "-1"'),
        ("step=1.0", 'no step "1.0"'),
        ("step=", 'no step ""'),
        ("run=any", "one run alone"),
        ("step=1&step=2", "twice"),
        ("color=red", 'no "color", but run, step'),
    ],
)
def test_a_step_or_run_that_is_not_there_is_a_problem(state, reason):
    problem = address_problem(graph().payload, f"#fig-graph?{state}")
    assert reason in problem
    assert bool(reason) == bool(problem)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("run=harish&step=1", ""),
        ("run=a-b-c", ""),
        ("run=a,%20b%20%26%20c", ""),
        ("run=Harish", 'no run "Harish", but harish; a, b & c'),
        ("run=", "no run"),
        ("run=harish&step=99", 'no step "99"'),
    ],
)
def test_a_run_is_one_of_the_figures_own(state, reason):
    problem = address_problem(levels().payload, f"#fig-levels?{state}")
    assert reason in problem
    assert bool(reason) == bool(problem)


@pytest.mark.parametrize("dial", ["", "delta"])
def test_the_lists_beside_the_steps_are_looked_at_too(dial):
    record = relaxed(["delta 1", "delta 4", "delta 16"], dial=dial).payload
    assert address_problem(record, "#fig-a?left=delta-1&right=delta-16&step=1") == ""
    assert "never" in address_problem(record, "#fig-a?left=delta-64")
    assert "left, right, step" in address_problem(record, "#fig-a?middle=delta-1")
    two = relaxed(["delta 1", "delta 4"]).payload
    assert 'no "left"' in address_problem(two, "#fig-a?left=delta-1")


@pytest.mark.parametrize(
    ("plays", "message"),
    [
        ({("a", "h"): "#fig-a"}, "of the runs"),
        ({("a", "g"): "fig-a"}, r"plays\[\('a', 'g'\)\].*an address"),
        ({("a", "g"): "#fig-a?run=two words"}, "an address"),
        ({("a", "g"): None}, "an address"),
        ([("a", "g")], "a dict"),
    ],
)
def test_a_comparison_refuses_what_cannot_play(plays, message):
    with pytest.raises(InvalidArgument, match=message):
        CompareView([("a", "g", {"x": 1})], plays=plays)


def test_a_comparison_keeps_addresses_beside_its_cells():
    rows = [("a", "g", {"x": 1}), ("b", "h", {"x": 2})]
    view = CompareView(rows, plays={("b", "h"): "#fig-a?run=b"})
    assert view.payload["plays"] == [["", ""], ["", "#fig-a?run=b"]]
    assert CompareView(rows, plays={}).html == CompareView(rows).html
    # A page without scripts does not play runs.
    assert "#fig-a" not in view.html.partition("<script")[0]
