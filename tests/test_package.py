"""The installed package is whole: Colab gets a wheel, not this folder."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from importlib.metadata import distribution, files
from pathlib import Path

import pytest
from built_book import ROOT

import gpukernels as gk
from gpukernels.notebook import record

sys.path.insert(0, str(ROOT / "book"))
import editions
import make_package

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE = "gpukernels/"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """A source distribution of this tree, and the wheel of that."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"  # building leaves files behind
    beside = ("pyproject.toml", "MANIFEST.in", "README.md", "Makefile", "tests/test_package.py")
    for name in (*beside, *PROJECT["license-files"], *files_of_the_package()):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    return make_package.build(source, folder, "--no-isolation")


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    """The wheel."""
    return built[1]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder in which the wheel alone is installed."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(target), str(wheel)], check=True)
    return target


def files_of_the_package() -> set[str]:
    """Return the path of every file of the package in this tree."""
    paths = *(ROOT / "gpukernels").rglob("*"), *record.FOLDER.glob("*.json")
    own = (p for p in paths if p.is_file() and "__pycache__" not in p.parts)
    return {path.relative_to(ROOT).as_posix() for path in own}


def metadata(wheel: Path):
    """Return the wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def run_installed(installed: Path, folder: Path, code: str) -> str:
    """Return what Python prints in `folder`, where only the installed package can be found."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "GPUKERNELS_DEVICE": "simt"}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_wheel_holds_every_file_of_the_package(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if name.startswith(PACKAGE)} == files_of_the_package()
    assert metadata(wheel)["Version"] == gk.__version__
    assert metadata(wheel)["License-Expression"] == "BSD-3-Clause AND MIT"
    for license in PROJECT["license-files"]:
        assert any(name.endswith(f"licenses/{license}") for name in names)


def test_the_source_distribution_holds_the_package_alone(built):
    names = make_package.files_of(built[0])
    assert {name for name in names if name.startswith(PACKAGE)} == files_of_the_package()
    make_package.check(*built)


def test_the_page_of_the_package_shows_what_runs(wheel, monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    page = ROOT / PROJECT["readme"]
    assert metadata(wheel).get_payload().strip() == page.read_text(encoding="utf-8").strip()
    tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried.attempted > 3
    assert tried.failed == 0


def test_what_is_installed_draws_shows_and_judges_without_the_repository(installed, tmp_path):
    printed = run_installed(
        installed,
        tmp_path,
        """
import gpukernels as gk
from gpukernels.notebook import record

with gk.trace() as t:
    gk.bfs(gk.example())
html = gk.FrontierView(gk.example(), t.trace)._repr_mimebundle_()
print(gk.__file__)
print("<svg" in str(html))
print(gk.show(gk.traversal.frontier.expand_frontier).title)
print(bool(gk.exercise("shared-2").check(gk.exercise("shared-2").solution, seed=1)))
print(record.kept("bfs")["times"][0]["graph"])
""",
    ).splitlines()
    assert printed == [
        str(installed / "gpukernels" / "__init__.py"),
        "True",
        "gpukernels/traversal/frontier.py",
        "True",
        "rmat",
    ]


def test_a_search_needs_numpy_and_numba_alone(installed, tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    for project in ("numpy", "numba", "llvmlite"):
        for name in {file.parts[0] for file in files(project)} - {"..", "__pycache__"}:
            (links / name).symlink_to(distribution(project).locate_file(name))
    code = f"import sys; sys.path += {[str(installed), str(links)]}\n{make_package.SEARCH}"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("BFSResult of reference.bfs")


def test_a_tag_names_the_version(built, tmp_path, monkeypatch):
    monkeypatch.setattr(make_package, "build", lambda *_: built)
    with pytest.raises(SystemExit, match=f"the version is {gk.__version__}, whose tag is"):
        make_package.main(str(tmp_path), "v99.0.0")
    monkeypatch.setattr(editions, "dates", dict)
    with pytest.raises(SystemExit, match=rf"needs a heading '## {gk.__version__} \("):
        make_package.main(str(tmp_path), f"v{gk.__version__}")
    monkeypatch.setattr(editions, "dates", lambda: {gk.__version__: "2031-02-03"})
    tried = []
    monkeypatch.setattr(make_package, "try_out", tried.append)
    make_package.main(str(tmp_path), f"v{gk.__version__}")
    assert tried == list(built)


def test_the_citation_names_the_version_and_the_date_of_the_edition(monkeypatch):
    assert editions.version() == gk.__version__
    assert editions.cited() == (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    files = {
        "gpukernels/__init__.py": '__version__ = "9.8.7"\n',
        "CHANGELOG.md": "## Unreleased\n\n## 9.8.7 (2031-02-03)\n\n## 0.1.0 (2026-12-01)\n",
        "CITATION.cff": "version: 0.1.0\ndate-released: 2026-12-01\ntitle: A book\n",
    }
    monkeypatch.setattr(editions, "read", files.get)
    assert editions.cited() == "version: 9.8.7\ndate-released: 2031-02-03\ntitle: A book\n"
