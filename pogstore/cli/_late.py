"""Modules that are loaded when they are first used, and not by importing them: many commands do without."""

import sys
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

LATE = (
    "pygit2", "pogstore.agents.drain", "pogstore.history.interrupted", "difflib", "ipaddress", "json",
    "msgspec.inspect", "random", "shutil", "subprocess", "textwrap", "traceback",
)  # fmt: skip
"""What takes longer to load than most commands take to answer. Ours are imported in one place, where they may wait."""


class Late:
    """Finds a library so that it is loaded when it is first used."""

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> ModuleSpec | None:
        """Returns how to load a library that many commands do without; nothing for all others."""
        found = PathFinder.find_spec(name, path, target) if name in LATE else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def hidden(name: str) -> "Iterator[None]":
    """Lets a module seem not to be installed in a block, for who does as well without it."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


def install() -> None:
    """Lets them be found in this way from now on."""
    if not any(isinstance(finder, Late) for finder in sys.meta_path):
        sys.meta_path.insert(0, Late())
