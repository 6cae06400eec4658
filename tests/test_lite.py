"""JupyterLite: what `make lite` writes, and where the pages link to it."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from built_book import ROOT, built_book
from IPython.core.inputtransformer2 import TransformerManager

sys.path.insert(0, str(ROOT / "book"))
import lite
from live import pyodide
from plain_notebooks.running import row

CHAPTERS = sorted(path.name for path in (ROOT / "chapters").glob("*.ipynb"))
#: The environment that `make lite` makes, or another with requirements-lite.txt.
ENVIRONMENT = Path(os.environ.get("GPUKERNELS_LITE_ENVIRONMENT", ROOT / ".venv-lite"))


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory) -> dict[str, dict]:
    """The notebooks for the browser, by name."""
    target = tmp_path_factory.mktemp("lite") / "contents"
    lite.write_notebooks(built_book() / "notebooks", target)
    return {path.name: json.loads(path.read_text("utf-8")) for path in target.glob("*.ipynb")}


def test_every_chapter_becomes_a_notebook_with_the_browsers_kernel(notebooks):
    assert sorted(notebooks) == CHAPTERS
    assert {n["metadata"]["kernelspec"]["name"] for n in notebooks.values()} == {"python"}
    # JupyterLite joins no lines.
    cells = [cell for notebook in notebooks.values() for cell in notebook["cells"]]
    assert {type(cell["source"]) for cell in cells} == {str}


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_first_cell_installs_and_registers_before_anything_imports_numba(name, notebooks):
    first, *others = notebooks[name]["cells"]
    lines = first["source"].splitlines()
    assert lines[1].startswith("%pip install -q gpukernels anywidget")
    assert lines.index("names.register()  # kernels import numba's names, and no browser has numba")
    ast.parse(TransformerManager().transform_cell(first["source"]))
    assert "source_hidden" not in first["metadata"].get("jupyter", {})
    code = "\n".join(cell["source"] for cell in others if cell["cell_type"] == "code")
    assert ("matplotlib" in lines[1]) == bool(re.search(r"Plot\(|panels\(|matplotlib", code))
    assert ("machine code" in first["source"]) == ("gk.sass(" in code)


def test_python_comes_from_pyodides_servers_or_from_beside_and_nothing_from_pypi():
    for local, address in ((False, f"{pyodide.FULL}pyodide.js"), (True, "./pyodide/pyodide.js")):
        plugins = lite.page_settings(local)["jupyter-config-data"]["litePluginSettings"]
        assert plugins == {lite.KERNEL: {"pyodideUrl": address, "disablePyPIFallback": True}}


def test_every_page_gets_the_policy_before_it_loads_anything(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<html>\n  <head>\n    <script src="a.js"></script></head></html>')
    lite.add_policy(page)
    assert page.read_text().index(lite.POLICY) < page.read_text().index("<script")
    # Notebooks send nothing elsewhere, and no page frames another site.
    assert "http" not in lite.POLICY


def test_widgets_are_pinned_by_checksum():
    locked = lite.pinned(lite.WIDGETS, lite.REQUIREMENTS.read_text(encoding="utf-8"))
    assert re.findall(r"^([\w-]+)==", locked, re.MULTILINE) == list(lite.WIDGETS)
    assert locked.count("--hash=sha256:") >= len(lite.WIDGETS)
    with pytest.raises(ValueError, match=r"requirements-lite\.txt lacks nothing-like-it"):
        lite.pinned(["nothing-like-it"], locked)


@pytest.fixture
def distribution(tmp_path) -> Path:
    """A folder as Pyodide's, with empty files."""
    depends = {"ipython": ["Traitlets"], "matplotlib": ["pillow"]}
    names = {*lite.AT_START, *lite.MORE, "Traitlets", "pillow"}
    lock = {n: {"file_name": f"{n}.whl", "depends": depends.get(n, [])} for n in names}
    for name in (*lite.INTERPRETER, *(f"{name}.whl" for name in names)):
        (tmp_path / name).touch()
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"packages": lock}))
    return tmp_path


def test_of_a_folder_of_pyodide_only_what_notebooks_load_is_copied(distribution):
    (distribution / "another.whl").touch()
    files, packages = lite.pyodide_files(distribution)
    assert packages == set(lite.MORE)
    assert {path.name for path in distribution.iterdir()} - {f.name for f in files} == {
        "another.whl"
    }
    (distribution / "pillow.whl").unlink()
    assert lite.pyodide_files(distribution)[1] == set(lite.MORE) - {"matplotlib"}
    (distribution / "Traitlets.whl").unlink()
    with pytest.raises(FileNotFoundError, match=r"Traitlets\.whl missing; notebooks need Pyodide"):
        lite.pyodide_files(distribution)


def test_a_page_links_to_the_notebook_only_where_jupyterlite_is_built():
    link = "../lite/lab/index.html?path=simt.ipynb"
    given = "simt", "simt.ipynb", "unsolved.ipynb", "https://colab.example", "https://a.example"
    assert "open it in the browser</a></li><li><a" in row(*given, link)
    assert f'class="served" href="{link}"' in row(*given, link)
    assert "in the browser" not in row(*given)
    for name in CHAPTERS:
        page = (built_book() / "chapters" / name).with_suffix(".html").read_text(encoding="utf-8")
        assert 'class="served"' not in page


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """JupyterLite, built by its own environment."""
    if not (ENVIRONMENT / "bin" / "jupyter-lite").exists():
        pytest.skip(f"{ENVIRONMENT.name} has no JupyterLite: make lite installs it")
    pages = tmp_path_factory.mktemp("pages")
    (pages / "notebooks").symlink_to(built_book() / "notebooks")
    environment = {name: value for name, value in os.environ.items() if name != "PYODIDE"}
    command = [sys.executable, ROOT / "book" / "lite.py", pages, ENVIRONMENT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return pages / "lite"


def test_the_site_has_the_notebooks_the_widgets_and_the_library(built):
    assert sorted(path.name for path in (built / "files").iterdir()) == CHAPTERS
    config = json.loads((built / "jupyter-lite.json").read_text())["jupyter-config-data"]
    assert {"anywidget", "@jupyter-widgets/jupyterlab-manager"} <= {
        extension["name"] for extension in config["federated_extensions"]
    }
    kernel = config["litePluginSettings"][lite.KERNEL]
    assert kernel["pyodideUrl"] == f"{pyodide.FULL}pyodide.js"
    assert kernel["disablePyPIFallback"] is True
    index = json.loads((built / "pypi" / "all.json").read_text())
    assert set(index) == {"gpukernels", *lite.WIDGETS}
    for releases in index.values():
        ((wheel,),) = releases["releases"].values()
        content = (built / "pypi" / wheel["filename"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == wheel["digests"]["sha256"]
