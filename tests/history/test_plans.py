"""The digest of a plan: equal for equal plans, another for whatever is done or relied on otherwise."""

from pogstore.draft import FileVersion
from pogstore.history.plans import Cascade, Clash, Effect, Left, Obstacle, Plan, TaskPlan, digest_of
from pogstore.model import EventId, OddPath, Outcome, TaskId
from pogstore.work.writer import Write

ONE, TWO = FileVersion(mode="100644", data=b"1\n"), FileVersion(mode="100644", data=b"2\n")
EVENT, TASK = EventId("e" * 64), TaskId("01900000-0000-7000-8000-000000000000")
WRITE = Write("f", ONE, TWO)
EFFECT = Effect("f", None, ONE, TWO)
OWN = TaskPlan(TASK, (EVENT,), (Outcome(event=EVENT, outcome="applied"),), (EFFECT,))
PLAN = Plan((OWN,), (WRITE,), ())


def test_whatever_differs_gives_another_digest() -> None:
    others = [
        PLAN._replace(writes=()),
        PLAN._replace(writes=(), unchanged=(WRITE,)),
        PLAN._replace(writes=(WRITE._replace(path="g"),)),
        PLAN._replace(writes=(WRITE._replace(path="\udcff"),)),
        PLAN._replace(writes=(WRITE._replace(before=None),)),
        PLAN._replace(writes=(WRITE._replace(after=None),)),
        PLAN._replace(writes=(WRITE._replace(after=FileVersion(mode="100755", data=b"2\n")),)),
        PLAN._replace(writes=(WRITE._replace(after=FileVersion(mode="120000", data=b"2\n")),)),
        PLAN._replace(tasks=(OWN._replace(targets=()),)),
        PLAN._replace(tasks=(OWN._replace(outcomes=(Outcome(event=EVENT, outcome="identical"),)),)),
        PLAN._replace(tasks=(OWN._replace(effects=(EFFECT._replace(older="g"),)),)),
        PLAN._replace(obstacles=(Obstacle("f", "overlap", EVENT, ()),)),
        PLAN._replace(obstacles=(Obstacle("f", "overlap", EVENT, (EVENT,)),)),
        PLAN._replace(obstacles=(Obstacle(OddPath(b64="/w=="), "overlap", EVENT, ()),)),
        PLAN._replace(skipped=1),
        PLAN._replace(uncovered=(EVENT,)),
        PLAN._replace(left=(Left("f", "a backslash"),)),
        PLAN._replace(kept=(Obstacle("f", "overlap", EVENT, ()),)),
        PLAN._replace(clashes=(Clash("f", "overlap", EVENT, ONE, TWO, None),)),
        PLAN._replace(cascade=Cascade((EVENT,), "smallest")),
    ]
    digests = [digest_of(plan) for plan in (PLAN, *others)]
    assert len(set(digests)) == len(digests)
    assert all(len(digest) == 64 for digest in digests)


def test_an_equal_plan_has_an_equal_digest() -> None:
    again = Plan((OWN._replace(effects=(Effect("f", None, ONE, TWO),)),), (Write("f", ONE, TWO),), ())
    assert digest_of(again) == digest_of(PLAN)
