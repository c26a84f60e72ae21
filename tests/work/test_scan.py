"""Secrets in what is about to leave: where they stand, never what they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pogstore.model import Oid, TaskId
from pogstore.store import chain, content
from pogstore.store.content import Entry
from pogstore.store.contract import NewObject
from pogstore.store.refs import content_ref
from pogstore.work.scan import secrets_in
from tests.builders_exchange import Clock, Clone, append_by_hand, handmade, head_of, make_clone

KEY = "AK" + "IA" + "QX3ZT7RWM5NJ2KDL"


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Clone]:
    made = make_clone(tmp_path / "one", None, Clock())
    yield made
    made.store.close()


def entries(one: Clone, task: TaskId, class_: str = "content") -> list[Entry]:
    return [entry for _, entry in chain.contents(one.store.objects, one.refs()[content_ref(task, class_)])]


def stored_text(one: Clone, text: str) -> Entry:
    """A text that was not redacted, as another program might have stored it."""
    data = content.salted(text, "0" * content.SALT_DIGITS)
    oid = Oid(one.store.objects.name("blob", data))
    one.store.objects.write([NewObject(oid, "blob", data)], fsync=False)
    blob = content.blob_id(data)
    return Entry(blob, blob, oid)


def test_a_file_is_named_by_its_paths_and_the_line(one: Clone) -> None:
    task = one.new()
    text = f"a\nb\nkey = '{KEY}'\n"
    one.step(task, {"src/a.py": text, "src/b.py": text, "clean.py": "x = 1\n"})
    found = secrets_in(one.store, task, entries(one, task))
    assert [(place.where, place.line, place.kind) for place in found] == [
        ("src/a.py", 3, "aws-key-id"),
        ("src/b.py", 3, "aws-key-id"),
    ]
    assert {place.blob for place in found} == {content.blob_id(text.encode())}


def test_rules_of_one_s_own_are_sought_too(one: Clone) -> None:
    one.store.git.run("config", "--add", "pog.redact", "regex:KW-[0-9]{7}")
    task = one.new()
    one.step(task, {"a.py": "é\nKW-" + "7351928\n"})
    assert [place[1:] for place in secrets_in(one.store, task, entries(one, task))] == [("a.py", 2, "own-rule")]


def test_bytes_that_are_no_text_are_scanned_too(one: Clone) -> None:
    task = one.new()
    data = b"\xff\xfe\0\n" + KEY.encode()
    oid = one.store.objects.name("blob", data)
    one.store.objects.write([NewObject(oid, "blob", data)], fsync=False)
    blob = content.blob_id(data)
    found = secrets_in(one.store, task, [Entry(blob, f"{blob}-{'0' * 16}", oid)])
    assert [(place.where, place.line) for place in found] == [("(a file)", 2)]


def test_our_own_texts_are_clean(one: Clone) -> None:
    """They were redacted before they were stored, and scanning does not trip over what that left."""
    task = one.new(f"Use {KEY}")
    one.note(task, f"export AWS_ACCESS_KEY_ID={KEY}")
    one.prompt(task, f"password: hunter2hunter2, key {KEY}")
    for class_ in ("content", "private"):
        assert entries(one, task, class_)
        assert secrets_in(one.store, task, entries(one, task, class_)) == []


def test_a_text_from_elsewhere_is_named_by_its_event(one: Clone) -> None:
    task = one.new()
    entry = stored_text(one, f"first\nkey {KEY}\n")
    (place,) = secrets_in(one.store, task, [entry, entry])
    assert (place.where, place.line, place.kind) == ("(a text)", 2, "aws-key-id")
    text = {"blob": entry.blob, "size": 9, "class": "content"}
    event = handmade(task, [head_of(one.store, task)], text=text)
    append_by_hand(one.store, event)
    (place,) = secrets_in(one.store, task, [entry])
    assert place.where == f"noted text of event {event.event_id[:16]}"


def test_a_definition_is_judged_text_by_text(one: Clone) -> None:
    """Its JSON sets names and values side by side, which rules for texts would take for an assignment."""
    task = one.new()
    harmless = '{"tags":["password","x1y2z3w4"],"title":"Reset"}'
    assert secrets_in(one.store, task, [stored_text(one, harmless)]) == []
    (place,) = secrets_in(one.store, task, [stored_text(one, f'{{"tags":["{KEY}"],"title":"Reset"}}')])
    assert place.kind == "aws-key-id"


def test_a_title_that_was_cut_before_it_was_redacted_is_held_back(one: Clone) -> None:
    task = one.new()
    title = f"Please deploy it: ghp_{'4f2a9C' * 4}"
    (place,) = secrets_in(one.store, task, [stored_text(one, f'{{"title":"{title}…"}}')])
    assert place.kind == "github-token"
    assert secrets_in(one.store, task, [stored_text(one, '{"title":"Fix issue 4711 of the…"}')]) == []
