"""What the tests of POG Task's formats share: a task without any oddity, and short ways to read files."""

import json
from pathlib import Path

import pytest

from pogstore.draft import Draft
from pogstore.interop.pog_fields import Fields, Value
from pogstore.interop.pog_tasks import Reading
from pogstore.interop.pog_yaml import TaskFile, read_tasks, wanted

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
ROOT = "ab" * 20
NOW = 1_790_000_000_000_000
ID = "3f0b6b1e-7c7d-4c5a-9b6e-0a1b2c3d4e5f"
OTHER = "9d868972-7472-4687-951c-06723223126f"
PLACE = "list/web/login/Tidy.yaml"


def entry(action: str, minute: int, message: str = "said") -> dict[str, Value]:
    return {"timestamp": f"2026-02-08T10:{minute:02}:00+08:00", "agent": "ada", "action": action, "message": message}


def clean(**changes: Value) -> dict[str, Value]:
    """Returns a finished task at which nothing is odd, with some fields changed."""
    fields: dict[str, Value] = {
        "type": "task",
        "id": ID,
        "title": "Tidy",
        "description": "Put it in order",
        "category": "chore",
        "priority": "low",
        "status": "completed",
        "created_at": "2026-02-08T10:00:00+08:00",
        "started_at": "2026-02-08T10:05:00+08:00",
        "completed_at": "2026-02-08T10:45:00+08:00",
        "estimated_hours": "0.5",
        "actual_hours": "0.5",
        "claimed_by": "ada",
        "claimed_at": "2026-02-08T10:05:00+08:00",
        "related_files": ["src/a.py"],
        "checklist": [{"text": "one", "completed": "true"}],
        "history": [entry("created", 0), entry("claimed", 5), entry("completed", 45)],
    }
    return {**fields, **changes}


def without(*names: str, **changes: Value) -> dict[str, Value]:
    return {name: value for name, value in clean(**changes).items() if name not in names}


def as_file(fields: Fields, path: str = PLACE) -> TaskFile:
    return TaskFile(path, (json.dumps(fields, ensure_ascii=False) + "\n").encode())


def record(name: str = ID, data: bytes = b"# Done\n\nAll of it.\n", place: str = "list/web/login") -> TaskFile:
    return TaskFile(f"{place}/record/{name}/record.md", data)


def read(*files: TaskFile, repository: str = ROOT) -> Reading:
    return read_tasks(files, repository=repository, now=NOW)


def drafts(*files: TaskFile) -> tuple[Draft, ...]:
    (task,) = read(*files).tasks
    return task.drafts


def codes(reading: Reading) -> set[str]:
    return {oddity.code for oddity in reading.oddities}


def key(draft: Draft) -> str:
    assert draft.source is not None
    return draft.source.key


def real(folder: str) -> list[TaskFile]:
    root = DATA / folder
    if not root.is_dir():
        pytest.skip(f"no real data beside the checkout: shared/data/{folder}")
    names = {path: path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    return [TaskFile(name, path.read_bytes()) for path, name in sorted(names.items()) if wanted(name)]
