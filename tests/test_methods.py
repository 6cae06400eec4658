"""One front door: what every family refuses, and what it tells of its methods."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import pydoc
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from public_names import PUBLIC

import gpukernels as gk
from gpukernels import reference
from gpukernels.methods import (
    AUTO,
    Method,
    described_options,
    driver_of,
    known_method,
    options_of,
    takes_fields_of,
)
from gpukernels.notebook.families import FAMILIES
from gpukernels.reference import multicore

ROOT = Path(__file__).parents[1]
BIBLIOGRAPHY = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
METHODS = [(family, name) for family, methods in FAMILIES.items() for name in methods]
every_method = pytest.mark.parametrize(("family", "name"), METHODS)
every_family = pytest.mark.parametrize("family", FAMILIES)


def call(family: str, method: str = "", **options):
    """Call a family's function on something small."""
    first = gk.path(3) if family == "bfs" else [0, 2, 5]
    method = method or next(iter(FAMILIES[family]))
    return getattr(gk, family)(first, method=method, device=gk.SimtDevice(), **options)


# --- the door -------------------------------------------------------------------------------------


def alike(first, *others, threads: int = 128, exact: bool = True, size: int | None = None):
    """Do nothing, as a driver would: see [moore1959shortest].

    Parameters
    ----------
    first : object
        No option.
    threads : int
        Threads a block.
    exact, size : bool, int
        Two that share
        two lines.

    Returns
    -------
    nothing : None
        No option either.
    """


def test_a_driver_gets_numbers_of_python():
    driver, options = driver_of("alike", {"a": alike}, "a", {"threads": np.int8(32)})
    assert (driver, options) == (alike, {"threads": 32})
    assert type(options["threads"]) is int


@pytest.mark.parametrize("value", [0, 1, "no", None, np.array([True, True])], ids=repr)
def test_an_option_that_is_true_or_false_takes_nothing_else(value):
    with pytest.raises(gk.InvalidArgument, match=r"^exact = .*: must be True or False"):
        driver_of("alike", {"a": alike}, "a", {"exact": value})


@pytest.mark.parametrize("method", ["A", "", None, 0, ["a"], np.array(["a", "a"])], ids=repr)
def test_what_is_no_method_lists_them(method):
    with pytest.raises(gk.UnknownMethod, match=r"^alike has no method .*; it has a, b"):
        known_method("alike", {"a": alike, "b": alike}, method)


@every_family
def test_an_unknown_method_names_the_family_and_its_methods(family):
    with pytest.raises(gk.UnknownMethod, match=f"^{family} has no method 'x'") as caught:
        call(family, "x")
    by_default = () if family == "expand" else (AUTO,)
    assert caught.value.methods == (*by_default, *FAMILIES[family])


@every_method
def test_an_unknown_option_lists_those_that_the_method_takes(family, name):
    known = re.escape(str(list(options_of(FAMILIES[family][name]))))
    message = f"^{family} method '{name}' takes no option 'x'; it takes {known}$"
    with pytest.raises(TypeError, match=message):
        call(family, name, x=1)


A_GRAPH = "a Graph, a NetworkX graph or a SciPy sparse matrix"


@pytest.mark.parametrize("search", [gk.bfs, gk.sssp, reference.bfs, multicore.bfs])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((gk.path(3), 3), "root = 3: must be a vertex from 0 to 2"),
        ((gk.path(3), -1), "root = -1: must be a vertex from 0 to 2"),
        ((gk.path(3), 10**12), "root = 1000000000000: must be a vertex from 0 to 2"),
        ((gk.path(3), "0"), "root = '0': must be a vertex, a whole number"),
        ((gk.path(3), None), "root = None: must be a vertex, a whole number"),
        ((gk.path(3), 1.0), "root = 1.0: must be a vertex, a whole number"),
        ((gk.path(3), True), "root = True: must be a vertex, a whole number"),
        ((gk.Graph([0], []), 0), "root = 0: must be absent, as the graph has no vertices"),
        (([[1], [0]], 0), f"g = [[1], [0]]: must be {A_GRAPH}"),
        ((None, 0), f"g = None: must be {A_GRAPH}"),
    ],
)
def test_graph_and_root_are_refused_in_the_same_words_everywhere(search, given, message):
    with pytest.raises(gk.InvalidArgument) as caught:
        search(*given)
    assert str(caught.value) == message


@pytest.mark.parametrize("root", [np.int8(1), np.uint64(1)], ids=repr)
def test_a_root_may_be_a_number_of_numpy(root):
    assert reference.bfs(gk.path(3), root).distance.tolist() == [1, 0, 1]


def test_every_family_of_the_package_is_known():
    rooms = [
        importlib.import_module(f"gpukernels.{module.name}")
        for module in pkgutil.iter_modules(gk.__path__)
    ]
    homes = [vars(room)["METHODS"] for room in rooms if "METHODS" in vars(room)]
    assert len(homes) == len(FAMILIES)
    assert all(methods in homes for methods in FAMILIES.values())
    assert all(callable(getattr(gk, family)) for family in FAMILIES)


# --- the table ------------------------------------------------------------------------------------


@every_method
def test_every_method_has_every_column(family, name):
    method = FAMILIES[family][name]
    assert method.idea.count(" ") > 3
    assert method.work.startswith("O(")
    assert re.search(rf"^@\w+\{{{method.paper},", BIBLIOGRAPHY, re.MULTILINE)
    file = " ".join(sys.modules[method.driver.__module__].__doc__.split())
    assert file.startswith(f"{method.idea}. ")
    assert f"[{method.paper}]" in file
    assert f"Work {method.work}" in file
    signature = inspect.signature(method.driver).parameters
    for option in described_options(method.driver):
        assert option.default == signature[option.name].default
        assert option.kind
        assert option.text.endswith("."), option
        assert "**" not in option.text


