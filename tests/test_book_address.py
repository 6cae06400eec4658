"""The repository's address: one place, everything else follows it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urljoin

import pytest
import yaml
from bs4 import BeautifulSoup
from built_book import ROOT, build, built_book, what_the_build_said
from effort import EFFORT, SOAK
from markdown_it import MarkdownIt

URL = "https://github.com/someone/some-copy"
PUBLISHED = "https://someone.github.io/some-copy"
PLACEHOLDER = "https://github.com/OWNER/graphs-on-the-gpu"


@pytest.fixture(scope="module")
def without_address(tmp_path_factory) -> Path:
    """A copy of what `make colab-url` touches and a build needs, without an address."""
    target = tmp_path_factory.mktemp("without_address")
    for name in ("_config.yml", "_toc.yml", "README.md", "pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, target / name)
    for name in ("book", "chapters"):
        shutil.copytree(ROOT / name, target / name)
    config = target / "_config.yml"
    config.write_text(re.sub(r"(?m)^  url: .*$", f"  url: {PLACEHOLDER}", config.read_text()))
    assert set_address(target).returncode == 0
    return target


@pytest.fixture
def copy(without_address, tmp_path) -> Path:
    """Such a copy of a test's own."""
    return shutil.copytree(without_address, tmp_path / "copy")


