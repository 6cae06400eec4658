"""Colab and repository buttons, which appear only if the book has an address that they can open."""

from __future__ import annotations

from urllib.parse import urlsplit

from addresses import PLACEHOLDER
from first_cell import published
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")
#: The hosts whose addresses the theme knows.
HOSTS = ("github.com", "gitlab.com")

logger = logging.getLogger(__name__)


def set_buttons(app: Sphinx, config: Config) -> None:
    """Give the theme the repository's address, and leave out buttons without a target."""
    options = config.html_theme_options
    url, _ = published()
    host = urlsplit(url).netloc
    if PLACEHOLDER in url:
        host = ""
        logger.info(
            "No repository address in _config.yml yet: pages have no Colab and repository buttons "
            "(set it with: make colab-url URL=https://github.com/you/your-copy)"
        )
    options["repository_url"] = url if host in HOSTS else ""
    if host != "github.com":
        options["launch_buttons"] = {}
    if host not in HOSTS:
        options.update(dict.fromkeys(BUTTONS, False))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx before the theme reads its options."""
    app.connect("config-inited", set_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
