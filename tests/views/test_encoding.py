import json
from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from javascript import asked

from gpukernels.views.encoding import (
    pack,
    pack_lists,
    pack_rows,
    pack_texts,
    to_json,
    unpack,
)

EVERY = "Array.from({ length: many }, (_, k) => list(k))"
UNPACKED = asked(
    ["decode"],
    f"(packed, many) => {{ const list = unpackRows(packed); return {EVERY}.map((r) => [...r]); }}",
)
READ = asked(
    ["decode"], f"(packed, many) => {{ const list = unpackTexts(packed); return {EVERY}; }}"
)
INTEGERS = st.lists(st.integers(-(2**31), 2**32 - 1), max_size=60).filter(
    lambda v: not v or min(v) >= 0 or max(v) < 2**31
)


@given(INTEGERS)
def test_integers_come_back(values):
    assert unpack(pack(values)).tolist() == values


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=40))
def test_floats_come_back_as_float32(values):
    assert unpack(pack(np.array(values, dtype=np.float64))).tolist() == values


def test_sorted_columns_are_stored_as_narrow_differences():
    column = np.arange(0, 70_000, 7)
    assert pack(column).startswith("u1+:")
    assert len(pack(column)) < 1.4 * len(column) + 8


def test_full_masks_keep_their_sign():
    assert unpack(pack(np.array([0xFFFFFFFF, 0, 1], dtype=np.uint32))).tolist() == [2**32 - 1, 0, 1]


def test_values_beyond_32_bits_are_refused():
    with pytest.raises(ValueError, match="do not fit 32 bits"):
        pack([2**33])


@given(st.lists(st.lists(st.integers(0, 1000), max_size=8), max_size=8))
def test_lists_come_back(lists):
    packed = pack_lists(lists)
    at, of = unpack(packed["at"]), unpack(packed["of"])
    assert [of[a:b].tolist() for a, b in pairwise(at)] == lists


def test_json_cannot_close_the_script_element_around_it():
    text = to_json({"text": "if a < b: </script><!-- & -->"})
    assert not set("<&") & set(text)
    assert json.loads(text) == {"text": "if a < b: </script><!-- & -->"}


@examples(60, 2000)
@given(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=20))
def test_equal_rows_are_kept_once_and_all_come_back(rows):
    packed = pack_rows(rows)
    assert UNPACKED(packed, len(rows)) == rows
    assert len(unpack(packed["at"])) - 1 == len({tuple(row) for row in rows})


TEXTS = st.text(st.sampled_from("0123456789, ab²٣%\n"), max_size=14)


@examples(60, 2000)
@given(st.lists(TEXTS, max_size=20))
def test_texts_come_back_whatever_their_numbers_look_like(texts):
    assert READ(pack_texts(texts), len(texts)) == texts


def test_texts_that_differ_by_their_numbers_share_their_words():
    packed = pack_texts([f"Level {k}: {k * k:,} arcs read" for k in range(60)])
    assert packed["forms"][0] == ["Level ", ": ", " arcs read"]
    # A comma divides the text into two numbers. Only the second one may begin with zeros.
    assert len(packed["forms"]) < 8
