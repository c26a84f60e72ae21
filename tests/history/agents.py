"""An agent that edits real files and is recorded, for tests of what is asked about its work."""

from pathlib import Path

from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, TaskDrafts
from pogstore.model import Actor, Base, Definition, EventId, Source, Stepped, TaskId
from pogstore.store.store import Store, open_store
from pogstore.work.intake import take
from tests.conftest import SECOND, STARTED, Repo

TASK = TaskId("0193a4b2-7c00-7000-8000-000000000001")
OTHER = TaskId("0193a4b2-7c00-7000-8000-000000000002")


def enabled(repo: Repo) -> Store:
    """Opens the store of a repository in which pogstore is enabled."""
    repo.git("config", "pog.enabled", "true")
    return open_store(repo.path)


class Agent:
    """Edits files of one work tree; every edit is a step of its task, a second after the one before."""

    def __init__(self, repo: Repo, task: TaskId = TASK, *, name: str = "agent", started: int = STARTED) -> None:
        self.repo, self.task, self.name = repo, task, name
        self.store = enabled(repo)
        self.now = started
        self.steps = 0
        actor = self.actor
        definition = Definition(title=f"Work of {name}", intent="A test wants it")
        prompt = {"text": DraftText(text=f"please, {name}", class_="private")}
        self.take(
            Draft(kind="defined", time=self.tick(), actor=actor, definition=definition),
            Draft(kind="prompted", time=self.tick(), actor=actor, texts=prompt),
        )

    @property
    def actor(self) -> Actor:
        """Who acts."""
        return Actor(type="agent", name=self.name, session=f"session of {self.name}")

    def tick(self) -> int:
        """Returns the time, a second further on."""
        self.now += SECOND
        return self.now

    def take(self, *drafts: Draft) -> None:
        """Records drafts as they come from live capture."""
        take(self.store, [TaskDrafts(task=self.task, drafts=drafts)], imported=False)

    def write(self, path: str, content: str | bytes | None, *, moved_from: str | None = None) -> EventId:
        """Writes a file (or deletes it) and records the step; returns its event."""
        file = self.repo.path / path
        older = self.repo.path / (moved_from or path)
        before = version(older)
        data = content.encode() if isinstance(content, str) else content
        if moved_from is not None or data is None:
            older.unlink()
        if data is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        change = DraftChange(path=path, from_=moved_from, before=before, after=version(file))
        return self.record(change)

    def record(
        self, *changes: DraftChange, tool: str = "Edit", call: str | None = None, base: Base | None = None
    ) -> EventId:
        """Records a step with some changes; returns its event."""
        self.steps += 1
        fields: dict[str, object] = {"tool": tool, "class": "edit", "call_id": call or f"call {self.steps}", "ok": True}
        fields |= {"base": base} if base is not None else {}
        source = Source(format="spool", key=f"{self.name} {self.steps}")
        self.take(
            Draft(
                kind="stepped", time=self.tick(), actor=self.actor, fields=fields, changes=tuple(changes), source=source
            )
        )
        return [one.event_id for one in self.store.events(self.task) if isinstance(one.event, Stepped)][-1]


def version(path: Path) -> FileVersion | None:
    """Returns what a file holds; nothing if there is none."""
    if not path.exists():
        return None
    return FileVersion(mode="100755" if path.stat().st_mode & 0o100 else "100644", data=path.read_bytes())
