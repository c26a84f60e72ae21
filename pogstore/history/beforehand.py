"""Blame of all files beforehand, so that each is answered at once when somebody asks: the index is filled.

Never needed: a file that is asked about is looked at by itself, whatever else has been.
"""

from collections.abc import Iterator

from pogstore.errors import NotFound
from pogstore.history.attributed import Question, attributed
from pogstore.history.former import keep_never_renamed
from pogstore.history.past import WholePast
from pogstore.store import gitlog
from pogstore.store.store import MAX_CONTENT, Store


def prepare(store: Store) -> Iterator[tuple[int, int]]:
    """Finds out who wrote each line of every file of HEAD; yields after each how many are done, and of how many."""
    tip = gitlog.find_head(store.git)
    if tip is None:
        return
    with store.one_moment():
        past = WholePast(store, tip)
        keep_never_renamed(store, tip, filter(past.never_renamed, past.files))
        for done, (path, blob) in enumerate(past.files.items(), 1):
            try:
                _, content = store.objects.read(blob, MAX_CONTENT)
            except NotFound:
                content = b""
            ended = content if content.endswith(b"\n") or not content else content + b"\n"
            attributed(store, Question(path, tip, ended), past)
            yield done, len(past.files)
