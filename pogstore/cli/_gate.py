"""The answer of the gate as text, as Markdown and as JSON. What others wrote stands in Markdown as code."""

from collections.abc import Iterator, Sequence

import msgspec

from pogstore.cli._events import SHORT
from pogstore.cli._range import code
from pogstore.cli._render import counted, raw_path_text, safe, table
from pogstore.cli._values import Value
from pogstore.history.gate import Gate, Gated, Problem
from pogstore.history.tasks import summary
from pogstore.store.content import path_of
from pogstore.store.store import Store

LONGEST = 200
"""Characters of a reason in a cell of Markdown."""


def gate_lines(found: Gate) -> Iterator[str]:
    """Yields a table of what is wrong, and one line that counts."""
    rows = [(problem.rule, _where(problem), _task(problem), safe(problem.reason)) for problem in found.problems]
    yield from table(rows)
    yield _counts(found)


def _counts(found: Gate) -> str:
    lines = f"{counted(found.covered, 'line')} of {counted(len(found.tasks), 'task')}"
    verdict = counted(len(found.problems), "fault") if found.problems else "no fault"
    return f"{counted(found.files, 'file')}: {lines}, {found.uncovered} not recorded; {verdict}"


def _where(problem: Problem) -> str:
    return "" if problem.path is None else raw_path_text(problem.path) + _numbers(problem.lines)


def _numbers(lines: Sequence[range]) -> str:
    shown = [str(each.start) if len(each) == 1 else f"{each.start}-{each.stop - 1}" for each in lines[:8]]
    return (":" + ",".join(shown) + (",…" if len(lines) > 8 else "")) if shown else ""


def _task(problem: Problem) -> str:
    return problem.task[:SHORT] if problem.task else ""


def gate_summary(store: Store, found: Gate) -> Iterator[str]:
    """Yields Markdown for a pull request."""
    mark = "passed" if found.ok else f"**{counted(len(found.problems), 'fault')}**"
    yield f"Limits of agents: {mark}, in {counted(found.files, 'changed file')}"
    if found.problems:
        yield ""
        yield "| rule | where | task | why |"
        yield "|---|---|---|---|"
        for each in found.problems:
            where = code(_where(each), LONGEST) if each.path is not None else ""
            task = code(_task(each)) if each.task else ""
            yield f"| {code(each.rule)} | {where} | {task} | {code(each.reason, LONGEST)} |"
    if found.tasks:
        yield ""
        yield "| task | lines | approvals | checks |"
        yield "|---|---:|---:|---|"
        for gated in found.tasks:
            title = code(summary(store, gated.task).title)
            yield f"| {code(gated.task[:SHORT])} {title} | {gated.lines} | {_approvals(gated)} | {_checks(gated)} |"


def _approvals(gated: Gated) -> str:
    return f"{gated.approvals.have} of {gated.approvals.needed}"


def _checks(gated: Gated) -> str:
    return ", ".join(f"{code(check.command)} {check.state}" for check in gated.checks)


def gate_value(store: Store, found: Gate) -> Value:
    """Returns what `--json` says."""
    return {
        "ok": found.ok,
        "base": found.base,
        "tip": found.tip,
        "files": found.files,
        "covered": found.covered,
        "uncovered": found.uncovered,
        "tasks": [_gated(store, gated) for gated in found.tasks],
        "problems": [_problem(problem) for problem in found.problems],
    }


def _gated(store: Store, gated: Gated) -> Value:
    return {
        "task": gated.task,
        "title": summary(store, gated.task).title,
        "lines": gated.lines,
        "approvals": {"needed": gated.approvals.needed, "have": gated.approvals.have},
        "checks": [{"command": check.command, "state": check.state} for check in gated.checks],
    }


def _problem(problem: Problem) -> Value:
    value: Value = {"rule": problem.rule, "reason": problem.reason}
    if problem.path is not None:
        value["path"] = msgspec.to_builtins(path_of(problem.path))
        value["lines"] = [[each.start, each.stop - 1] for each in problem.lines]
    if problem.task is not None:
        value["task"] = problem.task
    if problem.event is not None:
        value["event"] = problem.event
    return value
