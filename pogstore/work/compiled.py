"""The contract of a task as a hook finds it: one small file, `<common git dir>/pog/contracts/<task>`.

What holds for every task is one more, named `-`, for whoever is on none that has a file.

A cache: what holds is said by the task's definition (`bounds.py`), and whoever drains compares the two. Lies on the
path of a hook where there is such a file: see `spool.py`.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH118, PTH208

import os

from pogstore.digest import hexdigest
from pogstore.policy import LIMITS, Contract, Limits, Refusal
from pogstore.work import spool

FOLDER = b"contracts"
LARGEST = 1 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LISTS = ("allow", "deny", "command_allow", "command_deny")
_ABSENT = ("allow", "command_allow")
"""The lists that say something else when they are empty than when they are not there."""


class Damaged(Exception):
    """A compiled contract that is none, whoever wrote it."""


def encode(contract: Contract, claim: str) -> bytes:
    """Returns the bytes of the file: a line with the hash of the rest, which tells of damage, and named values."""
    pairs = [
        (b"version", b"1"),
        (b"task", contract.task.encode()),
        (b"definition_id", contract.definition.encode()),
        (b"claim", claim.encode()),
        (b"standing", _bytes(contract.standing)),
        *([(b"fault", _bytes(contract.fault))] if contract.fault else []),
        *((b"lost_in", _bytes(each)) for each in contract.lost_in),
        (b"lease_until", b"%d" % contract.lease_until),
        (b"since", b"%d" % contract.since),
        *((b"budget", b"%d %b" % (amount, name.encode())) for name, amount in sorted(contract.budget.items())),
        *((b"spent", b"%d %b" % (amount, name.encode())) for name, amount in sorted(contract.spent.items())),
        *((b"limits", _limits(limits)) for limits in contract.limits),
    ]
    body = spool.fields(*pairs)
    return hexdigest(body).encode() + b"\n" + body


def _limits(limits: Limits) -> bytes:
    pairs = [(b"source", _bytes(limits.source))]
    for name in _LISTS:
        values = getattr(limits, name)
        if values is not None and name in _ABSENT:
            pairs.append((b"has", name.encode()))
        pairs += [(name.encode(), _bytes(value)) for value in values or ()]
    return spool.fields(*pairs)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def decode(data: bytes) -> tuple[Contract, str]:
    """Returns a contract and the event of its claim; raises `Damaged`."""
    seal, newline, body = data.partition(b"\n")
    if not newline or seal != hexdigest(body).encode():
        raise Damaged
    try:
        return _decoded(body)
    except (ValueError, KeyError) as fault:
        raise Damaged from fault


def _decoded(body: bytes) -> tuple[Contract, str]:
    pairs = _pairs(body)
    values = {name: value.decode("utf-8", "surrogateescape") for name, value in pairs if name != "limits"}
    if values["version"] != "1":
        raise ValueError
    found = [_limits_of(value) for name, value in pairs if name == "limits"]
    contract = Contract(values["task"], values["definition_id"], found)
    contract.standing, contract.fault = values["standing"], values.get("fault", "")
    contract.lost_in = tuple(value.decode("ascii") for name, value in pairs if name == "lost_in")
    contract.lease_until, contract.since = int(values["lease_until"]), int(values["since"])
    for name, value in pairs:
        if name in ("budget", "spent"):
            amount, _, what = value.decode("ascii").partition(" ")
            getattr(contract, name)[what] = int(amount)
    return contract, values["claim"]


def _limits_of(data: bytes) -> Limits:
    lists: dict[str, list[str]] = {name: [] for name in _LISTS}
    source, has = "", set()
    for name, value in _pairs(data):
        text = value.decode("utf-8", "surrogateescape")
        if name == "source":
            source = text
        elif name == "has":
            has.add(text)
        else:
            lists[name].append(text)
    return Limits(
        source,
        allow=lists["allow"] if "allow" in has else None,
        deny=lists["deny"],
        command_allow=lists["command_allow"] if "command_allow" in has else None,
        command_deny=lists["command_deny"],
    )


def _pairs(data: bytes) -> list[tuple[str, bytes]]:
    """Returns the named values that `spool.fields` wrote."""
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, _, size = data[at:end].partition(b" ")
        start, at = end + 1, end + 2 + int(size)
        if data[at - 1 : at] != b"\n":
            raise ValueError
        found.append((name.decode("ascii"), data[start : at - 1]))
    return found


def find(own: bytes, task: str) -> bytes | None:
    """Returns the file of a task, by its id or the beginning of one; nothing if there is none or it cannot be told.

    `own` is `<common git dir>/pog`.
    """
    folder = os.path.join(own, FOLDER)
    name = task.encode("utf-8", "surrogateescape").lower()
    if not name or b"/" in name or name.startswith(b"."):
        return None
    try:
        same = [each for each in os.listdir(folder) if each.startswith(name)]
    except OSError:
        return None
    return os.path.join(folder, same[0]) if len(same) == 1 else None


def read(path: bytes) -> tuple[Contract, str]:
    """Returns what a compiled file says; raises `Damaged`, and `OSError` as the system gives it."""
    file = os.open(path, _FLAGS)
    try:
        return decode(os.read(file, LARGEST))
    finally:
        os.close(file)


def unreadable() -> Refusal:
    """Returns the answer where a contract holds and nobody can tell what it says."""
    return Refusal(LIMITS, "the limits cannot be read; 'git pog init' and 'git pog start' make them again")
