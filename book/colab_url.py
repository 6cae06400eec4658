"""Set the repository's address: `make colab-url URL=https://github.com/you/your-copy [TAG=v1]`.

Writes `_config.yml`, and then the files that depend on it: the first cell of every chapter, the
links and the install lines of README.md, and the package's addresses in pyproject.toml and
CITATION.cff. With the placeholder, the package has no addresses. A second call with the same
address changes nothing. Without URL, only the dependent files are brought in line with
`_config.yml`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import first_cell
from addresses import PLACEHOLDER, colab_address, package_addresses

ROOT = first_cell.ROOT
ADDRESS = re.compile(r"https://(github|gitlab)\.com/[\w.-]+/[\w.-]+")
REF = re.compile(r"[\w./-]+")
#: The address in README.md while the book has none.
YOURS = "https://github.com/you/copy"
#: The written text stands between two comments that name it.
PART = r"(?s)({begin}\n).*?({end})"


def check(url: str, tag: str) -> None:
    """Refuse an address or a ref that Colab could not open."""
    if url and not ADDRESS.fullmatch(url):
        sys.exit(f"URL={url!r}: expected an address like https://github.com/owner/repository")
    if tag and not REF.fullmatch(tag):
        sys.exit(f"TAG={tag!r}: expected the name of a tag or branch")


def write_config(url: str, tag: str) -> None:
    """Put the address, and the ref if there is one, into ``_config.yml``."""
    path = ROOT / "_config.yml"
    text = path.read_text(encoding="utf-8")
    for key, value in (("url", url), ("branch", tag)):
        if value:
            text, count = re.subn(
                rf"(?m)^(repository:\n(?:  .*\n)*?  {key}: ).*$", rf"\g<1>{value}", text
            )
            if count != 1:
                sys.exit(f"_config.yml: expected one line `{key}:` under `repository:`")
    path.write_text(text, encoding="utf-8")


def write_first_cell(path: Path) -> None:
    """Make the first cell of the chapter `path` the canonical one; nothing else changes."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = notebook["cells"][0]
    if cell["cell_type"] != "code":
        sys.exit(f"{path.name}: the first cell is not the set-up cell")
    cell["source"] = first_cell.source().splitlines(keepends=True)
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def fill(name: str, begin: str, end: str, text: str) -> None:
    """Put `text` between the lines `begin` and `end` of the file `name`."""
    path = ROOT / name
    old = path.read_text(encoding="utf-8")
    part = PART.format(begin=re.escape(begin), end=re.escape(end))
    new, count = re.subn(part, lambda m: m[1] + text + m[2], old)
    if count != 1:
        sys.exit(f"{name}: expected one line {begin!r} and one {end!r} after it")
    if new != old:  # make compares pyproject.toml's time of change
        path.write_text(new, encoding="utf-8")


def install_lines() -> str:
    """Return the install lines of README.md, with a stand-in if there is no address."""
    url, tag = first_cell.repository()
    source = f"git+{YOURS if PLACEHOLDER in url else url}@{tag}"
    return f'```bash\npip install {source}\npip install "gpukernels[cuda13] @ {source}"\n```\n'


def colab_links(chapters: list[Path]) -> str:
    """Return the README's list of Colab links, or how to set the address if there is none."""
    url, _ = first_cell.repository()
    addresses = {path.stem: colab_address(url, path.stem) for path in chapters}
    if PLACEHOLDER in url:
        return f"Set the address of your copy once: `make colab-url URL={YOURS}`.\n"
    if None in addresses.values():
        return "Colab opens notebooks from GitHub only.\n"
    return "".join(f"- [{name}]({address})\n" for name, address in addresses.items())


def write_package() -> None:
    """Write the addresses of repository and pages into pyproject.toml and CITATION.cff."""
    named = package_addresses(*first_cell.repository())
    urls = "".join(f'{name} = "{address}"\n' for name, address in named.items())
    fill(
        "pyproject.toml",
        "# project urls, by `make colab-url`",
        "# end of project urls",
        f"[project.urls]\n{urls}" if named else "",
    )
    cited = ""
    if named:
        cited = f"repository-code: {named['Source']}\nurl: {named['Homepage']}\n"
    fill("CITATION.cff", "# addresses, by `make colab-url`", "# end of addresses", cited)


def main(url: str = "", tag: str = "") -> None:
    """Check the arguments first, then write every place."""
    url = url.rstrip("/").removesuffix(".git")
    check(url, tag)
    write_config(url, tag)
    chapters = sorted((ROOT / "chapters").glob("*.ipynb"))
    for chapter in chapters:
        write_first_cell(chapter)
    for name, text in (("colab links", colab_links(chapters)), ("install lines", install_lines())):
        fill("README.md", f"<!-- {name} -->", f"<!-- end of {name} -->", text)
    write_package()
    print("Repository: {} at {}".format(*first_cell.repository()))


if __name__ == "__main__":
    main(*sys.argv[1:])
