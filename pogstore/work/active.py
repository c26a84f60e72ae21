"""Which task this work tree is on, and the random id that tells this work tree from others.

Two small files in the work tree's own git dir, so that linked work trees differ.
"""

import os
from pathlib import Path

from pogstore.model import TaskId
from pogstore.store.layout import Layout
from pogstore.work.spool import NO_TASK


def active_task(layout: Layout, back: int = 0) -> TaskId | None:
    """Returns the active task, or the one that was active `back` changes ago."""
    lines = _lines(layout.own_here / "task")
    return TaskId(lines[back]) if back < len(lines) and lines[back] != NO_TASK else None


def set_active(layout: Layout, task: TaskId | None) -> None:
    """Makes a task the active one, or none; remembers the last few."""
    path = layout.own_here / "task"
    first = task or NO_TASK
    kept = [line for line in _lines(path) if line not in (first, NO_TASK)]
    _write(path, "".join(f"{line}\n" for line in [first, *kept][:10]))


def leave(layout: Layout, task: TaskId) -> bool:
    """Makes no task the active one if it is this one, which `@{-1}` names then; says whether it was."""
    if active_task(layout) != task:
        return False
    set_active(layout, None)
    return True


def worktree_id(layout: Layout) -> str:
    """Returns this work tree's random id, drawn at the first time it is asked for."""
    path = layout.own_here / "worktree"
    found = _lines(path)
    if found:
        return found[0]
    drawn = os.urandom(8).hex()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="ascii") as file:
            file.write(drawn + "\n")
    except FileExistsError:
        return (_lines(path) or [drawn])[0]
    return drawn


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii", "replace").split()
    except FileNotFoundError:
        return []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f"{path.name}.{os.getpid()}")
    staged.write_text(text, "ascii")
    staged.replace(path)
