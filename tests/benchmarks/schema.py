"""The JSON schema of measured files: what each must say, and what must stand beside a figure.

``schema(name)`` is what a file must satisfy that is written today. Of a file that was measured
before a figure had to have a spread and a share of the GPU's limits, less is asked:
``schema(name, strict=False)``. A reader of files may count on that much.
"""

from __future__ import annotations

from typing import Any

from gpukernels.notebook.spread import FIGURE, NOT_MEASURED, SPREAD

#: What every file says of its circumstances, and what those written today say besides.
HEAD = ("what", "device", "driver", "numba_cuda", "date", "commit")
NEWER = ("cpu", "cores", "python", "numpy", "numba")
#: What files say of the GPU's limits and of its cache, but for those without times of kernels.
LIMITS = ("copy_gigabytes_per_second", "tera_add_mins_per_second", "cache", "l2_bytes")
#: Files that measure something else: profiles, power, whole calls beside others, the CPU; or that
#: set a limit of its own beside each time.
WITHOUT_LIMITS = (
    "counters",
    "knobs",
    "energy",
    "calls",
    "making",
    "sanitizer",
    "simulator",
    "two_gpus",
)

#: Figures that are medians, so that their quartiles stand beside them.
MEDIANS = (
    "ms",
    "driver_ms",
    "cpu_ms",
    "kernel_ms",
    "call_ms",
    "with_parents_kernel_ms",
    "roots_kernel_ms",
    "roots_call_ms",
    "write_ms",
    "read_ms",
    "numpy_ms",
    "all_cores_ms",
    "wall_ms",
    "copy_ms",
    "microseconds",
    "nothing_microseconds",
    "average_watts",
    "millijoules",
    "above_idle_millijoules",
)
#: Figures that are no medians: not measured, a difference, the most of all, and one long average.
NO_MEDIANS = (*NOT_MEASURED, "beside_ms", "peak_watts", "idle_watts")
#: Times of kernels, and what is put before the names of the shares that stand beside each.
OF_KERNELS = {
    "kernel_ms": "",
    "ms": "",
    "microseconds": "",
    "write_ms": "write_",
    "read_ms": "read_",
}
SHARES = ("share_of_bandwidth", "share_of_issue_rate")


def schema(name: str, strict: bool = True) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the file of a subject.

    Parameters
    ----------
    name : str
        The subject, as ``"bfs"``.
    strict : bool
        Whether it is that of files written today.
    """
    limited = strict and name not in WITHOUT_LIMITS
    head = [*HEAD, *(NEWER if strict else ()), *(LIMITS if limited else ())]
    text = {"type": "string", "minLength": 1}
    number = {"type": "number", "minimum": 0}
    # Less than 0 where an idle GPU drew more, when that was measured.
    difference = {"type": "number"}
    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    beside: dict[str, list[str]] = {}
    if strict:
        beside = {figure: [figure + SPREAD] for figure in MEDIANS}
    if limited:
        for time, prefix in OF_KERNELS.items():
            beside[time] = [*beside[time], *(prefix + share for share in SHARES)]
    row: dict[str, Any] = {
        "patternProperties": {
            f"^(?!above_idle_){FIGURE.pattern[1:]}": _one_or_by_name(number),
            f"^above_idle_{FIGURE.pattern[1:]}": _one_or_by_name(difference),
            f"{SPREAD}$": _one_or_by_name(pair),
            "^(.*_)?least_(bytes|operations)$": _one_or_by_name({"type": "integer", "minimum": 0}),
            "^(.*_)?share_of_.*(?<!_spread)$": _one_or_by_name(number),
        },
        "additionalProperties": {"$ref": "#/$defs/value"},
        "dependentRequired": beside,
    }
    if strict:
        known = {"enum": [*MEDIANS, *NO_MEDIANS]}
        row["propertyNames"] = {"anyOf": [{"not": {"pattern": FIGURE.pattern}}, known]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"measurements of {name}",
        "type": "object",
        "required": head,
        "properties": {
            **dict.fromkeys((*HEAD, "cpu", "python", "numpy", "numba"), text),
            "cores": {"type": "integer", "minimum": 1},
            "date": {**text, "pattern": r"^\d{4}-\d\d-\d\d$"},
            "copy_gigabytes_per_second": number,
            "tera_add_mins_per_second": number,
            "cache": {"enum": ["flushed"]},
            "l2_bytes": {"type": "integer", "minimum": 0},
        },
        # Counters have no medians, and thousands of rows.
        **({} if name == "counters" else {"$ref": "#/$defs/row"}),
        "$defs": {
            "row": row,
            "value": {
                "if": {"type": "object"},
                "then": {"$ref": "#/$defs/row"},
                "else": {"items": {"$ref": "#/$defs/value"}},
            },
        },
    }


def contradictions(content: Any, path: str = "$") -> list[str]:
    """Return the places of peaks below their averages: a JSON schema compares no numbers."""
    if isinstance(content, list):
        content = {f"[{k}]": value for k, value in enumerate(content)}
    if not isinstance(content, dict):
        return []
    problems = [
        line for name, value in content.items() for line in contradictions(value, f"{path}.{name}")
    ]
    peak, average = content.get("peak_watts"), content.get("average_watts")
    if peak is not None and average is not None and peak < average:
        problems.append(f"{path}: a peak of {peak} W, and {average} W on average")
    return problems


def _one_or_by_name(kind: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value, or of an object whose every value is one."""
    return {"if": {"type": "object"}, "then": {"additionalProperties": kind}, "else": kind}
