"""Whether what was done kept to the limits of its task: facts are judged by the definition, not by a hook's file."""

from collections.abc import Iterable
from typing import NamedTuple

from pogstore import model, policy
from pogstore.model import TaskId
from pogstore.policy import Contract, Limits, Refusal
from pogstore.store.content import path_bytes


class Deed(NamedTuple):
    """What a step changed, and what a shell was told, where that is known."""

    paths: tuple[model.Path, ...]
    command: str = ""


def judge(task: TaskId, limits: tuple[Limits, ...], deed: Deed) -> Refusal | None:
    """Returns which limit a deed broke; nothing if none.

    What a command wrote is told by what changed; of the command itself only its programs are judged here.
    """
    if not limits:
        return None
    contract = Contract(task, "", limits)
    found = policy.judge_paths(contract, spelled(deed.paths))
    if found is None and deed.command and contract.on_commands:
        found = policy.judge_command(contract, deed.command, lambda _: ())
    return found


def spelled(paths: Iterable[model.Path]) -> list[str]:
    """Returns paths of events as a contract judges them; one outside of the repository has no name but `/`."""
    return ["/" if (raw := path_bytes(path)) is None else raw.decode("utf-8", "surrogateescape") for path in paths]
