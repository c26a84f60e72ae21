"""What git does to a file on its way between the work tree and the repository: line endings, encodings, filters.

Recorded versions are in git's cleaned form, the one that git itself would store; the work tree may hold another. Only
git knows how to turn one into the other, so it is asked to, with objects that lie in a scratch directory for as long as
that takes. Writes nothing else.
"""

import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property

from pogstore.errors import GitFailed, UnsafePath
from pogstore.store.store import Store
from pogstore.work.indexfile import may_have_attributes
from pogstore.work.paths import check_relative

_ENDINGS = ("text", "eol", "crlf")
_OTHERS = ("filter", "ident", "working-tree-encoding")
_ATTRIBUTES = (*_ENDINGS, *_OTHERS, "merge")
_OFF = ("unspecified", "unset")
_NO = ("", "0", "false", "no", "off")


class Conversion:
    """Git's conversions in one work tree, as attributes and configuration stand when a path is first asked about."""

    def __init__(self, store: Store) -> None:
        self._git, self._layout = store.git, store.layout
        self._known: dict[str, dict[str, str]] = {}

    @cached_property
    def _settings(self) -> tuple[str, str]:
        """`core.autocrlf` as `true`, `input` or `false`, and `core.eol`."""
        found = self._git.settings()
        automatic = found.get("core.autocrlf", ["false"])[-1].lower()
        native = found.get("core.eol", ["native"])[-1].lower()
        if automatic != "input":
            automatic = "false" if automatic in _NO else "true"
        return automatic, native

    def look_up(self, paths: Iterable[str]) -> None:
        """Asks for the attributes of many paths at once, which costs one process however many they are."""
        new = dict.fromkeys(path for path in paths if path not in self._known)
        self._known |= {path: dict.fromkeys(_ATTRIBUTES, _OFF[0]) for path in new}
        wanted = [path for path in new if _is_inside(path)]
        if not wanted:
            return
        stdin = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in wanted)
        asked = ("check-attr", "-z", "--stdin", *_ATTRIBUTES)
        fields = self._git.run(*asked, stdin=stdin, env=self._without_index(wanted)).stdout.split(b"\0")[:-1]
        for path, attribute, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
            found = self._known[path.decode("utf-8", "surrogateescape")]
            found[attribute.decode()] = value.decode("utf-8", "replace")

    def _without_index(self, paths: Sequence[str]) -> dict[str, str]:
        """Returns what keeps git from reading its index where that tells nothing of some paths' attributes."""
        index, work_tree = self._layout.git_dir / "index", self._layout.work_tree
        if work_tree is None or may_have_attributes(index, work_tree, paths):
            return {}
        return {"GIT_INDEX_FILE": str(self._layout.own_here / "no-index")}

    def merges_lines(self, path: str) -> bool:
        """Whether lines mean anything to git: not behind a filter (Git LFS, for one), nor where `merge` is unset."""
        found = self._attributes(path)
        return found["filter"] in _OFF and found["merge"] != "unset"

    def clean(self, path: str, data: bytes) -> bytes | None:
        """Returns what git would store of a regular file in the work tree; nothing if it will not."""
        if not self._converts(path) or (self._only_endings(path) and b"\r" not in data):
            return data
        return self._converted([f"--path={path}"], ["blob"], data)

    def smudge(self, path: str, data: bytes) -> bytes | None:
        """Returns what git would check out for a stored version; nothing if it will not."""
        if not self._converts(path) or (self._only_endings(path) and (b"\n" not in data or self._keeps_lf(path))):
            return data
        return self._converted(["--no-filters"], ["--filters", f"--path={path}"], data)

    def _converted(self, inward: Sequence[str], outward: Sequence[str], data: bytes) -> bytes | None:
        with tempfile.TemporaryDirectory(prefix="pog-") as scratch:
            place = {"GIT_OBJECT_DIRECTORY": scratch}
            try:
                stored = self._git.run("hash-object", "-w", "--stdin", *inward, stdin=data, env=place)
                return self._git.run("cat-file", *outward, stored.stdout.decode().strip(), env=place).stdout
            except GitFailed:  # an irreversible conversion under core.safecrlf, a required filter that is not there
                return None

    def _attributes(self, path: str) -> dict[str, str]:
        self.look_up([path])
        return self._known[path]

    def _converts(self, path: str) -> bool:
        found = self._attributes(path)
        if any(found[name] not in _OFF for name in (*_ENDINGS, *_OTHERS)):
            return True
        automatic, _ = self._settings
        return automatic != "false" and found["text"] != "unset" and found["crlf"] != "unset"

    def _only_endings(self, path: str) -> bool:
        found = self._attributes(path)
        return all(found[name] in _OFF for name in _OTHERS)

    def _keeps_lf(self, path: str) -> bool:
        """Whether git surely leaves LF as it is when it checks a file out."""
        found = self._attributes(path)
        if found["eol"] not in _OFF:
            return found["eol"] == "lf"
        automatic, native = self._settings
        if found["crlf"] == "input" or automatic == "input":
            return True
        return automatic == "false" and (native == "lf" or (native == "native" and os.linesep == "\n"))


def _is_inside(path: str) -> bool:
    try:
        check_relative(path)
    except UnsafePath:
        return False
    return True
