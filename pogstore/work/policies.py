"""What holds for every task here: `git config pog.*`, narrowed by the tracked files `.pog.toml`.

Policy comes from git's configuration, which no clone brings along. A file of the work tree can only narrow it: it names
further limits, and it runs nothing. It counts as HEAD has it and as it lies there, so that taking it away widens
nothing before a person has committed that.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pogstore.errors import BadInput
from pogstore.policy import Limits
from pogstore.store.store import Store

FILE = ".pog.toml"
REQUIRE_TASK = "pog.requireTask"
_LARGEST = 64 * 1024
_LISTS = {
    "allow": "pog.allow",
    "deny": "pog.deny",
    "allow_command": "pog.allowCommand",
    "deny_command": "pog.denyCommand",
}
_BUDGET = ("tokens", "cost_micro_usd", "minutes", "changed_lines")


class Policy(NamedTuple):
    """Limits for every task, whether there must be one, and what else is asked of it.

    `checks` are commands of git's configuration alone: a file of the repository runs nothing.
    """

    limits: tuple[Limits, ...] = ()
    require_task: bool = False
    approvals: int = 0
    budget: Mapping[str, int] = {}
    checks: tuple[str, ...] = ()

    def narrowed(self, other: "Policy") -> "Policy":
        """Returns what holds if both do."""
        budgets = (self.budget, other.budget)
        return Policy(
            (*self.limits, *other.limits),
            self.require_task or other.require_task,
            max(self.approvals, other.approvals),
            {name: min(each[name] for each in budgets if name in each) for name in {*self.budget, *other.budget}},
            (*self.checks, *other.checks),
        )


def policy_of(store: Store) -> Policy:
    """Returns what holds here: the configuration, and `.pog.toml` as HEAD has it and as it lies in the work tree.

    Raises `BadInput` for a file that says what cannot narrow.
    """
    return with_files(store, [file_at(store, "HEAD"), _in_work_tree(store)])


def requires_task(store: Store) -> bool:
    """Says whether agents may change nothing without a task; so too where a file that may say so cannot be read."""
    try:
        return policy_of(store).require_task
    except BadInput:
        return True


def with_files(store: Store, files: Iterable[bytes | None]) -> Policy:
    """Returns the policy of git's configuration, narrowed by some versions of `.pog.toml`."""
    found = configured(store)
    for data in dict.fromkeys(files):
        if data is not None:
            found = found.narrowed(parsed(data))
    return found


def configured(store: Store) -> Policy:
    """Returns the policy of git's configuration."""
    lists = {name: store.config.all(setting) for name, setting in _LISTS.items()}
    return Policy(
        _limits("git's configuration", lists),
        store.config.flag(REQUIRE_TASK, default=False),
        max(store.config.number("pog.approvals", 0), 0),
        {},
        tuple(store.config.all("pog.check")),
    )


def _limits(source: str, lists: Mapping[str, list[str]]) -> tuple[Limits, ...]:
    if not any(lists.values()):
        return ()
    found = Limits(
        source,
        allow=lists["allow"] or None,
        deny=lists["deny"],
        command_allow=lists["allow_command"] or None,
        command_deny=lists["deny_command"],
    )
    return (found,)


def parsed(data: bytes) -> Policy:
    """Returns what a `.pog.toml` says; raises `BadInput` for anything that is not a limit."""
    try:
        said = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as fault:
        raise BadInput(f"'{FILE}'", f"cannot be read: {fault}") from fault
    lists = {name: _strings(said, name) for name in _LISTS}
    budget = said.pop("budget", {})
    if not isinstance(budget, dict):
        raise BadInput(f"'{FILE}'", "'budget' is no table")
    amounts = {name: _number(budget, name) for name in _BUDGET if name in budget}
    approvals = _number(said, "approvals") if "approvals" in said else 0
    require = said.pop("require_task", False)
    if not isinstance(require, bool):
        raise BadInput(f"'{FILE}'", "'require_task' is neither true nor false")
    for name in (*said, *budget):
        raise BadInput(f"'{FILE}'", f"'{name}' is nothing that narrows what agents may do", "it can hold limits alone")
    return Policy(_limits(FILE, lists), require, approvals, amounts)


def _strings(said: dict[str, object], name: str) -> list[str]:
    value = said.pop(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise BadInput(f"'{FILE}'", f"'{name}' is no list of patterns")
    return value


def _number(said: dict[str, object], name: str) -> int:
    value = said.pop(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"'{FILE}'", f"'{name}' is no whole number")
    return value


def file_at(store: Store, revision: str) -> bytes | None:
    """Returns `.pog.toml` as a revision has it (`:` stands for the index); nothing if it has none."""
    done = store.git.run("cat-file", "blob", f"{revision.removesuffix(':')}:{FILE}", check=False)
    return _small(done.stdout) if done.returncode == 0 else None


def _in_work_tree(store: Store) -> bytes | None:
    if store.layout.work_tree is None:
        return None
    try:
        file = os.open(store.layout.work_tree / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise BadInput(f"'{FILE}'", f"cannot be read: {fault.strerror}") from fault
    with os.fdopen(file, "rb") as opened:
        return _small(opened.read(_LARGEST + 1))


def _small(data: bytes) -> bytes:
    if len(data) > _LARGEST:
        raise BadInput(f"'{FILE}'", f"has more than {_LARGEST:,} bytes")
    return data
