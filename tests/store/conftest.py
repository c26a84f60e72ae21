"""The fixture `store` of the tests of this folder."""

from collections.abc import Iterator

import pytest

from pogstore.store.store import Store
from tests.builders_store import opened
from tests.conftest import Repo


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    """The store of `repo`, enabled; nothing is synced to disk."""
    made = opened(repo)
    yield made
    made.close()
