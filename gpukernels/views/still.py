"""Stand-ins for anywidget and traitlets in a browser's interpreter that has neither.

A view there is its figure as HTML, which the page's own script brings to life.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpukernels.errors import InvalidArgument


class _Trait:
    """An attribute whose values the view checks by a method, such as `_valid_step`."""

    kind: type = object

    def __init__(self, default: Any = None):
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, view: Any, owner: type) -> Any:
        return self if view is None else view.__dict__.get(self._name, self._default)

    def __set__(self, view: Any, value: Any) -> None:
        value = self.validate(view, value)
        check = getattr(view, f"_valid_{self._name}", None)
        view.__dict__[self._name] = value if check is None else check({"value": value})

    def tag(self, **tags: Any) -> _Trait:
        """Return itself: nothing is sent anywhere."""
        return self

    def validate(self, view: Any, value: Any) -> Any:
        """Return the value; InvalidArgument if it is of another type."""
        if not isinstance(value, self.kind) or isinstance(value, bool):
            raise InvalidArgument(self._name, value, f"of type {self.kind.__name__}")
        return value


class Dict(_Trait):
    """A dictionary."""

    kind = dict


class Int(_Trait):
    """A whole number."""

    kind = int


class Unicode(_Trait):
    """A text."""

    kind = str


def validate(name: str) -> Callable[[Callable], Callable]:
    """Return a decorator that leaves a method as it is: `_Trait` finds it by its name."""
    return lambda method: method


class AnyWidget:
    """A widget without a front end."""

    def __init__(self, **values: Any):
        for name, value in values.items():
            setattr(self, name, value)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return {}
