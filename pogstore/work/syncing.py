"""Brings files to disk together: a disk takes many at a time much faster than one after the other."""

import os
from threading import Thread

from pogstore.work.rooted import naming

TOGETHER = 64
"""How many files stay open until they are synced."""
_THREADS = 8


class Syncing:
    """Files that were written and are still open; each is on disk and closed after the next `flush`."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def add(self, descriptor: int, path: str) -> None:
        """Takes a file over, with the path that it is for; may sync those that wait."""
        self._open.append((descriptor, path))
        if len(self._open) >= TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Syncs what waits; raises `WorkTreeFailed` for a file that the system refuses, when all are closed."""
        waiting, self._open = self._open, []
        faults: list[tuple[str, BaseException]] = []
        left = list(waiting)

        def sync() -> None:
            while left:
                try:
                    descriptor, path = left.pop()
                except IndexError:  # another thread has taken the last
                    return
                try:
                    os.fsync(descriptor)
                except BaseException as fault:  # noqa: BLE001 - a thread has nobody to tell
                    faults.append((path, fault))

        threads = [Thread(target=sync) for _ in range(min(_THREADS, len(waiting) - 1))]
        try:
            for thread in threads:
                thread.start()
            sync()
        finally:
            for thread in threads:
                thread.join()
            for descriptor, _ in waiting:
                os.close(descriptor)
        for path, fault in faults:
            with naming(path):
                raise fault

    def drop(self) -> None:
        """Closes what waits."""
        waiting, self._open = self._open, []
        for descriptor, _ in waiting:
            os.close(descriptor)
