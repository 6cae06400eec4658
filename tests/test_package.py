"""The installed package is whole: Colab gets a wheel, not this folder."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
import yaml

import gpukernels as gk
from gpukernels.notebook import record

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE = "gpukernels/"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel made of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # building leaves files behind
    source.mkdir()
    for name in ("pyproject.toml", *PROJECT["license-files"]):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for name in files_of_the_package():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(source)], check=True)
    (made,) = folder.glob("*.whl")
    return made


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


def told(wheel: Path):
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
    assert told(wheel)["Version"] == gk.__version__
    assert told(wheel)["License-Expression"] == "BSD-3-Clause"
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_page_of_the_package_shows_what_runs(wheel, monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    page = ROOT / PROJECT["readme"]
    assert told(wheel).get_payload().strip() == page.read_text(encoding="utf-8").strip()
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


def test_citation_and_changes_name_the_release():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == gk.__version__
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == gk.__version__
