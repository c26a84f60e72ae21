"""Threat T6: names that are a way out, git's own directory or a device on some file system."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import UnsafePath
from pogstore.work.paths import check_path, check_relative, fold

DRIVES = ["C:", "C:/Windows", "c:x", "z:../x"]
"""Bad at the beginning of a path alone."""
WAYS_OUT = [
    "",
    "/",
    "/etc/passwd",
    "//server/share",
    "..",
    "../x",
    "a/../../x",
    "a/..",
    ".",
    "./x",
    "a/./b",
    "a//b",
    "a/",
    "Z:\\x",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "\\x",
    "a\\b",
    "..\\x",
    "a/b\\..\\..\\x",
    # what a folding file system makes of them
    ".\u200c./x",
    "\u200b../x",
    "..\ufeff/x",
    "a/.\u2060./x",
    "\u2024\u2024/x",
    "\u2025/x",
    "\uff0e\uff0e/x",
    "..\uff0fx",
    "a\uff0f..\uff0fx",
    "a\uff3c..\uff3cx",
    "\uff0fetc",
    "\u200c",
    "...",
    ".. /x",
    ".. .",
    "..:x",
    "...:x",
]
GIT = [
    ".git",
    ".git/config",
    ".git/hooks/post-checkout",
    "sub/.git/config",
    "sub/.git",
    ".GIT/config",
    ".Git",
    ".giT/x",
    ".git./config",
    ".git /config",
    ".git. . /config",
    ".git...:x",
    "git~1",
    "GIT~1/config",
    "git~2",
    "gi7eba~1",
    "git~1.",
    "git~1::$INDEX_ALLOCATION/config",
    ".git::$INDEX_ALLOCATION/config",
    ".GIT:$I30:$INDEX_ALLOCATION/config",
    ".git:config",
    ".git :config",
    ".git\\config",
    ".g\u200cit/config",
    "\u200c.git",
    ".git\u200d/config",
    ".gi\ufefft",
    ".g\u00adit",
    ".git\ufe0f",
    ".git\U000e0100",
    ".g\u034fit",
    ".g\u3164it",
    "\u206a.GIT\u202e/x",
    "\uff0egit",
    ".\uff47\uff49\uff54",
    ".g\u0131t",
    ".G\u0130T",
    "\u2024git",
    ".git\uff1ax",
    ".git\uff0fconfig",
    ".\U0001d420\U0001d422\U0001d42d",
    # bytes that are no character each, and together one that is not seen
    ".g\udce2\udc80\udc8cit",
]
DEVICES = [
    "CON",
    "con",
    "con.txt",
    "a/NUL",
    "nul.tar.gz",
    "aux.c",
    "Prn",
    "COM1",
    "com9.log",
    "LPT1.x",
    "com\u00b9",
    "con .txt",
    "nul:x",
    "CONIN$",
    "conout$",
    "clock$",
    "a/aux/b",
    "\uff43on",
]
SPELLINGS = [
    "a\0b",
    "\0",
    "a\nb",
    "a\tb",
    "a\x1b[31m",
    "a\x7f",
    "a\x85b",
    "a\x9b",
    "a.",
    "a ",
    "a./b",
    "a /b",
    "a::$DATA",
    "a/b:x:$DATA",
    "x" * 256,
    "\u00e9" * 128,
    "\ud800",
    "a\udfff",
    "\udcc3\udca9",
]
GOOD = [
    "a",
    "a/b/c",
    "README.md",
    "...foo",
    "..foo",
    "a..b",
    "a...b/c",
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".github/workflows/x.yml",
    "git",
    "git/x",
    "a.git",
    "a.git/x",
    ".git2",
    ".git-hooks/x",
    ".gi",
    "x.git:y",
    "git~",
    "git~x",
    "gitx~1",
    "a~1",
    ".config",
    "\u65e5\u672c\u8a9e/\u30d5\u30a1\u30a4\u30eb.txt",
    "\u5b8f\uff1a\u7b2c\u4e00\u7ae0.md",
    "C\uff1a\u6ce8.md",
    "notes: today.md",
    "12:30.log",
    ":x",
    "dir/c:d",
    "\U0001f642.txt",
    "\u2764\ufe0f.md",
    "\U0001f469\u200d\U0001f4bb.py",
    "with space.txt",
    " leading",
    "#x#",
    "&",
    "a&b",
    "$HOME",
    "~",
    "~root/x",
    "-rf",
    "--",
    "*?<>|\"'`!",
    "caf\u00e9",
    "cafe\u0301",
    "Notes\u2026",
    "and\uff0for",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\u0e44\u0e17\u0e22",
    "\u0130stanbul",
    "\u1100\u1161",
    "com",
    "com10",
    "com0",
    "console.log",
    "context.py",
    "nullable.py",
    "auxiliary/x",
    "lpt",
    "acon",
    "x.con",
    "latin-\udce9",
    "\udcff\udcfe",
    "x" * 255,
    "/".join("d" * 2000),
]
BAD = DRIVES + WAYS_OUT + GIT + DEVICES + SPELLINGS


def shown(path: str) -> str:
    return ascii(path)[:40]


@pytest.mark.parametrize("path", BAD, ids=shown)
def test_t6_a_bad_name_is_refused(path: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        check_path(path)
    assert caught.value.path == path
    assert caught.value.reason


@pytest.mark.parametrize("path", [path for path in BAD if path and path not in DRIVES], ids=shown)
@pytest.mark.parametrize("whole", ["a/{}", "{}/b", "a/{}/b"])
def test_t6_a_bad_name_is_refused_at_any_depth(path: str, whole: str) -> None:
    with pytest.raises(UnsafePath):
        check_path(whole.format(path))


@pytest.mark.parametrize("path", GOOD, ids=shown)
def test_t6_a_good_name_passes(path: str) -> None:
    check_path(path)


def test_t6_the_table_is_large_enough() -> None:
    assert len(set(BAD)) == len(BAD) >= 60
    assert len(set(GOOD)) == len(GOOD)


@pytest.mark.parametrize("path", ["", "/x", "..", "a/../b", "./a", "a//b", "a\0", "\ud800"], ids=shown)
def test_reading_refuses_a_way_out(path: str) -> None:
    with pytest.raises(UnsafePath):
        check_relative(path)


@pytest.mark.parametrize("path", ["aux.c", "a ", ".git/config", "a\\b", "a\nb"], ids=shown)
def test_reading_takes_what_writing_refuses(path: str) -> None:
    check_relative(path)


INVISIBLE = st.sampled_from("\u200b\u200c\u200d\u200e\u2060\u202a\u202e\u206f\ufeff\u00ad\ufe00\u034f\u180b")
GIT_LETTERS = [".\uff0e\u2024", "gG\uff47", "iI\u0131\u0130\uff49", "tT\uff54"]


@given(
    letters=st.tuples(*map(st.sampled_from, GIT_LETTERS)),
    between=st.lists(st.text(INVISIBLE, max_size=3), min_size=5, max_size=5),
    tail=st.sampled_from(["", ".", " ", ". .", ":x", "::$INDEX_ALLOCATION", "/config", "\uff0fx"]),
)
def test_t6_no_disguise_of_git_passes(letters: tuple[str, ...], between: list[str], tail: str) -> None:
    name = between[0] + "".join(letter + gap for letter, gap in zip(letters, between[1:], strict=True)) + tail
    with pytest.raises(UnsafePath):
        check_path(f"a/{name}")


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12))
def test_what_passes_folds_to_what_passes(name: str) -> None:
    try:
        check_path(name)
    except UnsafePath:
        return
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, name)) not in ("", ".", "..", ".git", "git~1", "con")
