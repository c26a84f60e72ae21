"""Which files a patch names (case PC-130)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.interop.patched_paths import ADD, DELETE, MOVE, UPDATE, patched_paths

PATCH = """\
*** Begin Patch
*** Add File: new dir/naïve 😀.py
+*** Add File: text of the file
*** Update File: a.py
*** Move to: b/a.py
@@ def f():
 *** Delete File: context
-*** Delete File: removed
+x
*** Delete File: gone.py
*** Update File: a.py
@@
+again
*** End Patch
"""


@pytest.mark.parametrize("patch", [PATCH, PATCH.replace("\n", "\r\n"), f"apply_patch <<'EOF'\n{PATCH}EOF\n"])
def test_the_markers_name_files_and_the_text_of_files_does_not(patch: str) -> None:
    assert patched_paths(patch) == ["new dir/naïve 😀.py", "a.py", "b/a.py", "gone.py"]


def test_a_marker_behind_white_space_is_one_where_the_tool_takes_it_for_one() -> None:
    """Who is to be kept from a file must not be able to hide its name."""
    patch = (
        "*** Begin Patch\n  *** Add File: a\n+x\n\t*** Delete File: b\n *** Update File: c\n *** Delete File: text\n"
    )
    assert patched_paths(patch) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "*** ", "*** Add File:", "*** Add File:  \n", "ls *** Add File: x", MOVE + "x"])
def test_what_names_no_file_names_none(text: str) -> None:
    assert [each for each in patched_paths(text) if each != "x"] == []


NAMES = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x85\u2028\u2029"), min_size=1)
    .map(str.strip)
    .filter(bool)
)


@given(st.lists(st.tuples(st.sampled_from([ADD, UPDATE, DELETE, MOVE]), NAMES)))
def test_every_named_file_is_found_once_and_in_order(files: list[tuple[str, str]]) -> None:
    patch = "".join(f"{mark}{name}\n" for mark, name in files)
    assert patched_paths(patch) == list(dict.fromkeys(name for _, name in files))
