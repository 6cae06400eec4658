"""Damaged graph files: each is the graph that an oracle reads there, or refused at its line.

`make fuzz` runs this for a minute from a new seed; ``SECONDS=600 SEED=7`` for longer, or again.
A finding is written to ``_build/fuzz`` and its number printed: ``--only g.mtx:123`` tries it again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import secrets
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import networkx
import numpy as np
from file_mutations import NAMES, ODD_NAMES, damaged
from file_oracle import Meaning, Refused, lines_of, meaning, unpacked
from scipy.io import mmread

import gpukernels as gk
from gpukernels.graphs.formats import blocks, text

#: What reading one small file may take: seconds of this process, and more memory than before it.
MOST_SECONDS = 5.0
MOST_BYTES = 300 << 20
BLOCK_BYTES, PART_BYTES = blocks.BLOCK_BYTES, text.PART_BYTES
COMPILED_BYTES, PACKED_BYTES = text.COMPILED_BYTES, text.PACKED_BYTES
#: Findings are kept here, where `make clean` finds them.
KEPT = Path(__file__).parents[2] / "_build" / "fuzz"


class Finding(AssertionError):
    """The reader did something that it must not do."""


class Memory:
    """How far the memory of this process has risen since; Linux alone can tell, and forget."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self.start = self._of("VmRSS")

    def grown(self) -> int:
        """Return the bytes between then and the highest point since."""
        return self._of("VmHWM") - self.start

    @staticmethod
    def _of(what: str) -> int:
        try:
            status = Path("/proc/self/status").read_text()
        except OSError:
            return 0
        return next(int(line.split()[1]) << 10 for line in status.splitlines() if what in line)


def try_file(name: str, seed: int, number: int, folder: Path) -> str:
    """Make one file, read it and compare; return "read" or "refused"."""
    rng = random.Random(f"{seed}/{name}/{number}")
    data = damaged(name, rng)
    if rng.random() < 0.03:
        name = rng.choice(ODD_NAMES) + name[1:]
    if len(data) < 2000:
        # Small blocks have seams everywhere; long lines would take as many reads as bytes.
        small = (64, 500) if name.endswith(".gz") else (1, 7, 64)
        blocks.BLOCK_BYTES = rng.choice((BLOCK_BYTES, BLOCK_BYTES, *small))
        text.PART_BYTES = rng.choice((PART_BYTES, 1, 10, 100))
    if rng.random() < 0.5:  # both parsers read every kind of file
        text.COMPILED_BYTES = text.PACKED_BYTES = 0
    file = folder / name
    file.write_bytes(data)
    try:
        return judge(file, data)
    finally:
        blocks.BLOCK_BYTES, text.PART_BYTES = BLOCK_BYTES, PART_BYTES
        text.COMPILED_BYTES, text.PACKED_BYTES = COMPILED_BYTES, PACKED_BYTES
        file.unlink()


def judge(file: Path, data: bytes) -> str:
    """Read a file and compare with the oracles; raise Finding where they differ."""
    memory = Memory()
    start = time.process_time()
    try:
        result = gk.read(file)
    except gk.GraphFormatError as error:
        result = error
    except (Exception, Warning) as error:
        raise Finding(f"an error of another kind: {error!r}") from error
    seconds = time.process_time() - start
    if seconds > MOST_SECONDS:
        raise Finding(f"{seconds:.1f} s of processor time")
    if memory.grown() > MOST_BYTES:
        raise Finding(f"{memory.grown() >> 20} MiB more memory")
    try:
        expected = meaning(file.name, data)
    except Refused as refused:
        expected = refused
    if isinstance(result, gk.GraphFormatError):
        check_refusal(file, result, expected)
        return "refused"
    if isinstance(expected, Refused):
        raise Finding(f"{result!r} where line {expected.line} is wrong")
    check_graph(result, expected)
    content = unpacked(data) if file.suffix == ".gz" else data
    if ".mtx" in file.suffixes:
        compare_with_scipy(result, content)
    elif ".txt" in file.suffixes:
        compare_with_networkx(result, content)
    return "read"


def check_refusal(file: Path, error: gk.GraphFormatError, expected: Meaning | Refused) -> None:
    """Compare the line; look at the message."""
    message = str(error)
    if isinstance(expected, Meaning):
        raise Finding(f"a sound file is refused: {message}")
    if not isinstance(error.line, int) or error.line < 1 or error.file != str(file):
        raise Finding(f"no file and line: {error!r}")
    if expected.line is not None and error.line != expected.line:
        raise Finding(f"line {expected.line} is the first that is wrong, not: {message}")
    if not message.isprintable() or len(message) > 300 or f", line {error.line}: " not in message:
        raise Finding(f"an odd message: {message!r}")


