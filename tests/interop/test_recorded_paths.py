import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.interop.recorded_paths import holds, own_root, parts_of, place

WINDOWS = ("c:", "w", "repo", "src", "a.py")


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/w/repo/a.py", ("/", "w", "repo", "a.py")),
        ("//w/./repo//a.py", ("/", "w", "repo", "a.py")),
        ("/w/a\\b", ("/", "w", "a\\b")),
        ("/private/tmp/x", ("/", "tmp", "x")),
        ("/private/notes", ("/", "private", "notes")),
        ("a/b.py", ("/", "w", "a", "b.py")),
        ("C:\\w\\repo\\src\\a.py", WINDOWS),
        ("c:/w/repo/src/a.py", WINDOWS),
        ("/c:/w/repo/src/a.py", WINDOWS),
        ("\\\\?\\C:\\w\\repo\\src\\a.py", WINDOWS),
        ("\\\\.\\C:\\w\\repo\\src\\a.py", WINDOWS),
        ("\\\\srv\\share\\a.py", ("//", "srv", "share", "a.py")),
        ("\\\\?\\UNC\\srv\\share\\a.py", ("//", "srv", "share", "a.py")),
    ],
)
def test_every_spelling_gives_the_same_components(path: str, parts: tuple[str, ...]) -> None:  # PC-72
    assert parts_of(path, "/w") == parts


def test_a_relative_path_continues_its_directory_in_that_system_s_way() -> None:
    assert parts_of("src\\a.py", "C:\\w\\repo") == WINDOWS
    assert parts_of("src\\a.py", "/w") == ("/", "w", "src\\a.py")
    assert parts_of("a.py") == ("a.py",)


@pytest.mark.parametrize(
    ("cwds", "root"),
    [
        (["/home/ada/src/shop"], "/home/ada/src/shop"),
        (["/home/ada/src/shop/web", "/home/ada/src/shop", "/elsewhere/far"], "/home/ada/src/shop"),
        (["/home/ada/src/shop", "/home/ada", "/home", "/"], "/home/ada/src/shop"),
        (["/app", "/"], "/app"),
        (["/srv/app", "/srv"], "/srv/app"),
        (["/home/ada"], None),
        (["C:\\Users\\ada"], None),
        (["C:\\Users\\ada\\shop\\web", "c:\\users\\ADA\\shop"], "c:\\users\\ADA\\shop"),
        (["/root", "/root/shop"], None),
        (["/"], None),
        ([], None),
    ],
)
def test_the_root_of_a_session(cwds: list[str], root: str | None) -> None:
    assert own_root(cwds) == (parts_of(root) if root else None)


def test_the_deepest_root_that_holds_a_path_counts() -> None:
    roots = [parts_of(root) for root in ("/w", "/w/shop", "/v")]
    assert place("/w/shop/a.py", "", roots).relative == "a.py"
    assert place("/w/shopping/a.py", "", roots).relative == "shopping/a.py"
    assert place("/x/a.py", "", roots) == (("/", "x", "a.py"), None, None)
    assert place("/w/a.py", "", []).relative is None


def test_a_work_tree_that_the_agent_made_below_the_root_is_the_repository_too() -> None:
    roots = [parts_of("/w/shop")]
    assert place("/w/shop/.claude/worktrees/fix-1/src/a.py", "", roots).relative == "src/a.py"
    assert place("/w/shop/.claude/worktrees/fix-1", "", roots).relative == ".claude/worktrees/fix-1"
    assert place("/w/shop/.claude/settings.json", "", roots).relative == ".claude/settings.json"


@pytest.mark.parametrize("path", ["/w", "/w/../etc/passwd", "/w/a/../../x", "/w/.git/config", "/w/a/.Git", "/w/a\0b"])
def test_a_path_that_leaves_or_enters_git_s_directory_is_outside(path: str) -> None:
    found = place(path, "", [("/", "w")])
    assert found.relative is None
    assert found.fault


def test_names_are_kept_as_given() -> None:
    for name in ("e\u0301.txt", "é.txt", " a ", ".gitignore", "...", "a\nb"):
        assert place(f"/w/{name}", "", [("/", "w")]).relative == name


@given(st.text(max_size=30), st.text(max_size=10))
def test_no_path_escapes_its_root(path: str, cwd: str) -> None:
    root = ("/", "w")
    found = place(path, cwd, [root])
    if found.relative is not None:
        names = found.relative.split("/")
        assert not {"", ".", "..", ".git"} & set(names)
        assert holds(root, found.whole)
