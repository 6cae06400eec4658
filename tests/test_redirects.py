"""A renamed page: its old address leads to the new one, in `_config.yml` and in a small book."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from built_book import ROOT
from small_book import book_extensions, build  # noqa: F401

sys.path.insert(0, str(ROOT / "book"))
import find_addresses

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]


def files(tmp_path, builder: str) -> dict[str, str]:
    """Build a small book in which a chapter has been renamed; return its pages by their names."""
    book = {
        "index.md": "# Book\n\n```{toctree}\nchapters/new_name\n```\n",
        "chapters/new_name.md": "# A chapter\n",
    }
    settings = {
        "extensions": ["myst_parser", "epub_pages", "sphinx_reredirects"],
        "redirects": {"chapters/old_name": "/chapters/new_name.html"},
    }
    out = Path(build(tmp_path, book, settings, builder).outdir)
    return {p.relative_to(out).as_posix(): p.read_text("utf-8") for p in out.rglob("*html")}


pytestmark = pytest.mark.usefixtures("book_extensions")


def test_the_old_address_leads_to_the_new_page_and_keeps_what_follows_the_page(tmp_path):
    pages = files(tmp_path, "html")
    old = pages["chapters/old_name.html"]
    assert 'content="0; url=../chapters/new_name.html"' in old
    assert "window.location.replace(target + window.location.hash)" in old
    assert "A chapter" in pages["chapters/new_name.html"]


def test_an_epub_has_no_pages_that_lead_to_others(tmp_path):
    pages = files(tmp_path, "epub")
    assert "chapters/new_name.xhtml" in pages
    assert [name for name in pages if "old_name" in name] == []


def test_the_book_has_the_extension_whose_redirects_replace_no_page_and_lead_to_one():
    assert "sphinx_reredirects" in CONFIG["extensions"]
    pages = find_addresses.pages()
    for old, new in CONFIG["redirects"].items():
        assert f"{old}.html" not in pages
        assert new.startswith("/"), "the address of a page begins at the book's folder"
        assert new.removeprefix("/") in pages
