"""`git pog blame FILE` without the library for command lines: the way of a plain command whose answer is not kept.

`_again.py` has seen that the command is plain: one file, at most one of a few formats, nobody at a terminal, nothing in
the spool. Whatever is not as expected is left to `blame.py`, which says what is wrong: nothing is printed before all is
known. What is printed is made by the same functions there and here.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from pogstore.cli._blame import Look, Texts, blamed_value, porcelain, warn_absent
from pogstore.cli._render import echo_bytes, echo_json
from pogstore.history.blame import Blame, blame
from pogstore.store.store import open_store

ELSEWHERE = ("GIT_PAGER_IN_USE", "POG_NOW")
"""Variables that ask for more than this way knows of."""


def run(path: bytes, form: str | None) -> bool:
    """Blames a file of the work tree and prints the answer; says whether it has done so."""
    if any(name in os.environ for name in ELSEWHERE):
        return False
    store = None
    try:
        store = open_store(Path.cwd())
        with store.one_moment():
            found = blame(store, path)
            lines = list(Texts(store, [found], None, Look()).lines(found)) if form is None else []
    except Exception:  # noqa: BLE001 - whatever it is, it comes again where it is told
        return False
    finally:
        if store is not None:
            store.close()
    with suppress(BrokenPipeError):  # whoever reads has enough
        _print(found, form, lines)
    return True


def leave() -> None:
    """Ends the process at once: to take apart what was loaded would be felt."""
    os._exit(0)


def _print(found: Blame, form: str | None, lines: list[str]) -> None:
    warn_absent([found])
    if form == "--json":
        echo_json([blamed_value(found)])
    elif form == "--porcelain":
        echo_bytes(porcelain(found))
    else:
        echo_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
    sys.stdout.flush()
