"""The spool: what was acknowledged is wholly there, what was not is never half there, whatever is in the way."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import LockHeld
from pogstore.work import spool, spooled
from pogstore.work.spooled import Damaged, Good

AWKWARD = (
    b"",
    b"\n",
    b"\0",
    b"\n\0",
    b"\n\0pog ",
    b"\0pog 3 ",
    spool.frame(b"forged"),
    spool.frame(b"")[1:],
    b"x" * 300,
)
RECORDS = st.lists(
    st.lists(st.sampled_from(AWKWARD) | st.binary(max_size=20), max_size=4).map(b"".join), min_size=1, max_size=5
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A spool as `git pog init` makes it."""
    made = tmp_path / "pog" / "spool"
    spooled.prepare(made)
    return made


def write(directory: Path, *records: bytes) -> None:
    for record in records:
        spool.append(os.fsencode(directory), record, sync=False)


def parts(path: Path, data: bytes) -> list[Good | Damaged]:
    path.write_bytes(data)
    return list(spooled.read(path))


def records(read: list[Good | Damaged]) -> list[bytes]:
    return [part.record for part in read if isinstance(part, Good)]


def drained(directory: Path) -> list[bytes]:
    """Takes and reads everything, as a drain does."""
    found = []
    for path in spooled.take(directory):
        found += records(list(spooled.read(path)))
        path.unlink()
    return found


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file to write frames to."""
    return tmp_path_factory.mktemp("frames") / "file"


@given(RECORDS)
def test_what_is_framed_is_read_and_no_more(scratch: Path, given_records: list[bytes]) -> None:
    read = parts(scratch, b"".join(map(spool.frame, given_records)))
    assert records(read) == given_records
    assert len(read) == len(given_records)
    assert [part.offset for part in read[1:]] == [part.offset + part.size for part in read[:-1]]


@given(RECORDS, st.data())
def test_a_damaged_record_hides_no_other_and_brings_none_forth(
    scratch: Path, given_records: list[bytes], data: st.DataObject
) -> None:
    frames = [spool.frame(record) for record in given_records]
    which = data.draw(st.integers(0, len(frames) - 1))
    at = data.draw(st.integers(0, len(frames[which]) - 1))
    harm = data.draw(st.sampled_from(("flip", "cut", "zero", "drop")))
    whole = frames[which]
    frames[which] = {
        "flip": whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :],
        "cut": whole[:at],
        "zero": whole[:at] + bytes(len(whole) - at),
        "drop": whole[at + 1 :],
    }[harm]
    read = parts(scratch, b"".join(frames))
    if frames[which] == whole:
        assert records(read) == given_records
        return
    others = given_records[:which] + given_records[which + 1 :]
    assert records(read) == others
    kept = b"".join(scratch.read_bytes()[part.offset :][: part.size] for part in read if isinstance(part, Damaged))
    assert kept == frames[which]


def test_a_file_cut_at_any_byte_holds_the_whole_records_before(scratch: Path) -> None:
    given_records = [b"first", b"", b"with \n\0pog inside\n\0", spool.frame(b"inner") * 2, b"last"]
    frames = [spool.frame(record) for record in given_records]
    ends = [sum(map(len, frames[: n + 1])) for n in range(len(frames))]
    data = b"".join(frames)
    for cut in range(len(data) + 1):
        read = parts(scratch, data[:cut])
        whole = sum(end <= cut for end in ends)
        assert records(read) == given_records[:whole]
        assert len(read) == whole + (cut not in (0, *ends))
        # and whoever writes next is not hidden by what was torn
        assert records(parts(scratch, data[:cut] + spool.frame(b"next"))) == [*given_records[:whole], b"next"]


def test_the_reason_of_a_damage_is_told(scratch: Path) -> None:
    frame = spool.frame(b"some record")
    assert parts(scratch, frame[:-1] + spool.frame(b"")) == [
        Damaged(0, len(frame) - 1, "the record is cut short"),
        Good(len(frame) - 1, len(spool.frame(b"")), b""),
    ]
    assert parts(scratch, frame[:-1] + b"X") == [Damaged(0, len(frame), "the record was altered")]
    assert parts(scratch, b"rubbish") == [Damaged(0, 7, "there is no record")]


def test_a_mark_across_the_chunks_of_a_search_is_found(scratch: Path) -> None:
    for gap in range((1 << 20) - 8, (1 << 20) + 2):
        assert records(parts(scratch, bytes(gap) + spool.frame(b"found"))) == [b"found"]


def test_append_take_read(directory: Path) -> None:
    write(directory, b"one", b"two")
    (first,) = spooled.take(directory)
    write(directory, b"three")
    assert spooled.take(directory) == [first, directory / "00000002"]
    assert first.name == "00000001"
    assert drained(directory) == [b"one", b"two", b"three"]
    assert spooled.take(directory) == []


def test_files_left_behind_come_first_in_order_of_number(directory: Path) -> None:
    for name in ("00000009", "100000000", "00000010", "12", "damaged", "settings"):
        (directory / name).write_bytes(spool.frame(name.encode()))
    write(directory, b"new")
    assert drained(directory) == [b"00000009", b"00000010", b"100000000", b"new"]


def test_nothing_waits_where_there_is_no_spool(tmp_path: Path) -> None:
    assert spooled.take(tmp_path / "pog" / "spool") == []
    assert spooled.pending(tmp_path / "pog" / "spool") == 0
    assert spooled.losses(tmp_path / "pog" / "spool") == []
    assert spooled.set_aside_parts(tmp_path / "pog" / "spool") == []


def test_an_empty_file_is_not_taken(directory: Path) -> None:
    (directory / "current").touch()
    assert spooled.take(directory) == []


def test_without_consent_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "pog").mkdir()
    with pytest.raises(FileNotFoundError):
        spool.append(os.fsencode(tmp_path / "pog" / "spool"), b"record")
    assert list((tmp_path / "pog").iterdir()) == []


def test_a_spool_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Threat T27."""
    directory = tmp_path / "pog" / "spool"
    before = os.umask(0)
    try:
        assert spooled.prepare(directory)
        write(directory, b"secret")
        (part,) = spooled.read(spooled.take(directory)[0])
        kept = spooled.set_aside(directory, directory / "00000001", part)
        write(directory, b"secret")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.parent.rglob("*")}
    assert modes == {
        "spool": 0o700,
        "lost": 0o600,
        "current": 0o600,
        "00000001": 0o600,
        "damaged": 0o700,
        kept.name: 0o600,
    }


