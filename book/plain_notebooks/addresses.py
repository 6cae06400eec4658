"""Where the published book lives: its pages and, for Colab, its plain notebooks.

Both follow from the repository's address in `_config.yml`. While that holds the placeholder there
are none, and plain notebooks name one another instead.
"""

from __future__ import annotations

import re

PLACEHOLDER = "/OWNER/"
#: The branch that holds the built pages, with the plain notebooks in the folder of this name.
BRANCH = "gh-pages"
FOLDER = "notebooks"
REPOSITORY = re.compile(r"https://(github|gitlab)\.com/([\w.-]+)/([\w.-]+?)/?")


def pages_address(repository: str) -> str | None:
    """Return where the host of `repository` publishes its pages, without a slash at the end."""
    found = REPOSITORY.fullmatch(repository)
    if found is None or PLACEHOLDER in repository:
        return None
    host, owner, name = found.groups()
    owner = owner.lower()
    own = name.lower() == f"{owner}.{host}.io"  # the owner's own site lives at its root
    return f"https://{owner}.{host}.io" + ("" if own else f"/{name}")


def colab_address(repository: str, chapter: str) -> str | None:
    """Return where Colab opens the plain notebook of `chapter`, which it can do from GitHub."""
    found = REPOSITORY.fullmatch(repository)
    if found is None or PLACEHOLDER in repository or found[1] != "github":
        return None
    path = f"{found[2]}/{found[3]}/blob/{BRANCH}/{FOLDER}/{chapter}.ipynb"
    return f"https://colab.research.google.com/github/{path}"
