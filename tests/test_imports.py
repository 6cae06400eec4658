"""Rooms of gpukernels and the arrows between them; pyproject.toml has the contracts."""

from __future__ import annotations

from pathlib import Path

import grimp
import networkx as nx
from importlinter import cli

import gpukernels as gk

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpukernels"
#: The modules that lie in no room.
LOOSE = {"__init__.py", "checks.py", "errors.py", "methods.py"}


def circles(arrows: nx.DiGraph) -> list[list[str]]:
    """Return the sets of modules that import each other, sorted."""
    return sorted(sorted(c) for c in nx.strongly_connected_components(arrows) if len(c) > 1)


def test_rooms_import_only_those_below_them(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    # It would disable the loggers of modules that other tests have imported.
    monkeypatch.setattr(cli.logging_config, "dictConfig", lambda _: None)
    code = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_no_modules_import_each_other():
    # Imports inside functions count, too: they would hide a circle.
    graph = grimp.build_graph("gpukernels", cache_dir=None)
    arrows = nx.DiGraph()
    for module in graph.modules:
        arrows.add_edges_from((module, m) for m in graph.find_modules_directly_imported_by(module))
    assert circles(arrows) == []


def test_a_circle_is_found():
    assert circles(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])) == [["b", "c"]]


def test_every_module_lies_in_a_room():
    assert {path.name for path in PACKAGE.glob("*.py")} == LOOSE


def test_every_room_says_what_it_is_for():
    for room in sorted(path.parent for path in PACKAGE.glob("*/__init__.py")):
        assert (room / "__init__.py").read_text(encoding="utf-8").startswith('"""'), room.name


def test_the_earlier_name_of_the_reference_stays():
    assert gk.sequential is gk.reference
    assert {"sequential", "reference"} <= set(dir(gk))
