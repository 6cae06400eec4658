"""The first cell of every chapter: Colab set-up.

The text lives here alone; `make colab-url` writes it into the chapters, and a test compares each
chapter with it. It has to name the repository, because on Colab nothing of the book is there yet.
"""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent

TEMPLATE = """\
# Set-up for Colab: installs the book's library and names the device. Elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    import subprocess

    repository, tag = "{url}", "{tag}"
    if "/OWNER/" in repository:
        raise RuntimeError(
            f"{{repository}} is a placeholder, and nothing has been installed. In your copy of the "
            "book run `make colab-url URL=https://github.com/you/your-copy`, push what it has "
            "written, and open the notebook from there"
        )
    print(f"Installing gpukernels from {{repository}} at {{tag}} ...", flush=True)
    pip = subprocess.Popen(
        [sys.executable, "-m", "pip", "install", "--no-deps", f"git+{{repository}}@{{tag}}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for line in pip.stdout:
        print(line, end="", flush=True)
    if pip.wait():
        raise RuntimeError(f"pip could not install {{repository}} at {{tag}}: see its lines above")

    from gpukernels.notebook import colab

    colab.set_up()"""

#: Cell metadata: folded on the page, where it is of no use.
TAGS = ["remove-cell"]


def repository() -> tuple[str, str]:
    """Return the repository's address and ref as ``_config.yml`` has them."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return settings["url"], settings["branch"]


def source() -> str:
    """Return the cell as it stands in every chapter."""
    url, tag = repository()
    return TEMPLATE.format(url=url, tag=tag)
