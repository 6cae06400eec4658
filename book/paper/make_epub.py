"""The whole book as an EPUB: `python book/paper/make_epub.py _build/book.epub`."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Container
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "content.opf"
PAGE = re.compile(
    r'<item id="([^"]*)" href="([^"]*\.xhtml)" media-type="application/xhtml\+xml" />'
)
IN_ORDER = re.compile(r'\s*<itemref idref="([^"]*)" />')
STYLE = re.compile(r'<link rel="stylesheet"[^>]* href="([^"]*)"[^>]*/>\s*')


def package(text: str, pages: dict[str, str]) -> str:
    """Return the list of files with the properties of its pages, and an order of these pages only.

    Parameters
    ----------
    text : str
        The list as Sphinx writes it.
    pages : dict of str to str
        By name, the pages.
    """

    def with_properties(item: re.Match) -> str:
        held = [
            what for what, tag in (("mathml", "<math"), ("svg", "<svg")) if tag in pages[item[2]]
        ]
        return item[0].replace(" />", f' properties="{" ".join(held)}" />') if held else item[0]

    listed = set(re.findall(r'<item id="([^"]*)"', text))
    text = IN_ORDER.sub(lambda ref: ref[0] if ref[1] in listed else "", text)
    return PAGE.sub(with_properties, text)


def page(name: str, text: str, files: Container[str]) -> str:
    """Return a page without the style sheets that Sphinx names but does not include."""

    def kept(link: re.Match) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link[1]))
        return link[0] if target in files else ""

    return STYLE.sub(kept, text)


def settle(book: Path, out: Path) -> None:
    """Copy an EPUB, with corrected pages and a corrected list of files."""
    with zipfile.ZipFile(book) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    pages = {
        name: page(name, data.decode(), files)
        for name, data in files.items()
        if name.endswith(".xhtml")
    }
    files |= {name: text.encode() for name, text in pages.items()}
    files[PACKAGE] = package(files[PACKAGE].decode(), pages).encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        # The entry with the type of the file must be the first one, and uncompressed.
        written.writestr("mimetype", files.pop("mimetype"), zipfile.ZIP_STORED)
        for name, data in files.items():
            written.writestr(name, data)


def main(target: str) -> None:
    """Run Sphinx to write the EPUB (book/_ext/epub_pages.py makes its pages) to `target`."""
    out = Path(target)
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
            *("build", str(ROOT), "--path-output", folder, "--quiet"),
            *("--builder", "custom", "--custom-builder", "epub"),
        ]
        subprocess.run(command, check=True)
        (book,) = Path(folder).glob("_build/epub/*.epub")
        out.parent.mkdir(parents=True, exist_ok=True)
        settle(book, out)
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
