import pickle

import pytest

import gpukernels as gk

ERRORS = [
    gk.InvalidArgument("parallel", "sum", "'keep' or 'min'"),
    gk.GraphFormatError("roads.gr", 7, "source -3 is negative"),
    gk.VertexOutOfRange("root", 12, 10),
    gk.NegativeWeightError("dijkstra", (3, 4), -2, ["bellman_ford"]),
    gk.NegativeCycleError([4, 1, 9]),
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
        "bfs has no method 'frontire'; it has harish, frontier (did you mean 'frontier'?)",
    ]


def test_a_vertex_out_of_range_is_an_index_error_too():
    with pytest.raises(IndexError):
        raise gk.VertexOutOfRange("root", 0, 0)


def test_a_long_cycle_is_shortened_in_the_message_only():
    error = gk.NegativeCycleError(range(100))
    assert len(error.cycle) == 100
    assert len(str(error)) < 120


def test_the_errors_of_kernels_are_named_here_too():
    from gpukernels import errors
    from gpukernels.simt import errors as kernel_errors

    for name in kernel_errors.__all__:
        assert getattr(errors, name) is getattr(kernel_errors, name)
        assert name in errors.__all__
    assert issubclass(errors.OutOfBounds, errors.KernelError)
