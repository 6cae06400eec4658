"""Where the published book lives: its pages, its plain notebooks for Colab, its package's source.

All these addresses follow from the repository's address, if that is on GitHub. While it is the
placeholder, there are none, and plain notebooks link to each other instead.
"""

from __future__ import annotations

import re

PLACEHOLDER = "/OWNER/"
#: The branch that holds the built pages, with the plain notebooks in the folder of this name.
BRANCH = "gh-pages"
FOLDER = "notebooks"
#: Below it, the same notebooks without the solutions.
WITHOUT_SOLUTIONS = "without_solutions"
#: The folder of JupyterLite, which runs the notebooks in the browser.
LITE = "lite"
REPOSITORY = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+)")


def pages_address(repository: str) -> str | None:
    """Return the address of the pages of `repository` on GitHub, without a slash at the end."""
    match = REPOSITORY.fullmatch(repository)
    if match is None or PLACEHOLDER in repository:
        return None
    site = f"{match[1].lower()}.github.io"
    own = match[2].lower() == site  # the owner's own site lives at its root
    return f"https://{site}" if own else f"https://{site}/{match[2]}"


def colab_address(repository: str, chapter: str) -> str | None:
    """Return the address at which Colab opens the plain notebook of `chapter` from GitHub."""
    match = REPOSITORY.fullmatch(repository)
    if match is None or PLACEHOLDER in repository:
        return None
    path = f"{match[1]}/{match[2]}/blob/{BRANCH}/{FOLDER}/{chapter}.ipynb"
    return f"https://colab.research.google.com/github/{path}"


def package_addresses(repository: str, ref: str) -> dict[str, str]:
    """Return the addresses for the package's metadata by label, or none without an address."""
    if PLACEHOLDER in repository:
        return {}
    pages = pages_address(repository)
    inside = f"{repository}/-" if repository.startswith("https://gitlab.com/") else repository
    return {
        "Homepage": f"{pages}/" if pages else repository,
        "Source": repository,
        "Issues": f"{inside}/issues",
        "Changelog": f"{inside}/blob/{ref}/CHANGELOG.md",
    }
