"""A record of the spool is read as it was written; whatever else stands there is refused with a reason."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import BadInput
from pogstore.work import spool
from pogstore.work.spooled_record import Absent, Head, Record, Seen, Unseen, decode_record

BLAKE3 = st.text("0123456789abcdef", min_size=64, max_size=64)
PATHS = st.binary(min_size=1, max_size=12)
SIZES = st.integers(0, 2**53)
STATS = st.binary(max_size=9)
MODES = st.sampled_from(("100644", "100755", "120000"))
REASONS = st.sampled_from(("directory", "special", "13", "unread", "ignored", "repository", "submodule"))
STATES: st.SearchStrategy[Seen | Absent | Unseen] = st.one_of(
    st.builds(Seen, PATHS, MODES, SIZES, BLAKE3 | st.none(), st.none(), STATS, st.booleans()),
    st.builds(Seen, PATHS, st.just("100644"), SIZES, BLAKE3, st.binary(max_size=30), STATS),
    st.builds(Absent, PATHS),
    st.builds(Unseen, PATHS, REASONS, STATS, st.sampled_from(("", "0" * 40, "f" * 64)), STATS),
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
WHOLE = st.builds(
    Record,
    id=st.text("0123456789abcdef", min_size=32, max_size=32),
    agent=WORDS,
    event=WORDS,
    time=st.integers(0, 2**53),
    offset=st.integers(-840, 840),
    git_dir=st.binary(max_size=9),
    common_dir=st.binary(max_size=9),
    root=st.binary(max_size=9),
    payload=st.binary(max_size=60),
    whole=st.booleans(),
    task=WORDS,
    states=st.lists(STATES, max_size=3).map(tuple),
    extra=st.just({}),
    head=st.none()
    | st.builds(Head, st.sampled_from(("", "a" * 40)), st.sampled_from(("", "refs/heads/\udcff", "r s"))),
    look=st.sampled_from((None, "whole", "partial timeout")),
)


def encoded_state(state: Seen | Absent | Unseen) -> bytes:
    match state:
        case Seen(path, mode, size, blake3, data, stat, kept):
            return spool.seen(path, mode.encode(), size, blake3, data, stat=stat, kept=kept)
        case Absent(path):
            return spool.absent(path)
        case Unseen(path, reason, mark, commit, stat):
            return spool.unseen(path, reason.encode(), stat=stat, mark=mark, commit=commit.encode())


def encoded(record: Record) -> bytes:
    values = record._asdict()
    del values["extra"], values["id"], values["states"]
    values["head"] = " ".join(record.head or ()).encode("utf-8", "surrogateescape")
    values["look"] = (record.look or "").encode()
    return spool.encode_record(record_id=record.id, states=map(encoded_state, record.states), **values)


@given(WHOLE)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    assert decode_record(encoded(record)) == record


@given(WHOLE, st.data())
def test_altered_bytes_are_refused_or_are_another_record(record: Record, data: st.DataObject) -> None:
    whole = encoded(record)
    cut = data.draw(st.integers(0, len(whole) - 1))
    for altered in (whole[:cut], whole[:cut] + data.draw(st.binary(min_size=1, max_size=3)) + whole[cut:]):
        with suppress(BadInput):
            assert isinstance(decode_record(altered), Record)


@given(st.binary(max_size=60))
def test_rubbish_is_no_record(data: bytes) -> None:
    with pytest.raises(BadInput):
        decode_record(data)


EXAMPLE = Record(
    *("0" * 32, "claude-code", "Stop", 1, 0, b"/r/.git", b"/r/.git", b"/r", b"{}", True, ""), states=(), extra={}
)


def test_fields_of_a_newer_writer_are_kept_and_a_newer_version_is_refused() -> None:
    newer = encoded(EXAMPLE) + spool.fields((b"host", b"\xff"), (b"state", spool.absent(b"a") + b"why 2\nno\n"))
    assert decode_record(newer) == EXAMPLE._replace(extra={"host": b"\xff"}, states=(Absent(b"a"),))
    with pytest.raises(BadInput, match="another version"):
        decode_record(encoded(EXAMPLE).replace(b"version 1\n1\n", b"version 1\n2\n"))


def test_a_record_of_before_the_looks_has_neither_head_nor_look_nor_stat() -> None:
    """Records may lie in a spool while pogstore is updated, and a hook that does not look writes them as ever."""
    old = encoded(EXAMPLE) + spool.fields((b"state", spool.seen(b"a", b"100644", 1, None, None)))
    assert b"head" not in old
    assert b"look" not in old
    assert b"stat " not in old.replace(b"state ", b"")
    assert decode_record(old) == EXAMPLE._replace(states=(Seen(b"a", "100644", 1, None, None),))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data.replace(b"root 2\n/r\n", b""), "lacks the field 'root'"),
        (lambda data: data.replace(b"time 1\n1\n", b"time 1\nx\n"), "cannot be read"),
        (lambda data: data + b"state 0\n\n", "a state without a path"),
        (lambda data: data + spool.fields((b"state", spool.fields((b"path", b"a")))), "a state that cannot be read"),
        (lambda data: data + b"state 5\nabc\n", "no field at byte"),
    ],
)
def test_what_a_record_lacks_is_told(change: Callable[[bytes], bytes], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        decode_record(change(encoded(EXAMPLE)))
