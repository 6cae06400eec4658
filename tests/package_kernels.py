"""Find the kernels of the package by walking it, so that a test can forget none."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap

import gpukernels
from gpukernels.all_pairs import blocked, tiles
from gpukernels.all_pairs.tiles import Form
from gpukernels.mapping import max_scan
from gpukernels.primitives import pair_scan


def python_function(jitted):
    """Return the Python function of a ``@cuda.jit`` object (numba's simulator calls it ``fn``)."""
    return getattr(jitted, "py_func", None) or jitted.fn


def _is_jitted(thing) -> bool:
    kind = type(thing)
    return kind.__module__.startswith("numba.cuda") and kind.__name__ in (
        "CUDADispatcher",
        "FakeCUDAKernel",
    )


def _is_device_function(jitted) -> bool:
    if hasattr(jitted, "targetoptions"):
        return bool(jitted.targetoptions.get("device"))
    return jitted._device


#: Forms of kernels that are made on demand: one of each kind that differs in more than constants.
FORMS = {
    tiles.closer: [Form(16, "1x1"), Form(16, "1x1", "float32", noting=True)],
    blocked.crossing: [Form(16, "4x2", "float32")],
    blocked.remainder: [Form(16, "4x2"), Form(16, "4x2", "float32", noting=True)],
    tiles.product: [Form(16, "4x4"), Form(16, "4x4", "float32", lazy=True, watching=True)],
}


def package_functions() -> tuple[list, list]:
    """Return (kernels, device functions) of every module of the package, and some made by it."""
    functions = [make(form) for make, forms in FORMS.items() for form in forms]
    functions.append(pair_scan.scan_of(8, True))
    functions += [max_scan.write_of(max_scan.UNITS), max_scan.add_of(max_scan.UNITS)]
    functions += [function for kernel in functions for function in device_functions_of(kernel)]
    by_id = {id(thing): thing for thing in functions}
    for module in pkgutil.walk_packages(gpukernels.__path__, "gpukernels."):
        for thing in vars(importlib.import_module(module.name)).values():
            if _is_jitted(thing):
                by_id[id(thing)] = thing
    jitted = sorted(by_id.values(), key=label)
    return (
        [f for f in jitted if not _is_device_function(f)],
        [f for f in jitted if _is_device_function(f)],
    )


def label(jitted) -> str:
    """Return ``module.function`` without the package's name."""
    function = python_function(jitted)
    return f"{function.__module__.removeprefix('gpukernels.')}.{function.__name__}"


def device_functions_of(jitted) -> list:
    """Return the device functions that a kernel calls, directly or not."""
    reached, todo = {}, [jitted]
    while todo:
        function = python_function(todo.pop())
        inner = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        known = function.__globals__ | {name: cell.cell_contents for name, cell in inner}
        for name in (*function.__code__.co_names, *function.__code__.co_freevars):
            thing = known.get(name)
            if _is_jitted(thing) and id(thing) not in reached:
                reached[id(thing)] = thing
                todo.append(thing)
    return list(reached.values())


def cuda_names(jitted) -> set[str]:
    """Return every ``name`` that a kernel and its device functions use as ``cuda.name``."""
    names = set()
    for part in (jitted, *device_functions_of(jitted)):
        tree = ast.parse(textwrap.dedent(inspect.getsource(python_function(part))))
        for node in ast.walk(ast.Module(tree.body[0].body, [])):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "cuda"
            ):
                names.add(node.attr)
    return names
