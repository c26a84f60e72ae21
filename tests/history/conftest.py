"""Work trees in which something was recorded, made quickly."""

from collections.abc import Iterator

import pytest

from tests.builders_rollback import Bench, Benches


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches[Bench]:
    """Many work trees, each with a task."""
    return Benches(tmp_path_factory.mktemp("benches"), Bench)


@pytest.fixture
def bench(benches: Benches[Bench]) -> Iterator[Bench]:
    """A work tree with a task."""
    with benches.new() as bench:
        yield bench
