"""The table of numba's own tests in ``book/simt.md``; run this file to print it."""

from __future__ import annotations

from collections import Counter

from test_numba_suite import MODULES, NO_LAUNCH, NOT_RUN, TESTS

#: The number of tests of each module that pass under numba's simulator (numba-cuda 0.30.4, with
#: NUMBA_ENABLE_CUDASIM=1; the others skip themselves). test_matmul defines no test cases there.
SIMULATOR = {
    "warp_ops": 0, "intrinsics": 59, "atomics": 128, "sync": 16, "sm": 17,
    "cooperative_groups": 4, "localmem": 0, "lang": 3, "idiv": 2, "powi": 8, "minmax": 0,
    "operator": 12, "globals": 1, "freevar": 1, "boolean": 1, "laplace": 1, "matmul": 0,
    "transpose": 0, "nondet": 1, "constmem": 8, "math": 44, "casting": 6, "blackscholes": 1,
    "complex": 28, "record_dtype": 21, "alignment": 1, "array_args": 11,
}  # fmt: skip

REFUSED = "which the machine refuses"


def counts(module: str) -> tuple[int, int, int, int]:
    """Return the numbers of a module's tests: all, passed, not applicable, and refused."""
    tests = [t for t in TESTS if t.startswith(f"{module}.")]
    left_out = [NOT_RUN[t] for t in tests if t in NOT_RUN]
    refused = sum(REFUSED in reason for reason in left_out)
    return len(tests), len(tests) - len(left_out), len(left_out) - refused, refused


def table() -> str:
    """Return the table in Markdown."""
    rows = [
        "| `numba.cuda.tests.cudapy` | tests | pass | do not apply | refused | simulator passes |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    total = Counter()
    for module in MODULES:
        columns = (*counts(module), SIMULATOR[module])
        total.update(dict(enumerate(columns)))
        rows.append(f"| `test_{module}` | " + " | ".join(map(str, columns)) + " |")
    rows.append("| **all** | " + " | ".join(f"**{total[i]}**" for i in range(5)) + " |")
    return "\n".join(rows)


def share() -> float:
    """Return the share of passing tests among those that apply."""
    every = [counts(module) for module in MODULES]
    passed, refused = sum(c[1] for c in every), sum(c[3] for c in every)
    return passed / (passed + refused)


def sentence() -> str:
    """Return a sentence about the numbers of the table."""
    every = [counts(module) for module in MODULES]
    passed, left_out = sum(c[1] for c in every), sum(c[2] for c in every)
    return (
        f"{share():.0%} of the tests that apply pass: {passed} of the {passed + left_out} of these "
        f"{len(MODULES)} modules.\n{len(NO_LAUNCH)} of the {passed} launch no kernel: they ask "
        "what was compiled, or how many blocks may be launched."
    )


if __name__ == "__main__":
    print(table())
    print(f"\n{sentence()}")
