"""What Claude Code's edits did to files: both sides from the original and the strings, never from the patch shown.

Knows the tools that write files and the contents a session has seen; nothing of lines, events or repositories. What
cannot be shown to follow from the original is left without sides.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from pogstore.interop.claude_lines import Outcome, text
from pogstore.interop.recorded_paths import Parts

TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
"""The tools that write the one file they name."""
BODIES = frozenset(("old_string", "new_string", "content", "edits", "new_source"))
"""The fields of their inputs that hold contents of files."""
MOST_EDITS = 10_000
"""Replacements of one call: each of them goes through the whole file (case T13)."""
REMEMBERED = 8
"""How many contents of one path are kept to find what a sub-agent edited."""

_CREATED = "File created successfully"
_REMINDER = "\n\n<system-reminder>"
_NUMBERED = re.compile(r" *([0-9]+)[→\t](.*)")
_MOST_LINES, _LONGEST_LINE = 2000, 2000
"""What the tool that reads shows of a file, unless it is asked for more, and of one line."""
_ENCODING_LOST = "\ufffd"


class Replacement(NamedTuple):
    """An old text gives way to a new one, where it stands, or everywhere."""

    old: str
    new: str
    everywhere: bool


class Edit(NamedTuple):
    """One successful edit as it was told: whole new `content`, or `replacements`.

    `original` is `None` if the file did not exist, `UNSET` if nobody says what it held. A tool that is not `exact` may
    find the old text where it does not stand to the letter. `made` tells what an edit of another sort makes of a text.
    """

    path: str
    original: str | UnsetType | None
    content: str | None
    replacements: tuple[Replacement, ...]
    user_modified: bool = False
    exact: bool = True
    made: Callable[[str], str | None] | None = None


class Gap(NamedTuple):
    """A path changed between two edits and no call explains it."""

    before: str | None
    after: str | None


class Sides(NamedTuple):
    """What an edit did. Without `reason` both sides are exact, `None` being a file that did not exist.

    With one: `user-modified` and `encoding` have both sides; `no-before` has only the later one; the others have none.
    `inferred` says that what was before was found, not told. `gap` is what the path held last, if it was not `before`.
    """

    before: str | None = None
    after: str | None = None
    reason: str | None = None
    inferred: bool = False
    gap: Gap | None = None


def edit_of(tool: str, given: Mapping[str, object], outcome: Outcome | None, answer: str) -> Edit:
    """Returns the edit that a successful call made; what its outcome tells comes before what it was asked for."""
    told = outcome or Outcome()
    path = text(told.file_path) or text(given.get("file_path")) or text(given.get("notebook_path")) or ""
    modified = told.user_modified is True
    if tool == "NotebookEdit":
        before, after = told.notebook_before, told.notebook_after
        return Edit(path, before if isinstance(before, str) else UNSET, _text(after), (), modified)
    if tool == "Write":
        content = _text(told.content) if isinstance(told.content, str) else _text(given.get("content"))
        created = told.type == "create" or (outcome is None and answer.startswith(_CREATED))
        before = told.original_file if isinstance(told.original_file, str) else UNSET
        return Edit(path, None if created else before, content, (), modified)
    original = _original(told.original_file if told.original_file is not UNSET else told.original_file_contents)
    return Edit(path, original, None, _replacements(tool, given, told), modified)


def outcome_of(edit: Edit) -> str | None:
    """Returns what an edit, by its own account, left of the file."""
    if edit.content is not None:
        return edit.content
    if not isinstance(edit.original, str):
        return None
    return rewritten(edit.original, edit.replacements) if edit.made is None else edit.made(edit.original)


def is_told(edit: Edit | None) -> bool:
    """Says whether an edit tells what the file held before it."""
    return edit is not None and edit.original is not UNSET


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _original(value: object) -> str | UnsetType | None:
    return value if isinstance(value, str) or value is None else UNSET


def _replacements(tool: str, given: Mapping[str, object], told: Outcome) -> tuple[Replacement, ...]:
    if tool == "MultiEdit":
        return replacements_of(told.edits if isinstance(told.edits, list) else given.get("edits"))
    if isinstance(told.old_string, str) and isinstance(told.new_string, str):
        return (Replacement(told.old_string, told.new_string, told.replace_all is True),)
    found = _replacement(given)
    return (found,) if found else ()


def replacements_of(edits: object) -> tuple[Replacement, ...]:
    """Returns the replacements in a list of edits; none if one of them cannot be read, or if nobody edits so much."""
    known = edits if isinstance(edits, list) and len(edits) <= MOST_EDITS else []
    found = [_replacement(edit) for edit in known if isinstance(edit, dict)]
    return tuple(each for each in found if each) if all(found) else ()


def _replacement(edit: Mapping[str, object]) -> Replacement | None:
    old, new = edit.get("old_string", edit.get("oldString")), edit.get("new_string", edit.get("newString"))
    everywhere = edit.get("replace_all", edit.get("replaceAll")) is True
    return Replacement(old, new, everywhere) if isinstance(old, str) and isinstance(new, str) else None


def read_whole(given: Mapping[str, object], outcome: Outcome | None, answer: str) -> tuple[str, str] | None:
    """Returns the path and content of a file that a `Read` showed from its first line to its end, or `None`."""
    if outcome is None:
        path, content = (
            text(given.get("file_path")),
            None if {"offset", "limit"} & given.keys() else _unnumbered(answer),
        )
        return (path, content) if path and content is not None else None
    match outcome.file:
        case {"filePath": str(path), "content": str(content), "startLine": 1, "numLines": n, "totalLines": total}:
            return (path, content) if n == total else None
    return None


def _unnumbered(answer: str) -> str | None:
    """Returns the text that was shown with its lines numbered from 1, if all of it was shown."""
    lines = [_NUMBERED.fullmatch(line) for line in answer.split(_REMINDER, maxsplit=1)[0].split("\n")]
    shown = [line[2] for number, line in enumerate(lines, 1) if line and line[1] == str(number)]
    whole = len(shown) == len(lines) < _MOST_LINES and max(map(len, shown)) < _LONGEST_LINE
    return "\n".join(shown) if whole else None


def rewritten(original: str, replacements: tuple[Replacement, ...]) -> str | None:
    """Returns what the replacements make of a text, or `None` if they cannot have been made in it."""
    content: str | None = original
    for replacement in replacements:
        content = _replaced(content, replacement) if content is not None else None
    return content if replacements else None


def _replaced(content: str, replacement: Replacement) -> str | None:
    old, new, everywhere = replacement
    if not old:
        return new if not content else None
    if (found := content.count(old)) == 0 or (found > 1 and not everywhere):
        return None
    if not new and not old.endswith("\n") and old + "\n" in content:
        old += "\n"  # the tool takes the end of the line along when it deletes; seen in its transcripts
    return content.replace(old, new, -1 if everywhere else 1)


def undone(content: str, replacements: tuple[Replacement, ...]) -> str | None:
    """Returns the text in which the replacements were made, from what they made of it; `None` if it is not certain.

    It is where each new text stands just once, and the old text did not hold it everywhere.
    """
    for old, new, everywhere in reversed(replacements):
        if not new or everywhere or content.count(new) != 1:
            return None
        content = content.replace(new, old)
    return content if replacements else None


class Contents:
    """The contents that one session has seen of each path, in its own order."""

    def __init__(self) -> None:
        self._last: dict[Parts, str | None] = {}
        self._seen: dict[Parts, deque[str]] = {}

    def saw(self, path: Parts, content: str | None) -> None:
        """Remembers a content of a path that may serve to find what a sub-agent edited."""
        seen = self._seen.setdefault(path, deque(maxlen=REMEMBERED))
        if content is not None and (not seen or seen[-1] != content):
            seen.append(content)

    def paths(self) -> list[Parts]:
        """Returns the paths of which a content was seen."""
        return list(self._seen)

    def held(self, path: Parts) -> str | None:
        """Returns what a path held when it was last seen; nothing if nobody has read it, or if it was gone."""
        if path in self._last:
            return self._last[path]
        seen = self._seen.get(path)
        return seen[-1] if seen else None

    def seen(self, path: Parts) -> Iterator[str]:
        """Yields the contents that a path was seen to have, the present one first; none now if it is gone."""
        if path in self._last and self._last[path] is None:
            return
        last = self._last.get(path)
        if last is not None:
            yield last
        yield from (each for each in reversed(self._seen.get(path, ())) if each != last)

    def wrote(self, path: Parts, content: str | None) -> None:
        """Remembers what a call has made of a path."""
        self.saw(path, content)
        self._last[path] = content

    def moved(self, old: Parts, new: Parts) -> str | None:
        """Gives what is known of a path to another one; returns what it held."""
        content = self.held(old)
        self._seen[new] = self._seen.pop(old, deque(maxlen=REMEMBERED))
        self._last.pop(old, None)
        if content is not None:
            self.wrote(new, content)
        return content

    def lost(self, path: Parts) -> None:
        """Forgets what a path holds now: a call may have changed it and does not tell."""
        self._last.pop(path, None)

    def settle(self, path: Parts, edit: Edit, older: Iterable[str] = ()) -> Sides:
        """Returns what an edit did to a path, and takes its outcome for what the path holds from now on.

        `older` are other contents that the path had, the newest first, for an edit that starts from none of the seen.
        """
        sides = self._written(path, edit) if edit.content is not None else self._replaced(path, edit, older)
        if sides.after is None:
            self.lost(path)
            return sides
        self.saw(path, sides.before)
        self.saw(path, sides.after)
        gap = None if sides.inferred or sides.reason == "encoding" else self._gap(path, sides.before)
        self._last[path] = sides.after
        return sides._replace(gap=gap)

    def _gap(self, path: Parts, before: str | None) -> Gap | None:
        last = self._last.get(path, before)
        return Gap(last, before) if last != before else None

    def _written(self, path: Parts, edit: Edit) -> Sides:
        if not isinstance(edit.original, UnsetType):
            return self._told(path, edit, edit.original, edit.content)
        if path in self._last:
            return Sides(self._last[path], edit.content, inferred=True)
        return Sides(None, edit.content, "no-before", inferred=True)

    def _replaced(self, path: Parts, edit: Edit, older: Iterable[str]) -> Sides:
        creates = [each.old for each in edit.replacements[:1]] == [""]
        if creates and edit.original in (None, "") and self._last.get(path) is None:
            # the tool reads a file that does not exist as an empty one
            return self._told(path, edit, None, rewritten("", edit.replacements))
        if isinstance(edit.original, str):
            after = rewritten(edit.original, edit.replacements)
            return self._told(path, edit, edit.original, after) if after is not None else Sides(reason="unverified")
        for before in chain(reversed(self._seen.get(path, ())), older):
            if (after := rewritten(before, edit.replacements)) is not None:
                return Sides(before, after, inferred=True)
        return Sides(reason="no-original")

    def _told(self, path: Parts, edit: Edit, before: str | None, after: str | None) -> Sides:
        if edit.user_modified:
            return Sides(before, after, "user-modified")
        if before is not None and _ENCODING_LOST in before and self._last.get(path) != before:
            return Sides(before, after, "encoding")
        return Sides(before, after)