def set_address(copy: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run `make colab-url` in the copy."""
    command = [sys.executable, "book/colab_url.py", *arguments]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True)


def files(copy: Path) -> dict[str, bytes]:
    """Return the contents of every file of the copy."""
    paths = [p for p in copy.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {str(p.relative_to(copy)): p.read_bytes() for p in paths}


def test_a_copy_without_an_address_has_no_buttons_and_says_so_in_one_line(copy, tmp_path):
    if (copy / "_config.yml").read_text() == (ROOT / "_config.yml").read_text():
        pages, printed = built_book(), what_the_build_said()  # this book has no address either
    else:
        pages, printed = build(copy, tmp_path / "pages")
    lines = [line for line in printed.splitlines() if "No repository address" in line]
    assert len(lines) == 1
    assert "make colab-url URL=" in lines[0]
    for page in pages.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "colab.research.google.com" not in text, page
        assert "OWNER" not in text, page


def test_an_address_is_set_everywhere_by_one_command(copy):
    run = set_address(copy, URL, "v1.2.3")
    assert run.returncode == 0, run.stderr
    chapters = sorted((copy / "chapters").glob("*.ipynb"))
    for chapter in chapters:
        source = "".join(json.loads(chapter.read_text())["cells"][0]["source"])
        assert f"git+{URL}@v1.2.3" in source
    assert not [name for name, text in files(copy).items() if b"/OWNER/graphs" in text]
    for chapter in chapters:
        assert f"{AT_COLAB}/{chapter.name}" in (copy / "README.md").read_text()
    assert f"\npip install git+{URL}@v1.2.3\n" in (copy / "README.md").read_text()


AT_COLAB = "https://colab.research.google.com/github/someone/some-copy/blob/gh-pages/notebooks"


@pytest.mark.skipif(EFFORT != SOAK, reason="a second book takes a minute; make soak builds it")
def test_pages_and_notebooks_of_a_book_with_an_address_link_to_it(copy, tmp_path):
    assert set_address(copy, URL, "v1.2.3").returncode == 0
    chapters = sorted((copy / "chapters").glob("*.ipynb"))
    pages, printed = build(copy, tmp_path / "pages")
    assert "No repository address" not in printed
    text = (pages / "chapters" / f"{chapters[0].stem}.html").read_text(encoding="utf-8")
    assert f"{AT_COLAB}/{chapters[0].name}" in text
    assert "/blob/v1.2.3/chapters/" not in text
    assert f'href="{URL}"' in text
    row = BeautifulSoup(text, "html.parser").select_one(".run-row")
    assert row.a["href"] == f"{AT_COLAB}/{chapters[0].name}"
    assert f"git clone {URL}" in row.get_text()
    for chapter in chapters:
        assert links_of_notebook(pages, chapter.stem) == links_of_page(pages, chapter.stem)


def links_of_page(pages: Path, chapter: str) -> set[str]:
    """Return where the text of a chapter's page links to in the book, as it will be published."""
    name = f"chapters/{chapter}.html"
    article = BeautifulSoup((pages / name).read_text(encoding="utf-8"), "html.parser").article
    # A link that moves a figure of the same page is an anchor in a plain notebook.
    links = article.select('a.reference.internal[href]:not([href^="#fig-"])')
    return {urljoin(f"{PUBLISHED}/{name}", link["href"]) for link in links}


def links_of_notebook(pages: Path, chapter: str) -> set[str]:
    """Return where the text of a chapter's plain notebook links to in the published book."""
    cells = json.loads((pages / "notebooks" / f"{chapter}.ipynb").read_text())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    html = "".join(MarkdownIt("commonmark").enable("table").render(text) for text in texts)
    links = [link["href"] for link in BeautifulSoup(html, "html.parser").find_all("a", href=True)]
    return {link for link in links if link.startswith(PUBLISHED)}


def package(copy: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the addresses that the package's metadata and its citation name."""
    project = tomllib.loads((copy / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((copy / "CITATION.cff").read_text())
    return project.get("urls", {}), {k: v for k, v in cited.items() if k in CITED}


CITED = ("repository-code", "url")


def complaints(copy: Path) -> str:
    """Return what the schema of the Citation File Format says against CITATION.cff."""
    command = [sys.executable, "-m", "check_jsonschema", "CITATION.cff"]
    command += ["--builtin-schema", "vendor.citation-file-format"]
    run = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout if run.returncode else ""


@pytest.mark.parametrize("url", [PLACEHOLDER, URL, "https://gitlab.com/someone/other"])
def test_the_citation_is_valid_by_its_schema_with_an_address_and_without(copy, url):
    assert set_address(copy, url).returncode == 0
    assert complaints(copy) == ""
    assert {"version", "date-released"} <= {*yaml.safe_load((copy / "CITATION.cff").read_text())}


def test_the_package_and_its_citation_name_the_address_that_is_set(copy):
    set_address(copy, URL, "v1.2.3")
    urls, cited = package(copy)
    assert urls == {
        "Homepage": f"{PUBLISHED}/",
        "Source": URL,
        "Issues": f"{URL}/issues",
        "Changelog": f"{URL}/blob/v1.2.3/CHANGELOG.md",
    }
    assert cited == {"repository-code": URL, "url": f"{PUBLISHED}/"}
    other = "https://gitlab.com/someone/other"
    set_address(copy, other, "main")
    urls, cited = package(copy)
    assert urls["Homepage"] == urls["Source"] == cited["url"] == other
    assert urls["Issues"] == f"{other}/-/issues"
    set_address(copy, PLACEHOLDER)
    assert package(copy) == ({}, {})


def test_the_tree_is_in_line_with_its_own_settings(copy):
    names = ["README.md", "pyproject.toml", "CITATION.cff"]
    names += [*(f"chapters/{p.name}" for p in (ROOT / "chapters").glob("*.ipynb"))]
    for name in ("_config.yml", *names):
        shutil.copy(ROOT / name, copy / name)
    assert set_address(copy).returncode == 0
    assert [name for name in names if (copy / name).read_text() != (ROOT / name).read_text()] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("not an address",),
        ("https://github.com/only-owner",),
        ("ftp://github.com/a/b",),
        (URL, "v 1"),
    ],
)
def test_a_wrong_address_is_refused_before_anything_is_written(copy, arguments):
    before = files(copy)
    run = set_address(copy, *arguments)
    assert run.returncode != 0
    assert repr(arguments[-1]) in run.stderr
    assert files(copy) == before
