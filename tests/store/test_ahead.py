"""Blobs that git reads beside us: the same as the object database has, in whichever order they are asked for."""

import os
import random
import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store import ahead
from pogstore.store.ahead import Ahead, AtHand
from pogstore.store.store import Store, open_store
from tests.conftest import Repo

LIMIT = 1 << 20
NOWHERE = Oid("1" * 40)


def written(repo: Repo, contents: list[bytes]) -> dict[Oid, bytes]:
    for at, content in enumerate(contents):
        (repo.path / f"{at}").write_bytes(content)
    names = repo.git("hash-object", "-w", *(f"{at}" for at in range(len(contents)))).split()
    return {Oid(name): content for name, content in zip(names, contents, strict=True)}


@pytest.fixture
def store(repo: Repo) -> Store:
    return open_store(repo.path)


def reader(store: Store, wanted: list[Oid], limit: int = LIMIT) -> Ahead:
    return Ahead(store.git, AtHand(store.objects, limit), wanted, limit)


ORDERS = st.lists(st.integers(0, 59), max_size=80)


def test_any_order(repo: Repo, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also again, and with little room, for what was passed over and for what was not announced."""
    known = written(repo, [b"%d\n" % at * (at * 40) for at in range(60)])
    names = list(known)

    @settings(max_examples=15)
    @given(ORDERS, st.integers(0, 60), st.booleans())
    def asked(order: list[int], announced: int, tight: bool) -> None:
        monkeypatch.setattr(ahead, "ROOM", 4000 if tight else 1 << 20)
        found = reader(store, names[:announced])
        try:
            for at in order:
                assert found.read(names[at]) == known[names[at]]
                assert found.has(names[at])
            assert not found.has(NOWHERE)
        finally:
            found.close()

    asked()


def test_in_their_order_nothing_is_read_by_ourselves(repo: Repo, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far more than the system holds between two processes; some are passed over."""
    known = written(repo, [random.Random(at).randbytes(3000) for at in range(400)])
    repo.git("repack", "-adq")
    found = reader(store, [*known, NOWHERE])
    monkeypatch.setattr(AtHand, "read", lambda *_: pytest.fail("read by ourselves"))
    assert all(found.has(name) for name in known)
    for at, (name, content) in enumerate(known.items()):
        if at % 7:
            assert found.read(name) == content
    found.close()


def test_what_is_not_there_is_not_found(repo: Repo, store: Store) -> None:
    known = written(repo, [b"a\n"])
    found = reader(store, [NOWHERE, *known])
    assert not found.has(NOWHERE)
    with pytest.raises(NotFound):
        found.read(NOWHERE)
    assert [found.read(name) for name in known] == [b"a\n"]
    found.close()


def test_a_replaced_blob_is_what_its_name_says(repo: Repo, store: Store) -> None:
    first, second = written(repo, [b"a\n", b"b\n"])
    repo.git("replace", first, second)
    found = reader(store, [first])
    assert found.read(first) == b"a\n"
    found.close()


def test_damage_another_kind_and_too_much_are_as_the_object_database_has_them(repo: Repo, store: Store) -> None:
    known = written(repo, [b"a\n", b"b" * 2000, b"c\n"])
    small, large, damaged = known
    file = repo.path / ".git" / "objects" / damaged[:2] / damaged[2:]
    file.chmod(0o644)
    file.write_bytes(b"nothing of the kind")
    tree = Oid(repo.git("rev-parse", "HEAD^{tree}"))
    for odd in (tree, large, damaged):
        found = reader(store, [odd, small], limit=1000)
        if odd == tree:
            assert found.read(odd) == store.objects.read(odd, LIMIT)[1]
        else:
            with pytest.raises(ObjectDamaged):
                found.read(odd)
        assert found.read(small) == b"a\n"
        found.close()


def test_git_that_is_killed_is_done_without(repo: Repo, store: Store) -> None:
    known = written(repo, [b"%d\n" % at for at in range(60)])
    found = reader(store, list(known))
    for each in (found._reader, found._check):
        os.kill(each.process, signal.SIGKILL)
    assert all(found.read(name) == content and found.has(name) for name, content in known.items())
    found.close()
