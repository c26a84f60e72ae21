"""What a session's shell commands did to its files, by their own words: steps with sides, and names that changed."""

import pytest

from pogstore.draft import Draft
from tests.builders_claude import ROOT, Script
from tests.interop.claude import drafts, of_kind, sides, steps

Change = tuple[object, object, bytes | None, bytes | None]


def changes(found: list[Draft]) -> list[list[Change]]:
    return [[(each.path, each.from_, *sides(each)) for each in draft.changes] for draft in found]


@pytest.mark.parametrize("name", ["a.py", f"{ROOT}/a.py"])
def test_a_text_that_a_command_appends_is_its_own(name: str) -> None:
    script = Script()
    script.write("a.py", "one\n")
    script.bash(f"cat >> {name} << 'EOF'\ntwo\nEOF\n")
    script.edit("a.py", "one\ntwo\n", "two", "2")
    found = steps(script)
    assert changes(found[1:]) == [
        [("a.py", None, b"one\n", b"one\ntwo\n")],
        [("a.py", None, b"one\ntwo\n", b"one\n2\n")],
    ]
    assert found[1].inferred is True
    assert (found[1].fields["class"], found[1].fields["coverage"]) == ("shell", "partial")
    assert found[1].fields["coverage_reason"] == "from-command"
    assert of_kind(drafts(script), "observed") == []


def test_what_the_command_did_not_say_is_observed_after_it() -> None:
    script = Script()
    script.write("a.py", "one\n")
    script.bash("echo two >> a.py && format a.py")
    script.edit("a.py", "one\n  two\n", "one", "1")
    (gap,) = of_kind(drafts(script), "observed")
    assert sides(gap.changes[0]) == (b"one\ntwo\n", b"one\n  two\n")
    assert "during" not in gap.fields  # what the command said is told already


def test_a_new_text_in_a_file_that_nobody_read_has_no_before() -> None:
    script = Script()
    script.bash("cat > a.py << 'EOF'\nnew\nEOF\n")
    script.bash("echo more >> unread.py")
    first, second = steps(script)
    assert changes([first]) == [[("a.py", None, None, b"new\n")]]
    assert first.fields["coverage_reason"] == "no-before"
    assert (second.changes, second.fields["coverage"], second.inferred) == ((), "none", None)


def test_a_file_that_was_moved_has_its_content_under_the_new_name() -> None:
    script = Script()
    script.write("src/a.py", "one\n")
    script.bash("git mv src/a.py src/b.py && echo two >> src/b.py")
    script.edit("src/b.py", "one\ntwo\n", "one", "1")
    script.bash("mv src lib")
    found = steps(script)
    assert changes(found[1:]) == [
        [("src/b.py", "src/a.py", b"one\n", b"one\ntwo\n")],
        [("src/b.py", None, b"one\ntwo\n", b"1\ntwo\n")],
        [("lib/b.py", "src/b.py", b"1\ntwo\n", b"1\ntwo\n")],
    ]


def test_a_file_goes_into_a_directory_that_is_known_or_ends_with_a_slash() -> None:
    script = Script()
    script.write("a.py", "a\n")
    script.write("lib/b.py", "b\n")
    script.bash("mv a.py lib; mv lib/b.py new/")
    assert [change[:2] for change in changes(steps(script))[-1]] == [("lib/a.py", "a.py"), ("new/b.py", "lib/b.py")]


def test_a_copy_made_outside_comes_back_as_one_change() -> None:
    """A file is cut, continued and put back by way of a directory that is nobody's."""
    script = Script()
    script.write("a.py", "one\ntwo\n")
    script.bash("head -1 a.py > /tmp/a.py")
    script.bash("echo three >> /tmp/a.py")
    script.bash("mv /tmp/a.py a.py")
    script.bash("mv a.py /tmp/gone.py")
    assert changes(steps(script)[1:]) == [
        [], [], [("a.py", None, b"one\ntwo\n", b"one\nthree\n")], [("a.py", None, b"one\nthree\n", None)]
    ]  # fmt: skip


def test_a_command_that_failed_or_never_ended_tells_nothing() -> None:
    script = Script()
    script.answer(script.use("Bash", {"command": "echo x > a.py; false"}), "no", error=True)
    script.use("Bash", {"command": "echo x > a.py"})
    assert [draft.changes for draft in steps(script)] == [(), ()]
