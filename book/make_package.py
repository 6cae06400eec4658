"""Build the package, and try it in an empty environment: `make package [TAG=v1.0.0]`.

    python book/make_package.py _build/dist [TAG]

A source distribution is made from this tree, and a wheel from that distribution. Each is installed
with its dependencies into a new environment, in which a program searches a graph. A tag has to name
the version, and CHANGELOG.md has to name its date.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import editions

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "gpukernels/"
#: Files of a source distribution in addition to the package.
BESIDE = {
    "LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg",
    *(f"gpukernels.egg-info/{name}" for name in (
        "PKG-INFO", "SOURCES.txt", "dependency_links.txt", "entry_points.txt", "requires.txt",
        "top_level.txt",
    )),
}  # fmt: skip
#: A program that an installed package must run with NumPy and numba alone.
SEARCH = """
import gpukernels as gk

g = gk.Graph.from_arcs(5, [0, 0, 1, 2], [1, 2, 3, 3])
found = gk.bfs(g, root=0)
assert found.distance.tolist() == [0, 1, 1, 2, -1], found.distance
assert "4 of 5 vertices in 3 levels" in repr(found), found
with gk.trace() as t:
    traced = gk.bfs(g, root=0)
assert traced.distance.tolist() == [0, 1, 1, 2, -1], traced.distance
assert t.summary()["expand_frontier"]["launches"] == 3, t.summary()
print(found)
"""


def run(*command: str | Path) -> str:
    """Run a command outside of the repository and return its output; end if it fails."""
    done = subprocess.run(command, cwd=tempfile.gettempdir(), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(source: Path, folder: Path, *options: str) -> tuple[Path, Path]:
    """Make the source distribution of `source` and its wheel in `folder`, and return both."""
    run(sys.executable, "-m", "build", "--outdir", folder.resolve(), *options, source.resolve())
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def check(sdist: Path, wheel: Path) -> None:
    """Refuse metadata that an index would refuse, and files that are not part of the package."""
    run(sys.executable, "-m", "twine", "--no-color", "check", "--strict",
        sdist.resolve(), wheel.resolve())  # fmt: skip
    strange = {n for n in files_of(sdist) if not n.startswith(PACKAGE)} - BESIDE
    if strange:
        sys.exit(f"{sdist.name} holds files that are not the package's: {sorted(strange)}")


def files_of(sdist: Path) -> set[str]:
    """Return the paths of the files of a source distribution."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def try_out(file: Path) -> None:
    """Install a file with its dependencies into an empty environment, and search a graph there."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        run(sys.executable, "-m", "venv", folder)
        run(python, "-I", "-m", "pip", "install", "--quiet", file.resolve())
        print(run(python, "-I", "-m", "pip", "list"))
        print(run(python, "-I", "-c", SEARCH))


def main(folder: str, tag: str = "") -> None:
    """Make both files in `folder`, and try them."""
    shutil.rmtree(folder, ignore_errors=True)
    sdist, wheel = build(ROOT, Path(folder))
    version = wheel.name.split("-")[1]
    if tag not in ("", f"v{version}"):
        sys.exit(f"TAG={tag!r}: the version is {version}, whose tag is 'v{version}'")
    if tag and version not in editions.dates():
        sys.exit(f"TAG={tag!r}: CHANGELOG.md needs a heading '## {version} (2026-12-31)'")
    check(sdist, wheel)
    for file in (sdist, wheel):
        try_out(file)
        print(f"{file}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
