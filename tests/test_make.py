"""What `make` promises of the environment that it makes, tried on a copy without packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built_book import ROOT
from own_make import own_environment


@pytest.fixture
def project(tmp_path) -> Path:
    """A folder with the Makefile, and a Python that makes environments without pip, in no time."""
    folder = tmp_path / "project"
    (folder / "book").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "book" / "make_venv.sh", folder / "book")
    for name in ("requirements.txt", "requirements-test.txt", "pyproject.toml"):
        (folder / name).touch()
    python = tmp_path / "python"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}"
    python.write_text(
        f'#!/bin/sh\n[ "$1 $2" = "-m venv" ] && exec {base} "$@" --without-pip\nexec {base} "$@"\n'
    )
    python.chmod(0o755)
    return folder


def make(project: Path, *more: str, install: str = "true") -> subprocess.CompletedProcess:
    """Run make up to the packages, of which pip's part is `install`."""
    python = project.parent / "python"
    # Left out are the variables by which a make that runs these tests would speak to this one.
    plain = {k: v for k, v in own_environment().items() if k != "PYTHON"}
    command = ["make", "-C", str(project), f"INSTALL={install}", ".venv/book-installed", *more]
    if not more:
        plain["PATH"] = f"{project.parent}/bin:{plain['PATH']}"
        (project.parent / "bin").mkdir(exist_ok=True)
        link = project.parent / "bin" / "python3"
        if not link.exists():
            link.symlink_to(python)
    return subprocess.run(command, env=plain, capture_output=True, text=True, check=False)


def environment(project: Path, install: str = "true") -> str:
    """Make what is missing, which must succeed; return what was printed."""
    done = make(project, install=install)
    assert done.returncode == 0, done.stderr
    assert (project / ".venv" / "book-installed").exists()
    subprocess.run([project / ".venv/bin/python", "-c", "import sys"], check=True)
    return done.stdout


def test_an_environment_that_works_stays(project):
    first = environment(project)
    assert "Installing the book's packages" in first
    assert "made anew" not in first
    for _ in range(2):
        again = environment(project)
        assert "Installing" not in again
        assert "made anew" not in again
    stamp = (project / ".venv" / "made").read_text()
    assert f"Python {sys.version.split()[0]} of " in stamp
    assert str(project / ".venv") in stamp


def test_one_that_was_killed_while_it_was_made_is_made_anew(project):
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "pyvenv.cfg").touch()
    assert ".venv is made anew: it was not finished." in environment(project)


def test_one_whose_packages_were_installed_by_half_is_made_anew(project):
    failed = make(project, install="false")
    assert failed.returncode != 0
    assert not (project / ".venv" / "book-installed").exists()
    assert ".venv is made anew: its packages are not all installed." in environment(project)
    assert "made anew" not in environment(project)


def test_one_whose_python_is_gone_is_made_anew(project):
    environment(project)
    for python in (project / ".venv" / "bin").glob("python*"):
        python.unlink()
        python.symlink_to("/nowhere/python3")
    assert ".venv is made anew: its Python does not run any more." in environment(project)


def test_a_python_that_is_named_replaces_another(project):
    environment(project)
    other = project.parent / "other"
    other.write_text(
        '#!/bin/sh\ncase "$*" in *python_version*) echo "Python 3.99.0 of /x";; esac\n'
    )
    other.chmod(0o755)
    done = make(project, f"PYTHON={other}")
    assert f"it was made with Python {sys.version.split()[0]}" in done.stdout
    assert f"{other} is another" in done.stdout
