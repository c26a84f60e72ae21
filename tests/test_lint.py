"""Runs the linter, the formatter and the type checker over the tree, as `docs/contributing.md` tells people to."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy"])
def test_the_tree_is_clean(command: str) -> None:
    tool, *options = command.split()
    if importlib.util.find_spec(tool) is None and "CI" not in os.environ:
        pytest.skip(f"{tool} is not installed: pip install -e '.[dev]'")
    # coverage is not to follow the type checker through our sources
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", tool, *options], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
