"""A carrier is a pure function: every clone and every way of writing makes the same commit, and git accepts it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import codec
from pogstore.errors import ObjectDamaged
from pogstore.model import FORMAT, Actor, Change, Event, Moved, Observed, Oid, Person, Sealed, Stepped
from pogstore.store.carrier import (
    EMPTY_TREE,
    SUBJECT_LENGTH,
    carrier,
    content_commit,
    parents_of,
    read_carrier,
    subject,
    tree_of,
)
from pogstore.store.loose import oid_of, write_loose
from tests import strategies
from tests.builders_store import TASK, noted
from tests.builders_vectors import STARTED, build
from tests.conftest import Repo

BUILT = build()
OID = Oid("1" * 40)
HOSTILE = [
    "",
    " ",
    "\n",
    ".,:;<>\"\\'",
    "a\nb",
    "a\rb\x00c\x1b[31m",
    "a <b@c> d",
    "<<>>",
    "tree 0000",
    "\x7f\x80\x9f",
    "x" * 70_000,
    "張偉",
    "\u202eadA",
    "é" * 5000,
    "-1 +0000",
    "a\u2028b",
]
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
TIMES = [-(2**53 - 1), -1, 0, 1, 999_999, 1_000_000, 2**32 * 1_000_000, 2**53 - 1]
OFFSETS = [0, 1, -1, 59, -61, 840, 841, -840, -2000, 2**53 - 1]


def sealed_by(name: str, email: str, *, time: int = STARTED, offset: int = 0) -> Sealed:
    actor = Actor(type="human", on_behalf_of=Person(name=name, email=email))
    return codec.encode(noted(actor=actor, time=time, offset=offset))


def author(raw: bytes) -> str:
    lines = raw.decode().split("\n")
    assert lines[1].removeprefix("author ") == lines[2].removeprefix("committer ")
    return lines[1].removeprefix("author ")


def shown(sealed: Sealed) -> str:
    found = subject(sealed)
    assert carrier(sealed, []).decode().split("\n\n")[1] == found
    return found


@pytest.mark.parametrize("name", BUILT)
def test_git_itself_gives_the_same_name(repo: Repo, name: str) -> None:
    raw = BUILT[name].carrier
    assert repo.git("hash-object", "-t", "commit", "--stdin", input=raw) == BUILT[name].oid


def test_a_carrier_has_just_these_bytes() -> None:
    sealed = BUILT["joined"].sealed
    assert carrier(sealed, [Oid("2" * 40), OID]) == (
        b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
        b"parent 2222222222222222222222222222222222222222\n"
        b"parent 1111111111111111111111111111111111111111\n"
        b"author pogstore <pogstore@localhost> 1767603602 +0000\n"
        b"committer pogstore <pogstore@localhost> 1767603602 +0000\n"
        b"\n"
        b"joined\n"
        b"\n" + sealed.canonical + b"\n"
    )


@given(strategies.events(), st.lists(st.sampled_from(["1" * 40, "2" * 40]), max_size=2))
def test_what_is_carried_comes_back(event: Event, parents: list[Oid]) -> None:
    sealed = codec.encode(event)
    raw = carrier(sealed, parents)
    assert raw == carrier(codec.decode(sealed.canonical), tuple(parents))
    carried = read_carrier(OID, raw)
    assert carried == (tuple(parents), sealed.canonical)
    assert parents_of(raw) == tuple(parents)
    assert tree_of(OID, raw) == EMPTY_TREE


def test_git_finds_no_fault_in_hostile_identities(repo: Repo) -> None:
    """Every one of them is fsck-clean, and none adds a line or a field to the commit."""
    objects = repo.path / ".git" / "objects"
    write_loose(objects, "tree", b"", fsync=False)
    for number, hostile in enumerate(HOSTILE):
        for name, email in ((hostile, "a@b"), ("a", hostile), (hostile, hostile)):
            raw = carrier(sealed_by(name, email), [])
            assert raw.count(b"\nauthor ") == raw.count(b"\ncommitter ") == 1
            assert re.fullmatch(r"[^<>\x00-\x1f\x7f-\x9f]+ <[^<>\x00-\x1f\x7f-\x9f]+> \d+ \+0000", author(raw))
            oid = write_loose(objects, "commit", raw, fsync=False)
            repo.git("update-ref", f"refs/pog/tasks/{number}", oid)
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert repo.git("log", "--all", "--format=%an", "--exclude=refs/heads/*").count("\x1b") == 0


@pytest.mark.parametrize(
    ("name", "email", "expected"),
    [
        ("Ada", "ada@example.org", "Ada <ada@example.org>"),
        (" Ada, ", '"ada@example.org"', "Ada <ada@example.org>"),
        ("Ada <evil@x>", "a\n@b", "Ada evil@x <a@b>"),
        ("A.D. \\o/ 'x'", "a@b", "A.D. \\o/ 'x <a@b>"),
        ("", "a@b", "pogstore <pogstore@localhost>"),
        ("Ada", "<>", "pogstore <pogstore@localhost>"),
        ("張\x1b偉", "é@例", "張偉 <é@例>"),
    ],
)
def test_identities_are_cleaned_by_one_rule(name: str, email: str, expected: str) -> None:
    assert author(carrier(sealed_by(name, email), [])) == f"{expected} {STARTED // 1_000_000} +0000"


def test_nobody_in_particular_is_pogstore() -> None:
    assert author(carrier(codec.encode(noted()), [])).startswith("pogstore <pogstore@localhost> ")
    opaque = codec.decode(codec.encode_value({"v": 1, "task": TASK, "kind": "dreamt", "clock": 1, "time": 5}))
    assert author(carrier(opaque, [])) == "pogstore <pogstore@localhost> 0 +0000"


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("offset", OFFSETS)
def test_times_and_offsets_are_clamped_to_what_git_can_hold(time: int, offset: int) -> None:
    raw = carrier(sealed_by("Ada", "a@b", time=time, offset=offset), [])
    *_, seconds, zone = author(raw).split()
    assert 0 <= int(seconds) <= 2**32 - 1
    assert int(seconds) == min(max(time // 1_000_000, 0), 2**32 - 1)
    minutes = int(zone[1:3]) * 60 + int(zone[3:])
    assert int(zone[3:]) < 60
    assert minutes * (-1 if zone[0] == "-" else 1) == min(max(offset, -840), 840)
    assert zone != "-0000"


def test_git_finds_no_fault_in_any_time(repo: Repo) -> None:
    objects = repo.path / ".git" / "objects"
    write_loose(objects, "tree", b"", fsync=False)
    for number, (time, offset) in enumerate((time, offset) for time in TIMES for offset in OFFSETS):
        oid = write_loose(objects, "commit", carrier(sealed_by("a", "b", time=time, offset=offset), []), fsync=False)
        (repo.path / ".git" / "refs" / "heads" / f"t{number}").write_text(f"{oid}\n")
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


# The subject


def test_the_subject_is_kind_then_tool_or_status_then_the_first_path() -> None:
    assert shown(BUILT["stepped"].sealed) == "stepped Edit src/greeting.py"
    assert shown(BUILT["moved"].sealed) == "moved in_progress"
    assert shown(BUILT["refused"].sealed) == "refused Write src/secret/key"
    assert shown(BUILT["odd_paths"].sealed) == "observed b64:/2NhZsOp"
    assert shown(BUILT["outside"].sealed) == "refused (outside)"
    assert shown(BUILT["noted"].sealed) == "noted"


def test_a_newer_event_has_the_same_subject_for_every_reader() -> None:
    """A reader that knows the field and one that does not must come to the same carrier."""
    assert shown(BUILT["unknown_kind"].sealed) == "teleported gone a b"
    assert shown(BUILT["unknown_field"].sealed) == "moved later"
    assert shown(BUILT["needs"].sealed) == shown(BUILT["version_2"].sealed) == "moved completed"
    odds: list[dict[str, object]] = [
        {"tool": 5},
        {"tool": []},
        {"status": {"a": 1}},
        {"changes": [5]},
        {"changes": {}},
        {"paths": [[]]},
    ]
    for odd in odds:
        value = {"v": 1, "task": TASK, "kind": "dreamt", "clock": 1, "time": 5} | odd
        assert shown(codec.decode(codec.encode_value(value))) == "dreamt"


def test_the_subject_cannot_lie() -> None:
    """T1, T2, UC-61: no control character, no bidi, nothing invisible, and no second line."""
    assert shown(BUILT["hidden"].sealed) == ('refused x\\u202e\\u001b\\n \\"a\\\\b\\" \\udb40\\udc41\\u200b\\u007fé😀')


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_a_tool_or_a_path_is_called_the_subject_is_one_plain_line(tool: str, path: str) -> None:
    change = Change(path=codec.scrub(path))
    event = Stepped(
        v=FORMAT, task=TASK, clock=1, time=0, actor=Actor(type="tool"), tool=codec.scrub(tool), class_="edit",
        changes=(change,),
    )  # fmt: skip
    found = shown(codec.encode(event))
    assert len(found) <= SUBJECT_LENGTH
    assert found.startswith("stepped")
    assert not HIDDEN.search(found)


def test_the_subject_is_cut_at_120_characters() -> None:
    event = Moved(v=FORMAT, task=TASK, clock=1, time=0, actor=Actor(type="tool"), status="é" * 500)
    assert shown(codec.encode(event)) == "moved " + "é" * 114
    change = Change(path="\u202e" * 100)
    observed = Observed(v=FORMAT, task=TASK, clock=1, time=0, actor=Actor(type="tool"), changes=(change,))
    assert len(shown(codec.encode(observed))) == 120


# Contents, and what is no carrier


def test_a_content_commit_has_just_these_bytes(repo: Repo) -> None:
    raw = content_commit(EMPTY_TREE, [OID], STARTED + 999_999)
    assert raw == (
        b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
        b"parent 1111111111111111111111111111111111111111\n"
        b"author pogstore <pogstore@localhost> 1767603600 +0000\n"
        b"committer pogstore <pogstore@localhost> 1767603600 +0000\n"
        b"\n"
        b"content\n"
    )
    assert repo.git("hash-object", "-t", "commit", "--stdin", input=raw) == oid_of("commit", raw)
    assert b" 0 +0000" in content_commit(EMPTY_TREE, [], -5)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"tree x\n\nsubject only\n",
        b"tree x\n\nsubject\n\n{}",
        content_commit(EMPTY_TREE, [], 0),
    ],
)
def test_a_commit_without_an_event_is_no_carrier(raw: bytes) -> None:
    with pytest.raises(ObjectDamaged, match="a commit without an event") as caught:
        read_carrier(OID, raw)
    assert caught.value.name == OID


def test_a_commit_without_a_tree_is_damaged() -> None:
    with pytest.raises(ObjectDamaged, match="without a tree"):
        tree_of(OID, b"parent x\n")


def test_the_readable_face_of_a_chain(repo: Repo, tmp_path: Path) -> None:
    """A stranger sees with plain git what happened (STYLE A37)."""
    objects = repo.path / ".git" / "objects"
    write_loose(objects, "tree", b"", fsync=False)
    for built in BUILT.values():
        assert write_loose(objects, "commit", built.carrier, fsync=False) == built.oid
    repo.git("update-ref", f"refs/pog/tasks/{TASK}", BUILT["done"].oid)
    lines = repo.git("log", "--format=%s", "--topo-order", f"refs/pog/tasks/{TASK}").splitlines()
    assert lines[:2] == ["moved completed", "joined"]
    assert "stepped Edit src/greeting.py" in lines
    assert lines[-1] == "defined"
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
