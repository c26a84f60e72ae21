"""The store's lock: one writer at a time, waiting with an end, and nothing left behind by the dead (T24, SC-16)."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from pogstore.errors import LockHeld
from pogstore.store.lock import acquire, locked, release
from tests.builders_store import finished, python

HOLD = """
import sys, time
from pathlib import Path
from pogstore.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""
ADD = """
import sys
from pathlib import Path
from pogstore.store.lock import locked
counter = Path(sys.argv[1]) / "counter"
for _ in range(40):
    with locked(counter.parent):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def test_a_held_lock_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    holder = python(HOLD, str(tmp_path), "60", cwd=tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    started = time.monotonic()
    with pytest.raises(LockHeld, match=r"within 0\.3 s") as caught, locked(tmp_path, 0.3):
        pass
    assert 0.3 <= time.monotonic() - started < 5
    assert caught.value.retryable
    assert str(tmp_path / "lock") in caught.value.message
    holder.kill()
    finished(holder)


def test_a_lock_is_had_as_soon_as_it_is_free(tmp_path: Path) -> None:
    holder = python(HOLD, str(tmp_path), "0.4", cwd=tmp_path)
    assert holder.stdout is not None
    holder.stdout.readline()
    with locked(tmp_path, 20):
        pass
    assert finished(holder)[0] == 0


def test_the_dead_leave_no_lock_behind(tmp_path: Path) -> None:
    """kill -9 of the holder frees the lock at once, whatever its file says."""
    for _ in range(3):
        holder = python(HOLD, str(tmp_path), "60", cwd=tmp_path)
        assert holder.stdout is not None
        holder.stdout.readline()
        os.kill(holder.pid, signal.SIGKILL)
        finished(holder)
        with locked(tmp_path, 0.5):
            pass
    assert (tmp_path / "lock").read_bytes() == b""


def test_processes_take_turns(tmp_path: Path) -> None:
    (tmp_path / "counter").write_text("0")
    processes = [python(ADD, str(tmp_path), cwd=tmp_path) for _ in range(4)]
    for process in processes:
        assert finished(process) == (0, "")
    assert (tmp_path / "counter").read_text() == "160"


def test_threads_take_turns(tmp_path: Path) -> None:
    """The lock is one of open files, so it keeps threads of one process apart as well (SC-17)."""
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(30):
            with locked(tmp_path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 180
    assert max(most) == 1


def test_an_error_inside_frees_the_lock(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    with locked(tmp_path, 0.1):
        pass


def test_a_lock_is_not_inherited(tmp_path: Path) -> None:
    """A child that outlives us must not keep our lock."""
    with locked(tmp_path):
        child = python("import sys; print('up', flush=True); sys.stdin.read()", cwd=tmp_path)
        assert child.stdout is not None
        child.stdout.readline()
    with locked(tmp_path, 0.5):
        pass
    child.kill()
    finished(child)


def test_several_may_share(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    one, two, three = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(3))
    acquire(one, path, 0.1, shared=True)
    acquire(two, path, 0.1, shared=True)
    with pytest.raises(LockHeld):
        acquire(three, path, 0.1)
    release(one)
    release(two)
    acquire(three, path, 0.1)
    for descriptor in (one, two, three):
        os.close(descriptor)


def test_a_symbolic_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    """PC-79."""
    target = tmp_path / "precious"
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(OSError), locked(tmp_path):
        pass
    assert not target.exists()
