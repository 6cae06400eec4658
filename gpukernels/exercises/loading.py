"""Load a teacher's own task or draw a variant of a prediction, for a student's seed.

A task of a teacher is in a folder, a file or a module.

A task is remembered with its seed, so that the hints of a prediction are not given again whenever a
cell calls `exercise` once more. A file that has changed is loaded again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import numpy as np

from gpukernels.checks import check_seed, check_text
from gpukernels.errors import InvalidArgument

from .judge.exercise import Exercise, PredictionExercise

#: The seed of a task that differs by seed, if none is given.
NO_SEED = 0
FOUND = "FOLDER:NAME, FILE.py:NAME or MODULE:NAME, in which NAME is a task"


def load(id: str, seed: int | str | None = None) -> Exercise:
    """Return the task of a place; :func:`gpukernels.exercises.exercise` says which places.

    Raises
    ------
    InvalidArgument
        If there is no such file or module, it has no task of that name, or the task is the same for
        every seed and one is given.
    """
    if seed is not None:
        seed = _checked(seed)
    place, _, name = id.rpartition(":")
    file = _file(Path(place), name)
    changed = 0 if file is None else file.stat().st_mtime_ns
    return _task(id, place, name, file, changed, seed)


def variant(task: object, id: str, seed: int | str) -> Exercise:
    """Return a task of the book with numbers of its own for a seed.

    Raises
    ------
    InvalidArgument
        If the task is the same for everyone, or `seed` is no seed.
    """
    drawn = None
    if isinstance(task, PredictionExercise):
        drawn = _drawn(task, _checked(seed))
    if drawn is None:
        raise InvalidArgument("seed", seed, f"left out, as {id} is the same for everyone")
    return drawn


@functools.cache
def _drawn(task: PredictionExercise, seed: int | str) -> Exercise | None:
    drawn = task.drawn(_generator(seed))
    return None if drawn is None else _placed(drawn, task.id, seed)


def _checked(seed: int | str) -> int | str:
    if isinstance(seed, str):
        check_text("seed", seed)
        return seed
    return check_seed(seed)


@functools.cache
def _task(
    id: str, place: str, name: str, file: Path | None, changed: int, seed: int | str | None
) -> Exercise:
    definition = getattr(_module(id, place) if file is None else _run(file), name, None)
    if isinstance(definition, Exercise):
        if seed is not None:
            raise InvalidArgument("seed", seed, f"left out, as {id} is the same for everyone")
        return _placed(definition, id, None)
    if not inspect.isfunction(definition):
        raise InvalidArgument("id", id, f"{FOUND} or a function that makes one")
    seed = NO_SEED if seed is None else seed
    task = definition(_generator(seed))
    if not isinstance(task, Exercise):
        raise InvalidArgument(f"{name}(rng)", task, "a KernelTask or a PredictionTask")
    return _placed(task, id, seed)


def _placed(task: Exercise, place: str, variant: int | str | None) -> Exercise:
    for name, value in (("place", place), ("variant", variant)):
        object.__setattr__(task, name, value)  # readers cannot
    return task


def _file(place: Path, name: str) -> Path | None:
    """Return the file of a task, ``place/name.py`` if the place is a folder; None if none is."""
    file = place if place.suffix == ".py" else place / f"{name}.py"
    return file.resolve() if name.isidentifier() and file.is_file() else None


def _run(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _module(id: str, place: str) -> ModuleType:
    if all(part.isidentifier() for part in place.split(".")):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as missing:
            if not f"{place}.".startswith(f"{missing.name}."):
                raise  # a module that the teacher's module imports
    raise InvalidArgument("id", id, FOUND)


def _generator(seed: int | str) -> np.random.Generator:
    """Return a generator for a seed; of a text, blanks around it and capitals do not matter."""
    if isinstance(seed, str):
        text = seed.strip().casefold()
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed)
