"""The options of `new` and `edit`: what a task is to be, and within which limits."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import msgspec
from msgspec.structs import replace

from pogstore.cli._context import Env
from pogstore.cli._options import text_in, text_of
from pogstore.history.tasks import PRIORITIES
from pogstore.model import Budget, ChecklistItem, Definition, Globs, Link

_F = TypeVar("_F", bound=Callable[..., Any])

_WORDS = ("category", "priority", "issue")
_LISTS = ("tags", "inputs", "context_files", "related_files", "checks", "aliases")
_NUMBERS = ("approvals", "estimate_minutes")
_BUDGET = ("tokens", "cost_micro_usd", "minutes", "changed_lines")
_RELATIONS = {"parent": "parent", "depends": "depends_on", "blocks": "blocks", "derived_from": "derived_from"}
_NUMBER = click.IntRange(0)


def _many(name: str, field: str, metavar: str, help_: str) -> Callable[[_F], _F]:
    return click.option(name, field, multiple=True, metavar=metavar, help=help_)


def _priority(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    """Refuses a word by which `git pog ready` cannot order tasks; an empty one takes the priority away."""
    if given and given not in PRIORITIES:
        raise click.BadParameter(f"'{given}' is not one of {', '.join(PRIORITIES)}")
    return given


_OPTIONS = (
    click.option("--intent", metavar="TEXT|FILE|-", help="What is wanted, and why, or a file that says it."),
    click.option("--description", metavar="TEXT|-", help="A longer description."),
    click.option("--category", metavar="WORD", help="Such as feature, bugfix, refactor, test, doc."),
    click.option("--priority", metavar="WORD", callback=_priority, help="low, medium, high, urgent or critical."),
    _many("--tag", "tags", "TAG", "A tag."),
    _many("--item", "items", "TEXT", "A checklist item."),
    _many("--input", "inputs", "TEXT", "Something that the task needs."),
    _many("--context", "context_files", "PATH", "A file to read before."),
    _many("--file", "related_files", "PATH", "A file that the task is about."),
    _many("--alias", "aliases", "NAME", "Another name for the task."),
    _many("--check", "checks", "CMD", "A command that proves the task done."),
    _many("--depends", "depends", "TASK", "A task that must be completed before."),
    _many("--blocks", "blocks", "TASK", "A task that must wait for this one."),
    _many("--derived-from", "derived_from", "TASK", "A task that this one was forked from."),
    _many("--allow", "allow", "GLOB", "Paths that may be changed; without it, all."),
    _many("--deny", "deny", "GLOB", "Paths that may not be changed."),
    _many("--allow-command", "allow_command", "GLOB", "Commands that may be run; without it, all."),
    _many("--deny-command", "deny_command", "GLOB", "Commands that may not be run."),
    click.option("--parent", metavar="TASK", help="The task that this one is a part of."),
    click.option("--issue", metavar="KEY", help="The key of an issue elsewhere."),
    click.option("--estimate", "estimate_minutes", type=_NUMBER, metavar="MINUTES", help="An estimate."),
    click.option("--approvals", type=_NUMBER, metavar="N", help="How many approvals are needed."),
    click.option("--budget-tokens", "tokens", type=_NUMBER, metavar="N", help="Tokens that may be spent."),
    click.option("--budget-cost", "cost_micro_usd", type=_NUMBER, metavar="MICRO_USD", help="Cost allowed."),
    click.option("--budget-minutes", "minutes", type=_NUMBER, metavar="N", help="Minutes that may be spent."),
    click.option("--budget-lines", "changed_lines", type=_NUMBER, metavar="N", help="Lines that may be changed."),
)  # fmt: skip


def contract_options(function: _F) -> _F:
    """Adds every option of a definition but its title."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def defined(
    env: Env, definition: Definition, links: tuple[Link, ...], given: dict[str, Any]
) -> tuple[Definition, tuple[Link, ...]]:
    """Returns a definition and links in which everything that was given is set, and the rest is as it was.

    A list that is given replaces the old one; an empty value takes a field away.
    """
    changes: dict[str, Any] = {name: given[name] for name in _NUMBERS if given[name] is not None}
    changes |= {name: _filled(given[name]) for name in _LISTS if given[name]}
    texts = {name: given[name] for name in _WORDS}
    texts["intent"] = text_in(given["intent"], "--intent")
    texts["description"] = text_of(given["description"], "--description")
    changes |= {name: text or None for name, text in texts.items() if text is not None}
    if given["items"]:
        changes["checklist"] = _checklist(definition, _filled(given["items"]))
    changes["scope"] = _globs(definition.scope, given["allow"], given["deny"])
    changes["commands"] = _globs(definition.commands, given["allow_command"], given["deny_command"])
    changes["budget"] = _budget(definition.budget, {name: given[name] for name in _BUDGET if given[name] is not None})
    return replace(definition, **changes), _links(env, links, given)


def _filled(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value for value in values if value)


def _checklist(definition: Definition, texts: Sequence[str]) -> tuple[ChecklistItem, ...]:
    """Returns items of some texts; one that was there before stays as it was."""
    before = {item.text: item for item in definition.checklist}
    return tuple(before.get(text) or ChecklistItem(text=text) for text in texts)


def _globs(before: Globs | None, allow: Sequence[str], deny: Sequence[str]) -> Globs | None:
    if not allow and not deny:
        return before
    now = before or Globs()
    if allow:
        now = replace(now, allow=_filled(allow) or None)
    if deny:
        now = replace(now, deny=_filled(deny))
    return None if now == Globs() else now


def _budget(before: Budget | None, spent: dict[str, int]) -> Budget | None:
    kept = msgspec.structs.asdict(before) if before else {}
    return Budget(**(kept | spent)) if spent else before


def _links(env: Env, links: tuple[Link, ...], given: dict[str, Any]) -> tuple[Link, ...]:
    named = {rel: (given[name],) if isinstance(given[name], str) else given[name] for name, rel in _RELATIONS.items()}
    kept = [link for link in links if not named.get(link.rel)]
    new = [Link(rel=rel, task=env.task(name)) for rel, tasks in named.items() for name in _filled(tasks or ())]
    return (*kept, *dict.fromkeys(new))
