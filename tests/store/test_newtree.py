"""Git's trees in memory: what is read, changed and written is what git itself makes of it."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.errors import ObjectDamaged
from pogstore.model import Oid
from pogstore.store.contract import NewObject
from pogstore.store.loose import oid_of
from pogstore.store.newtree import FOLDER, Entry, GitTree
from tests.conftest import Repo

NAMES = (b"a", b"a.b", b"a0", b"a-", b"b", b"\xff", b"x y", b"A")
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(b"/".join)
BLOBS = [oid_of("blob", b"%d" % number) for number in range(3)]
entries = st.builds(Entry, st.sampled_from(["100644", "100755", "120000", "160000"]), st.sampled_from(BLOBS))
actions = st.lists(st.tuples(paths, st.none() | entries), max_size=25)

Actions = list[tuple[bytes, Entry | None]]


class Kept:
    """The objects that a tree has handed out."""

    def __init__(self) -> None:
        self.objects: dict[Oid, NewObject] = {}
        self.read_of: list[Oid] = []

    def emit(self, item: NewObject) -> None:
        assert oid_of(item.kind, item.data) == item.oid
        self.objects[item.oid] = item

    def read(self, oid: Oid) -> bytes:
        self.read_of.append(oid)
        return self.objects[oid].data


def done(files: Mapping[bytes, Entry], path: bytes, entry: Entry | None) -> dict[bytes, Entry]:
    """What files become."""
    if entry is None:
        return {each: files[each] for each in files if each != path}
    in_the_way = [each for each in files if each.startswith(path + b"/") or path.startswith(each + b"/")]
    return {each: files[each] for each in files if each not in in_the_way} | {path: entry}


@settings(max_examples=40)
@given(before=actions, after=actions)
def test_it_holds_what_was_put_there(
    before: list[tuple[bytes, Entry | None]], after: list[tuple[bytes, Entry]]
) -> None:
    kept = Kept()
    files: dict[bytes, Entry] = {}
    tree = GitTree(kept.read)
    for turn in (before, after):
        for path, entry in turn:
            is_folder = any(each.startswith(path + b"/") for each in files)
            if entry is None and is_folder:
                continue
            files = done(files, path, entry)
            if entry is None:
                tree.remove(path)
            else:
                tree.put(path, entry)
            assert tree.find(path) == entry
        assert dict(tree.files()) == files
        oid = tree.write(kept.emit)
        assert tree.write(kept.emit) == oid
        again = GitTree(kept.read)
        for path in sorted(files, reverse=True):
            again.put(path, files[path])
        assert again.write(kept.emit) == oid, "a tree is a function of its files"
        tree = GitTree(kept.read, oid)
        assert list(tree.files()) == list(GitTree(kept.read, oid).files())


def test_git_makes_the_same_tree(repo: Repo) -> None:
    names = ["a", "a.b", "a-", "a0", "d/a", "d.x/y", "d/e/f", "d-"]
    repo.commit({name + ("/in" if name in ("a0",) else ""): f"{name}\n" for name in names})
    repo.git("update-index", "--chmod=+x", "d-")
    wanted = repo.git("write-tree")
    kept = Kept()
    tree = GitTree(kept.read)
    for line in repo.git("ls-tree", "-r", wanted).splitlines():
        fields, _, path = line.partition("\t")
        mode, _, oid = fields.split()
        tree.put(path.encode(), Entry(mode, Oid(oid)))
    assert tree.write(kept.emit) == wanted
    assert tree.find(b"d") == Entry(FOLDER, Oid(repo.git("rev-parse", f"{wanted}:d")))


def test_only_what_lies_on_the_way_is_read_and_written() -> None:
    kept = Kept()
    tree = GitTree(kept.read)
    for number in range(20):
        tree.put(b"d%d/e/f%d" % (number, number), Entry("100644", BLOBS[0]))
    oid = tree.write(kept.emit)
    begun = len(kept.objects)
    kept.read_of.clear()
    again = GitTree(kept.read, oid)
    again.put(b"d3/e/f3", Entry("100644", BLOBS[1]))
    again.remove(b"d4/e/f4")
    again.write(kept.emit)
    assert len(kept.read_of) == len(set(kept.read_of)) <= 5
    assert len(kept.objects) - begun == 3
    assert again.find(b"d4") is None, "no empty folders, as in git"


@pytest.mark.parametrize(
    "data", [b"x", b"100644 a", b"100644 a\0short", b"100644 a/b\0" + bytes(20), b"a\0" + bytes(20)]
)
def test_what_is_no_tree_is_damaged(data: bytes) -> None:
    with pytest.raises(ObjectDamaged):
        GitTree(lambda _: data, Oid("1" * 40)).find(b"a")