def check_graph(g: gk.Graph, expected: Meaning) -> None:
    """Compare vertices and arcs; let the graph's own checks go over it."""
    gk.Graph(g.offsets, g.targets, g.weights, g.directed)
    labels = list(range(g.n)) if g.labels is None else g.labels.tolist()
    if labels != expected.labels or g.directed != expected.directed:
        raise Finding(f"{g!r} with labels {labels[:9]}, expected {expected.labels[:9]}")
    arcs = arcs_of(g)
    if arcs != expected.arcs or len(arcs) != g.m:
        raise Finding(f"arcs {arcs}, expected {expected.arcs}")
    if g.weights is not None and arcs and (g.weights.dtype == np.int32) != expected.whole:
        raise Finding(f"weights are {g.weights.dtype}")


def arcs_of(g: gk.Graph) -> dict[tuple[int, int], float | None]:
    """Return the weight of each arc, between labels."""
    source, target = g.coo
    if g.labels is not None:
        source, target = g.labels[source], g.labels[target]
    weights = [None] * g.m if g.weights is None else g.weights.tolist()
    return dict(zip(zip(source.tolist(), target.tolist(), strict=True), weights, strict=True))


def compare_with_scipy(g: gk.Graph, content: bytes) -> None:
    """Compare with SciPy's reader where that reads the file."""
    try:
        # It dies of a blank that ends the last line.
        text = b"\n".join(lines_of(content)).rstrip() + b"\n"
        matrix = mmread(io.BytesIO(text), spmatrix=False)
    except (ValueError, OverflowError):
        return
    value = [None] * matrix.nnz if g.weights is None else matrix.data.astype(g.weights.dtype)
    arcs = {}
    for i, j, x in zip(matrix.row.tolist(), matrix.col.tolist(), value, strict=True):
        arcs[i, j] = x if arcs.get((i, j)) is None else min(x, arcs[i, j])
    if matrix.shape != (g.n, g.n) or arcs != arcs_of(g):
        raise Finding(f"SciPy reads {arcs}")


def compare_with_networkx(g: gk.Graph, content: bytes) -> None:
    """Compare with NetworkX's reader of edge lists."""
    kind = networkx.MultiDiGraph if g.directed else networkx.MultiGraph
    lines = [line.decode() for line in lines_of(content) if line.lstrip()[:1] not in b"#%"]
    data = () if g.weights is None else (("weight", number_in),)
    graph = networkx.parse_edgelist(
        lines, create_using=kind, nodetype=lambda word: int(word.lstrip("+-0") or "0"), data=data
    )
    arcs = {}
    for u, v, weight in graph.edges(data="weight"):
        for arc in ((u, v),) if g.directed else ((u, v), (v, u)):
            weight = None if weight is None else g.weights.dtype.type(weight).item()
            arcs[arc] = weight if arcs.get(arc) is None else min(weight, arcs[arc])
    if arcs != arcs_of(g):
        raise Finding(f"NetworkX reads {arcs}")


def number_in(word: str) -> float:
    """Return a whole number as it is, and any other as the nearest float64."""
    try:
        return int(word)
    except ValueError:
        return float(word)


def main() -> int:
    """Try files of every format until the time is up, or Ctrl-C; then say how many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--only", metavar="NAME:NUMBER", help="try one file again")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    names, numbers = NAMES, range(sys.maxsize)
    if options.only:
        name, number = options.only.split(":")
        names, numbers = (name,), (int(number),)
    tried, findings = Counter(), []
    stop = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        warnings.simplefilter("error")
        for number in numbers:
            for name in names:
                try:
                    tried[name, try_file(name, options.seed, number, Path(folder))] += 1
                except Finding as finding:
                    findings.append(keep(name, options.seed, number, finding))
            if time.monotonic() > stop:
                break
    for name in names:
        read, refused = tried[name, "read"], tried[name, "refused"]
        print(f"{name:9} {read + refused:7} files: {read} read, {refused} refused")
    print(f"{len(findings)} findings, seed {options.seed}")
    return 1 if findings else 0


def keep(name: str, seed: int, number: int, finding: Finding) -> str:
    """Write the file that gave a finding, and say what it is."""
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{seed}-{number}-{name}"
    kept.write_bytes(damaged(name, random.Random(f"{seed}/{name}/{number}")))
    line = gk.errors.printable(f"--seed {seed} --only {name}:{number}: {finding}", 500)
    print(line, flush=True)
    return line


if __name__ == "__main__":
    sys.exit(main())
