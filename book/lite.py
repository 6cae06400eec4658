"""JupyterLite: the chapters as notebooks whose Python runs in the browser, in ``lite/``.

    python book/lite.py _build/html .venv-lite

Pages and plain notebooks have to be built, and the environment has to hold requirements-lite.txt.
Everything comes from the pages' own server except Pyodide's interpreter and packages. These come
from Pyodide's servers or, with ``PYODIDE=folder``, from a copy beside the notebooks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from addresses import FOLDER, LITE
from live import pyodide

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements-lite.txt"
#: The extension that starts Pyodide; its settings are in ``jupyter-lite.json``.
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
#: Wheels that Pyodide does not have: they bring the figures to life, as anywidget's widgets.
WIDGETS = ("anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")
#: Pyodide itself.
INTERPRETER = [file.name for file in pyodide.FILES if file.name != pyodide.WHEEL]
#: Pyodide's packages that the kernel loads at its start, and those that the library needs.
AT_START = (
    "micropip", "ssl", "sqlite3", "ipython", "jedi", "numpy", "pygments", "typing-extensions",
)  # fmt: skip
#: Pyodide's packages that some chapters need, and how these chapters are known.
MORE = {
    "matplotlib": re.compile(r"\bPlot\(|\bpanels\(|\bmatplotlib\b"),
    "networkx": re.compile(r"\bnetworkx\b"),
    "scipy": re.compile(r"\bscipy\b|\bto_scipy\(|\bdelaunay\("),
}
#: What no browser has, and how the chapters that use it are known.
LEFT_OUT = {
    "machine code, which only a compiler makes": re.compile(r"\bgk\.sass\("),
    "times on a GPU": re.compile(r"\bown_gpu\("),
    "Dask's workers and METIS": re.compile(r"\bDASK\b|\bMETIS\b"),
}
FIRST_CELL = """\
# Set-up: installs the book's library in this page; its kernels run on the SIMT machine.
%pip install -q {packages}
from gpukernels.simt import names

names.register()  # kernels import numba's names, and no browser has numba

from gpukernels.notebook.chapter import set_up

set_up()
"""
#: JupyterLab compiles schemas to functions, and each widget loads a module from a blob.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' data: blob:; worker-src 'self' blob:; frame-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'none'"
)


def first_cell(code: str, packages: Iterable[str] = MORE) -> str:
    """Return the first cell of a chapter with this code.

    Parameters
    ----------
    code : str
        The code of the chapter's other cells.
    packages : iterable of str
        The packages of `MORE` that the browser can load.
    """
    needed = [name for name, used in MORE.items() if used.search(code)]
    loaded = [name for name in needed if name in packages]
    cell = FIRST_CELL.format(packages=" ".join(["gpukernels", "anywidget", *loaded]))
    missing = [what for what, used in LEFT_OUT.items() if used.search(code)]
    missing += [f"cells that need {name}" for name in needed if name not in packages]
    if missing:
        words = "Left out in the browser: " + "; ".join(missing) + "."
        cell += f'print(\n    "{words}"\n    " The page of this chapter has their outputs."\n)\n'
    return cell.rstrip("\n")


def in_browser(notebook: dict[str, Any], packages: Iterable[str] = MORE) -> dict[str, Any]:
    """Return a plain notebook with the browser's kernel and first cell."""
    set_up, *cells = notebook["cells"]
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    tags = {"tags": set_up["metadata"].get("tags", [])}  # open: it says what is left out
    kernel = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    return {
        **notebook,
        "cells": [{**set_up, "source": first_cell(code, packages), "metadata": tags}, *cells],
        "metadata": {**notebook["metadata"], "kernelspec": kernel},
    }


def write_notebooks(source: Path, target: Path, packages: Iterable[str] = MORE) -> None:
    """Write the notebooks of the folder `source` into `target`, for the browser."""
    target.mkdir(parents=True)
    for path in sorted(source.glob("*.ipynb")):
        # JupyterLite shows files as they are, and expects texts: nbformat joins their lines.
        notebook = in_browser(nbformat.read(path, as_version=4), packages)
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        (target / path.name).write_text(text, encoding="utf-8")


def pinned(names: Iterable[str], requirements: str) -> str:
    """Return the lines of these packages, with their checksums, from a locked list.

    Raises
    ------
    ValueError
        If a package is not in the list.
    """
    entries = {
        entry.partition("==")[0]: entry for entry in re.split(r"\n(?=[\w.-]+==)", requirements)
    }
    if missing := sorted(set(names) - set(entries)):
        raise ValueError(f"{REQUIREMENTS.name} lacks {', '.join(missing)}: run make lock")
    return "\n".join(entries[name] for name in names)


