"""Texts that a task names again and again, and that are to be stored once.

A text is salted, so that nothing tells that two are equal but what they hold: the last few of a task are remembered by
their names, and read. One that is gone (erased, say) is not named again.
"""

from pogstore.errors import PogError
from pogstore.model import BlobId, TaskId, Text
from pogstore.store.store import Store
from pogstore.work import jottings

_FILE = "texts.json"
_PER_TASK = 4
_TASKS = 200


class Again:
    """The texts that some drafts may name again; what is noted counts at once, and for others once it is kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._added: dict[TaskId, list[tuple[str, Text]]] = {}

    def clear(self) -> None:
        """Forgets what was noted: the write that it belongs to begins anew."""
        self._added.clear()

    def find(self, task: TaskId, class_: str, text: str) -> Text | None:
        """Returns the name of an equal text of the task, if one of the last few is still here."""
        for held, named in self._added.get(task, []):
            if (held, named.class_) == (text, class_):
                return named
        return next((each for each in self._known(task) if each.class_ == class_ and self._holds(each, text)), None)

    def note(self, task: TaskId, text: str, named: Text) -> None:
        """Takes note of a text that is being written."""
        if not named.omitted:
            self._added.setdefault(task, []).append((text, named))

    def keep(self) -> None:
        """Keeps for others what was noted, once it is written."""
        if not self._added:
            return
        kept = self._read()
        for task, added in self._added.items():
            new = [[named.blob, named.size, named.class_] for _, named in reversed(added)]
            kept[task] = [*new, *kept.pop(task, [])][:_PER_TASK]
        jottings.jot(self._store.layout.own / _FILE, dict(list(kept.items())[-_TASKS:]))

    def _holds(self, named: Text, text: str) -> bool:
        try:
            return self._store.find_text(named) == text
        except PogError:
            return False

    def _known(self, task: TaskId) -> list[Text]:
        found = []
        for each in self._read().get(task, []):
            match each:
                case [str(blob), int(size), str(class_)]:
                    found.append(Text(blob=BlobId(blob), size=size, class_=class_))
        return found

    def _read(self) -> dict[str, list[object]]:
        found = jottings.read(self._store.layout.own / _FILE)
        return {task: each for task, each in found.items() if isinstance(each, list)} if isinstance(found, dict) else {}
