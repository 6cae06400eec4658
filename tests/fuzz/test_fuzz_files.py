"""A slice of the fuzzing of graph files, and whether it would notice what it looks for."""

import gc
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import fuzz_files
import numpy as np
import pytest
from file_mutations import NAMES, damaged, sound
from file_oracle import Meaning, Refused, meaning
from fuzz_files import Finding, judge, try_file

import gpukernels as gk
from gpukernels.graphs.formats import text, words

#: Files of each format; `make fuzz` tries more.
FILES = 200


@pytest.fixture
def no_garbage():
    """Collect what other tests have left open, so that its warnings are not taken for ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.mark.usefixtures("no_garbage")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_a_damaged_file_is_what_an_oracle_reads_or_refused_at_its_line(tmp_path, monkeypatch, name):
    monkeypatch.setattr(fuzz_files, "MOST_SECONDS", float("inf"))  # `make fuzz` looks at the time
    outcomes = [try_file(name, 7, number, tmp_path) for number in range(FILES)]
    assert outcomes.count("read") > FILES // 12
    assert outcomes.count("refused") > FILES // 4


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(".gz")])
def test_the_files_to_damage_are_sound(name):
    kinds = set()
    for number in range(FILES):
        content = meaning(name, sound(name, random.Random(number)))
        kinds.add((content.directed, content.whole, bool(content.arcs), content.labels[:1] == [0]))
    assert len(kinds) > 1


def test_a_file_can_be_made_again_from_its_seed():
    for name in NAMES:
        assert damaged(name, random.Random("5/x/1")) == damaged(name, random.Random("5/x/1"))


SKEW = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n1 1 5\n"


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("g.mtx", SKEW, 3),
        ("g.gr", "p sp 2 1\na 1\x1c2 5\n", 2),
        ("g.txt", "1 2\n1 1_0\n", 2),
        ("g.txt", "1 2\n1 2\0\n", 2),
        ("g.gr", "p sp 2000000 1\na 1 2 5\n", 1),
        ("g.txt", "1 2\n#" + "x" * 65_536, 2),
    ],
)
def test_the_oracle_refuses_by_itself(name, content, line):
    with pytest.raises(Refused) as caught:
        meaning(name, content.encode())
    assert caught.value.line == line


def test_the_oracle_reads_a_skew_symmetric_matrix():
    content = SKEW.replace("1 1 5", "2 1 5").encode()
    assert meaning("g.mtx", content) == Meaning([0, 1], {(1, 0): 5, (0, 1): -5}, True, True)


def other_error(*arguments, **options):
    raise KeyError("x")


def wrong_line(file, *arguments):
    raise gk.GraphFormatError(file, 99, "somewhere")


@pytest.mark.parametrize(
    ("faults", "finding"),
    [
        ([(words, "CONTROL", b""), (text, "CONTROL", b"")], "where line 3 is wrong"),
        ([(text, "CONTROL", b""), (np, "loadtxt", other_error)], "an error of another kind"),
        ([(text, "refusal", wrong_line)], "line 3 is the first that is wrong"),
    ],
    ids=["control", "KeyError", "line"],
)
def test_a_fault_of_the_reader_is_a_finding(tmp_path, monkeypatch, faults, finding):
    for module, name, value in faults:
        monkeypatch.setattr(module, name, value)
    content = b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1\x0b2 5\n"
    (tmp_path / "g.mtx").write_bytes(content)
    with pytest.raises(Finding, match=finding):
        judge(tmp_path / "g.mtx", content)


def test_another_weight_is_a_finding(tmp_path, monkeypatch):
    content = SKEW.replace("1 1 5", "2 1 5").encode()
    (tmp_path / "g.mtx").write_bytes(content)
    read = gk.read
    monkeypatch.setattr(gk, "read", lambda file: gk.random_weights(read(file), 7, 7))
    with pytest.raises(Finding, match="expected"):
        judge(tmp_path / "g.mtx", content)


PLANTED_MEMORY = """
import sys
from pathlib import Path
import fuzz_files
import numpy as np
import gpukernels as gk

file = Path(sys.argv[1])
read = gk.read
read(file)  # imports what reading needs
fuzz_files.MOST_BYTES = 50 << 20
print(fuzz_files.judge(file, file.read_bytes()))
gk.read = lambda file: np.ones(80 << 20, np.int8).any() and read(file)
try:
    fuzz_files.judge(file, file.read_bytes())
except fuzz_files.Finding as finding:
    print(finding)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone can tell")
def test_memory_that_is_given_back_is_a_finding_too(tmp_path):
    # In a process of its own: what other tests leave is given back at a moment nobody chooses.
    file = tmp_path / "g.mtx"
    file.write_text(SKEW.replace("1 1 5", "2 1 5"))
    run = subprocess.run(
        [sys.executable, "-c", PLANTED_MEMORY, str(file)],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = run.stdout.splitlines()
    assert first == "read"
    assert second.endswith("MiB more memory")
