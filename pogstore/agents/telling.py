"""Whose task and whose doing each thing is that hooks told, and the drafts that they become, in order."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

import msgspec

from pogstore.agents import drafts
from pogstore.agents.heard import PROMPT, SESSION_START, Heard, Step
from pogstore.agents.told import Named, Told, find_task, left_task
from pogstore.agents.transcript import Transcripts
from pogstore.agents.trees import Trees
from pogstore.draft import Draft, DraftChange, DraftText
from pogstore.model import Actor, Change, Link, TaskId
from pogstore.store import gitcli
from pogstore.store.store import Store
from pogstore.work import bounded, contracts, environment
from pogstore.work.compared import base_of


class Telling:
    """The drafts of one drain: `found` holds them with their tasks."""

    def __init__(self, store: Store, trees: Trees) -> None:
        self._store, self._trees = store, trees
        self._transcripts = Transcripts()
        self._tasks: dict[tuple[str, bytes], Named] = {}
        self._told: dict[TaskId, Told] = {}
        self._environments: dict[bytes, str] = {}
        self._last: dict[TaskId, Heard] = {}
        self.found: list[tuple[TaskId, Draft]] = []

    def task(self, heard: Heard) -> TaskId:
        """Returns the task that a hook call belongs to: the one named, the active one, or the session's own."""
        record = heard.record
        key = (record.task, record.git_dir)
        if key not in self._tasks:
            self._tasks[key] = find_task(self._store, *key)
        named = self._tasks[key]
        is_over = named.until is not None and record.time > named.until
        return self._own_task(heard) if named.task is None or is_over else named.task

    def _own_task(self, heard: Heard) -> TaskId:
        """Returns the session's own task; for the end of a turn that has ended its task, that one."""
        is_note = not (heard.begins or heard.ends or heard.phase in (PROMPT, SESSION_START))
        if is_note and not self._told_in(heard.task).is_defined:
            left = left_task(self._store, heard.record.git_dir)
            if left is not None and heard.session in self._told_in(left).sessions:
                return left
        return heard.task

    def told(self, heard: Heard) -> Told:
        """Returns what the store knows of the task of a hook call."""
        return self._told_in(self.task(heard))

    def _told_in(self, task: TaskId) -> Told:
        if task not in self._told:
            self._told[task] = Told(self._store, task)
        return self._told[task]

    def step(self, first: Heard, step: Step) -> None:
        """Tells of a tool call, whose first record is given."""
        task = self.task(first)
        self.open_task(first)
        self._told_in(task).calls.add(first.call)
        step = step._replace(base=base_of(step.heard.record.head))
        draft = drafts.stepped(step, self._agent(task, step.heard))
        texts = draft.texts | self._environment(task, step.heard)
        self._put(task, step.heard, msgspec.structs.replace(draft, changes=step.changes, texts=texts))
        self._judge(task, step)

    def _judge(self, task: TaskId, step: Step) -> None:
        """Tells of a step that did what its task denies: the hook was not asked, or went by a false file."""
        limits, heard = self._told_in(task).bounds.limits, step.heard
        odd = msgspec.convert(step.odd_changes, tuple[Change, ...])
        paths = (*(change.path for change in step.changes), *(change.path for change in odd))
        broken = bounded.judge(task, limits, bounded.Deed(paths, heard.command))
        if broken is not None:
            words = f"{broken.rule}: {broken.reason}"
            self._put(task, heard, drafts.said_by_us(heard, "outside", drafts.OUTSIDE, words))

    def check_contracts(self) -> None:
        """Tells of a compiled contract that somebody has edited or deleted; it is made again after the drain."""
        for task, heard in list(self._last.items()):
            worktree = self._trees.of(heard.record).worktree
            found = contracts.tampered(self._store, task, self._told_in(task).bounds, worktree) if worktree else None
            if found is not None:
                words = f"the compiled contract was {found}; it was made again from the definition"
                self._put(task, heard, drafts.said_by_us(heard, "contract", drafts.TAMPERED, words))

    def _environment(self, task: TaskId, heard: Heard) -> dict[str, DraftText]:
        """Returns the environment, as it is by now, for the first step of a session; nothing for the others."""
        placed = self._told_in(task).placed
        if heard.session in placed:
            return {}
        placed.add(heard.session)
        root = heard.record.root
        if root not in self._environments:
            place = FilePath(os.fsdecode(root))
            environ = {os.fsencode(name): os.fsencode(value) for name, value in gitcli.environment().items()}
            wanted = environment.asked(self._store)
            found = environment.capture(place, place, environ, wanted, self._store.layout.own, later=True)
            self._environments[root] = environment.text_of(found)
        return {"env": DraftText(text=self._environments[root], class_="private", once=True)}

    def refused(self, heard: Heard, rule: str, paths: Sequence[str]) -> None:
        """Tells of what a contract denied; what was asked for is the agent's own to tell."""
        task = self.task(heard)
        self.open_task(heard)
        self._put(task, heard, drafts.refused(heard, rule, paths, self._agent(task, heard)))

    def observed(
        self,
        first: Heard,
        at: Heard,
        key: str,
        changes: tuple[DraftChange, ...],
        fields: Mapping[str, object],
        maker: Actor | None = None,
    ) -> None:
        """Tells of what changed outside of every step, in the task of one hook call and the work tree of another."""
        self._put(self.task(first), at, drafts.observed(at, key, changes, fields, maker))

    def prompt(self, heard: Heard) -> None:
        """Tells of an instruction."""
        self.open_task(heard)
        self._put(self.task(heard), heard, drafts.prompted(heard, self._asks(heard)))

    def note(self, heard: Heard, *, begins_session: bool) -> None:
        """Tells of anything else."""
        task = self.task(heard)
        parent = self._parent(task, heard) if begins_session else None
        self._put(task, heard, drafts.noted(heard, self._agent(task, heard), parent))

    def close_task(self, heard: Heard) -> None:
        """Brings a session's own task into review."""
        task = self.task(heard)
        if task == heard.task and self._told_in(task).status == "in_progress":
            self._move(task, heard, "in_review")

    def open_task(self, heard: Heard) -> None:
        """Opens a session's own task at its first prompt or step, and again when the session is resumed."""
        task = self.task(heard)
        if task != heard.task:
            return
        told = self._told_in(task)
        if not told.is_defined:
            told.is_defined = True
            self._put(task, heard, drafts.defined(heard, self._asks(heard), self._parent(task, heard)))
        if told.status in (None, "pending", "in_review"):
            self._move(task, heard, "in_progress")

    def _parent(self, task: TaskId, heard: Heard) -> Link | None:
        """Returns the link to the session that this one goes on from, once it was told of a session's own task."""
        told = self._told_in(task)
        if task != heard.task:
            return None
        if told.parent is None:
            if heard.parent_session is None:
                other, is_part = self._transcripts.parent_of(heard)
                heard = heard._replace(parent_session=other, is_part=is_part)
            told.parent = drafts.link_of(heard)
        return told.parent

    def _move(self, task: TaskId, heard: Heard, status: str) -> None:
        self._told_in(task).status = status
        self._put(task, heard, drafts.moved(heard, status, self._agent(task, heard)))

    def _put(self, task: TaskId, heard: Heard, draft: Draft) -> None:
        worktree = self._trees.of(heard.record).worktree
        fields = draft.fields | ({"worktree": worktree} if worktree else {})
        self._told_in(task).sessions.add(heard.session)
        if heard.begins or heard.ends:
            self._last[task] = heard
        self.found.append((task, msgspec.structs.replace(draft, fields=fields)))

    def _agent(self, task: TaskId, heard: Heard) -> Actor:
        model = heard.model or self._transcripts.model_of(heard)
        if model is None and heard.agent_id is None:
            model = self._told_in(task).models.get(heard.session)
        return drafts.agent(heard, model, self._trees.of(heard.record).person)

    def _asks(self, heard: Heard) -> Actor:
        """Returns who gives an instruction: an agent, where another one is to work for it."""
        if heard.phase == PROMPT and heard.is_part:
            return drafts.agent(heard, None, self._trees.of(heard.record).person)
        return self._person(heard)

    def _person(self, heard: Heard) -> Actor:
        return drafts.person(heard, self._trees.of(heard.record).person)
