"""A look at a whole work tree says what git says, reads no more than it must, and touches nothing of the user's."""

import errno
import fcntl
import gc
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.digest import hexdigest
from pogstore.store import spawn
from pogstore.work import journal, listed, look, looked, sighting
from pogstore.work.spooled_record import Absent, Seen, Unseen, _state
from pogstore.work.unfinished import OPERATION, TEMPORARY
from tests.conftest import Repo

MAX = 100_000
State = Seen | Absent | Unseen
OLD = 5
"""Seconds by which a file is made older, so that its stat data is believed."""


def place(repo: Repo) -> sighting.Place:
    found = sighting.find_place(os.fsencode(os.path.realpath(repo.path)))
    assert found is not None
    return found


def look_at(repo: Repo, max_blob: int = MAX, timeout: float = 20.0) -> look.Look:
    """Looks as a hook does whose record reaches the disk."""
    found = look.look(place(repo), max_blob, timeout)
    found.remember()
    return found


def states(repo: Repo, max_blob: int = MAX) -> dict[bytes, State]:
    """The states of a whole look, by path: each path once."""
    found = look_at(repo, max_blob)
    assert found.look == b"whole"
    decoded = [_state(state) for state in found.states]
    assert len({state.path for state in decoded}) == len(decoded)
    return {state.path: state for state in decoded}


def held(repo: Repo) -> dict[bytes, tuple[str, bytes | None] | str | None]:
    """What a whole look says of each path: mode and bytes, nothing, or why it was not seen."""
    return {path: brief(state) for path, state in states(repo).items()}


def brief(state: State) -> tuple[str, bytes | None] | str | None:
    match state:
        case Seen(mode=mode, data=data):
            return mode, data
        case Absent():
            return None
        case Unseen(reason=reason):
            return reason


def stat_of(path: Path) -> bytes:
    return looked.stat_text(path.lstat())


