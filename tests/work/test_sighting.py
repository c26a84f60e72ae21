"""What a hook sees without git is what git sees, and never more than the work tree."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.digest import hexdigest
from pogstore.work import sighting
from pogstore.work.spooled_record import Absent, Seen, Unseen, _state
from tests.conftest import Repo

MAX = 1000


def place(path: Path) -> sighting.Place | None:
    return sighting.find_place(os.fsencode(os.path.realpath(path)))


def git_place(path: Path) -> sighting.Place:
    """What git says of a directory."""
    answers = Repo(path).git("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    root, git_dir, common_dir = (os.fsencode(os.path.realpath(answer)) for answer in answers.split("\n"))
    return root, git_dir, common_dir


def look(root: Path, path: str | bytes, max_blob: int = MAX) -> list[Seen | Absent | Unseen]:
    """Returns the states of a path below a root, as a hook would look."""
    located, found = sighting.locate(os.fsencode(root) + b"/" + os.fsencode(path))
    assert found is not None
    assert found[0] == os.fsencode(os.path.realpath(root))
    return [_state(state) for state in sighting.states(found[0], located, max_blob)]


def seen(path: bytes, data: bytes, mode: str = "100644") -> Seen:
    return Seen(path, mode, len(data), hexdigest(data), data)


def test_the_place_of_a_directory_is_the_one_that_git_finds(repo: Repo, tmp_path: Path) -> None:
    """Cases PC-69, PC-70, PC-73: linked work trees, a bare repository beside them, a submodule."""
    repo.commit({"src/deep/a.py": "a\n"})
    repo.git("worktree", "add", "--quiet", "-b", "linked", "../linked tree")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub")
    repo.git("clone", "--quiet", "--bare", ".", "../bare.git")
    Repo(tmp_path / "bare.git").git("worktree", "add", "--quiet", "../from-bare")
    repo.git("init", "--quiet", "nested")
    (repo.path / "src" / "seems" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repo.path / "src")
    for name in (
        "repo",
        "repo/src/deep",
        "repo/src/seems",
        "linked tree",
        "repo/sub",
        "from-bare",
        "repo/nested",
        "link",
    ):
        assert place(tmp_path / name) == git_place(tmp_path / name), name


def test_a_directory_that_is_still_to_be_made_has_the_place_of_those_above(repo: Repo) -> None:
    assert place(repo.path / "not" / "yet") == git_place(repo.path)


def test_there_is_no_place_outside(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    (tmp_path / "a" / ".git").mkdir(parents=True)
    os.mkfifo(tmp_path / "a" / "fifo")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".git").symlink_to(tmp_path / "a" / "fifo")
    for name in ("a", "b", "a/fifo"):
        assert place(tmp_path / name) is None


def test_a_file_is_seen_with_its_mode_and_bytes(repo: Repo) -> None:
    name = b"dir/\xff odd\n"
    path = Path(os.fsdecode(os.fsencode(repo.path) + b"/" + name))
    path.parent.mkdir()
    path.write_bytes(b"\0text\r\n")
    assert look(repo.path, name) == [seen(name, b"\0text\r\n")]
    path.chmod(0o755)
    assert look(repo.path, name) == [seen(name, b"\0text\r\n", "100755")]
    assert look(repo.path, b"dir/./../dir//" + name[4:]) == [seen(name, b"\0text\r\n", "100755")]


def test_what_is_not_there_is_absent(repo: Repo) -> None:
    assert look(repo.path, "no/such/file") == [Absent(b"no/such/file")]
    assert look(repo.path, "README/below") == [Absent(b"README/below")]


def test_of_a_large_file_the_hash_is_kept_and_of_a_very_large_one_the_size(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"x" * (MAX + 1)
    (repo.path / "fits").write_bytes(data[:MAX])
    (repo.path / "large").write_bytes(data)
    assert look(repo.path, "fits") == [seen(b"fits", data[:MAX])]
    assert look(repo.path, "large") == [Seen(b"large", "100644", MAX + 1, hexdigest(data), None)]
    monkeypatch.setattr(sighting, "HASHED", MAX)
    assert look(repo.path, "large") == [Seen(b"large", "100644", MAX + 1, None, None)]


def test_what_is_no_file_is_said_to_be_unseen(repo: Repo) -> None:
    """Case PC-79: a FIFO hangs nobody."""
    os.mkfifo(repo.path / "fifo")
    (repo.path / "dir").mkdir()
    assert look(repo.path, "fifo") == [Unseen(b"fifo", "special")]
    assert look(repo.path, "dir") == [Unseen(b"dir", "directory")]


def test_a_link_is_seen_and_what_it_leads_to_inside(repo: Repo) -> None:
    """An agent that edits `CLAUDE.md` where it is a link to `AGENTS.md` changes `AGENTS.md`."""
    (repo.path / "AGENTS.md").write_text("rules\n")
    (repo.path / "CLAUDE.md").symlink_to("AGENTS.md")
    (repo.path / "dangling").symlink_to("to-be-made")
    link = seen(b"CLAUDE.md", b"AGENTS.md", "120000")
    assert look(repo.path, "CLAUDE.md") == [link, seen(b"AGENTS.md", b"rules\n")]
    assert look(repo.path, "dangling")[1:] == [Absent(b"to-be-made")]


def test_a_link_out_of_the_root_is_not_followed(repo: Repo, make_repo: Callable[..., Repo]) -> None:
    """Threat T7."""
    other = make_repo("repo/other")
    for name, target in (("out", "/etc/passwd"), ("near", "../repo2"), ("nested", "other/README"), ("loop", "loop")):
        (repo.path / name).symlink_to(target)
        assert look(repo.path, name) == [seen(name.encode(), target.encode(), "120000")]
    (repo.path / "dir").symlink_to("/etc")
    assert sighting.locate(os.fsencode(repo.path / "dir" / "passwd")) == (b"/etc/passwd", None)
    located, found = sighting.locate(os.fsencode(repo.path / "other" / "README"))
    assert found == git_place(other.path)
    assert located.endswith(b"/other/README")


def test_a_directory_that_becomes_a_link_meanwhile_leads_nowhere(repo: Repo) -> None:
    """Threat T7: what was looked up is not looked up again through a link."""
    (repo.path / "dir").mkdir()
    (repo.path / "dir" / "passwd").write_text("mine\n")
    root, path = os.fsencode(repo.path), os.fsencode(repo.path / "dir" / "passwd")
    (repo.path / "dir").rename(repo.path / "old")
    (repo.path / "dir").symlink_to("/etc")
    assert [_state(state) for state in sighting.states(root, path, MAX)] == [Absent(b"dir/passwd")]


def test_a_file_behind_a_linked_directory_has_its_own_name(repo: Repo) -> None:
    (repo.path / "real").mkdir()
    (repo.path / "real" / "a").write_text("a\n")
    (repo.path / "alias").symlink_to("real")
    (repo.path / "up").symlink_to("real/below")
    (repo.path / "real" / "below").mkdir()
    assert look(repo.path, "alias/a") == [seen(b"real/a", b"a\n")]
    assert look(repo.path, "up/../a") == [seen(b"real/a", b"a\n")]


@pytest.mark.parametrize("name", [".git/config", ".git", ".GIT/config", "a/.git/b", "."])
def test_the_git_dir_is_no_part_of_the_work_tree(repo: Repo, name: str) -> None:
    root = os.fsencode(repo.path)
    assert sighting.states(root, os.path.normpath(root + b"/" + name.encode()), MAX) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said_to_be_unseen(repo: Repo) -> None:
    path = repo.path / "README"
    path.chmod(0)
    try:
        assert look(repo.path, "README") == [Unseen(b"README", "13")]
    finally:
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
