"""Damages a store byte by byte and looks whether `verify` names the object each time: a process of its own.

    python -m tests.history.damage even|odd|pack DIR

Loose objects are divided by the kind of their event, so that two processes can share the work.

A reader that spins on damaged bytes never returns to Python, so no time limit inside a test can end it. Here a watchdog
outside the interpreter's lock ends the process, and the traceback shows where it was. Prints each case that was missed,
and how many there were.
"""

import faulthandler
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pogstore.history.verify import verify
from pogstore.model import KINDS, Oid
from pogstore.store.pack import packs
from pogstore.store.store import Store
from tests.conftest import Repo
from tests.history.stores import append, content_oids, enabled, flipped, holding, loose_file, tip

WATCH_SECONDS = 20
PACK_BYTES = 1000


class Case(NamedTuple):
    """A file that holds other bytes than it should, and how a fault has to name it."""

    what: str
    store: Store
    path: Path
    data: bytes
    name: str


def cases(how: str, directory: Path) -> Iterator[Case]:
    """Yields every case; a store with one event each keeps a case short."""
    if how == "pack":
        yield from pack_cases(repository(directory))
        return
    for kind in sorted(KINDS)[how == "odd" :: 2]:
        repo = repository(directory / kind)
        store = enabled(repo)
        append(store, kind)
        yield from loose_cases(f"{kind} event", repo, store, tip(store))
        for class_ in ("content", "private") if kind == "stepped" else ():
            for part, oid in zip(("commit", "tree", "content"), content_oids(repo, class_), strict=False):
                yield from loose_cases(f"{class_} {part}", repo, store, oid)


def loose_cases(what: str, repo: Repo, store: Store, oid: Oid) -> Iterator[Case]:
    path = loose_file(repo, oid)
    whole = path.read_bytes()
    for at in range(len(whole)):
        yield Case(f"{what}, byte {at} of {len(whole)} flipped", store, path, flipped(whole, at), oid)
        yield Case(f"{what}, cut after {at} of {len(whole)} bytes", store, path, whole[:at], oid)


def pack_cases(repo: Repo) -> Iterator[Case]:
    store = enabled(repo)
    append(store, *KINDS)
    append(store, *KINDS, *KINDS, *KINDS)
    (pack,) = packs(store.layout.objects)
    for path in (pack, pack.with_suffix(".idx")):
        path.chmod(0o644)
        whole = path.read_bytes()
        for number in range(PACK_BYTES // 2):
            at = number * len(whole) // (PACK_BYTES // 2)
            yield Case(f"byte {at} of {path.name} flipped", store, path, flipped(whole, at), pack.name)
        for length in (0, 1, 8, 100, 1032, len(whole) // 2, len(whole) - 1):
            yield Case(f"{path.name} cut after {length} bytes", store, path, whole[:length], pack.name)


def repository(path: Path) -> Repo:
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    return Repo(path)


def missed(case: Case) -> str | None:
    """Says how a fault was missed, or named badly."""
    with holding(case.path, case.data):
        report = verify(case.store)
    if not any(fault.object == case.name and fault.reason and fault.lost for fault in report.faults):
        return f"{case.what}: {report}"
    whole = verify(case.store) if hash(case.data) % 97 == 0 else None
    return None if whole is None or whole.ok else f"{case.what}, mended: {whole}"


def main(how: str, directory: Path) -> None:
    count, watched = 0, 0.0
    for case in cases(how, directory):
        if time.monotonic() - watched >= 1 or not count:  # a watch is a thread, so one a case would cost much
            faulthandler.dump_traceback_later(WATCH_SECONDS, exit=True)
            watched = time.monotonic()
        if said := missed(case):
            sys.stdout.write(f"{said}\n")
        count += 1
    faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(f"{count} cases\n")


if __name__ == "__main__":
    os.environ.pop("GIT_DIR", None)
    main(sys.argv[1], Path(sys.argv[2]))
