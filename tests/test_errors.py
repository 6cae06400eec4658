import pickle

import pytest

import gpukernels as gk

ERRORS = [
    gk.InvalidArgument("parallel", "sum", "'keep' or 'min'"),
    gk.GraphFormatError("roads.gr", 7, "source -3 is negative"),
    gk.VertexOutOfRange("root", 12, 10),
    gk.NegativeWeightError("dijkstra", (3, 4), -2, ["bellman_ford"]),
    gk.NegativeCycleError([4, 1, 9]),
    gk.RoundingError(7),
    gk.LengthOverflow("longer", "int32", 3, "a"),
    gk.UnknownMethod("bfs", "frontire", ["harish", "frontier"]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_error_is_a_value_error_and_survives_pickling(error):
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_messages_name_what_was_given_and_what_is_allowed():
    texts = [str(error) for error in ERRORS]
    assert texts == [
        "parallel = 'sum': must be 'keep' or 'min'",
        "roads.gr, line 7: source -3 is negative",
        "root = 12: must be a vertex from 0 to 9",
        "method 'dijkstra' needs weights of at least 0, but arc 3 -> 4 weighs -2; "
        "methods that allow it: bellman_ford",
        "negative cycle: 4 -> 1 -> 9 -> 4",
        "distances are rounded so far in float32 that the shortest path to or from vertex 7 is not "
        "known; use whole-number weights, or float64 on the CPU: gk.reference.bellman_ford, or "
        "engine='cpu'",
        "a path from vertex 3 to a is longer than int32 holds; take float32 weights",
        "bfs has no method 'frontire'; it has harish, frontier (did you mean 'frontier'?)",
    ]


ODD = "\x1b[2Jred\n\0\x85\u202etxt.\u2028\udcff" + "x" * 5000
LONG = [
    gk.GraphFormatError(ODD + ".mtx", 7, "source 'x' is not a whole number"),
    gk.GraphFormatError("g.mtx", 12345678, "found " + ODD + " instead"),
    gk.GraphFormatError(ODD, None, ODD),
    gk.InvalidArgument("path", ODD, "a name that ends in .mtx"),
    gk.InvalidArgument(ODD, [ODD] * 9, "short"),
    gk.UnknownMethod("bfs", ODD, ["harish", "frontier"]),
]


@pytest.mark.parametrize("error", LONG, ids=lambda error: str(error)[:12])
def test_a_message_is_one_line_of_at_most_300_characters_that_can_be_printed(error):
    text = str(error)
    assert len(text) <= 300
    assert text.isprintable()
    text.encode()
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_a_list_of_what_is_allowed_is_never_cut():
    allowed = f"one of {tuple(range(1000))}"
    text = str(gk.InvalidArgument("choice", ODD, allowed))
    assert text.endswith(f"xx': must be {allowed}")
    assert len(text) < len(allowed) + 100


def test_what_can_be_printed_stays_as_it_is():
    assert str(gk.GraphFormatError("Straße 東京.mtx", 1, "é")) == "Straße 東京.mtx, line 1: é"


def test_a_vertex_out_of_range_is_an_index_error_too():
    with pytest.raises(IndexError):
        raise gk.VertexOutOfRange("root", 0, 0)


def test_the_errors_of_kernels_are_named_here_too():
    from gpukernels import errors
    from gpukernels.simt import errors as kernel_errors

    for name in kernel_errors.__all__:
        assert getattr(errors, name) is getattr(kernel_errors, name)
        assert name in errors.__all__
    assert issubclass(errors.OutOfBounds, errors.KernelError)
