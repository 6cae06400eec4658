"""The whole book as one PDF: `python book/paper/make_pdf.py _build/html _build/book.pdf`.

The pages follow each other in the order of the contents, in the form that `stills` gives them for
paper, and Chromium prints them. Headings become bookmarks, links between pages lead to places in
the file, and figures keep their first frames and their words.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import yaml
from bs4 import BeautifulSoup, Tag
from stills import still

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "book"))
import editions  # noqa: E402

NAMES = (
    *("chromium", "chromium-browser", "chromium-headless-shell"),
    *("google-chrome", "google-chrome-stable"),
)
#: The form in which an attribute of a figure names one of its clip paths or markers.
OWN = re.compile(r"url\(#(.*?)\)")
STYLES = ("_static/pygments.css", "_static/views.css", "_static/math.css", "_static/report.css")


def contents() -> list[tuple[str, list[str]]]:
    """Return (caption, names of pages) of each part of the book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [(part["caption"], [c["file"] for c in part["chapters"]]) for part in toc["parts"]]


def anchor(page: str, fragment: str = "") -> str:
    """Return the id of a page's element in the whole book."""
    return f"{page}--{fragment}".replace("/", "-") if fragment else page.replace("/", "-")


def article_of(pages: Path, name: str, names: list[str]) -> Tag:
    """Return the article of a page, with ids and links that hold in the whole book."""
    html = (pages / f"{name}.html").read_text(encoding="utf-8")
    article = still(BeautifulSoup(html, "html.parser").article)
    # Figures refer to their own clip paths and markers by url(#...) and href="#...".
    for element in article.find_all(True):
        for key, value in element.attrs.items():
            if isinstance(value, str) and "url(#" in value:
                element[key] = OWN.sub(lambda own: f"url(#{anchor(name, own[1])})", value)
        for key in ("id", "aria-labelledby", "aria-describedby"):
            if element.get(key):
                element[key] = anchor(name, element[key])
        for key in ("href", "xlink:href", "src"):
            if element.get(key):
                element[key] = _address(pages, name, element[key], names)
    article["id"] = anchor(name)
    return article


def _address(pages: Path, name: str, link: str, names: list[str]) -> str:
    address, fragment = urldefrag(link)
    if re.match(r"[a-z]+:", address):
        return link
    if not address:
        return f"#{anchor(name, unquote(fragment))}"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
    page = target.removesuffix(".html")
    if page in names:
        return f"#{anchor(page, unquote(fragment))}"
    return (pages / target).resolve().as_uri()


def title_page(config: dict[str, Any]) -> str:
    """Return the first page: title, subject, authors, edition and licenses."""
    edition = editions.version()
    if date := editions.dates().get(edition):
        edition += f", {date}"
    return (
        f'<article class="paper-title"><img alt="Logo" src="{(ROOT / config["logo"]).as_uri()}">'
        f"<h1>{config['title']}</h1><p>{config['sphinx']['config']['epub_description']}</p>"
        f"<p>{config['author']}</p>"
        f'<div class="paper-edition"><p>Edition {edition}</p>'
        "<p>Text and figures: CC BY 4.0. Code: BSD 3-Clause.</p>"
        "<p>Each figure shows one step of a run. In the book's pages in a browser, it plays all"
        " steps.</p></div></article>"
    )


def document(pages: Path) -> str:
    """Return the whole book as one page of HTML."""
    parts = contents()
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    names = [name for _, chapters in parts for name in chapters]
    articles = {name: article_of(pages, name, names) for name in names}
    lines = []
    for caption, chapters in parts:
        titles = "".join(
            f'<li><a href="#{anchor(n)}">{articles[n].h1.get_text(" ", strip=True)}</a></li>'
            for n in chapters
        )
        lines.append(f"<li>{caption}<ol>{titles}</ol></li>")
    styles = "\n".join((pages / style).read_text(encoding="utf-8") for style in STYLES)
    styles += (Path(__file__).parent / "paper.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{config['title']}</title><style>{styles}</style></head><body>"
        f"{title_page(config)}"
        f'<article class="paper-contents"><h1>Contents</h1><ol>{"".join(lines)}</ol></article>'
        + "".join(str(article) for article in articles.values())
        + "</body></html>"
    )


def browser() -> str:
    """Return the path of a Chromium, from the environment variable CHROMIUM or the PATH."""
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit(
            f"A browser prints the PDF, and none of {', '.join(NAMES)} is on the PATH: "
            "install Chromium, or set CHROMIUM to the path of one"
        )
    return program


def print_pdf(page: Path, target: Path) -> None:
    """Print `page` with a browser; write `target` only if this succeeds."""
    with tempfile.TemporaryDirectory() as folder:
        pdf = Path(folder) / "made.pdf"
        command = [
            *(browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"),
            "--generate-pdf-document-outline",
            f"--user-data-dir={folder}/profile",
            *(f"--print-to-pdf={pdf}", page.resolve().as_uri()),
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode or not pdf.exists():
            sys.exit(f"{command[0]} has printed nothing:\n{run.stderr[-2000:]}")
        shutil.move(pdf, target)


def main(pages: str, target: str) -> None:
    """Write the PDF, and in the same folder the page from which it was printed."""
    out = Path(target)
    out.parent.mkdir(parents=True, exist_ok=True)
    page = out.with_suffix(".html")
    page.write_text(document(Path(pages)), encoding="utf-8")
    print_pdf(page, out)
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
