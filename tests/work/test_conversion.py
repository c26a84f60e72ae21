"""Conversions between the work tree and what git stores: the same bytes as `git add` and `git checkout-index`."""

import pytest

from pogstore.store.store import open_store
from pogstore.work.conversion import Conversion
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
