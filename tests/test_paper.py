"""The book on paper: every page as it stands in the PDF and in the EPUB."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from unittest import mock

import pytest
from bs4 import BeautifulSoup
from built_book import ROOT, built_book
from effort import EFFORT, SOAK

import gpukernels

sys.path.insert(0, str(ROOT / "book" / "paper"))
import make_epub
import make_pdf
from stills import still, xhtml

DRAWERS = """<article><h2>1. Predict<a class="headerlink" href="#x">#</a></h2>
<details><summary>Hint</summary><p>Count.</p></details>
<details class="hide"><summary>Show code cell source</summary><pre>plot()</pre></details>
<details class="hide"><summary>Show the solution</summary><pre>answer()</pre></details>
<figure><p>one frame</p><button>play</button><script>1</script>
<figcaption>One search.</figcaption>
<details><summary>Description in words</summary><p>Two vertices.</p></details></figure></article>"""


NAMES = [name for _, part in make_pdf.contents() for name in part]


#: The book of every second page of each part, since reading a page takes a second, and twice at
#: that; `make soak` has all. Links to what is left out lead to its file.
CONTENTS = [(part, pages[:: 1 if EFFORT == SOAK else 2]) for part, pages in make_pdf.contents()]
NAMES_OF_DOCUMENT = [name for _, pages in CONTENTS for name in pages]


@pytest.fixture(scope="module")
def document() -> BeautifulSoup:
    """The page that the PDF is printed from."""
    with mock.patch.object(make_pdf, "contents", return_value=CONTENTS):
        return BeautifulSoup(make_pdf.document(built_book()), "html.parser")


def test_what_a_reader_would_have_to_click_is_opened_moved_or_left_out():
    paper = still(BeautifulSoup(DRAWERS, "html.parser").article)
    assert not paper.select("details, summary, script, button, .headerlink")
    text = paper.get_text(" ", strip=True)
    assert "Description in words. Two vertices." in text
    assert "Two vertices." in paper.figure.find_all(recursive=False)[-1].get_text()
    assert "Hint. Count." in text
    assert "plot" not in text
    assert text.endswith("Solutions 1. Predict answer()")


def test_a_question_keeps_its_answers_and_the_right_one_goes_to_the_solutions():
    asked = """<article><h2>Two</h2><details class="recall"><summary>A question</summary>
    <div class="question"><p>How many?</p><details><summary>1</summary><p>No. Count.</p></details>
    <details class="right"><summary>2</summary><p>Right. Both.</p></details></div></details>
    <h2>Summary</h2><details><summary>Why two?</summary><p>There are two.</p></details></article>"""
    paper = still(BeautifulSoup(asked, "html.parser").article)
    assert not paper.select("details, summary")
    assert [answer.get_text() for answer in paper.select(".question li")] == ["1", "2"]
    text = paper.get_text(" ", strip=True)
    assert "No. Count." not in text
    assert "Why two? There are two." in text
    assert text.endswith("Solutions Two 2 Right. Both.")


def test_every_page_of_the_contents_is_in_the_document_and_every_link_leads_somewhere(document):
    ids = {element["id"] for element in document.select("[id]")}
    assert {make_pdf.anchor(name) for name in NAMES_OF_DOCUMENT} <= ids
    links = [link["href"] for link in document.select("a[href]")]
    inside = [link[1:] for link in links if link.startswith("#")]
    assert len(inside) > 10 * len(NAMES_OF_DOCUMENT)
    assert sorted({link for link in inside if link not in ids}) == []
    assert not [link for link in links if not link.startswith(("#", "https:", "http:", "file:"))]


def test_nothing_is_left_to_click_and_every_picture_has_a_text(document):
    assert not document.select("details, script, button, select, input")
    assert len(document.select("figure.gk-view svg")) > 25
    assert [str(i)[:80] for i in document.select("img") if not i.get("alt")] == []
    for figure in document.select("figure.gk-view"):
        assert figure.select(".paper-words, [aria-label]"), str(figure)[:200]


def test_the_first_page_names_the_edition_and_the_licenses(document):
    title = document.select_one(".paper-title").get_text(" ", strip=True)
    assert f"Edition {gpukernels.__version__}" in title
    assert "CC BY 4.0" in title
    assert "BSD 3-Clause" in title


@pytest.mark.parametrize("name", NAMES[:: 1 if EFFORT == SOAK else 5])
def test_a_page_of_the_epub_is_well_formed_and_svg_keeps_its_names(name):
    page = (built_book() / f"{name}.html").read_text(encoding="utf-8")
    markup = xhtml(still(BeautifulSoup(page, "html.parser").article).decode_contents())
    tree = ElementTree.fromstring(f"<div>{markup}</div>")
    assert "viewbox=" not in markup
    pictures = [e for e in tree.iter() if e.tag.endswith("svg") and "viewBox" in e.attrib]
    assert pictures or "<svg" not in markup
    assert {e.tag for e in pictures} <= {"{http://www.w3.org/2000/svg}svg"}


def test_the_epub_s_list_tells_what_its_pages_hold_and_names_no_file_that_is_not_there(tmp_path):
    item = '<item id="{0}" href="{1}" media-type="application/xhtml+xml" />'
    listed = item.format("a", "chapters/a.xhtml") + item.format("b", "b.xhtml")
    order = '<spine><itemref idref="a" /><itemref idref="gone" /><itemref idref="b" /></spine>'
    styles = '<link rel="stylesheet" href="../x.css" /><link rel="stylesheet" href="../no.css" />'
    with zipfile.ZipFile(tmp_path / "made.epub", "w") as epub:
        epub.writestr("content.opf", listed + order)
        epub.writestr("mimetype", "application/epub+zip")
        epub.writestr("chapters/a.xhtml", f"{styles}<svg/><math/>")
        epub.writestr("b.xhtml", "<p/>")
        epub.writestr("x.css", "")
    make_epub.settle(tmp_path / "made.epub", tmp_path / "out.epub")
    with zipfile.ZipFile(tmp_path / "out.epub") as out:
        first = out.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        listing = out.read("content.opf").decode()
        assert (
            'href="chapters/a.xhtml" media-type="application/xhtml+xml" properties="mathml svg"'
            in listing
        )
        assert listing.count("properties") == 1
        assert re.findall('idref="(.*?)"', listing) == ["a", "b"]
        assert "no.css" not in out.read("chapters/a.xhtml").decode()
        assert "x.css" in out.read("chapters/a.xhtml").decode()


@pytest.mark.skipif(EFFORT != SOAK, reason="a minute; make soak does it")
def test_make_epub_writes_a_book_that_names_its_version(tmp_path):
    command = [sys.executable, str(ROOT / "book/paper/make_epub.py"), str(tmp_path / "book.epub")]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(tmp_path / "book.epub") as epub:
        assert epub.read("mimetype") == b"application/epub+zip"
        names = epub.namelist()
        assert sum(name.startswith("chapters/") for name in names) >= 13
        assert not [name for name in names if name.endswith(".js")]
        for name in names:
            if name.endswith((".xhtml", ".opf")):
                ElementTree.fromstring(epub.read(name))
