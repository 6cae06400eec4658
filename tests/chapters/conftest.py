"""The text of a chapter and the values of its cells, for the tests of the chapter."""

from __future__ import annotations

from pathlib import Path

import pytest
from chapter_cells import Cells, Page
from effort import EFFORT, FAST, USUAL


@pytest.fixture(scope="module")
def page(request) -> Page:
    """The text of the chapter after which the file is called."""
    return Page(request.path.stem.removeprefix("test_"))


@pytest.fixture(scope="module")
def cells(page) -> Cells:
    """The values of its cells, for those that read what has been measured."""
    return Cells(page)


@pytest.fixture(scope="module")
def counted(request, page, cells) -> Cells:
    """The same for cells that run kernels, in a run that runs the chapter at all."""
    chapters = {Path(word).stem for word in request.config.args if word.endswith(".ipynb")}
    if EFFORT in (FAST, USUAL) and page.name not in chapters:
        pytest.skip("this run leaves the chapter out")
    return cells
