"""The schedules of the SIMT machine, for tests of this folder with ``schedule`` as a parameter."""

from __future__ import annotations

import pytest
from launching import SCHEDULES


@pytest.fixture(params=SCHEDULES)
def schedule(request):
    return request.param
