"""Kernels from the text of an answer, which the machine reads from a file as from a notebook."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from gpukernels.exercises.judge.exercise import KernelExercise
from gpukernels.simt import python_function


def module_of(text: str, folder: Path, name: str = "answer") -> ModuleType:
    """Return the module that a source makes, from a file of this name in `folder`."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel_of(ex: KernelExercise, text: str, folder: Path, name: str = "answer"):
    """Return the kernel of an exercise that a source defines."""
    return getattr(module_of(text, folder, name), python_function(ex.solution.answer).__name__)