def collect_wheels(target: Path) -> list[Path]:
    """Put the book's library and the widgets' wheels into a folder, and return their paths."""
    pip = [sys.executable, "-m", "pip"]
    # setuptools would take along what an earlier build has left there.
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", target, ROOT])
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    locked = target / "locked.txt"
    locked.write_text(pinned(WIDGETS, REQUIREMENTS.read_text(encoding="utf-8")))
    pure = ["--only-binary=:all:", "--platform=any", "--python-version=3.12", "--no-deps"]
    run([*pip, "download", "-q", *pure, "--require-hashes", "-r", locked, "-d", target])
    return sorted(target.glob("*.whl"))


def pyodide_files(folder: Path) -> tuple[list[Path], set[str]]:
    """Return the files of a folder of Pyodide that notebooks load, and its packages of `MORE`.

    Raises
    ------
    FileNotFoundError
        If the interpreter or a package that every notebook needs is missing.
    """
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    known = {normal(name): package for name, package in lock.items()}

    def with_dependencies(names: Iterable[str]) -> dict[str, Path]:
        files, open_names = {}, [normal(name) for name in names]
        while open_names:
            if (name := open_names.pop()) not in files:
                files[name] = folder / known[name]["file_name"]
                open_names += map(normal, known[name]["depends"])
        return files

    files = {path.name: path for path in map(folder.joinpath, INTERPRETER)}
    files |= {path.name: path for path in with_dependencies(AT_START).values()}
    if missing := sorted(name for name, path in files.items() if not path.is_file()):
        raise FileNotFoundError(
            f"PYODIDE={folder}: {', '.join(missing)} missing; notebooks need Pyodide "
            f"{pyodide.VERSION}'s whole distribution, pyodide-{pyodide.VERSION}.tar.bz2"
        )
    loadable = set()
    for name in MORE:
        paths = with_dependencies([name]).values()
        if all(path.is_file() for path in paths):
            loadable.add(name)
            files |= {path.name: path for path in paths}
    return list(files.values()), loadable


def normal(name: str) -> str:
    """Return a package's name in its normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


def settings(wheels: Iterable[Path], lite_folder: Path, contents: Path, target: Path) -> dict:
    """Return the settings of the build of JupyterLite."""
    return {
        "LiteBuildConfig": {
            "apps": ["lab"],
            "contents": [str(contents)],
            "lite_dir": str(lite_folder),
            "no_sourcemaps": True,
            "output_dir": str(target),
        },
        "PipliteAddon": {"piplite_urls": [str(path) for path in wheels]},
    }


def page_settings(local: bool) -> dict:
    """Return the settings of the pages: from where Python comes, and nothing from PyPI."""
    address = "./pyodide/pyodide.js" if local else f"{pyodide.FULL}pyodide.js"
    kernel = {"pyodideUrl": address, "disablePyPIFallback": True}
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "Graphs on the GPU, Warp by Warp",
            "litePluginSettings": {KERNEL: kernel},
        },
    }


def add_policy(page: Path) -> None:
    """Write the content security policy into a page, before anything that it loads."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"<head>", f"<head>\n    {meta}", text, count=1), encoding="utf-8")


def run(command: list[Any], folder: Path = ROOT) -> None:
    """Run a command without the reader's settings of Jupyter; end with its output if it fails."""
    own = {**os.environ, "JUPYTER_NO_CONFIG": "1", "JUPYTER_PREFER_ENV_PATH": "1"}
    done = subprocess.run([*map(str, command)], cwd=folder, env=own, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def build(pages: Path, environment: Path) -> Path:
    """Build JupyterLite into the folder of pages, and return its folder."""
    target = pages.resolve() / LITE
    shutil.rmtree(target, ignore_errors=True)
    local = pyodide.folder()
    files, packages = ([], set(MORE)) if local is None else pyodide_files(local)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "wheels").mkdir()
        write_notebooks(pages / FOLDER, work / "contents", packages)
        wheels = collect_wheels(work / "wheels")
        (work / "jupyter-lite.json").write_text(json.dumps(page_settings(local is not None)))
        config = work / "jupyter_lite_config.json"
        config.write_text(json.dumps(settings(wheels, work, work / "contents", target)))
        jupyter = (environment / "bin" / "jupyter").absolute()
        run([jupyter, "lite", "build", "--config", config], work)
    for page in target.rglob("*.html"):
        add_policy(page)
    for path in files:
        (target / "pyodide").mkdir(exist_ok=True)
        shutil.copy(path, target / "pyodide")
    return target


def main(pages: str, environment: str) -> None:
    """Build JupyterLite, and print how large it is and how to open it."""
    target = build(Path(pages), Path(environment))
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"\nJupyterLite is in {target}, {size / 1e6:.0f} MB. Browsers run it from a server only:")
    print("    make read")


if __name__ == "__main__":
    main(*sys.argv[1:])
