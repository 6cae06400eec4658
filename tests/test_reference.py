"""The library's reference: every public name has an entry, and an example that runs."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from built_book import ROOT, built_book

import gpukernels as gk
from gpukernels import reference, simt

ENTRY = re.compile(r"^\.\. auto(?:class|exception|function):: (\w+)$", re.MULTILINE)
MODULE = re.compile(r"^\.\. currentmodule:: ([\w.]+)$", re.MULTILINE)
SUMMARY = re.compile(r"^   (\w+)$", re.MULTILINE)
BLOCK = re.compile(r"```\{eval-rst\}\n(.*?)```", re.DOTALL)
#: What needs the compiler's tools, which have no wheels for macOS.
NEEDS_TOOLS = {"MissingTool", "sass"}
FROM = ast.ImportFrom


@functools.cache
def entries() -> dict[str, list[str]]:
    """Return what the pages of the reference describe: by module, the names in their order."""
    names: dict[str, list[str]] = {}
    for page in sorted((ROOT / "book" / "reference").glob("*.md")):
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            (module,) = MODULE.findall(block)
            names.setdefault(module, []).extend(ENTRY.findall(block))
    return names


NAMES = [(module, name) for module, names in entries().items() for name in names]


def public(module: ModuleType) -> set[str]:
    """Return the public functions and classes of `module`; constants and modules are none.

    They are what ``__all__`` names, else what is imported as itself, else what is defined there.
    """
    stub = Path(module.__file__).with_suffix(".pyi")
    source = stub.read_text() if stub.exists() else inspect.getsource(module)
    imports = (n for n in ast.walk(ast.parse(source)) if isinstance(n, FROM))
    names = getattr(module, "__all__", None)
    names = names or [a.name for n in imports for a in n.names if a.asname == a.name]
    names = names or [n for n, v in vars(module).items() if inspect.getmodule(v) is module]
    things = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {n for n, v in things.items() if inspect.isroutine(v) or inspect.isclass(v)}


def example_of(module: str, name: str) -> doctest.DocTest | None:
    """Return the examples in the docstring of one name, or None."""
    thing = getattr(importlib.import_module(module), name)
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(thing, name, module=False, globs={"__name__": thing.__module__})
    return test if test.examples else None


@pytest.mark.parametrize(
    "module",
    [gk, reference, simt, importlib.import_module("gpukernels.exercises")],
    ids=lambda m: m.__name__,
)
def test_every_public_name_has_one_entry(module):
    described = entries()[module.__name__]
    assert len(described) == len(set(described))
    elsewhere = {
        name
        for other, names in entries().items()
        if other != module.__name__
        for name in names
        if getattr(module, name, None) is getattr(importlib.import_module(other), name)
    }
    assert public(module) - elsewhere == set(described) - elsewhere


@pytest.mark.parametrize(
    "page", sorted((ROOT / "book" / "reference").glob("*.md")), ids=lambda p: p.stem
)
def test_a_table_names_the_entries_below_it(page):
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if ".. autosummary::" in block:
            table = block.split(".. autosummary::")[1].split("\n.. auto")[0]
            assert SUMMARY.findall(table) == ENTRY.findall(block)


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda part: part)
def test_an_example_of_every_public_name_runs(module, name, monkeypatch):
    if name in NEEDS_TOOLS and sys.platform == "darwin":
        pytest.skip("nvJitLink and nvdisasm have no wheels for macOS")
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    test = example_of(module, name)
    assert test is not None, f"{module}.{name} has no example in its docstring"
    assert any(example.want for example in test.examples)
    assert not any(doctest.SKIP in example.options for example in test.examples)
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=printed.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(printed)


def test_an_entry_of_a_built_page_can_be_linked_and_cites_the_bibliography():
    for page in sorted((ROOT / "book" / "reference").glob("*.md")):
        html = (built_book() / "book" / "reference" / f"{page.stem}.html").read_text("utf-8")
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            (module,) = MODULE.findall(block)
            for name in ENTRY.findall(block):
                assert f'id="{module}.{name}"' in html
        assert not re.search(r"\bkwargs\b", html)
        examples = re.compile(r"<pre>.*?</pre>", re.DOTALL)  # which show what a program prints
        assert not re.findall(r"\[[a-z]+(?:19|20)\d\d[a-z0-9]+\]", examples.sub("", html))
        assert ":cite:" not in html
    graphs = (built_book() / "book" / "reference" / "graphs.html").read_text("utf-8")
    assert re.search(r'href="\.\./bibliography\.html#id\d+"', graphs)