@every_family
def test_the_table_has_a_row_a_method(family):
    table = gk.methods(family)
    assert [row[0] for row in table.rows] == list(FAMILIES[family])
    assert table.columns == ["method", "idea", "paper", "work", "options and defaults"]
    assert all(cell not in ("", "–") for row in table.rows for cell in row)
    assert repr(gk.methods(getattr(gk, family))) == repr(table)
    assert max(map(len, repr(table).splitlines())) < 180


@pytest.mark.parametrize(
    "family", ["", "dfs", None, 3, int, gk.read, []], ids=lambda given: type(given).__name__
)
def test_a_table_of_no_family_is_refused(family):
    with pytest.raises(gk.InvalidArgument, match=r"^family = .*: must be one of .*'bfs'"):
        gk.methods(family)


def test_a_note_reads_types_texts_and_defaults():
    assert described_options(alike) == [
        ("threads", "int", 128, "Threads a block."),
        ("exact", "bool, int", True, "Two that share two lines."),
        ("size", "bool, int", None, "Two that share two lines."),
    ]


@dataclass
class Settings:
    """What a driver takes as a record.

    Attributes
    ----------
    size : int
        How large.
    deep : bool
        How deep.
    """

    size: int = 3
    deep: bool = False


@takes_fields_of(Settings)
def settled(first, *, exact: bool = True, **settings):
    """Return its settings.

    Parameters
    ----------
    exact : bool
        How exact.
    **settings
        See `Settings`.
    """
    return exact, Settings(**settings)


def test_a_driver_may_take_its_options_as_a_record():
    assert list(options_of(settled)) == ["size", "deep", "exact"]
    driver, options = driver_of("settled", {"a": settled}, "a", {"size": np.int8(5)})
    assert driver(0, **options) == (True, Settings(5))
    with pytest.raises(gk.InvalidArgument, match=r"^deep = 1: must be True or False"):
        driver_of("settled", {"a": settled}, "a", {"deep": 1})
    with pytest.raises(TypeError, match=r"takes no option 'settings'; it takes \['size', 'deep'"):
        driver_of("settled", {"a": settled}, "a", {"settings": 1})
    assert described_options(settled) == [
        ("size", "int", 3, "How large."),
        ("deep", "bool", False, "How deep."),
        ("exact", "bool", True, "How exact."),
    ]


def test_a_method_is_called_as_its_driver_is():
    method = Method(settled, "An idea", "moore1959shortest", "O(1)")
    assert method(0, size=5) == (True, Settings(5))
    assert driver_of("settled", {"a": method}, "a", {"size": 5}) == (settled, {"size": 5})
    assert options_of(method) == options_of(settled)


# --- help -----------------------------------------------------------------------------------------


@every_family
def test_help_shows_methods_and_options_of_a_family(family):
    text = pydoc.render_doc(getattr(gk, family), renderer=pydoc.plaintext)
    plain = " ".join(text.split())
    for name, method in FAMILIES[family].items():
        assert f" {name} {method.idea} [{method.paper}]. Work {method.work}." in plain
        for option in described_options(method.driver):
            assert f" {option.name} : {option.kind} {' '.join(option.text.split())} Of " in plain
            assert f"{option.name}={option.default!r}" in plain
    assert max(map(len, getattr(gk, family).__doc__.splitlines())) <= 96


def test_help_of_the_package_is_a_page():
    text = pydoc.render_doc(gk, renderer=pydoc.plaintext)
    assert len(text.splitlines()) <= 100
    words = set(re.findall(r"\w+", gk.__doc__))
    assert not set(PUBLIC) - words


def test_the_package_is_told_without_docstrings():
    code = textwrap.dedent("""
        import gpukernels as gk
        assert gk.bfs.__doc__ is None and gk.expand.__doc__ is None
        assert [row[0] for row in gk.methods("expand").rows][0] == "work_item_to_thread"
    """)
    subprocess.run([sys.executable, "-OO", "-c", code], check=True, cwd=ROOT)


# --- results --------------------------------------------------------------------------------------


def test_results_print_shapes_and_a_summary():
    g = gk.Graph.from_arcs(1200, [0, 0], [1, 2], directed=True)
    result = gk.bfs(g, 0, "harish", gk.SimtDevice())
    line = "3 of 1,200 vertices in 2 levels; distance int32 (1200,), parent int32 (1200,)"
    stats = f"stats of {len(result.stats)} entries"
    assert repr(result) == f"BFSResult of harish: {line}, {stats}"
    assert repr(reference.bfs(g)) == f"Traversal: {line}"
    bare = gk.BFSResult(np.array([-1, 0], np.int32), None, 1)
    start = "BFSResult: 1 of 2 vertices in 1 level; distance int32 (2,), parent none"
    assert repr(bare).startswith(start)
    mapped = gk.expand([0, 2, 5], "direct_search", device=gk.SimtDevice())
    assert repr(mapped).startswith("Mapping of direct_search: item int32 (5,), total none, stats")


def test_a_result_prints_without_counting_what_takes_long():
    result = gk.BFSResult(np.zeros(1, np.int32), None, 1, {"late": lambda: 1 / 0})
    assert repr(result)


def test_forms_of_a_graph_print_the_shapes_of_their_arrays():
    coo = gk.representations.coo.EdgeList.from_graph(gk.path(3))
    assert repr(coo) == (
        "EdgeList(source=int32 (4,), target=int32 (4,), weights=int32 (4,), order='source', "
        "both_ways=False)"
    )
    matrix = gk.representations.adjacency_matrix.AdjacencyMatrix.from_graph(gk.path(3))
    assert repr(matrix).startswith("AdjacencyMatrix(cells=int32 (96,), pitch=32, absent=")
