"""What CONTRIBUTING.md tells a newcomer to run and to open is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.search(r"^\.PHONY: FORCE (.*)$", MAKEFILE, re.MULTILINE)[1].split())
#: What a reader puts a name of their own for.
OWN = re.compile(r"your_|CHAPTER|NAME|/bin/|\*|=")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:md|yml|cff))`")


def paths(text: str) -> set[str]:
    """Return the files and folders that `text` names."""
    return {path for path in PATH.findall(text) if not OWN.search(path)}


@pytest.mark.parametrize("path", sorted(paths(TEXT)))
def test_a_file_to_open_is_there(path):
    assert (ROOT / path).exists()


def test_a_command_of_make_is_a_target():
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", TEXT, re.MULTILINE))
    assert {"test", "gpu-test", "bench", "fuzz", "outputs"} <= named <= TARGETS


def test_there_is_a_recipe_for_each_thing_to_add_and_it_names_the_tests():
    recipes = dict(re.findall(r"^## Add an? (\w+)\n(.*?)(?=^## )", TEXT, re.MULTILINE | re.DOTALL))
    assert set(recipes) == {"technique", "figure", "exercise", "chapter"}
    for name, recipe in recipes.items():
        assert any(path.startswith("tests/") for path in paths(recipe)), name


def test_it_speaks_of_the_lists_as_they_are_called():
    for path, name in [
        ("gpukernels/traversal/__init__.py", "METHODS"),
        ("tests/traversal/test_bfs.py", "VARIANTS"),
        ("gpukernels/exercises/tasks/__init__.py", "CHAPTERS"),
        ("gpukernels/exercises/tasks/scans.py", "EXERCISES"),
    ]:
        assert f"`{name}`" in TEXT
        assert re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_front_page_of_the_repository_leads_to_it_and_to_the_live_copy():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "LICENSE-TEXT"):
        assert f"`{path}`" in readme
        assert (ROOT / path).exists()
    assert "### A live copy" in readme
    publish = (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")
    assert "A live copy" in publish
    assert "gh-pages" in yaml.safe_load(publish)["jobs"]["publish"]["steps"][-1]["run"]
