"""The names that kernels may call are divided by subject, with one file each."""

from __future__ import annotations

import importlib
import pkgutil

from gpukernels.simt.translate import intrinsics


def test_every_name_is_handled_in_the_file_of_one_subject():
    subjects = [
        importlib.import_module(f"{intrinsics.__name__}.{module.name}")
        for module in pkgutil.iter_modules(intrinsics.__path__)
    ]
    handled = [name for subject in subjects for name in getattr(subject, "CALLS", {})]
    assert len(handled) == len(set(handled)) > 100
    elsewhere = [name for name in intrinsics._CALLS if name not in handled]
    assert {name.split(".")[0] for name in elsewhere} == {"builtins", "numpy", "cmath"}
    assert set(handled) <= set(intrinsics._CALLS)
