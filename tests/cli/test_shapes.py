"""Tests of the sketches of JSON, and of the one who holds values against them."""

import pytest

from pogstore.cli._shapes import ERROR, SHAPES
from pogstore.cli._table import COMMANDS
from tests.cli.shapes import fits


@pytest.mark.parametrize(
    ("sketch", "value"),
    [
        ("{a, b?}", {"a": 1}),
        ("{a, b?}", {"a": 1, "b": None}),
        ("{a, …}", {"a": 1, "z": 2}),
        ("[{a}]", []),
        ("[{a: [X]}]", [{"a": [1, "x"]}]),
        ("{a} | null", None),
        ("{a} | [X]", ["x"]),
    ],
)
def test_a_value_fits(sketch: str, value: object) -> None:
    assert fits(value, sketch)


@pytest.mark.parametrize(
    ("sketch", "value"),
    [
        ("{a, b?}", {"b": 1}),
        ("{a, b?}", {"a": 1, "c": 1}),
        ("{a: {b}}", {"a": {}}),
        ("[{a}]", {"a": 1}),
        ("[{a}]", [{"a": 1}, {}]),
        ("{a}", None),
        ("{a} | [X]", "x"),
    ],
)
def test_a_value_does_not_fit(sketch: str, value: object) -> None:
    assert not fits(value, sketch)


def test_every_command_has_a_shape() -> None:
    """Contract by listing (case UC-26): a verb without one would be a verb without `--json`."""
    missing = {name for name in COMMANDS if name not in SHAPES} - {"import", "hook", "agent", "env"}
    assert missing == set()
    assert fits({"error": {"code": "x", "message": "y", "hint": None, "retryable": False}}, ERROR)