def test_a_spool_that_others_may_write_to_is_refused(directory: Path) -> None:
    directory.chmod(0o770)
    with pytest.raises(PermissionError):
        write(directory, b"record")
    assert list(directory.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_spool_of_somebody_else_is_refused(directory: Path) -> None:
    os.chown(directory, 12345, 12345)
    with pytest.raises(PermissionError):
        write(directory, b"record")
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("which", ["pog", "pog/spool", "pog/spool/current"])
def test_a_link_in_the_way_is_not_followed(directory: Path, which: str) -> None:
    """Case PC-79: the directory of our state replaced by a link."""
    root = directory.parents[1]
    write(directory, b"first")
    (root / which).rename(root / "elsewhere")
    (root / which).symlink_to(root / "elsewhere")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(OSError):
        write(directory, b"second")
    if which == "pog":
        with pytest.raises(OSError):
            spool.count_loss(os.fsencode(directory), b"failed", 1)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_fifo_in_the_way_does_not_make_us_wait(directory: Path) -> None:
    os.mkfifo(directory / "current")
    started = time.monotonic()
    with pytest.raises(OSError):
        write(directory, b"record")
    assert time.monotonic() - started < 1


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds the lock of a file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(file)


def test_a_held_lock_is_waited_for_no_longer_than_said(directory: Path) -> None:
    """Threat T24."""
    with held(directory / "current"):
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            spool.append(os.fsencode(directory), b"record", wait=0.1)
        with pytest.raises(LockHeld):
            spooled.take(directory, wait=0.1)
        assert time.monotonic() - started < spool.WAIT
    write(directory, b"record")
    assert drained(directory) == [b"record"]


def test_a_writer_that_waits_while_the_file_is_taken_writes_to_the_new_one(directory: Path) -> None:
    write(directory, b"before")
    current, taken = directory / "current", directory / "00000001"
    with held(current):
        writer = threading.Thread(target=write, args=(directory, b"after"))
        writer.start()
        time.sleep(0.1)
        current.rename(taken)
    writer.join()
    assert records(list(spooled.read(taken))) == [b"before"]
    assert drained(directory) == [b"before", b"after"]


def test_a_disk_that_fills_up_leaves_nothing_of_the_record(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(directory, b"first")
    before = (directory / "current").read_bytes()
    real, room = os.write, [40]

    def short(file: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "no room")
        written = real(file, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(OSError) as caught:
        write(directory, b"second" * 100)
    assert room == [0]
    assert spool.loss_of(caught.value) == b"full"
    assert (directory / "current").read_bytes() == before


LIMITED = """
import os, resource, sys
from pogstore.work import spool
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for n in range(100):
    try:
        spool.append(os.fsencode(sys.argv[1]), b"%d " % n * 200)
    except OSError as fault:
        sys.exit(n if spool.loss_of(fault) == b"full" else 99)
"""


def test_the_system_itself_writes_short_and_nothing_is_half_there(directory: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, directory], check=False, timeout=60)
    assert 1 <= done.returncode < 99
    assert (directory / "current").stat().st_size < 4096
    assert drained(directory) == [b"%d " % n * 200 for n in range(done.returncode)]


def test_records_are_synced_unless_that_is_off(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(spool, "_sync", lambda _: synced.append("record"))
    monkeypatch.setattr(os, "fsync", lambda _: synced.append("directory"))
    spool.append(os.fsencode(directory), b"1", sync=False)
    assert synced == []
    spool.append(os.fsencode(directory), b"2")
    assert synced == ["record"]
    spooled.take(directory)
    spool.append(os.fsencode(directory), b"3")
    assert synced == ["record", "record", "directory"]


KILLED = """
import fcntl, os, signal, sys
from pogstore.work import spool
directory, nth = os.fsencode(sys.argv[1]), int(sys.argv[2])
calls = 0
def dying(real):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        if calls == nth + 1 and real is write:
            return write(args[0], args[1][:20])
        return real(*args, **kwargs)
    return call
write = os.write
for name in ("open", "close", "fstat", "stat", "fsync", "ftruncate", "write"):
    setattr(os, name, dying(getattr(os, name)))
fcntl.flock = dying(fcntl.flock)
spool._sync = dying(spool._sync)
spool.append(directory, b"acknowledged")
nth = -1  # the end of the interpreter, and what measures coverage, make calls of their own
write(1, b"acknowledged")
"""


def test_killed_at_any_call_a_record_is_wholly_there_or_not_at_all(directory: Path) -> None:
    write(directory, b"before")
    acknowledged, nth = False, 0
    while not acknowledged:
        nth += 1
        command = [sys.executable, "-c", KILLED, str(directory), str(nth)]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, timeout=60)
        acknowledged = done.stdout == b"acknowledged"
        assert done.returncode == (0 if acknowledged else -signal.SIGKILL)
        write(directory, b"after")
        found = drained(directory)
        assert found in ([b"before", b"after"], [b"before", b"acknowledged", b"after"])
        assert not acknowledged or b"acknowledged" in found
        write(directory, b"before")
    assert nth > 10


WRITER = """
import os, sys
from pogstore.work import spool
directory, name = map(os.fsencode, sys.argv[1:])
for n in range(300):
    spool.append(directory, b"%b %d\\n\\0" % (name, n) * (n % 9 + 1), sync=False, wait=60)
"""


def test_eight_writers_beside_a_drainer_lose_nothing(directory: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, directory, str(n)]) for n in range(8)]
    found: list[bytes] = []
    while any(writer.poll() is None for writer in writers):
        found += drained(directory)
    found += drained(directory)
    assert [writer.returncode for writer in writers] == [0] * 8
    assert sorted(found) == sorted(b"%d %d\n\0" % (w, n) * (n % 9 + 1) for w in range(8) for n in range(300))
    for w in range(8):
        numbers = [int(record.split()[1].rstrip(b"\0")) for record in found if record.startswith(b"%d " % w)]
        assert numbers == sorted(numbers), "one writer's records come in its own order"


