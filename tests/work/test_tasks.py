"""The verbs of a task, where no other test looks at them."""

import pytest

from pogstore.errors import IllegalTransition
from pogstore.model import FORMAT, Definition, Moved
from pogstore.work.acts import By
from pogstore.work.claims import start
from pogstore.work.tasks import define, move
from tests.builders_store import ADA, TASK, opened
from tests.conftest import STARTED, Repo


@pytest.mark.parametrize("status", ["pending", "completed"])
def test_a_task_comes_back_from_a_status_that_only_others_know(repo: Repo, status: str) -> None:
    store = opened(repo)
    by = By(actor=ADA, time=STARTED)
    define(store, TASK, Definition(title="a task"), by)
    unknown = Moved(v=FORMAT, task=TASK, clock=1, time=STARTED, actor=ADA, status="archived")
    store.transact(lambda batch: batch.append(unknown))
    move(store, TASK, status, by)
    with pytest.raises(IllegalTransition):
        move(store, TASK, "in_review", by)
    if status == "pending":
        assert len(start(store, TASK, by)) == 2
