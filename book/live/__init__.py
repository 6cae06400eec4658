"""Edit and run: the programs of a page's figures, and the files that run them in the browser.

A Sphinx extension. Each figure gets the program that makes it as ``data-program``, and each page a
small script that offers to edit it. Everything else is loaded after a reader's click.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from html import escape
from pathlib import Path
from typing import Any

from page_parts import FIGURE, classic, reader, static
from sphinx.application import Sphinx

import gpukernels
from gpukernels.views.address import figure_id

from . import listings, pyodide
from .slicing import program_of

HERE = Path(__file__).parent
PACKAGE = Path(gpukernels.__file__).parent
LISTING = '<figure class="gk-listing">'
#: Names in programs that the page's interpreter cannot run: they read stored measurements, or need
#: packages.
ELSEWHERE = re.compile(r"\brecord\.kept\(|\bexecuted\(|\bDASK\b|\bMETIS\b")


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the code cells of a chapter."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def programs_of(cells: list[dict[str, Any]]) -> dict[str, str]:
    """Return the program of each figure in a chapter's code cells, by the figure's id."""
    sources: list[str] = []
    programs = {}
    for cell in cells:
        source = "".join(cell["source"])
        if source.startswith("# Set-up:"):
            continue
        sources.append(source)
        for output in cell["outputs"]:
            html = "".join(output.get("data", {}).get("text/html", ""))
            for figure in FIGURE.finditer(html):
                program = program_of(sources)
                if not ELSEWHERE.search(program):
                    programs[figure_id(json.loads(figure["record"]))] = program
    return programs


def listed_programs(cells: list[dict[str, Any]]) -> dict[str, str]:
    """Return the program of each printed kernel in code cells, by a name for its place.

    A listing that no technique runs, or that the page has shown before, has an empty program.
    """
    programs: dict[str, str] = {}
    for cell in cells:
        for output in cell["outputs"]:
            data = output.get("data", {})
            if LISTING in "".join(data.get("text/html", "")):
                program = listings.program_of("".join(data["text/plain"]))
                name = listings.name_of("".join(data["text/plain"]))
                if name in programs:
                    name, program = f"{name}-{len(programs)}", ""
                programs[name] = program
    return programs


def add_programs(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Write the programs of a chapter's figures and listings into its page."""
    notebook = Path(app.srcdir) / f"{page}.ipynb"
    if app.builder.name != "html" or not page.startswith("chapters/") or not notebook.exists():
        return
    # For this page alone.
    app.add_css_file("live.css", priority=970)
    app.add_js_file("live.js", priority=920, loading_method="defer")
    cells = code_cells(notebook)
    for name, program in programs_of(cells).items():
        opening = f'<figure id="{name}" '
        written = f'{opening}data-program="{escape(program)}" '
        context["body"] = context["body"].replace(opening, written, 1)
    first, *rest = context["body"].split(LISTING)
    for part, (name, program) in zip(rest, listed_programs(cells).items(), strict=True):
        data = f' id="code-{name}" data-program="{escape(program)}"' if program else ""
        first += f"{LISTING.removesuffix('>')}{data}>{part}"
    context["body"] = first


def script() -> str:
    """Return the script of every page: a classic one, as pages opened as files load no modules."""
    local = pyodide.folder() is not None
    files = [
        {
            "name": file.name,
            "folder": "pyodide/" if local else file.folder,
            "size": file.size,
            **({} if local else {"integrity": f"sha256-{file.sha256}"}),
        }
        for file in pyodide.FILES
    ]
    worker = (HERE / "worker.js").read_text(encoding="utf-8")
    given = f"{json.dumps(files)}, {json.dumps(pyodide.WHEEL)}, {json.dumps(worker)}"
    return classic(["live"], reader(HERE / "js"), f"offerPrograms({given});")


def write_package(target: Path) -> None:
    """Write the package and the runner as a zip, the same bytes for the same files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        files = {path.relative_to(PACKAGE.parent): path for path in PACKAGE.rglob("*")}
        files[Path("runner.py")] = HERE / "runner.py"
        for name, path in sorted(files.items()):
            if path.is_file() and path.suffix != ".pyc":
                entry = zipfile.ZipInfo(name.as_posix())
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def add_assets(app: Sphinx) -> None:
    """Write the files that pages load, at the start or after a click."""
    if app.builder.name != "html":
        return
    target = static(app)
    (target / "live.js").write_text(script(), encoding="utf-8")
    write_package(target / "gpukernels.zip")
    shutil.copy(HERE / "editor" / "codemirror.js", target)
    shutil.copy(HERE / "editor" / "LICENSE", target / "codemirror-LICENSE.txt")
    if (folder := pyodide.folder()) is not None:
        (target / "pyodide").mkdir(exist_ok=True)
        for file in pyodide.FILES:
            shutil.copy(folder / file.name, target / "pyodide")


def name_hosts(app: Sphinx, config: Any) -> None:
    """Put the hosts into the settings: if they change, all pages are written again."""
    config.live_hosts = pyodide.hosts()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the build, and to pages after their figures have ids."""
    app.add_config_value("live_hosts", [], "html")
    app.connect("config-inited", name_hosts)
    app.connect("builder-inited", add_assets)
    app.connect("html-page-context", add_programs, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
