"""Chains in git: the commits behind one of our refs, walked without recursion.

An event chain is a graph of carriers; a content chain is a list of commits whose trees hold contents.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pogstore import codec
from pogstore.errors import ObjectDamaged
from pogstore.model import Oid, Sealed
from pogstore.store.carrier import Carried, parents_of, read_carrier, tree_of
from pogstore.store.content import Entry, entries_of
from pogstore.store.contract import Objects

MAX_CARRIER = codec.MAX_BYTES_WITH_CHANGES + (1 << 20)
"""Bytes: the largest event, and room for the head of a commit with very many parents."""
MAX_TREE = 256 << 20


class Link(NamedTuple):
    """One carrier of a chain."""

    oid: Oid
    carried: Carried
    sealed: Sealed


def read_commit(objects: Objects, oid: Oid) -> bytes:
    """Returns a raw commit; raises `ObjectDamaged` if the object is of another kind."""
    kind, data = objects.read(oid, MAX_CARRIER)
    if kind != "commit":
        raise ObjectDamaged(oid, f"a {kind} in the place of a commit")
    return data


def read_link(objects: Objects, oid: Oid) -> Link:
    """Returns one carrier with its event; raises `ObjectDamaged` or `NotCanonical`."""
    carried = read_carrier(oid, read_commit(objects, oid))
    return Link(oid, carried, codec.decode(carried.canonical))


def events(objects: Objects, tip: Oid, known: Callable[[Oid], bool] = lambda _: False) -> Iterator[Link]:
    """Yields every carrier reachable from a tip that is not known, each once, children before parents on a line."""
    pending, seen = [tip], {tip}
    while pending:
        oid = pending.pop()
        if known(oid):
            continue
        link = read_link(objects, oid)
        yield link
        for parent in link.carried.parents:
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)


def commits(objects: Objects, tip: Oid, known: Callable[[Oid], bool] = lambda _: False) -> Iterator[tuple[Oid, bytes]]:
    """Yields every raw commit reachable from a tip that is not known, each once."""
    pending, seen = [tip], {tip}
    while pending:
        oid = pending.pop()
        if known(oid):
            continue
        commit = read_commit(objects, oid)
        yield oid, commit
        for parent in parents_of(commit):
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)


def contents(objects: Objects, tip: Oid, known: Callable[[Oid], bool] = lambda _: False) -> Iterator[tuple[Oid, Entry]]:
    """Yields what the commits of a content chain hold, each with the oid of its commit."""
    for oid, commit in commits(objects, tip, known):
        for entry in tree_entries(objects, tree_of(oid, commit)):
            yield oid, entry


def tree_entries(objects: Objects, oid: Oid) -> Iterator[Entry]:
    """Yields the contents in one tree."""
    kind, data = objects.read(oid, MAX_TREE)
    if kind != "tree":
        raise ObjectDamaged(oid, f"a {kind} in the place of a tree")
    return entries_of(oid, data)
