"""The text of a chapter and the values of its cells, for the tests of the chapter."""

from __future__ import annotations

import pytest
from chapter_cells import Cells, Page


@pytest.fixture(scope="module")
def page(request) -> Page:
    """The text of the chapter after which the file is called."""
    return Page(request.path.stem.removeprefix("test_"))


@pytest.fixture(scope="module")
def cells(page) -> Cells:
    """The values of its cells, for those that read what has been measured."""
    return Cells(page)


@pytest.fixture(scope="module")
def counted(cells) -> Cells:
    """The same for cells that run kernels."""
    return cells
