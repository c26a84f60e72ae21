"""Pathspecs over paths that need not be files: what git would choose."""

import pytest

from pogstore.errors import BadInput
from pogstore.store.pathspec import matching
from pogstore.store.store import Store
from tests.builders_rollback import untouched
from tests.builders_store import opened
from tests.conftest import Repo

USABLE = [b"a.py", b"d", b"d/a.py", b"d/e", b"d/e/b.txt", b"\xff", b"a*b", b"CON", b"back\\slash"]
PATHS = [*USABLE, b".git/config", b"x/../y"]


@pytest.fixture
def store(repo: Repo) -> Store:
    """A store in an empty repository."""
    return opened(repo)


@pytest.mark.parametrize(
    ("pathspecs", "chosen"),
    {
        (".",): set(USABLE),
        ("*.py",): {b"a.py", b"d/a.py"},
        (":(glob)*.py",): {b"a.py"},
        ("d",): {b"d", b"d/a.py", b"d/e", b"d/e/b.txt"},
        ("d", ":!d/e"): {b"d", b"d/a.py"},
        (":(literal)a*b",): {b"a*b"},
        (":(icase)con",): {b"CON"},
        ("nothing",): set(),
    }.items(),
)
def test_paths_are_chosen_as_git_chooses_them(store: Store, pathspecs: tuple[str, ...], chosen: set[bytes]) -> None:
    before = untouched(store.layout.git_dir)
    assert matching(store.git, PATHS, pathspecs) == chosen
    assert untouched(store.layout.git_dir) == before


def test_a_pathspec_that_git_does_not_understand_is_refused(store: Store) -> None:
    for paths in (PATHS, []):
        with pytest.raises(BadInput, match="magic"):
            matching(store.git, paths, [":(nonsense)a"])


def test_a_pathspec_that_leads_out_of_the_work_tree_is_refused(store: Store) -> None:
    assert store.layout.work_tree is not None
    with pytest.raises(BadInput, match=r"^pathspec '\.\./x': .*'\.\./x' is outside repository") as caught:
        matching(store.git, PATHS, ["../x"], store.layout.work_tree)
    assert "fatal" not in caught.value.reason
