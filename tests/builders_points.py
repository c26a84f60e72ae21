"""A work tree on which tool calls are recorded as a hook would, to go back to points of it."""

from collections.abc import Callable, Mapping
from typing import Any

from pogstore.draft import FileVersion
from pogstore.history.plans import Conflicts, Done, Plan
from pogstore.history.restore import Asked, apply_restore, plan_restore
from pogstore.history.timeline import PointId
from pogstore.model import Change, EventId, Observed, Sealed, Stepped, TaskId
from pogstore.store.batch import Batch
from pogstore.store.content import blob_id
from tests.builders_rollback import ADA, AGENT, WORKTREE, Bench, Step, change_of, version_of
from tests.conftest import SECOND

ELSEWHERE = "ffeeddccbbaa9988"
STEP: dict[str, Any] = {"tool": "Edit", "class_": "edit", "coverage": "scoped", "ok": True, "actor": AGENT}


class Points(Bench):
    """A bench whose tool calls say how they ended and where they were made."""

    worktree: str | None = WORKTREE

    def append(
        self, task: TaskId, changes: Callable[[Batch, TaskId], tuple[Change, ...]], reason: str | None
    ) -> EventId:
        """Records a tool call."""
        said: dict[str, Any] = {"coverage": "partial", "coverage_reason": reason} if reason else {}
        return self.call(task, changes, **said)

    def call(
        self,
        task: TaskId | None = None,
        changes: Callable[[Batch, TaskId], tuple[Change, ...]] = lambda batch, task: (),
        kind: type[Stepped] | type[Observed] = Stepped,
        **fields: Any,
    ) -> EventId:
        """Records a tool call, or what was seen between them, with some fields of its own."""
        self.now += SECOND
        wanted = task or self.task
        given = (STEP if kind is Stepped else {"actor": ADA}) | {"worktree": self.worktree} | fields

        def write(batch: Batch) -> Sealed:
            self.store.refresh()
            event = kind(v=1, task=wanted, clock=1, time=self.now, changes=changes(batch, wanted), **given)
            return batch.append(event)

        return self.store.transact(write).event_id

    def observe(self, files: Mapping[str, FileVersion | bytes | None], task: TaskId | None = None) -> EventId:
        """Lets a person write files, and records it as a comparison would."""
        there = self.files()
        for path, after in files.items():
            self.write(path, after)
        steps = [Step(path, there.get(path), version_of(after)) for path, after in files.items()]
        return self.call(
            task, lambda batch, task: tuple(change_of(batch, task, step) for step in steps), Observed, coverage="exact"
        )

    def plan_back(self, event_id: EventId, *paths: str, before: bool = False, edited: Conflicts = "refuse") -> Plan:
        """Plans to go back to a point."""
        point = PointId(self.store.event(event_id).event.task, event_id, before)
        return plan_restore(self.store, point, self.worktree, Asked(paths, edited))

    def back(self, event_id: EventId, *paths: str, before: bool = False, edited: Conflicts = "refuse") -> Done:
        """Goes back to a point."""
        plan = self.plan_back(event_id, *paths, before=before, edited=edited)
        return apply_restore(self.store, plan, self.by(self.worktree or WORKTREE), before=before)

    def way_barred(self, event_id: EventId, *paths: str, before: bool = False) -> dict[str, str]:
        """What stands in the way of going back to a point: the name of the conflict for each path."""
        plan = self.plan_back(event_id, *paths, before=before)
        assert plan.writes == () or not plan.obstacles
        return {str(obstacle.path): obstacle.reason for obstacle in plan.obstacles}

    def lose(self, data: bytes) -> None:
        """Takes the git object of a content away."""
        found = self.store.find_content(blob_id(data))
        assert found is not None
        (self.store.layout.objects / found.oid[:2] / found.oid[2:]).unlink()
        self.reopen()

    def shell(self, files: Mapping[str, FileVersion | bytes | None], **fields: Any) -> EventId:
        """Does and records a shell command."""
        there = self.files()
        steps = [Step(path, there.get(path), version_of(after)) for path, after in files.items()]
        for path, after in files.items():
            self.write(path, after)
        said: dict[str, Any] = {"tool": "Bash", "class_": "shell", "coverage": "exact"} | fields
        return self.call(
            None, lambda batch, task: tuple(change_of(batch, task, step) for step in steps), Stepped, **said
        )