def test_pending_counts_what_waits_taken_or_not(directory: Path) -> None:
    assert spooled.pending(directory) == 0
    write(directory, b"one", b"two" * 1000)
    spooled.take(directory)
    write(directory, b"three\n\0pog ")
    assert spooled.pending(directory) == 3


@given(RECORDS, st.data())
def test_pending_counts_as_reading_does(scratch: Path, given_records: list[bytes], data: st.DataObject) -> None:
    frames = [spool.frame(record) for record in given_records]
    torn = data.draw(st.integers(0, len(frames) - 1))
    frames[torn] = frames[torn][: data.draw(st.integers(0, len(frames[torn])))]
    read = parts(scratch, b"".join(frames))
    assert spooled._count(scratch) == len(records(read))


def test_what_is_damaged_is_kept_byte_for_byte_and_once(directory: Path) -> None:
    write(directory, b"good", b"bad", b"good")
    current = directory / "current"
    data = current.read_bytes().replace(b" bad", b" BAD")
    current.write_bytes(data)
    (path,) = spooled.take(directory)
    good, bad, also_good = spooled.read(path)
    assert isinstance(bad, Damaged)
    assert records([good, also_good]) == [b"good", b"good"]
    kept = spooled.set_aside(directory, path, bad)
    assert spooled.set_aside(directory, path, bad) == kept
    assert spooled.set_aside_parts(directory) == [kept]
    assert kept.read_bytes() == data[bad.offset : bad.offset + bad.size]
    assert spooled.waiting(directory) == [path]


