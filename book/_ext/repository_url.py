"""Colab and repository buttons appear only when `_config.yml` names a real repository."""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

PLACEHOLDER = "/OWNER/"
BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")

logger = logging.getLogger(__name__)


def leave_out_buttons(app: Sphinx, config: Config) -> None:
    """Remove what would link to the repository while its address is the placeholder."""
    options = config.html_theme_options
    if PLACEHOLDER not in options.get("repository_url", PLACEHOLDER):
        return
    options["repository_url"] = ""
    options["launch_buttons"] = {}
    options.update(dict.fromkeys(BUTTONS, False))
    logger.info(
        "No repository address in _config.yml yet: pages have no Colab and repository buttons "
        "(set it with: make colab-url URL=https://github.com/you/your-copy)"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx before the theme reads its options."""
    app.connect("config-inited", leave_out_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
