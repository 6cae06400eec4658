"""Who may import whom in gpukernels: the arrows of the design, read from the source."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gpukernels"
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")

TECHNIQUE = {"checks", "errors", "graph", "device", "primitives", "stats", "summary"}
#: What a family's own `__init__` dispatches and documents its methods by.
DOOR = {"front_door", "method_notes"}
#: Room -> rooms of gpukernels that it may import besides itself. A room is a module or a package
#: right under gpukernels; `simt.errors` is one of its own, because one place names all errors, and
#: so is `cores.compiled`, which whoever has numba compile for the CPU asks.
MAY_IMPORT = {
    "errors": {"simt.errors"},
    "checks": {"errors"},
    "cores": set(),
    "making": {"cores", "errors"},
    "graph": {"checks", "errors", "making"},
    "progress": set(),
    "formats": {"cores.compiled", "errors", "progress"},
    "io": {"checks", "errors", "graph", "formats"},
    "generators": {"checks", "cores.compiled", "errors", "graph", "making"},
    "paths": {"checks", "cores.compiled", "errors", "graph"},
    "weight_facts": {"errors", "graph"},
    "kernel_weights": {"cores", "errors", "graph", "stats"},
    "sequential": {
        "checks",
        "cores.compiled",
        "errors",
        "graph",
        "paths",
        "summary",
        "weight_facts",
    },
    "multicore": {
        "all_pairs",
        "checks",
        "cores",
        "errors",
        "graph",
        "sequential",
        "summary",
        "weight_facts",
    },
    "stats": set(),
    "summary": set(),
    "front_door": {"checks", "errors"},
    "method_notes": {"front_door"},
    "families": {"checks", "table", "all_pairs", "mapping", "shortest_paths", "traversal"} | DOOR,
    "workloads": {"checks", "errors"},
    "trace": set(),
    "simt": {"trace"},
    "lending": set(),
    "cuda_arguments": set(),
    "cuda_memory": {"cores", "lending"},
    "copy_streams": {"cuda_memory", "errors"},
    "device": {
        "checks",
        "copy_streams",
        "cuda_arguments",
        "cuda_memory",
        "errors",
        "simt",
        "trace",
    },
    "peers": {"checks", "device", "errors"},
    "primitives": {"checks", "errors", "device", "front_door"},
    "beyond": {"assembly", "checks", "errors", "cores", "peers", "progress"},
    "representations": TECHNIQUE | {"kernel_weights"},
    "mapping": TECHNIQUE | DOOR | {"table", "trace"},
    "frontiers": TECHNIQUE | {"cuda_arguments", "mapping"},
    "traversal": TECHNIQUE
    | DOOR
    | {"beyond", "copy_streams", "frontiers", "mapping", "sequential"},
    "shortest_paths": TECHNIQUE
    | DOOR
    | {"beyond", "cores.compiled", "frontiers", "kernel_weights", "mapping", "paths"}
    | {"sequential", "weight_facts"},
    "all_pairs": TECHNIQUE
    | DOOR
    | {"beyond", "copy_streams", "cores", "kernel_weights", "peers", "progress", "sequential"}
    | {"weight_facts"},
    "exercises": TECHNIQUE
    | {
        "all_pairs",
        "frontiers",
        "generators",
        "mapping",
        "representations",
        "sequential",
        "shortest_paths",
        "simt",
        "table",
    }
    | {"trace", "traversal", "views"},  # a report opens a view
    "views": {"checks", "errors", "graph", "trace"},
    "assembly": {"errors", "simt"},
    "listing": {"errors", "simt"},
    "recording": {"device", "errors", "trace"},
    "plot": set(),
    "panel": set(),
    "table": set(),
    "assertions": set(),
    "no_gpu": set(),
    "versions": set(),
    "colab": {"device"},
    "bench": {"*"},
}

#: What one file may import beside: these call a search for each root.
ALONE = {"all_pairs/per_root.py": {"shortest_paths"}}


def imports(path: Path, package: Path) -> set[str]:
    """Return the full name of every module that `path` imports, wherever in the file it does."""
    inside = (package.name, *path.relative_to(package).with_suffix("").parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(inside[: len(inside) - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            whole = module == package.name  # `from gpukernels import graph` names the room after
            found |= {f"{module}.{a.name}" for a in node.names} if whole else {module}
    return found


def forbidden(path: Path, package: Path = PACKAGE) -> set[str]:
    """Return the imports of `path` that its room may not make."""
    room = path.relative_to(package).with_suffix("").parts[0]
    allowed = MAY_IMPORT[room] | {room} | ALONE.get(path.relative_to(package).as_posix(), set())
    wrong = set()
    for name in imports(path, package):
        parts = name.split(".")
        if parts[0] == package.name and len(parts) > 1:
            reached = {parts[1], ".".join(parts[1:3])}
            if "*" not in allowed and not reached & allowed:
                wrong.add(name)
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_what_the_design_allows(path):
    assert forbidden(path) == set()


@pytest.mark.parametrize(
    ("room", "stands_on"), [("simt", {"numpy", "numba"}), ("trace", {"numpy"})]
)
def test_the_machine_stands_on_numpy_and_numba_and_its_trace_on_numpy_alone(room, stands_on):
    for path in sorted((PACKAGE / room).rglob("*.py")):
        outside = {name.split(".")[0] for name in imports(path, PACKAGE)}
        assert outside <= {"gpukernels", *stands_on, *sys.stdlib_module_names}, path


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("views/frontier.py", "from gpukernels.traversal import bfs"),
        ("views/frontier.py", "from gpukernels.simt import launch"),
        ("traversal/harish.py", "from ..views import FrontierView"),
        ("traversal/harish.py", "from gpukernels.shortest_paths import sssp"),
        ("all_pairs/blocked.py", "from gpukernels.shortest_paths import sssp"),
        ("frontiers/enqueue.py", "from gpukernels.traversal.claim import claim"),
        ("frontiers/enqueue.py", "from gpukernels.views import FrontierView"),
        ("views/frontier.py", "from gpukernels.simt.recorder import Recorder"),
        ("traversal/harish.py", "from gpukernels.trace import metrics"),
        ("trace/costs.py", "from gpukernels.simt.memory import Memory"),
        ("trace/metrics.py", "from gpukernels import graph"),
        ("traversal/harish.py", "def driver():\n    from gpukernels import simt"),
        ("simt/machine.py", "from gpukernels import graph"),
        ("graph.py", "from . import device"),
    ],
)
def test_a_wrong_arrow_is_found(tmp_path, room, line):
    package = tmp_path / "gpukernels"
    path = package / room
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    assert forbidden(path, package)
