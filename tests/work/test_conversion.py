"""Conversions between the work tree and what git stores: the same bytes as `git add` and `git checkout-index`."""

from contextlib import closing

import pytest

from pogstore.store.store import open_store
from pogstore.work.conversion import Conversion
from pogstore.work.indexfile import may_have_attributes
from tests.conftest import Repo
from tests.work.test_writer import everything

ATTRIBUTES = ["", "text", "text=auto", "-text", "eol=crlf", "text eol=lf", "text=auto eol=crlf", "crlf=input", "ident",
              "text working-tree-encoding=UTF-16LE", "filter=up", "filter=nobody", "binary"]  # fmt: skip
SETTINGS = [(), ("core.autocrlf=true",), ("core.autocrlf=input",), ("core.eol=crlf",), ("core.autocrlf=0",)]
CONTENTS = [b"", b"a\nb\n", b"a\r\nb\r\n", b"a\r\nb\n", b"no end", b"\0\r\n", b"$Id$\n", "a\n".encode("utf-16-le")]


def prepared(repo: Repo, attributes: str, settings: tuple[str, ...]) -> Conversion:
    (repo.path / ".gitattributes").write_text(f"*.x {attributes}\n")
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    repo.git("config", "filter.up.smudge", "tr A-Z a-z")
    for setting in settings:
        repo.git("config", *setting.split("="))
    store = open_store(repo.path)
    conversion = Conversion(store)
    store.close()
    return conversion


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_it_converts_as_git_does(repo: Repo, attributes: str, settings: tuple[str, ...]) -> None:
    conversion = prepared(repo, attributes, settings)
    names = [f"d/{number}.x" for number in range(len(CONTENTS))]
    (repo.path / "d").mkdir()
    for name, content in zip(names, CONTENTS, strict=True):
        (repo.path / name).write_bytes(content)
    done = [name for name in names if not repo.git("add", name, check=False) and repo.git("ls-files", name)]
    stored = {name: repo.git("cat-file", "blob", f":{name}", check=False) for name in done}
    conversion.look_up(names)
    for name, content in zip(names, CONTENTS, strict=True):
        cleaned = conversion.clean(name, content)
        if name in done:
            assert cleaned is not None
            assert cleaned.decode(errors="surrogateescape").removesuffix("\n") == stored[name]
    for name in names:
        (repo.path / name).unlink()
    repo.git("checkout-index", "--force", "--", *done)
    for name in done:
        blob = conversion.clean(name, CONTENTS[names.index(name)])
        assert blob is not None
        assert conversion.smudge(name, blob) == (repo.path / name).read_bytes()


HIDINGS = [(), ("update-index", "--index-version", "4"), ("update-index", "--split-index"),
           ("sparse-checkout", "set", "--cone", "--sparse-index", "d")]  # fmt: skip


@pytest.mark.parametrize("hiding", HIDINGS, ids=str)
@pytest.mark.parametrize("place", ["", "d/", "d/e/", "other/"])
@pytest.mark.parametrize("by", ["unlink", "link"])
def test_attributes_that_only_the_index_holds_count_as_in_git(
    repo: Repo, hiding: tuple[str, ...], place: str, by: str
) -> None:
    for directory in ("d/e", "other"):
        (repo.path / directory).mkdir(parents=True)
    attributes = repo.path / f"{place}.gitattributes"
    attributes.write_text("*.x -merge\n")
    repo.git("add", ".")
    if hiding:
        repo.git(*hiding)
    attributes.unlink(missing_ok=True)
    attributes.parent.mkdir(exist_ok=True)
    if by == "link":
        attributes.symlink_to("nowhere")
    applies = repo.git("check-attr", "merge", "d/e/a.x").endswith(": unset")
    assert applies == (place != "other/")
    with closing(open_store(repo.path)) as store:
        conversion = Conversion(store)
        conversion.look_up(["d/e/a.x"])
        assert conversion.merges_lines("d/e/a.x") == (not applies)


def test_an_index_that_says_nothing_of_attributes_is_not_decoded(repo: Repo) -> None:
    """A search finds no such name; git, which decodes all of it, would fail."""
    repo.commit({"d/a.x": "1\n"}, "base")
    index = repo.path / ".git" / "index"
    for left, may in ((index.read_bytes()[:40], False), (b"DIRC\0\0\0\4", True), (b"", True)):
        index.write_bytes(left)
        assert may_have_attributes(index, repo.path, ["d/a.x"]) == may
    index.write_bytes(b"DIRC\0\0\0\2 and no more")
    with closing(open_store(repo.path)) as store:
        conversion = Conversion(store)
        conversion.look_up(["d/a.x"])
        assert conversion.merges_lines("d/a.x")
    index.unlink()
    assert not may_have_attributes(index, repo.path, ["d/a.x"])


def test_nothing_is_written_into_the_repository(repo: Repo) -> None:
    conversion = prepared(repo, "eol=crlf", ())
    state = everything(repo.path)
    assert conversion.clean("a.x", b"1\r\n") == b"1\n"
    assert conversion.smudge("a.x", b"1\n") == b"1\r\n"
    assert everything(repo.path) == state


def test_what_git_refuses_is_nothing(repo: Repo) -> None:
    conversion = prepared(repo, "filter=odd", ("filter.odd.clean=false", "filter.odd.required=true"))
    assert conversion.clean("a.x", b"1\n") is None
    other = prepared(repo, "eol=crlf", ("core.safecrlf=true",))
    assert other.clean("a.x", b"1\r\n2\n") is None


def test_lines_mean_something_unless_git_says_otherwise(repo: Repo) -> None:
    for attributes, expected in (
        ("", True),
        ("text", True),
        ("filter=lfs", False),
        ("-merge", False),
        ("binary", False),
    ):
        assert prepared(repo, attributes, ()).merges_lines("a.x") is expected


def test_a_path_outside_has_no_attributes(repo: Repo) -> None:
    conversion = prepared(repo, "eol=crlf", ())
    for path in ("../a.x", "/a.x", "", "a\0.x"):
        assert conversion.clean(path, b"1\r\n") == b"1\r\n"


@pytest.mark.parametrize("name", ["a b.x", "-rf.x", 'quo"te\\.x', "new\nline.x", "测试.x", "\udcff.x"])
def test_any_name_is_asked_about(repo: Repo, name: str) -> None:
    conversion = prepared(repo, "eol=crlf", ())
    conversion.look_up([name, "other.y"])
    assert conversion.smudge(name, b"1\n") == b"1\r\n"
    assert conversion.smudge("other.y", b"1\n") == b"1\n"
