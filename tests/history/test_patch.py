"""Patches of recorded changes: git takes each of them, and they lead from before to after."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.draft import Draft, DraftChange, FileVersion, TaskDrafts
from pogstore.errors import NotFound
from pogstore.history.patch import patch, quoted
from pogstore.model import Change, EventId, OddPath, Side, Source
from pogstore.store.content import blob_id
from pogstore.store.store import open_store
from pogstore.work.intake import take
from tests.builders_rollback import AGENT, Bench, Benches, Files, Step, file, link, program
from tests.conftest import STARTED, Pog, Repo

Version = FileVersion | None


def apply(bench: Bench, text: bytes, *options: str) -> None:
    command = ["git", "apply", "--whitespace=nowarn", *options]
    done = subprocess.run(command, cwd=bench.path, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + text.decode(errors="replace")
    assert not done.stderr, done.stderr.decode()


def check(bench: Bench, event: EventId, before: Files, after: Files) -> bytes:
    """Puts the files of before into the work tree and lets git apply the patch, forwards and backwards."""
    text = patch(bench.store, bench.store.event(event))
    for files in (bench.files(), {}):
        for path in files:
            bench.write(path, None)
    for path, version in before.items():
        bench.write(path, version)
    apply(bench, text, "--check")
    apply(bench, text)
    assert bench.files() == after
    apply(bench, text, "--reverse")
    assert bench.files() == before
    return text


BINARY = bytes(range(256)) * 3
CHANGES: dict[str, tuple[Version, Version]] = {
    "edit": (file(b"1\n2\n3\n"), file(b"1\nx\n3\n")),
    "creation": (None, file(b"1\n")),
    "deletion": (file(b"1\n"), None),
    "empty creation": (None, file(b"")),
    "empty deletion": (file(b""), None),
    "emptied": (file(b"1\n"), file(b"")),
    "filled": (file(b""), file(b"1\n")),
    "mode": (file(b"1\n"), program(b"1\n")),
    "mode and text": (program(b"1\n"), file(b"2\n")),
    "program created": (None, program(b"#!/bin/sh\n")),
    "no final newline": (file(b"1\n2"), file(b"1\n2\n3")),
    "newline added": (file(b"1"), file(b"1\n")),
    "newline lost": (file(b"1\n"), file(b"1")),
    "CRLF": (file(b"1\r\n2\r\n"), file(b"1\r\n3\r\n")),
    "not UTF-8": (file(b"\xe9\n"), file(b"\xe8\n")),
    "a line like a header": (file(b"a\n"), file(b"--- a/f\n+++ b/f\n@@ -1 +1 @@\ndiff --git a/x b/x\n")),
    "binary": (file(BINARY), file(BINARY + b"\0")),
    "binary created": (None, file(BINARY)),
    "binary deleted": (file(b"\0"), None),
    "text to binary": (file(b"1\n"), program(b"\0\xff" * 40)),
    "link created": (None, link(b"target")),
    "link changed": (link(b"a"), link(b"b")),
    "file to link": (file(b"1\n"), link(b"a")),
    "link to file": (link(b"a"), program(b"1\n")),
}


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
def test_git_applies_what_was_recorded(bench: Bench, before: Version, after: Version) -> None:
    event = bench.record(Step("d/f", before, after))
    check(bench, event, {"d/f": before} if before else {}, {"d/f": after} if after else {})


NAMES = [
    *(
        "a b",
        " lead",
        "trail ",
        "tab\there",
        "new\nline",
        'quo"te',
        "back\\slash",
        "测试.txt",
        "caf\u00e9",
        "cafe\u0301",
    ),
    *("-rf", "\udcff", "a b/c d", "f b/f", "\x7f\x01", "#", "a/b/a b/b", "dev/null"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("before", "after"),
    [(file(b"1\n"), file(b"2\n")), (None, file(b"")), (file(BINARY), file(b"\0")), (file(b"1\n"), program(b"1\n"))],
    ids=["edit", "empty creation", "binary", "mode"],
)
def test_any_name_is_quoted_as_git_reads_it(bench: Bench, name: str, before: Version, after: Version) -> None:
    event = bench.record(Step(name, before, after))
    check(bench, event, {name: before} if before else {}, {name: after} if after else {})


@pytest.mark.parametrize(("older", "name"), [("a", "b"), ("a b/c", "d e\tf"), ("x", "d/x"), ("é", "e\u0301")])
@pytest.mark.parametrize("after", [file(b"1\n"), file(b"1\n2\n"), program(b"1\n"), file(b"\0")])
def test_a_rename_is_one(bench: Bench, older: str, name: str, after: FileVersion) -> None:
    event = bench.record(Step(name, file(b"1\n"), after, older))
    text = check(bench, event, {older: file(b"1\n")}, {name: after})
    assert b"rename from " in text
    assert b"deleted file" not in text


def test_git_knows_the_blobs_by_their_names(bench: Bench) -> None:
    """So `git apply --3way` finds what it needs."""
    bench.repo.commit({"f": "1\n2\n3\n"}, "first")
    event = bench.record(Step("f", file(b"1\n2\n3\n"), file(b"x\n2\n3\n")))
    bench.repo.commit({"f": "1\n2\n3\n4\n"}, "second")
    apply(bench, patch(bench.store, bench.store.event(event)))
    assert bench.text("f") == "x\n2\n3\n4\n"
    assert f"index {bench.repo.git('rev-parse', 'HEAD~:f')}.." in patch(bench.store, bench.store.event(event)).decode()


def test_a_text_patch_is_what_git_itself_prints(bench: Bench) -> None:
    before = {"edit": "1\n2\n3\n", "gone": "1\n", "a b": "x\n", "mode": "m\n"}
    bench.repo.commit(before, "before")
    steps = {"edit": b"1\nx\n3\n", "gone": None, "a b": b"y\n", "new": b"n\n", "mode": program(b"m\n")}
    event = bench.step(steps)
    bench.repo.git("add", "--all")
    expected = bench.repo.git("diff", "--cached", "--full-index", "--no-renames", "--binary")
    ours = patch(bench.store, bench.store.event(event)).decode()
    assert sorted(ours.split("diff --git ")) == sorted((expected + "\n").split("diff --git "))


def test_what_no_patch_can_say_is_said_and_skipped_by_git(bench: Bench) -> None:
    side = Side(mode="100644", blob=blob_id(b"1\n"), size=2)
    large = Side(mode="100644", blob=blob_id(b"2\n"), size=2, omitted="too-large")
    module = Side(mode="160000", commit="sha1_" + "1" * 40)
    lines = {
        "a path outside the repository": Change(path=OddPath(outside=True)),
        '"new\\nline": what it held before is not recorded': Change(path="new\nline"),
        "large: a content that is not stored": Change(path="large", before=side, after=large),
        "lib: a submodule": Change(path="lib", after=module),
    }
    text = b"".join(patch(bench.store, bench.store.event(bench.record_sides(change))) for change in lines.values())
    assert text.decode().splitlines() == [f"# {line}" for line in lines]
    real = patch(bench.store, bench.store.event(bench.record(Step("f", None, file(b"1\n")))))
    apply(bench, text + real + text)
    assert bench.files() == {"f": file(b"1\n")}


def test_a_file_whose_past_nobody_saw_is_not_shown_as_created(bench: Bench) -> None:
    event = bench.record(Step("f", None, file(b"1\n")), reason="no-before")
    assert patch(bench.store, bench.store.event(event)) == b"# f: what it held before is not recorded\n"


def test_an_absent_content_is_named(bench: Bench) -> None:
    change = Change(path="f", after=Side(mode="100644", blob=blob_id(b"1\n"), size=2))
    event = bench.record_sides(change)
    with pytest.raises(NotFound, match=blob_id(b"1\n")):
        patch(bench.store, bench.store.event(event))


def test_a_name_without_anything_odd_is_not_quoted() -> None:
    assert quoted("a b/测试\xe9".encode()) == "a b/测试\xe9".encode()
    assert quoted(b'\a\t\n"\\\x7f') == b'"\\007\\t\\n\\"\\\\\\177"'


DATA = st.one_of(
    st.binary(max_size=200), st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c"]), max_size=12).map(b"".join)
)
VERSIONS = st.builds(FileVersion, mode=st.sampled_from(["100644", "100755"]), data=DATA)


@settings(max_examples=40)
@given(st.one_of(st.none(), VERSIONS), st.one_of(st.none(), VERSIONS), st.booleans())
def test_any_change_of_any_bytes_can_be_applied(
    benches: Benches[Bench], before: Version, after: Version, is_renamed: bool
) -> None:
    if before == after:
        return
    with benches.new() as bench:
        older = "old" if is_renamed and before and after else None
        event = bench.record(Step("new", before, after, older))
        check(bench, event, {older or "new": before} if before else {}, {"new": after} if after else {})


# ---- the command


@pytest.fixture
def told(repo: Repo, pog: Pog) -> Iterator[Bench]:
    """The repository of `pog`, enabled, with a task."""
    pog("init")
    bench = Bench.__new__(Bench)
    bench.path, bench.repo, bench.now, bench.store = repo.path, repo, STARTED, open_store(repo.path)
    bench.task = bench.new_task()
    yield bench
    bench.store.close()


def test_the_patches_of_a_task_apply_one_after_the_other(told: Bench, pog: Pog) -> None:
    events = [
        told.step({"f": b"1\n"}),
        told.step({"f": b"1\n2\n", "bin": BINARY}),
        told.step({"\udcff": b"\xe9\n"}),
        told.move("f", "g", b"1\n2\n3\n"),
    ]
    after = told.files()
    for path in ("g", "bin", "\udcff"):
        told.write(path, None)
    texts = [os.fsencode(pog("diff", event).stdout) for event in events]
    for text in texts:
        apply(told, text)
    assert told.files() == after
    assert os.fsencode(pog("diff", told.task).stdout) == b"".join(texts)
    value = pog("diff", "--json", told.task).json
    assert [event["event"] for event in value] == events
    assert [os.fsencode(event["patch"]) for event in value] == texts
    assert [change["path"] for event in value for change in event["changes"]] == ["f", "f", "bin", {"b64": "/w=="}, "g"]


def test_edits_of_one_file_apply_in_one_input(told: Bench, pog: Pog) -> None:
    told.write("f", b"0\n")
    for lines in (b"0\n1\n", b"0\n1\n2\n", b"2\n"):
        told.step({"f": lines})
    told.write("f", b"0\n")
    apply(told, os.fsencode(pog("diff", told.task).stdout))
    assert told.text("f") == "2\n"


def test_what_was_told_twice_is_shown_once(told: Bench, pog: Pog) -> None:
    drafts = tuple(
        Draft(
            kind="stepped", time=STARTED, actor=AGENT, fields={"tool": "Edit", "class": "edit", "call_id": "call-1"},
            changes=(DraftChange(path="f", after=file(b"1\n")),), source=Source(format=format_, key="k"),
        )
        for format_ in ("spool", "claude-code")
    )  # fmt: skip
    take(told.store, [TaskDrafts(task=told.task, drafts=drafts)])
    assert len(pog("diff", "--json", told.task).json) == 1


def test_a_task_or_event_without_changes_prints_nothing(told: Bench, pog: Pog) -> None:
    assert pog("diff", told.task).stdout == ""
    assert pog("diff", "--json", told.store.events(told.task)[0].event_id).json[0]["patch"] == ""
