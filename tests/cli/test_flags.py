"""Every option of every command has a test (case PC-139: a documented flag that is ignored)."""

import ast
from functools import cache
from pathlib import Path

import pytest

from pogstore.cli._manual import Page, pages
from pogstore.cli._table import COMMANDS

TESTS = Path(__file__).parents[1]
PAGES = list(pages(COMMANDS))


@cache
def words_by_file() -> list[frozenset[str]]:
    """Returns the words of all strings in each test file but this one, docstrings included."""
    files = [path for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    return [frozenset(_words(ast.parse(path.read_text("utf-8")))) for path in sorted(files)]


def _words(tree: ast.AST) -> list[str]:
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [word for text in strings if isinstance(text, str) for word in text.split()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_every_option_is_used_in_a_test_of_its_command(page: Page) -> None:
    command = page.path.split()[-1]
    for spelled in page.options:
        names = {name for name in spelled.replace(",", "").split() if name.startswith("-")}
        assert any(command in words and names & words for words in words_by_file()), f"{command} {spelled}: no test"


def test_an_option_without_a_test_is_found() -> None:
    page = PAGES[0]._replace(path="list", options={"--with" + "out-a-test": ""})
    with pytest.raises(AssertionError, match="no test"):
        test_every_option_is_used_in_a_test_of_its_command(page)
