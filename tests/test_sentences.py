"""Sentences of the book that were false once, and must not come back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    """Return the prose of a file, its white space made single blanks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return " ".join(text.split())


#: What is told, its file, a pattern that must not occur there, and one that must.
SENTENCES = {
    "counters say what a kernel asks for": ("book/preface.md", r"kernel \*?did", r"\*asks for\*"),
    "the front page plays a recording": ("book/index.ipynb", r"really did", r"recording of a"),
    "the README speaks of asking": ("README.md", r"claim about the hardware", r"kernel asks of"),
    "the machine writes down what is asked for": (
        "book/simt.md", r"what each warp did", r"what each warp asks for",
    ),
    "steps compare runs of one kernel": (
        "book/simt.md", r"Ratios between kernels mean something", r"runs of \*one\* kernel",
    ),
    "what continuous integration compiles": (
        "book/simt.md",
        r"for compute capability 7\.5, 8\.0, 8\.9, 9\.0 and 10\.0",
        r"in turn, one of",
    ),
    "PTX is virtual": ("chapters/frontier_bfs.ipynb", r"the GPU's instruction set", r"virtual"),
    "a warp's lanes may part": (
        "chapters/simt.ipynb", r"warps of 32 lanes with one instruction stream", r"Since Volta",
    ),
    "stores of one instruction to one place": (
        "chapters/mapping_dynamic.ipynb",
        r"Many plain stores to one place, one of which survives, are a",
        r"in one instruction\*",
    ),
    "direct search hands out units": (
        "chapters/mapping_dynamic.ipynb",
        r"All the mappings so far hand equally many",
        r"Direct search apart",
    ),
    "the authors cull by history first": (
        "chapters/duplicates.ipynb", r"culling\* comes second", r"\*before\* warp culling",
    ),
    "a block keeps its place to the last warp": (
        "chapters/mapping_static.ipynb", r"40 to 940", r"only when its \*last\* warp is done",
    ),
    "one counter is added up by the compiler": (
        "chapters/scans.ipynb", r"all lanes write: 31 of 32 wait", r"profiler",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SENTENCES)
def test_a_sentence_that_was_false_stays_mended(what):
    name, gone, there = SENTENCES[what]
    text = text_of(name)
    assert not re.search(gone, text)
    assert re.search(there, text)
