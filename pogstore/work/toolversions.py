"""Which version each of some tools has, as a command would find them: on the search path, asked once.

A tool is asked in the root directory, so that nothing that a repository says has a part in it; one that lies in the
work tree is never run. What chooses by directory which version to run (pyenv, rustup) says its default there.
"""

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pogstore import codec, redact
from pogstore.work import jottings, process

SECONDS = 2.0
"""How long one tool may take to say its version."""
ALL_SECONDS = 4.0
"""How long all of them together may take; those that were not asked by then are asked the next time."""
UNKNOWN = "unknown"
BY_DEFAULT = " (by default)"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_NUMBER = re.compile(r"\d+(?:\.\d+)+[0-9A-Za-z.+~-]*")
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_CONFIGURED = re.compile(r"version(?:_info)?\s*=\s*(\d+(?:\.\d+)+)")
_ASKED = {"go": b"version"}
"""The tools that want another word than `--version`."""
_CHOOSERS = ("rustup", "volta-shim", "mise", "asdf")
LONGEST = 100
"""Characters of a version that are kept, at most."""
_CACHE = "tools.json"
_MOST = 500
_KEPT = (b"HOME", b"PATH", b"SYSTEMROOT", b"CARGO_HOME", b"RUSTUP_HOME", b"PYENV_ROOT")

Known = dict[str, list[object]]


def is_tool(name: str) -> bool:
    """Says whether a name may be one of a tool: a file of the search path, and no option."""
    return _NAME.fullmatch(name) is not None


def versions(names: Sequence[str], root: Path | None, environ: Mapping[bytes, bytes], own: Path) -> dict[str, str]:
    """Returns the versions of those tools that there are. `own` is where answers are kept for the next time.

    A tool is asked again when its file is another one (path, time or size). What it does not say is `unknown`.
    """
    known = _read(own / _CACHE)
    before = dict(known)
    until = time.monotonic() + ALL_SECONDS
    found = {}
    for name in names:
        path = _find(name, environ) if is_tool(name) else None
        if path is not None:
            found[name] = _version(path, root, environ, known, until)
    if known != before:
        jottings.jot(own / _CACHE, dict(list(known.items())[-_MOST:]))
    return found


def _find(name: str, environ: Mapping[bytes, bytes]) -> str | None:
    """Returns the first program of that name; what is named from the current directory is nobody's tool."""
    places = os.fsdecode(environ.get(b"PATH", os.fsencode(os.defpath))).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(place for place in places if place.startswith("/")))


def _version(path: str, root: Path | None, environ: Mapping[bytes, bytes], known: Known, until: float) -> str:
    try:
        status, real = Path(path).stat(), Path(os.path.realpath(path))
    except OSError:
        return UNKNOWN
    if (written := _written_beside(path)) is not None:
        return written
    if root is not None and real.is_relative_to(root):
        return UNKNOWN
    stamp = [status.st_mtime_ns, status.st_size]
    if known.get(path, [])[:2] != stamp:
        seconds = min(SECONDS, until - time.monotonic())
        if seconds <= 0:
            return UNKNOWN
        known.pop(path, None)
        known[path] = [*stamp, _asked(path, environ, seconds)]
    version = str(known[path][2])
    chooses = "/shims/" in path or real.name in _CHOOSERS
    return version + BY_DEFAULT if chooses and version != UNKNOWN else version


def _written_beside(path: str) -> str | None:
    """Returns the version of a Python that is one of a virtual environment, which says so in a file."""
    if not Path(path).name.startswith("python"):
        return None
    try:
        with (Path(path).parent.parent / "pyvenv.cfg").open("rb") as file:
            match = _CONFIGURED.search(file.read(1 << 14).decode("utf-8", "replace"))
    except OSError:
        return None
    return match[1] if match else None


def _asked(path: str, environ: Mapping[bytes, bytes], seconds: float) -> str:
    kept = {name: value for name, value in environ.items() if name in _KEPT}
    kept |= {b"LC_ALL": b"C", b"RUSTUP_AUTO_INSTALL": b"0"}
    word = _ASKED.get(Path(path).name, b"--version")
    said = process.said([os.fsencode(path), word], environ=kept, seconds=seconds)
    return UNKNOWN if said is None else version_in(said.decode("utf-8", "replace"))


def version_in(text: str) -> str:
    """Returns the version in what a tool says of itself: the first number with a dot outside of parentheses."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = redact.redact(codec.scrub(first))[0]
    match = _NUMBER.search(_IN_PARENTHESES.sub("", first)) or _NUMBER.search(first)
    return (match[0] if match else first)[:LONGEST] or UNKNOWN


def _read(path: Path) -> Known:
    """Returns what was asked before; nothing where that cannot be read: it is asked again."""
    found = jottings.read(path)
    if not isinstance(found, dict):
        return {}
    return {name: each for name, each in found.items() if isinstance(each, list) and len(each) == 3}
