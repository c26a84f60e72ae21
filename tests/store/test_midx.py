"""Which packs git's multi-pack-index relies on."""

import pytest

from pogstore.store.midx import packs_in
from tests.conftest import Repo


def test_the_packs_that_git_names_are_found(repo: Repo) -> None:
    pack_dir = repo.path / ".git" / "objects" / "pack"
    assert packs_in(pack_dir) == frozenset()
    for number in range(3):
        repo.commit({"a": str(number)})
        repo.git("repack", "-d", "--quiet")
    repo.git("multi-pack-index", "write")
    repo.commit({"a": "later"})
    repo.git("repack", "-d", "--quiet")
    named = {name for name in packs_in(pack_dir) if name}
    assert len(named) == 3
    assert named < {path.name for path in pack_dir.glob("*.idx")}


@pytest.mark.parametrize("data", [b"", b"MIDX", b"MIDX\1\1\1\0\0\0\0\1" + b"\0" * 24, b"x" * 100])
def test_one_that_cannot_be_read_is_said(repo: Repo, data: bytes) -> None:
    pack_dir = repo.path / ".git" / "objects" / "pack"
    (pack_dir / "multi-pack-index").write_bytes(data)
    with pytest.raises(ValueError, match="multi-pack-index"):
        packs_in(pack_dir)


def test_a_chain_of_several_is_said(repo: Repo) -> None:
    pack_dir = repo.path / ".git" / "objects" / "pack"
    (pack_dir / "multi-pack-index.d").mkdir()
    with pytest.raises(ValueError, match=r"multi-pack-index\.d"):
        packs_in(pack_dir)
