"""The options of `new` and `edit`: what a task is to be, and within which limits."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec
from msgspec.structs import replace

from pogstore.cli._context import Env
from pogstore.cli._options import text_of
from pogstore.model import Budget, ChecklistItem, Definition, Globs, Link, TaskId

_F = TypeVar("_F", bound=Callable[..., Any])

_TEXTS = ("description", "category", "priority", "issue")
_LISTS = ("tags", "inputs", "context_files", "related_files", "checks", "aliases")
_BUDGET = ("tokens", "cost_micro_usd", "minutes", "changed_lines")

_OPTIONS = (
    click.option("--intent", metavar="TEXT|-|@FILE", help="What is wanted, and why."),
    click.option("--description", metavar="TEXT|-|@FILE", help="A longer description."),
    click.option("--category", help="Such as feature, bugfix, refactor, test, doc."),
    click.option("--priority", help="low, medium, high or urgent."),
    click.option("--tag", "tags", multiple=True, help="A tag; may be given several times."),
    click.option("--item", "items", multiple=True, help="A checklist item; may be given several times."),
    click.option("--input", "inputs", multiple=True, help="Something that the task needs."),
    click.option("--context", "context_files", multiple=True, metavar="PATH", help="A file to read before."),
    click.option("--file", "related_files", multiple=True, metavar="PATH", help="A file that the task is about."),
    click.option("--estimate", "estimate_minutes", type=click.IntRange(0), metavar="MINUTES", help="An estimate."),
    click.option("--issue", help="The key of an issue elsewhere; also an alias."),
    click.option("--alias", "aliases", multiple=True, help="Another name for the task."),
    click.option("--parent", metavar="TASK", help="The task that this one is a part of."),
    click.option("--depends", multiple=True, metavar="TASK", help="A task that must be completed before."),
    click.option("--blocks", multiple=True, metavar="TASK", help="A task that must wait for this one."),
    click.option("--derived-from", multiple=True, metavar="TASK", help="A task that this one was forked from."),
    click.option("--allow", multiple=True, metavar="GLOB", help="Paths that may be changed; without it, all."),
    click.option("--deny", multiple=True, metavar="GLOB", help="Paths that may not be changed."),
    click.option("--allow-command", multiple=True, metavar="GLOB", help="Commands that may be run; without it, all."),
    click.option("--deny-command", multiple=True, metavar="GLOB", help="Commands that may not be run."),
    click.option("--check", "checks", multiple=True, metavar="CMD", help="A command that proves the task done."),
    click.option("--approvals", type=click.IntRange(0), help="How many approvals are needed."),
    click.option("--budget-tokens", "tokens", type=click.IntRange(0), help="Tokens that may be spent."),
    click.option("--budget-cost", "cost_micro_usd", type=click.IntRange(0), metavar="MICRO_USD", help="Cost allowed."),
    click.option("--budget-minutes", "minutes", type=click.IntRange(0), help="Minutes that may be spent."),
    click.option("--budget-lines", "changed_lines", type=click.IntRange(0), help="Lines that may be changed."),
)


def contract_options(function: _F) -> _F:
    """Adds every option of a definition but its title."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def defined(
    env: Env, definition: Definition, links: tuple[Link, ...], given: dict[str, Any]
) -> tuple[Definition, tuple[Link, ...]]:
    """Returns a definition and links in which everything that was given is set; lists replace, nothing else changes."""
    changes: dict[str, Any] = {name: given[name] for name in (*_LISTS, "approvals", "estimate_minutes") if given[name]}
    for name in ("intent", *_TEXTS):
        text = text_of(given[name], f"--{name}")
        if text is not None:
            changes[name] = text
    if given["items"]:
        changes["checklist"] = tuple(ChecklistItem(text=text) for text in given["items"])
    changes |= _limits(definition, given)
    return replace(definition, **changes), _links(env, links, given)


def _limits(definition: Definition, given: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if given["allow"] or given["deny"]:
        changes["scope"] = Globs(allow=given["allow"] or None, deny=given["deny"])
    if given["allow_command"] or given["deny_command"]:
        changes["commands"] = Globs(allow=given["allow_command"] or None, deny=given["deny_command"])
    spent = {name: given[name] for name in _BUDGET if given[name] is not None}
    if spent:
        kept = msgspec.structs.asdict(definition.budget) if definition.budget else {}
        changes["budget"] = Budget(**(kept | spent))
    return changes


def _links(env: Env, links: tuple[Link, ...], given: dict[str, Any]) -> tuple[Link, ...]:
    named = {
        "parent": [given["parent"]] if given["parent"] else [],
        "depends_on": given["depends"],
        "blocks": given["blocks"],
        "derived_from": given["derived_from"],
    }
    kept = [link for link in links if not named.get(link.rel)]
    new = [Link(rel=rel, task=TaskId(env.task(name))) for rel, tasks in named.items() for name in tasks]
    return (*kept, *new)
