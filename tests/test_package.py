"""The installed package is whole: Colab gets a wheel, not this folder."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import yaml

import gpukernels as gk

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_every_file_of_the_package(tmp_path):
    source = tmp_path / "source"  # building leaves files behind
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    expected = set()
    for path in sorted((ROOT / "gpukernels").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".md":
            name = path.relative_to(ROOT)
            expected.add(name.as_posix())
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {n for n in names if n.startswith("gpukernels/")} == expected
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    told = message_from_bytes(zipfile.ZipFile(wheel).read(metadata))
    assert told["Version"] == gk.__version__
    assert told["License-Expression"] == "BSD-3-Clause"
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_citation_and_changes_name_the_release():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == gk.__version__
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == gk.__version__
