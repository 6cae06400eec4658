"""A reference says and links what Sphinx makes of the same role on a page."""

from __future__ import annotations

import re
import sys
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup
from built_book import ROOT
from small_book import build
from sphinx.application import Sphinx

sys.path.insert(0, str(ROOT / "book"))
from plain_notebooks import citations
from plain_notebooks.markdown import NotPlain, plain
from plain_notebooks.references import References

ADDRESS = "https://someone.github.io/some-copy"
EXTENSIONS = ["myst_parser", "sphinx_proof", "sphinxcontrib.bibtex"]
FILES = {
    "index.md": "# Front\n\n```{toctree}\n:numbered:\nchapters/one\nchapters/two\n"
    "book/glossary\nbook/bibliography\n```\n",
    "chapters/two.md": "# The second, on `code` and [brackets]\n\n(a-section)=\n"
    "## A *section* of_it\n\n```{prf:algorithm} Sort\n:label: an-algorithm\n1. x\n```\n\n"
    "$$\nx = y\n$$ (an-equation)\n\n```{table} A table\n:name: a-table\n| a |\n|---|\n| b |\n```\n",
    "book/glossary.md": "# Words\n\n```{glossary}\nwarp\n  32 threads\n\nwork-item\n  a piece\n"
    "\nCSR\n  rows\n```\n",
    "book/bibliography.md": "# Works\n\n```{bibliography}\n:all:\n```\n",
    "works.bib": """
@article{one, author={Moore, Edward F.}, title={Maze}, year={1959}, journal={J}}
@article{two, author={Erd\\H{o}s, P. and R{\\'e}nyi, A.}, title={G}, year={1959}, journal={J}}
@article{many, author={van der Walt, A. and B, C. and D, E.}, title={T}, year={2020}, journal={J}}
@manual{firm, author={{NVIDIA}}, title={Guide}, year={2025}}
@book{edited, editor={Bader, D. and Sanders, P.}, title={P}, year={2013}, publisher={AMS}}
@article{twin, author={Busato, F. and Bombieri, N.}, title={A}, year={2017}, journal={J}}
@article{twin2, author={Busato, F. and Bombieri, N.}, title={B}, year={2017}, journal={J}}
""",
}
PLACES = [
    "{term}`warp`",
    "{term}`Warps <warp>`",
    "{term}`units <work-item>`",
    "{term}`CSR`",
    "{doc}`two`",
    "{doc}`/book/glossary`",
    "{doc}`words <../book/glossary>`",
    "{ref}`a-section`",
    "{ref}`below <a-section>`",
    "{prf:ref}`an-algorithm`",
    "{numref}`a-table`",
    "{eq}`an-equation`",
]
LINKS = ["[own words](a-section)", "[own words](two.md)"]
WORKS = ["one", "two", "many", "firm", "edited", "twin", "twin2"]


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Sphinx:
    """A small book, built, whose chapter `one` holds every reference in a paragraph of its own."""
    folder = tmp_path_factory.mktemp("small-book")
    lines = [*PLACES, *LINKS, *(f"{{cite}}`{key}`" for key in WORKS)]
    one = "# One\n\n" + "".join(f"x{n}x {line}\n\n" for n, line in enumerate(lines))
    settings = {
        "extensions": EXTENSIONS,
        "bibtex_bibfiles": ["works.bib"],
        "bibtex_default_style": "alpha",
        "myst_enable_extensions": ["dollarmath"],
        "numfig": True,
    }
    return build(folder, {**FILES, "chapters/one.md": one}, settings)


@pytest.fixture(scope="module")
def on_the_page(app) -> dict[str, tuple[str, str]]:
    """What the page of `one` shows for each of its paragraphs: words and address."""
    page = BeautifulSoup((app.outdir / "chapters" / "one.html").read_text(), "html.parser")
    lines = [*PLACES, *LINKS, *WORKS]
    texts = {}
    for paragraph in page.find_all("p"):
        if number := re.match(r"x(\d+)x ", paragraph.text):
            link = paragraph.find("a", class_="internal")
            address = urljoin(f"{ADDRESS}/chapters/one.html", link["href"])
            texts[lines[int(number[1])]] = (link.text, address)
    assert len(texts) == len(lines)
    return texts


@pytest.fixture
def book(app) -> References:
    return References(app, "chapters/one", ADDRESS)


def link(markdown: str) -> tuple[str, str]:
    """Return the words and the address of a text that is one Markdown link."""
    words, address = re.fullmatch(r"\[(.*)\]\((\S+)\)", markdown, re.DOTALL).groups()
    return re.sub(r"\\(.)", r"\1", words), address


@pytest.mark.parametrize("text", [*PLACES, *LINKS])
def test_a_reference_says_and_links_what_the_page_does(text, book, on_the_page):
    assert link(plain(text, book)) == on_the_page[text]


@pytest.mark.parametrize("key", WORKS)
def test_a_citation_leads_to_its_work_in_the_bibliography(key, book, on_the_page):
    assert link(book.role("cite", key)[1:-1])[1] == on_the_page[key][1]


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("one", "Moore 1959"),
        ("two", "Erdős & Rényi 1959"),
        ("many", "van der Walt et al. 2020"),
        ("firm", "NVIDIA 2025"),
        ("edited", "Bader & Sanders 2013"),
    ],
)
def test_a_citation_names_at_most_two_authors_and_the_year(key, label, app):
    assert citations.find(app.env, key).in_brackets == label


def test_without_an_address_chapters_link_to_notebooks_and_the_rest_is_words(app):
    book = References(app, "chapters/one", None)
    assert book.role("term", "units <work-item>") == "units"
    assert book.role("doc", "words <two>") == "[words](two.ipynb)"
    assert book.role("ref", "below <a-section>") == "[below](two.ipynb)"
    assert book.role("prf:ref", "an-algorithm") == "[Algorithm 2.1](two.ipynb)"
    assert book.role("cite", "one") == "(Moore 1959)"
    assert book.role("doc", "words <../book/glossary>") == "words"
    inside = References(app, "chapters/two", None)
    assert inside.role("ref", "above <a-section>") == "above"


@pytest.mark.parametrize(
    ("role", "content"),
    [
        ("term", "nothing"),
        ("doc", "nowhere"),
        ("ref", "no-label"),
        ("prf:ref", "no-algorithm"),
        ("numref", "no-table"),
        ("eq", "no-equation"),
        ("cite", "nobody1999"),
        ("sub", "2"),
        ("math", "x"),
    ],
)
def test_what_is_not_in_the_book_is_refused_by_name(role, content, book):
    with pytest.raises(NotPlain, match=content if role not in ("sub", "math") else role):
        book.role(role, content)
