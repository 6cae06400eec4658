"""The first cell of every chapter: Colab set-up.

Only this file has the text. `make colab-url` writes it into the chapters, and a test compares each
chapter with it. The cell has to name the repository, because on Colab nothing of the book is there
yet. Copies of the chapters that are made in a clone name the cloned repository.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from clone_address import clone_address

ROOT = Path(__file__).parent.parent

TEMPLATE = """\
# Set-up: on Colab this installs the book's library, and names the device that runs the kernels.
import sys

if "google.colab" in sys.modules:
    {install}

from gpukernels.notebook.chapter import set_up

set_up()"""

INSTALL = "%pip install --no-deps git+{url}@{tag}"
#: The line for the installation while the book has no address.
PLACEHOLDER = (
    'raise RuntimeError("first run `make colab-url URL=https://github.com/you/copy` and push it")'
)

#: Cell metadata that remove the cell from the page, where it is not needed.
TAGS = ["remove-cell"]


def repository() -> tuple[str, str]:
    """Return the repository's address and ref from ``_config.yml``."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return settings["url"], settings["branch"]


def published() -> tuple[str, str]:
    """Return the address and the ref for copies; without an address, the clone's remote."""
    url, ref = repository()
    return (clone_address(ROOT) or url) if "/OWNER/" in url else url, ref


def source(where: tuple[str, str] | None = None) -> str:
    """Return the cell of every chapter, or the cell with another address and ref."""
    url, tag = where or repository()
    install = PLACEHOLDER if "/OWNER/" in url else INSTALL
    return TEMPLATE.format(install=install.format(url=url, tag=tag))
