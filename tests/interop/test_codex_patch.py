"""Patches taken apart and applied (case PC-130): as the tool does, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.interop.codex_patch import Hunk, Patched, applied, parse
from pogstore.interop.patched_paths import patched_paths

PATCH = """\
*** Begin Patch
*** Add File: new.py
+one
+
+*** Delete File: text
*** Update File: a.py
*** Move to: b.py
@@ def f():
 keep
-old
+new
@@
-last
+LAST
*** End of File
*** Delete File: gone.py
*** End Patch"""


def test_a_patch_is_taken_apart_file_by_file() -> None:
    assert parse(PATCH) == [
        Patched("new.py", content="one\n\n*** Delete File: text\n"),
        Patched(
            "a.py",
            hunks=(
                Hunk("def f():", ("keep", "old"), ("keep", "new")),
                Hunk(None, ("last",), ("LAST",), at_end=True),
            ),
            to="b.py",
        ),
        Patched("gone.py", gone=True),
    ]
    assert parse(f"apply_patch <<'EOF'\n{PATCH}\nEOF") == parse(PATCH) == parse(PATCH.replace("\n", "\r\n"))


def test_the_files_are_those_that_a_hook_sees() -> None:
    named = [each for patched in parse(PATCH) for each in (patched.path, patched.to) if each]
    assert named == patched_paths(PATCH)


@pytest.mark.parametrize("text", ["", "ls", "*** Add File: a\n+x", "*** Begin Patch", "*** Begin Patch\n*** End Patch"])
def test_what_is_no_patch_does_nothing(text: str) -> None:
    assert parse(text) == []


@pytest.mark.parametrize(
    ("text", "hunks", "made"),
    [
        ("a\nb\nc\n", [Hunk(None, ("b",), ("B",))], "a\nB\nc\n"),
        ("a\nb", [Hunk(None, ("b",), ("B",))], "a\nB\n"),
        ("x\nx\n", [Hunk(None, ("x",), ("1",)), Hunk(None, ("x",), ("2",))], "1\n2\n"),
        ("x\nf\nx\n", [Hunk("f", ("x",), ("y",))], "x\nf\ny\n"),
        ("f\n", [Hunk("f", (), ("new",))], "f\nnew\n"),
        ("a\n", [Hunk(None, (), ("end",))], "a\nend\n"),
        ("x\na\nx\n", [Hunk(None, ("x",), ("y",), at_end=True)], "x\na\ny\n"),
        ("x\na\n", [Hunk(None, ("x",), ("y",), at_end=True)], None),
        ("ab\n", [Hunk(None, ("b",), ("B",))], None),
        ("a \n", [Hunk(None, ("a",), ("B",))], None),
        ("a\n", [Hunk("g", ("a",), ("B",))], None),
        ("a\n", [], None),
        ("", [Hunk(None, (), ("x",))], "x\n"),
        ("a\n", [Hunk(None, ("a",), ())], ""),
        ("\n\n\n", [Hunk(None, ("", ""), ("x",)), Hunk(None, ("",), ("y",))], "x\ny\n"),
        ("a\nb\na\nb\n", [Hunk(None, ("a", "b"), ("1",)), Hunk(None, ("a", "b"), ("2",))], "1\n2\n"),
        ("f\nx\n", [Hunk("x", ("x",), ("y",))], None),
    ],
)
def test_hunks_are_applied_one_behind_the_other_or_not_at_all(text: str, hunks: list[Hunk], made: str | None) -> None:
    assert applied(text, hunks) == made


LINES = st.lists(st.sampled_from(["a", "b", "", " c", "+d"]), min_size=1, max_size=8)


@given(LINES, LINES, LINES, LINES)
def test_what_was_changed_in_a_file_is_found_again(
    top: list[str], old: list[str], new: list[str], end: list[str]
) -> None:
    """A hunk with all of the file around it has one place."""
    before = "".join(f"{line}\n" for line in (*top, *old, *end))
    after = "".join(f"{line}\n" for line in (*top, *new, *end))
    body = [*(f" {line}" for line in top), *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    patch = "\n".join(
        ["*** Begin Patch", "*** Update File: f", "@@", *body, *(f" {line}" for line in end), "*** End Patch"]
    )
    (patched,) = parse(patch)
    assert patched.applied(before) == after


def test_the_cost_is_linear() -> None:
    """Case T13: a patch may be anybody's. A quadratic search would take hours here."""
    text = "\n" * 1_000_000
    assert applied(text, [Hunk(None, ("",) * 300_000 + ("x",), ())]) is None
    many = [Hunk(None, ("",), ("x",))] * 100_000
    found = applied(text, many)
    assert found is not None
    assert found.count("x") == 100_000