def write(repo: Repo, name: str | bytes, data: bytes) -> Path:
    path = Path(os.fsdecode(os.fsencode(repo.path) + b"/" + os.fsencode(name)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.fixture
def aged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every file that is there count as left alone for long, without the wait."""
    monkeypatch.setattr(listed, "MARGIN", -(10**12))


# ---- what is listed --------------------------------------------------------------------------------------------------


def test_a_clean_work_tree_has_nothing_to_tell(repo: Repo) -> None:
    found = look_at(repo)
    assert (found.look, found.states) == (b"whole", [])
    assert found.head.decode() == f"{repo.git('rev-parse', 'HEAD')} refs/heads/main"


def test_whatever_differs_from_head_is_listed_with_its_raw_bytes(repo: Repo) -> None:
    repo.commit(dict.fromkeys(("changed", "staged", "both", "gone", "removed", "kept-aside", "mode"), "old\n"))
    repo.commit({"dir/a": "a\n", "dir/b": "b\n", "same": "same\n"})
    write(repo, "changed", b"new\r\n\0")
    write(repo, "staged", b"staged\n")
    write(repo, "both", b"in the index\n")
    repo.git("add", "staged", "both")
    write(repo, "both", b"in the work tree\n")
    (repo.path / "gone").unlink()
    repo.git("rm", "--quiet", "removed")
    repo.git("rm", "--quiet", "--cached", "kept-aside")
    (repo.path / "mode").chmod(0o755)
    write(repo, "new", b"new\n")
    write(repo, "deep/er/new", b"deep\n")
    (repo.path / "link").symlink_to("/etc/passwd")
    assert held(repo) == {
        b"changed": ("100644", b"new\r\n\0"),
        b"staged": ("100644", b"staged\n"),
        b"both": ("100644", b"in the work tree\n"),
        b"gone": None,
        b"removed": None,
        b"kept-aside": ("100644", b"old\n"),
        b"mode": ("100755", b"old\n"),
        b"new": ("100644", b"new\n"),
        b"deep/er/new": ("100644", b"deep\n"),
        b"link": ("120000", b"/etc/passwd"),
    }


def test_names_are_bytes(repo: Repo) -> None:
    """Names that are no UTF-8, with newlines, quotes and spaces, and twins that differ in case alone."""
    names = [b"\xff\xfe", b'new\nline "quoted"\\', b" space ", b"Twin", b"twin", b"-dash", b"tab\there/\xe4", b"a -> b"]
    for name in names:
        write(repo, name, name)
    assert held(repo) == {name: ("100644", name) for name in names}
    repo.commit()
    for name in names:
        write(repo, name, name * 2)
    assert held(repo) == {name: ("100644", name * 2) for name in names}


def test_a_path_may_have_become_a_folder_a_link_or_something_special(repo: Repo) -> None:
    repo.commit({"file": "f\n", "folder/inside": "i\n", "linked": "l\n", "fifo": "p\n", "way/in": "w\n"})
    for name in ("file", "linked", "fifo", "way/in", "folder/inside"):
        (repo.path / name).unlink()
    (repo.path / "folder").rmdir()
    (repo.path / "way").rmdir()
    write(repo, "file/inside", b"now below\n")
    write(repo, "folder", b"now a file\n")
    (repo.path / "linked").symlink_to("README")
    os.mkfifo(repo.path / "fifo")
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "in").write_text("secret\n")
    (repo.path / "way").symlink_to(outside)
    found = held(repo)
    assert found.pop(b"fifo") in (None, "special")
    assert found == {
        b"file": None,
        b"file/inside": ("100644", b"now below\n"),
        b"folder": ("100644", b"now a file\n"),
        b"folder/inside": None,
        b"linked": ("120000", b"README"),
        b"way/in": None,
        b"way": ("120000", os.fsencode(outside)),
    }


def test_intent_to_add_unmerged_and_an_unborn_branch(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo(commit=False)
    write(repo, "new", b"new\n")
    write(repo, "meant", b"meant\n")
    write(repo, "added", b"added\n")
    assert held(repo) == {name: ("100644", name + b"\n") for name in (b"new", b"meant", b"added")}
    repo.git("add", "--intent-to-add", "meant")
    repo.git("add", "added")
    assert held(repo).keys() == {b"new", b"meant", b"added"}
    assert look_at(repo).head == b" refs/heads/main"
    first = repo.commit({"both": "base\n"})
    assert look_at(repo).head.decode() == f"{first} refs/heads/main"
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"both": "theirs\n"})
    repo.git("switch", "--quiet", "main")
    repo.commit({"both": "ours\n"})
    repo.git("merge", "side", check=False)
    found = held(repo)[b"both"]
    assert isinstance(found, tuple)
    assert found[1] is not None
    assert b"<<<<<<<" in found[1]


def test_a_detached_head_and_a_branch_with_an_odd_name(repo: Repo) -> None:
    oid = repo.git("rev-parse", "HEAD").encode()
    repo.git("switch", "--quiet", "--create", "f/ä b".replace(" ", "-"))
    assert look_at(repo).head == oid + b" refs/heads/f/\xc3\xa4-b"
    repo.git("switch", "--quiet", "--detach")
    assert look_at(repo).head == oid + b" "


def test_a_linked_work_tree_has_its_own_head_index_and_memory(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "linked", "../linked tree")
    linked = Repo(tmp_path / "linked tree")
    write(linked, "README", b"linked\n")
    write(repo, "README", b"main\n")
    for each, data in ((linked, b"linked\n"), (repo, b"main\n")):
        assert held(each) == {b"README": ("100644", data)}
    assert look_at(linked).head.endswith(b" refs/heads/linked")
    assert (Path(os.fsdecode(place(linked)[1])) / "pog" / "looked").is_file()


def test_a_sha256_repository(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo("r", "--object-format=sha256")
    write(repo, "README", b"x\n")
    assert held(repo) == {b"README": ("100644", b"x\n")}
    assert len(look_at(repo).head.split()[0]) == 64
    assert look.head_of(*place(repo)[1:]) == look_at(repo).head


def test_a_sparse_checkout_deletes_nothing(repo: Repo) -> None:
    repo.commit({"in/a": "a\n", "out/b": "b\n", "out/c": "c\n"})
    for arguments in (("--cone",), ("--cone", "--sparse-index")):
        repo.git("sparse-checkout", "set", *arguments, "in")
        assert not (repo.path / "out").exists()
        assert held(repo) == {}
    write(repo, "in/a", b"changed\n")
    # in the index alone: what the work tree would hold cannot be known
    blob = repo.git("hash-object", "-w", "--stdin", input="staged\n")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},out/b")
    repo.git("update-index", "--skip-worktree", "out/b")
    assert held(repo) == {b"in/a": ("100644", b"changed\n"), b"out/b": "unread"}


def test_what_is_skipped_or_assumed_unchanged_is_not_deleted(repo: Repo) -> None:
    repo.commit({"skip": "s\n", "assume": "a\n", "skip-staged": "s\n"})
    repo.git("update-index", "--skip-worktree", "skip", "skip-staged")
    repo.git("update-index", "--assume-unchanged", "assume")
    for name in ("skip", "assume", "skip-staged"):
        (repo.path / name).unlink()
    blob = repo.git("hash-object", "-w", "--stdin", input="staged\n")
    repo.git("update-index", "--cacheinfo", f"100644,{blob},skip-staged")
    repo.git("update-index", "--skip-worktree", "skip-staged")
    assert held(repo) == {b"skip-staged": "unread"}


def test_a_split_index_stays_as_it_is(repo: Repo) -> None:
    (repo.path / ".git" / "pog").mkdir()
    repo.git("config", "core.splitIndex", "true")
    repo.commit({"a": "a\n", "b": "b\n"})
    assert list((repo.path / ".git").glob("sharedindex.*"))
    write(repo, "a", b"changed\n")
    os.utime(repo.path / "b", (1, 1))
    for expected in ({b"a"}, {b"a", b"c"}):
        before = times_aside(own(repo))
        assert held(repo).keys() == expected
        assert times_aside(own(repo)) == before
        repo.git("update-index", "--add", "--cacheinfo", f"100644,{repo.git('rev-parse', 'HEAD:a')},c")


@pytest.mark.parametrize("split", ["true", "false"])
def test_the_index_of_a_submodule_is_not_touched(repo: Repo, make_repo: Callable[..., Repo], split: str) -> None:
    """A git that may refresh an index lets the ones it starts in submodules do so, too."""
    repo.git("config", "core.splitIndex", split)
    inner = make_repo("inner")
    (repo.path / ".git" / "pog").mkdir()
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    repo.git("init", "--quiet", "plain")
    Repo(repo.path / "plain").commit({"f": "f\n"})
    repo.commit()  # a submodule without a name
    if split == "true":
        repo.git("update-index", "--split-index")
        assert b"\0\0\xe0\0" not in (repo.path / ".git" / "index").read_bytes()
    for name in ("sub/README", "plain/f", "README"):
        os.utime(repo.path / name, (1, 1))
    write(repo, "plain/new", b"new\n")
    before = times_aside(own(repo))
    for _ in range(2):
        assert held(repo) == {b"plain": "submodule"}
    assert times_aside(own(repo)) == before


def test_without_file_modes_the_mode_is_what_git_says(repo: Repo) -> None:
    repo.commit({"plain": "p\n", "program": "#!\n"})
    repo.git("update-index", "--chmod=+x", "program")
    repo.git("commit", "--quiet", "--message", "x")
    repo.git("config", "core.fileMode", "false")
    for name in ("plain", "program"):
        write(repo, name, b"changed\n").chmod(0o755 if name == "plain" else 0o644)
    write(repo, "new", b"new\n").chmod(0o755)
    assert held(repo) == {
        b"plain": ("100644", b"changed\n"),
        b"program": ("100755", b"changed\n"),
        b"new": ("100644", b"new\n"),
    }


def test_without_links_a_link_is_a_file(repo: Repo) -> None:
    (repo.path / "link").symlink_to("README")
    repo.commit()
    repo.git("config", "core.symlinks", "false")
    (repo.path / "link").unlink()
    write(repo, "link", b"elsewhere")
    assert held(repo) == {b"link": ("120000", b"elsewhere")}


def test_converted_line_ends_are_no_change_and_raw_bytes_are_recorded(repo: Repo) -> None:
    repo.commit({".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\ntwo\n"})
    (repo.path / "a.txt").unlink()
    repo.git("checkout", "--", "a.txt")
    assert (repo.path / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert held(repo) == {}
    write(repo, "a.txt", b"one\r\n")
    assert held(repo) == {b"a.txt": ("100644", b"one\r\n")}


def test_ignored_files_are_named_and_never_read(repo: Repo) -> None:
    repo.commit({".gitignore": "*.o\nbuild/\n.env\n"})
    secret = write(repo, ".env", b"TOKEN=1\n")
    write(repo, "src/a.o", b"\0")
    write(repo, "build/deep/x", b"x")
    found = states(repo)
    assert found == {
        b".env": Unseen(b".env", "ignored", stat_of(secret)),
        b"src/a.o": Unseen(b"src/a.o", "ignored", stat_of(repo.path / "src" / "a.o")),
    }
    assert all(b"TOKEN" not in state for state in look_at(repo).states)
    write(repo, ".env", b"TOKEN=2\n")
    assert states(repo)[b".env"] != found[b".env"]
    repo.git("add", "--force", ".env")
    assert held(repo)[b".env"] == ("100644", b"TOKEN=2\n")


def test_git_dirs_are_refused_however_they_are_written(repo: Repo) -> None:
    write(repo, ".GIT/hooks", b"x")
    write(repo, "a/.Git", b"x")
    write(repo, "a/.gitx", b"x")
    assert held(repo) == {b"a/.gitx": ("100644", b"x")}


def test_git_dirs_of_any_name_are_not_looked_into(repo: Repo, tmp_path: Path) -> None:
    """Case PC-70."""
    write(repo, "x/config", b"no git dir\n")
    repo.git("init", "--quiet", "--bare", "x/mirror")
    moved = tmp_path / "moved"
    moved.mkdir()
    made = Repo(moved)
    made.git("init", "--quiet", "--separate-git-dir", "data")
    write(made, "mine", b"mine\n")
    assert list(states(repo)) == [b"x/config"]
    assert list(states(made)) == [b"mine"]
    for path in ("x/mirror/config", "x/mirror/refs/heads/main"):
        assert sighting.states(os.fsencode(repo.path), os.fsencode(repo.path / path), MAX) == []
    assert len(sighting.states(os.fsencode(repo.path), os.fsencode(repo.path / "x/config"), MAX)) == 1


def test_a_nested_repository_is_marked_and_no_git_runs_in_it(repo: Repo) -> None:
    """What lies in a work tree must not decide which programs an agent's hook runs."""
    repo.git("init", "--quiet", "nested")
    nested = Repo(repo.path / "nested")
    nested.commit({"a": "a\n", ".gitattributes": "* filter=evil\n"})
    nested.git("config", "filter.evil.clean", "touch ran; cat")
    nested.git("config", "core.fsmonitor", "touch ../ran")
    (nested.path / "a").touch()
    found = states(repo)[b"nested"]
    assert isinstance(found, Unseen)
    assert (found.reason, found.commit) == ("repository", "")
    assert found.mark
    assert states(repo) == {b"nested": found}
    assert not list(repo.path.rglob("ran"))
    marks = {found.mark}
    for change in (
        lambda: write(nested, "a", b"b\n"),
        lambda: write(nested, "deep/new", b"b\n"),
        (nested.path / "deep" / "new").unlink,
        lambda: nested.git("config", "--unset", "filter.evil.clean") or nested.commit(),
    ):
        change()
        again = states(repo)[b"nested"]
        assert isinstance(again, Unseen)
        marks.add(again.mark)
    assert len(marks) == 5


def test_a_nested_repository_that_is_too_large_has_no_mark(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "INSIDE", 3)
    repo.git("init", "--quiet", "nested")
    for number in range(3):
        write(repo, f"nested/{number}", b"")
    full = states(repo)[b"nested"]
    write(repo, "nested/more", b"")
    assert states(repo)[b"nested"] == Unseen(b"nested", "repository")
    assert full != Unseen(b"nested", "repository")


def test_only_so_many_repositories_are_looked_into(repo: Repo) -> None:
    for number in range(look.MOST_REPOSITORIES + 2):
        repo.git("init", "--quiet", f"n{number}")
        write(repo, f"n{number}/f", b"")
    found = list(states(repo).values())
    assert [state.reason for state in found if isinstance(state, Unseen)] == ["repository"] * len(found)
    assert [bool(state.mark) for state in found if isinstance(state, Unseen)] == [True] * (len(found) - 2) + [False] * 2


def test_a_submodule_is_told_by_its_commit_and_its_dirt(repo: Repo, make_repo: Callable[..., Repo]) -> None:
    inner = make_repo("inner")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit()
    sub = Repo(repo.path / "sub")
    assert states(repo) == {}
    write(sub, "README", b"dirty\n")
    dirty = states(repo)[b"sub"]
    write(sub, "README", b"dirtier\n")
    dirtier = states(repo)[b"sub"]
    commit = sub.commit()
    moved = states(repo)[b"sub"]
    found = [dirty, dirtier, moved]
    assert all(isinstance(state, Unseen) and state.reason == "submodule" and state.mark for state in found)
    assert len({state.mark for state in found if isinstance(state, Unseen)}) == 3
    assert states(repo)[b"sub"] == moved
    assert isinstance(moved, Unseen)
    assert isinstance(dirty, Unseen)
    assert (dirty.commit, moved.commit) == (inner.git("rev-parse", "HEAD"), commit)
    subprocess.run(["rm", "-r", str(sub.path)], check=True)
    assert held(repo) == {b"sub": None}
    write(repo, "sub", b"a file\n")
    assert held(repo)[b"sub"] == ("100644", b"a file\n")


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_what_was_read_and_left_alone_is_not_read_again(
    repo: Repo, aged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(repo, "new", b"bytes\n")
    first = Seen(b"new", "100644", 6, hexdigest(b"bytes\n"), b"bytes\n", stat_of(path))
    assert list(states(repo).values()) == [first]
    monkeypatch.setattr(listed.Reader, "_bytes", lambda *_: pytest.fail("it is read again"))
    assert list(states(repo).values()) == [first._replace(data=None, kept=True)]
    assert list(states(repo).values()) == [first._replace(data=None, kept=True)]


def test_what_was_read_just_now_is_read_again_and_not_recorded_again(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system keeps times so coarsely that a file may change twice within one of them."""
    path = write(repo, "new", b"bytes\n")
    first = states(repo)[b"new"]
    reads: list[object] = []
    read = listed.Reader._bytes

    def reading(*given: Any) -> bytes | None:
        reads.append(given)
        return read(*given)

    monkeypatch.setattr(listed.Reader, "_bytes", reading)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    assert isinstance(first, Seen)
    assert states(repo) == {b"new": first._replace(data=None, kept=True)}
    assert len(reads) == 1
    path.write_bytes(b"other\n")
    os.utime(path, ns=times)
    changed = states(repo)[b"new"]
    assert isinstance(changed, Seen)
    assert (changed.data, changed.kept) == (b"other\n", False)


def test_a_time_that_is_set_back_hides_nothing(repo: Repo, aged: None) -> None:
    path = write(repo, "new", b"bytes\n")
    states(repo)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    time.sleep(0.02)
    path.write_bytes(b"other\n")
    os.utime(path, ns=times)
    assert held(repo)[b"new"] == ("100644", b"other\n")


def test_what_never_reached_a_record_is_recorded_by_the_next_look(repo: Repo, aged: None) -> None:
    write(repo, "new", b"bytes\n")
    look.look(place(repo), MAX, 10.0)
    assert held(repo) == {b"new": ("100644", b"bytes\n")}


def test_a_mode_alone_needs_no_bytes(repo: Repo, aged: None) -> None:
    path = write(repo, "new", b"bytes\n")
    states(repo)
    path.chmod(0o755)
    found = states(repo)[b"new"]
    assert isinstance(found, Seen)
    assert (found.mode, found.data, found.kept, found.blake3) == ("100755", None, True, hexdigest(b"bytes\n"))


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-3], lambda data: data.replace(b"new", b"old")]
)
def test_a_damaged_memory_is_ignored(repo: Repo, aged: None, damage: Callable[[bytes], bytes]) -> None:
    write(repo, "new", b"bytes\n")
    states(repo)
    memory = repo.path / ".git" / "pog" / "looked"
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600
    memory.write_bytes(damage(memory.read_bytes()))
    assert held(repo) == {b"new": ("100644", b"bytes\n")}
    memory.unlink()
    assert held(repo) == {b"new": ("100644", b"bytes\n")}


def test_more_than_the_budget_is_left_to_the_next_looks(
    repo: Repo, aged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "BUDGET", 2_500)
    for name in ("a", "b", "c"):
        write(repo, name, name.encode() * 1000)
    first = states(repo)
    assert first[b"c"] == Unseen(b"c", "unread", stat=stat_of(repo.path / "c"))
    assert [brief(first[name]) for name in (b"a", b"b")] == [("100644", b"a" * 1000), ("100644", b"b" * 1000)]
    assert held(repo) == {b"a": ("100644", None), b"b": ("100644", None), b"c": ("100644", b"c" * 1000)}
    assert held(repo) == dict.fromkeys((b"a", b"b", b"c"), ("100644", None))


def test_a_large_file_is_not_read(repo: Repo) -> None:
    write(repo, "fits", b"x" * 1000)
    path = write(repo, "large", b"x" * 1001)
    found = states(repo, max_blob=1000)
    assert found[b"large"] == Unseen(b"large", "unread", stat=stat_of(path))
    assert brief(found[b"fits"]) == ("100644", b"x" * 1000)


def test_a_file_that_cannot_be_opened_is_told_with_the_reason(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(repo, "new", b"bytes\n")

    def refuse(*_: object) -> bytes:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(listed.Reader, "_bytes", refuse)
    assert states(repo) == {b"new": Unseen(b"new", str(errno.EACCES), stat=stat_of(path))}


# ---- what is not touched ---------------------------------------------------------------------------------------------


def own(repo: Repo) -> dict[str, tuple[int, int, bytes]]:
    """All of a work tree and its git dir that is not ours: time, mode and bytes."""
    found = {}
    for path in repo.path.rglob("*"):
        if "/.git/pog" not in str(path):
            seen = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(seen.st_mode) else b""
            found[str(path)] = (seen.st_mtime_ns, seen.st_mode, data)
    return found


def times_aside(found: dict[str, tuple[int, int, bytes]]) -> dict[str, tuple[int, int, bytes]]:
    """The same without the time of a shared index, which every git that reads it sets so that no git removes it."""
    return {name: (0 if "sharedindex" in name else seen[0], *seen[1:]) for name, seen in found.items()}


@pytest.fixture
def restless(repo: Repo) -> Repo:
    """A repository whose index git would gladly refresh: all of its entries are stale."""
    (repo.path / ".git" / "pog").mkdir()
    repo.commit({f"f{number}": "f\n" for number in range(5)})
    for number in range(5):
        os.utime(repo.path / f"f{number}", (number, number))
    write(repo, "f1", b"changed\n")
    write(repo, "new", b"new\n")
    return repo


def test_nothing_of_the_user_is_touched_and_our_copy_is_refreshed(restless: Repo) -> None:
    before = own(restless)
    for _ in range(3):
        assert held(restless).keys() == {b"f1", b"new"}
    assert own(restless) == before
    index = restless.path / ".git" / "index"
    assert (index.parent / "pog" / "index").read_bytes() != index.read_bytes()
    assert sorted(path.name for path in (index.parent / "pog").iterdir()) == [
        "index",
        "index.of",
        "look.lock",
        "looked",
    ]
    for _ in range(2):  # git would have refreshed the user's
        restless.git("status")
    assert index.read_bytes() != before[str(index)][2]


@pytest.mark.parametrize("obstacle", ["file", "link", "locked", "damaged copy", "folder as copy"])
def test_without_the_copy_the_user_s_index_is_read_and_not_touched(
    restless: Repo, obstacle: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pog = restless.path / ".git" / "pog"
    lock = -1
    match obstacle:
        case "file":
            pog.rmdir()
            pog.write_text("")
        case "link":
            pog.rmdir()
            (tmp_path / "outside").mkdir()
            pog.symlink_to(tmp_path / "outside")
        case "locked":
            monkeypatch.setattr(looked, "WAIT", 0.02)
            lock = os.open(pog / "look.lock", os.O_RDWR | os.O_CREAT)
            fcntl.flock(lock, fcntl.LOCK_EX)
        case "damaged copy":
            look_at(restless)
            (pog / "index").write_bytes(b"rubbish")
        case _:
            (pog / "index" / "x").mkdir(parents=True)
    before = own(restless)
    assert held(restless).keys() == {b"f1", b"new"}
    assert own(restless) == before
    assert not list((tmp_path / "outside").iterdir() if obstacle == "link" else ())
    if lock >= 0:
        os.close(lock)


def test_no_shared_index_is_made(restless: Repo) -> None:
    restless.git("config", "core.splitIndex", "true")
    before = own(restless)
    assert held(restless).keys() == {b"f1", b"new"}
    assert own(restless) == before


def test_a_copy_that_git_cannot_read_is_made_anew(restless: Repo) -> None:
    look_at(restless)
    copy = restless.path / ".git" / "pog" / "index"
    for _ in range(2):
        copy.write_bytes(b"rubbish")
        look_at(restless)
        look_at(restless)
        assert copy.read_bytes().startswith(b"DIRC")


def test_a_lock_that_a_killed_git_has_left_is_removed(restless: Repo) -> None:
    lock = restless.path / ".git" / "pog" / "index.lock"
    lock.write_bytes(b"")
    look_at(restless)
    assert not lock.exists()


def test_the_copy_follows_the_user_s_index(repo: Repo) -> None:
    write(repo, "new", b"new\n")
    look_at(repo)
    repo.git("add", "new")
    repo.git("commit", "--quiet", "--message", "new")
    assert held(repo) == {}
    repo.git("rm", "--quiet", "--cached", "new")
    assert held(repo).keys() == {b"new"}
    (repo.path / ".git" / "index").unlink()
    assert held(repo).keys() == {b"new", b"README"}


def test_a_copy_is_as_old_as_the_index(repo: Repo) -> None:
    """Git compares the bytes of a file only if the index is not newer: a young copy would hide the change."""
    for name, value in (("core.trustctime", "false"), ("core.checkStat", "minimal")):
        repo.git("config", name, value)
    path = write(repo, "racy", b"one\n")
    past = time.time_ns() - 60 * 10**9
    os.utime(path, ns=(past, past))
    repo.commit()
    path.write_bytes(b"two\n")
    os.utime(path, ns=(past, past))
    os.utime(repo.path / ".git" / "index", ns=(past, past))
    assert held(repo) == {b"racy": ("100644", b"two\n")}
    assert held(repo).keys() == {b"racy"}


def test_it_inherits_no_index_of_a_hook(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, "new", b"new\n")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert held(repo).keys() == {b"new"}


def test_looks_at_the_same_time_see_the_same(restless: Repo) -> None:
    """Agents run calls beside each other; each has its own hook."""
    before = own(restless)
    script = (
        "import os, sys\nfrom pogstore.work import look, sighting\n"
        "found = look.look(sighting.find_place(os.fsencode(sys.argv[1])), 1000, 20.0)\n"
        "found.remember()\nprint(found.look, len(found.states))"
    )
    command = [sys.executable, "-c", script, os.path.realpath(restless.path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(6)]
    assert {process.communicate(timeout=60)[0] for process in processes} == {b"b'whole' 2\n"}
    assert own(restless) == before
    assert held(restless).keys() == {b"f1", b"new"}


# ---- what is bounded -------------------------------------------------------------------------------------------------


def test_what_takes_too_long_is_partial(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = look.head_of(*place(repo)[1:])
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 30\n")
    slow.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        begun = time.monotonic()
        found = look_at(repo, timeout=0.2)
        assert time.monotonic() - begun < 5
        assert (found.head, found.look, found.states) == (head, b"partial timeout", [])
        slow.write_text("#!/bin/sh\nexit 1\n")
        assert look_at(repo).look == b"partial failed"
        slow.write_text("#!/bin/sh\nprintf '# branch.oid (initial)\\0x y\\0'\n")
        assert look_at(repo).look == b"partial failed"
        patch.setenv("PATH", str(tmp_path))
        assert look_at(repo).look == b"partial no-git"
    assert look_at(repo).look == b"whole"


def test_too_many_paths_are_not_told(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "MOST_PATHS", 5)
    for number in range(5):
        write(repo, f"n{number}", b"n")
    assert len(states(repo)) == 5
    write(repo, "more", b"n")
    assert (look_at(repo).look, look_at(repo).states) == (b"partial too-many", [])
    monkeypatch.setattr(look, "_LIMIT", 10)
    assert look_at(repo).look == b"partial too-many"


def test_a_work_tree_with_too_much_to_tell_is_not_asked_again_at_once(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "MOST_PATHS", 1)
    asked: list[bytes] = []
    run = spawn.run

    def noted(*given: Any, **more: Any) -> bytes | None:
        asked.append(b"git")
        return run(*given, **more)

    monkeypatch.setattr(spawn, "run", noted)

    def is_asked() -> bool:
        asked.clear()
        found = look_at(repo)
        assert (found.look, found.states) == (b"partial too-many", [])
        return bool(asked)

    write(repo, "one", b"1")
    write(repo, "two", b"2")
    assert [is_asked(), is_asked()] == [True, False]
    repo.git("add", "one")
    assert [is_asked(), is_asked()] == [True, False]
    repo.git("checkout", "--quiet", "-b", "other")
    assert [is_asked(), is_asked()] == [True, False]
    monkeypatch.setattr(looked, "PAUSE", 0)
    assert is_asked()
    (repo.path / "two").unlink()
    found = look_at(repo)
    assert found.look == b"whole"


def test_time_that_is_up_while_files_are_read_leaves_the_rest_unread(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo, "new", b"new\n")

    class Later:
        @staticmethod
        def monotonic() -> float:
            return time.monotonic() + 1000

    monkeypatch.setattr(listed, "time", Later)
    assert held(repo) == {b"new": "unread"}


def test_a_switch_of_branches_lists_nothing(repo: Repo) -> None:
    """Hundreds of paths differ between two looks, and none of them differs from HEAD."""
    for number in range(300):
        write(repo, f"d{number % 7}/f{number}", b"%d" % number)
    repo.git("switch", "--quiet", "--create", "many")
    repo.commit()
    write(repo, "new", b"new\n")
    assert held(repo).keys() == {b"new"}
    repo.git("switch", "--quiet", "main")
    assert held(repo).keys() == {b"new"}
    repo.git("switch", "--quiet", "many")
    found = look_at(repo)
    assert (found.look, len(found.states)) == (b"whole", 1)
    assert found.head.endswith(b" refs/heads/many")


def test_a_work_tree_that_is_gone_is_partial(repo: Repo, tmp_path: Path) -> None:
    root, git_dir, common_dir = place(repo)
    assert look.look((root + b"/nowhere", git_dir, common_dir), MAX, 5.0).look == b"partial failed"


def test_no_descriptor_stays_open(repo: Repo) -> None:
    write(repo, "a/b/c", b"x")
    look_at(repo)
    gc.collect()  # what tests before this left open is closed when it is found
    before = len(list(Path("/dev/fd").iterdir()))
    gc.disable()
    try:
        look_at(repo)
        assert len(list(Path("/dev/fd").iterdir())) == before
    finally:
        gc.enable()


# ---- the whole contract ----------------------------------------------------------------------------------------------

NAMES = ("a", "b", "d", "d/x", "d/y", "e.o", "\u00e9")
CONTENTS = (b"", b"1\n", b"2\n", b"1\r\n")
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
    st.tuples(st.sampled_from(("delete", "mode", "link")), st.sampled_from(NAMES), st.just(b"")),
    st.tuples(
        st.sampled_from(("add", "commit", "other", "stash", "reset", "soft", "restore")), st.just(""), st.just(b"")
    ),
)


def do(repo: Repo, what: str, name: str, data: bytes) -> None:
    """One thing that an agent's shell may do; what is not possible is not done."""
    path = repo.path / name
    try:
        match what:
            case "write":
                write(repo, name, data)
            case "delete":
                path.unlink()
            case "mode":
                path.chmod(path.stat().st_mode ^ 0o100)
            case "link":
                path.symlink_to("a")
            case _:
                command = {
                    "add": ["add", "--all"],
                    "commit": ["commit", "--quiet", "--all", "--message", "m"],
                    "other": ["switch", "--quiet", "--force-create", "other", "HEAD~1"],
                    "stash": ["stash", "--include-untracked"],
                    "reset": ["reset", "--quiet", "--hard"],
                    "soft": ["reset", "--quiet", "--soft", "HEAD~1"],
                    "restore": ["stash", "pop"],
                }[what]
                repo.git(*command, check=False)
    except OSError:
        return


def on_disk(repo: Repo) -> Iterator[tuple[bytes, tuple[str, bytes]]]:
    for path in repo.path.rglob("*"):
        relative = path.relative_to(repo.path)
        if relative.parts[0] == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            yield os.fsencode(relative), ("120000", os.fsencode(path.readlink()))
        else:
            yield os.fsencode(relative), ("100755" if path.stat().st_mode & 0o100 else "100644", path.read_bytes())


def in_head(repo: Repo) -> Iterator[tuple[bytes, tuple[str, bytes]]]:
    for line in filter(None, repo.git("ls-tree", "-r", "-z", "HEAD").split("\0")):
        about, _, name = line.partition("\t")
        mode, _, oid = about.split(" ")
        if oid not in BLOBS:
            command = ["git", "cat-file", "blob", oid]
            BLOBS[oid] = subprocess.run(command, cwd=repo.path, capture_output=True, check=True).stdout
        yield name.encode("utf-8", "surrogateescape"), (mode, BLOBS[oid])


BLOBS: dict[str, bytes] = {}
"""Few contents, met in many repositories."""


@given(st.lists(STEPS, max_size=7))
def test_what_is_not_listed_is_as_in_head_and_what_is_listed_is_as_on_disk(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bytes]]
) -> None:
    repo = Repo(tmp_path_factory.mktemp("r") / "repo")
    repo.path.mkdir()
    repo.git("init", "--quiet")
    repo.commit({".gitignore": "*.o\n", "a": "1\n", "d/x": "1\n"})
    repo.commit({"b": "1\n"})
    recorded: dict[str, bytes] = {}
    for step in [*steps, ("", "", b"")]:
        found = states(repo)
        folded: dict[bytes, tuple[str, bytes]] = dict(in_head(repo))
        ignored = set()
        for path, state in found.items():
            folded.pop(path, None)
            if isinstance(state, Seen) and state.blake3:
                assert state.kept == (state.data is None)
                recorded.setdefault(state.blake3, state.data or b"")
                folded[path] = state.mode, recorded[state.blake3]
            elif isinstance(state, Unseen):
                assert state.reason == "ignored"
                ignored.add(path)
        disk = {path: held for path, held in on_disk(repo) if path not in ignored}
        assert folded == disk
        if step[0]:
            do(repo, *step)


# ---- HEAD without git ------------------------------------------------------------------------------------------------


def head(repo: Repo) -> str:
    return look.head_of(*place(repo)[1:]).decode("utf-8", "surrogateescape")


def test_head_is_read_as_git_reads_it(repo: Repo, tmp_path: Path) -> None:
    oid = repo.git("rev-parse", "HEAD")
    assert head(repo) == f"{oid} refs/heads/main"
    repo.git("pack-refs", "--all")
    assert not (repo.path / ".git" / "refs" / "heads" / "main").exists()
    assert head(repo) == f"{oid} refs/heads/main"
    newer = repo.commit({"a": "a\n"})
    assert head(repo) == f"{newer} refs/heads/main"
    repo.git("branch", "ma", oid)
    repo.git("pack-refs", "--all")
    repo.git("switch", "--quiet", "ma")
    assert head(repo) == f"{oid} refs/heads/ma"
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    repo.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert head(repo) == f"{newer} refs/heads/alias"
    repo.git("switch", "--quiet", "--detach", "main")
    assert head(repo) == f"{newer} "
    repo.git("switch", "--quiet", "--orphan", "unborn")
    assert head(repo) == " refs/heads/unborn"
    repo.git("worktree", "add", "--quiet", "-b", "linked", "../linked", oid)
    assert head(Repo(tmp_path / "linked")) == f"{oid} refs/heads/linked"


def test_a_head_that_files_do_not_tell_is_unknown(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """With reftable, HEAD is a file that names no branch of anybody's."""
    repo.git("pack-refs", "--all")
    git_dir = place(repo)[1]
    with monkeypatch.context() as patch:
        patch.setattr(look, "_PACKED_LIMIT", 10)
        assert head(repo) == ""
    said = repo.path / ".git" / "HEAD"
    loop = repo.path / ".git" / "refs" / "heads" / "loop"
    loop.write_text("ref: refs/heads/loop\n")
    for text in (
        "ref: refs/heads/.invalid\n",
        "ref: refs/heads/loop\n",
        "ref: refs/../HEAD\n",
        "ref: /etc/passwd\n",
        "0123\n",
        "",
    ):
        said.write_text(text)
        assert look.head_of(git_dir, git_dir) == b"", text


# ---- operations of ours ----------------------------------------------------------------------------------------------


def test_a_look_while_an_operation_writes_or_waits_to_be_settled_is_partial(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands there is neither the old state nor the new one; nobody has done it."""
    own = repo.path / ".git" / "pog"
    write(repo, "new", b"new\n")
    begun = journal.Begun(journal.VERSION, "rollback", 1, 1, ())
    with journal.opened(own, fsync=False) as log:
        assert look_at(repo).look == b"whole", "a journal that is empty says nothing"
        log.note(begun)
        found = look_at(repo)
        assert (found.look, found.states) == (b"partial operation", [])
        log.note(journal.Beside(()))
    assert look_at(repo).look == b"partial operation", "it was killed"
    (own / OPERATION).write_bytes(b"")
    assert look_at(repo).look == b"whole"
    listing = look._listing

    def between(*args: Any) -> Any:
        answer = listing(*args)
        with journal.opened(own, fsync=False) as log:
            log.note(begun)
            log.end()
        return answer

    monkeypatch.setattr(look, "_listing", between)
    assert look_at(repo).look == b"partial operation", "one began and ended meanwhile"


def test_a_temporary_file_is_nobody_s_change(repo: Repo) -> None:
    for name in (f"{TEMPORARY}0n", f"d/{TEMPORARY}1k", "d/e", f"x{TEMPORARY}"):
        write(repo, name, b"new\n")
    assert set(held(repo)) == {b"d/e", f"x{TEMPORARY}".encode()}
