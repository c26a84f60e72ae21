"""Which other repositories a session has reached, so that these hear of its end. Lies on the path of every hook: see
`work/spool.py`.

One line for each in a small file beside the spool of the repository that the session is in; it may vanish at any time.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH105, PTH108

import os

from pogstore.digest import hexdigest

FILE = b"/pog/reached"
MOST = 64 * 1024
"""Bytes of the list; what is more is not told of an end."""
EACH = 8
"""Repositories that one session tells of its end."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ADD = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def note(home: bytes, session: str, root: bytes) -> None:
    """Remembers that a session which is at home in one git dir has reached another work tree; raises `OSError`."""
    line = _line(session, root)
    if b"\n" in root:
        return
    file = os.open(home + FILE, _ADD, 0o600)
    try:
        known = os.read(file, MOST)
        if line not in known.splitlines() and len(known) + len(line) < MOST:
            os.write(file, line + b"\n")
    finally:
        os.close(file)


def take(home: bytes, session: str) -> list[bytes]:
    """Returns the work trees that a session has reached, and forgets them; raises `OSError`."""
    try:
        file = os.open(home + FILE, _READ)
    except FileNotFoundError:
        return []
    try:
        lines = os.read(file, MOST).splitlines()
    finally:
        os.close(file)
    mark = _line(session, b"")
    its = [line for line in lines if line.startswith(mark)]
    if its:
        _keep(home, [line for line in lines if not line.startswith(mark)])
    return [line[len(mark) :] for line in its][:EACH]


def _line(session: str, root: bytes) -> bytes:
    return hexdigest(session.encode("utf-8", "surrogateescape"))[:32].encode() + b" " + root


def _keep(home: bytes, lines: list[bytes]) -> None:
    path = home + FILE
    if not lines:
        return os.unlink(path)
    beside = b"%b.%d.new" % (path, os.getpid())
    file = os.open(beside, _NEW, 0o600)
    try:
        os.write(file, b"\n".join(lines) + b"\n")
    finally:
        os.close(file)
    return os.replace(beside, path)
