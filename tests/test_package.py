"""The installed package is whole: Colab gets a wheel, not this folder."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_every_file_of_the_package(tmp_path):
    source = tmp_path / "source"  # building leaves files behind
    source.mkdir()
    for name in ("pyproject.toml", "README.md"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    expected = set()
    for path in sorted((ROOT / "gpukernels").rglob("*")):
        if path.is_file() and path.suffix not in (".pyc", ".md"):
            name = path.relative_to(ROOT)
            expected.add(name.as_posix())
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = {n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("gpukernels/")}
    assert held == expected
