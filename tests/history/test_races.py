"""Somebody changes the tree at every moment of an operation: nothing is ever written outside of it. RC-13, T7.

A process of its own swaps in a loop, in each of the ways by which a path can come to lead elsewhere, while operations
run and must each be done wholly or not at all. The suite sees 20 races of each kind; `POG_TEST_RACES` asks for more.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pogstore.errors import Conflict, UnsafePath, WorkTreeFailed
from pogstore.history.interrupted import recover, waiting
from pogstore.work.unfinished import TEMPORARY
from tests.builders_rollback import Bench, Files, file, untouched

RACES = int(os.environ.get("POG_TEST_RACES", "20"))  # read before the environment of tests is sealed
Swap = Callable[[Path, Path], None]


def folder_for_a_link(folder: Path, outside: Path) -> None:
    """The directory is moved aside, a link to the outside takes its place, then the directory is back."""
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.symlink_to(outside)
    pause()
    folder.unlink()
    aside.rename(folder)


def file_for_a_link(folder: Path, outside: Path) -> None:
    """A file is moved aside and a link to a file outside takes its place; then the file is back."""
    path, aside = folder / "f", folder.with_name("aside")
    path.rename(aside)
    path.symlink_to(outside / "f")
    pause()
    path.unlink()
    aside.rename(path)


def folder_moved_away(folder: Path, outside: Path) -> None:
    """The directory is moved out of the tree altogether, and comes back."""
    away = outside.with_name("away")
    folder.rename(away)
    pause()
    away.rename(folder)


def folder_for_another(folder: Path, outside: Path) -> None:
    """Another directory with a file of the same name takes its place for a while."""
    aside, other = folder.with_name("aside"), folder.with_name("other")
    folder.rename(aside)
    other.rename(folder)
    pause()
    folder.rename(other)
    aside.rename(folder)


SWAPS = {swap.__name__: swap for swap in (folder_for_a_link, file_for_a_link, folder_moved_away, folder_for_another)}


def pause() -> None:
    """Mostly short, for many swaps in one operation; at times long enough that all of one meets the same."""
    time.sleep(random.uniform(0, random.choice((0.002, 0.002, 0.1))))


@contextmanager
def swapping(swap: Swap, folder: Path, outside: Path) -> Iterator[Callable[[], int]]:
    """Lets a process swap until the end of the block; gives the number of swaps so far."""
    count, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(count)
            stopped: list[int] = []
            signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
            while not stopped:
                with suppress(OSError):  # the operation has just made or removed it
                    swap(folder, outside)
                    os.write(told, b".")
                time.sleep(random.uniform(0, 0.01))
        finally:
            os._exit(0)
    os.close(told)
    os.set_blocking(count, False)
    seen = [0]

    def swaps() -> int:
        with suppress(BlockingIOError):
            seen[0] += len(os.read(count, 65536))
        return seen[0]

    try:
        yield swaps
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        os.close(count)


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
def test_t7_rc13_nothing_is_written_outside_whatever_is_swapped(tmp_path: Path, swap: Swap) -> None:
    bench = Bench(tmp_path / "work")
    outside = tmp_path / "outside"
    # outside looks as the plan expects it: only that it is outside keeps it from being written
    for place, text in ((outside, b"agent\n"), (bench.path / "other", b"another\n")):
        (place / "e").mkdir(parents=True)
        for name in ("f", "g", "e/h"):
            (place / name).write_bytes(text)
    bench.write("d/f", b"1\n")
    bench.write("d/gone", b"1\n")
    bench.write("d/stays", b"1\n")
    event = bench.step({"d/f": b"agent\n", "d/g": b"agent\n", "d/gone": None, "d/e/h": b"agent\n", "x": b"agent\n"})
    others = {name: version for name, version in bench.files().items() if name.startswith("other/")}
    with_it = bench.files()
    without: Files = {"d/f": file(b"1\n"), "d/gone": file(b"1\n"), "d/stays": file(b"1\n")} | others
    before = untouched(outside)
    done = refused = races = 0
    left: tuple[str, ...] = ()
    with swapping(swap, bench.path / "d", outside) as swaps:
        while races < RACES or not done or not refused:
            assert done + refused < 100 * RACES, f"{done} done, {refused} refused, {races} races"
            first = swaps()
            try:
                done += bool((bench.undo if done % 2 else lambda: bench.rollback(event))().events)
            except (Conflict, UnsafePath, WorkTreeFailed) as fault:
                refused += 1
                left += getattr(fault, "left", ())
            races += swaps() > first
            assert untouched(outside) == before
            assert left == (), "all of it could be taken back"
    print(swap.__name__, f"{races} races, {done} done, {refused} refused")  # noqa: T201 - what `pytest -s` is asked for
    assert waiting(bench.store) is None
    assert recover(bench.store) is None
    assert bench.files() == (without if done % 2 else with_it)
    assert not list(tmp_path.rglob(f"{TEMPORARY}*"))
