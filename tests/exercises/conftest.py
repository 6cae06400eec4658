"""Tests of exercises begin with all hints and no tries, and may keep progress in a file."""

from __future__ import annotations

import pytest

from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import logbook
from gpukernels.exercises.judge.exercise import PredictionExercise


@pytest.fixture(autouse=True)
def nothing_tried():
    """Forget which wrong guesses have been called more or fewer, and the records of checks."""
    logbook._of_this_process.clear()
    for ex in CATALOG.values():
        if isinstance(ex, PredictionExercise):
            ex._hinted.clear()


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file for progress, in a folder that is not there yet."""
    path = tmp_path / "state" / "exercises.json"
    monkeypatch.setenv("GPUKERNELS_PROGRESS", str(path))
    return path