def test_prepare_is_said_to_change_something_once(directory: Path) -> None:
    write(directory, b"kept")
    spool.count_loss(os.fsencode(directory), b"full", 5)
    assert not spooled.prepare(directory)
    assert drained(directory) == [b"kept"]
    assert spooled.losses(directory) == [("full", 1, 5)]


def test_losses_are_counted_in_place(directory: Path) -> None:
    name = os.fsencode(directory)
    before = (directory.parent / "lost").stat()
    for now in range(1, 13):
        spool.count_loss(name, b"locked", now)
    spool.count_loss(name, b"failed", 1_767_603_600_000_000)
    assert spooled.losses(directory) == [("locked", 12, 12), ("failed", 1, 1_767_603_600_000_000)]
    after = (directory.parent / "lost").stat()
    # nothing that a full disk would refuse
    assert (after.st_ino, after.st_size, after.st_blocks) == (before.st_ino, before.st_size, before.st_blocks)


def test_losses_are_counted_whatever_stands_there(directory: Path) -> None:
    lost = directory.parent / "lost"
    name = os.fsencode(directory)
    with held(lost):
        started = time.monotonic()
        spool.count_loss(name, b"denied", 7)
        assert time.monotonic() - started < spool.WAIT
    assert spooled.losses(directory) == [("denied", 1, 7)]
    lost.write_bytes(b"rubbish")
    spool.count_loss(name, b"denied", 8)
    assert spooled.losses(directory) == [("denied", 1, 8)]
    lost.unlink()
    spool.count_loss(name, b"failed", 9)
    assert spooled.losses(directory) == [("failed", 1, 9)]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (TimeoutError(errno.ETIMEDOUT, ""), b"locked"),
        (OSError(errno.ENOSPC, ""), b"full"),
        (OSError(errno.EDQUOT, ""), b"full"),
        (PermissionError(errno.EACCES, ""), b"denied"),
        (OSError(errno.EROFS, ""), b"denied"),
        (OSError(errno.EIO, ""), b"failed"),
        (MemoryError(), b"failed"),
    ],
)
def test_every_fault_has_a_reason(fault: BaseException, reason: bytes) -> None:
    assert spool.loss_of(fault) == reason
    assert reason in spool.LOSSES


def test_settings_are_what_was_written_or_the_defaults(directory: Path) -> None:
    name = os.fsencode(directory)
    defaults = (16 * 1024 * 1024, True, 2000, True)
    assert spool.settings(name) == defaults
    spooled.write_settings(directory, max_blob=0, sync=True)
    assert spool.settings(name) == (0, True, 2000, True)
    spooled.write_settings(directory, max_blob=123, sync=False, look=0, drain=False)
    assert spool.settings(name) == (123, False, 0, False)
    inode = (directory / "settings").stat().st_ino
    spooled.write_settings(directory, max_blob=123, sync=False, look=0, drain=False)
    assert (directory / "settings").stat().st_ino == inode
    for rubbish in (b"", b"max_blob -1\nlook -1\n", b"max_blob 99999999999999999\nsync\n", b"\0\xff \n \n"):
        (directory / "settings").write_bytes(rubbish)
        assert spool.settings(name) == defaults
