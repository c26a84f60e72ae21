"""What runs at every step of an agent: takes what the agent says, looks at the files it names, and appends one record.

It never fails, and ends in bounded time; what it could not record it counts. It prints nothing, but where a contract
denies what the agent is about to do. It has no opinion on what happened: `drain` has. Lies on the path of every hook:
see `work/spool.py` for what may be imported.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH109, PTH112, PTH118, PTH119, PTH120, PTH208

import os
import select
import time

from pogstore.agents import behind, reached
from pogstore.agents.dialect import DIALECTS, Step, understand
from pogstore.work import look as looking
from pogstore.work import sighting, spool
from pogstore.work.listed import is_bare

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pogstore.agents.refusal import Answer

DISABLED = "POG_DISABLE"
NO = ("", "0", "false", "no", "off", "never")
"""What does not disable, as everywhere on the command line."""

SILENCE = 0.5
"""Seconds without a byte after which an agent has said all it will: some never close their end (case UC-41)."""
PATIENCE = 2.0
"""Seconds until the first byte: an agent under load starts us long before it writes."""
LONGEST = 10.0
"""Seconds that a payload may take in all."""
LARGEST = 64 * 1024 * 1024
"""Bytes of a payload that are read, and of the files that one step names."""
SIGHTING = 2.0
"""Seconds that the files that one step names may take; those that are left are `unread`."""
BESIDE = 8
"""Linked work trees whose names are looked for in a command."""
INSIDE = 4
"""Repositories inside a work tree that are looked at beside it."""
WORDS = 64
"""Words of a command that are taken for paths."""
_JUDGED = ("edit", "shell", "mcp")
"""The classes of tools that a contract may deny."""
_BEGINNINGS = ("SessionStart", "sessionStart", "session.created", "session_start")
"""How a session begins, as agents say it."""
_APART = bytes.maketrans(b";&|()<>'\"`={}$", b" " * 14)
_CHUNK = 1 << 20
_SPOOL = b"/pog/spool"


def main(arguments: "Sequence[str]", stdin: int, environ: "Mapping[str, str]", drain: "Sequence[str]" = ()) -> int:
    """Records what the named agent says on a descriptor, and refuses a tool that a contract denies.

    Some agents do not say which event it is: then it is named behind the agent.

    Returns 0, since anything else disturbs the agent, but for a refusal as the agent's own contract has it. `drain` is
    how `git pog` is called, to store what waits when a turn is over; without it nothing is started.
    """
    try:
        if arguments and arguments[0] in DIALECTS and environ.get(DISABLED, "").lower() in NO:
            payload, whole = read_object(stdin)
            if not whole and not payload.strip():
                return 0
            told = _Told(arguments, payload, whole, environ)
            judged = _judged(told)
            if judged is not None:
                return told.refuse(*judged)
            for place in (*_record(told), *_unheard(told)):
                if drain and drain[0]:
                    _store_behind(place, drain, environ)
    except BaseException:  # noqa: BLE001, S110 - there is nobody to tell; what can be counted is counted below
        pass
    return 0


def _judged(told: "_Told") -> "tuple[sighting.Place, bytes, Answer] | None":
    """Returns the work tree whose contract denies what an agent is about to do, what is recorded of that, and what the
    agent is told; nothing if it may do it.

    Without a contract nothing is judged, and what judges is not even loaded.
    """
    step = told.step
    if not step.asks or not (step.kind in _JUDGED or step.paths):
        return None
    cwd = _cwd(step)
    step.paths = list(_placed(step))
    places = [sighting.find_place(sighting.resolve(cwd))]
    places += [sighting.locate(os.path.join(cwd, path))[1] for path in map(_bytes, step.paths) if path]
    for place in dict.fromkeys(places):
        if place is None or not _enabled(place) or not _limits(place):
            continue
        from pogstore.agents import judging  # noqa: PLC0415 - nobody else is to pay for it

        where = os.path.join(cwd, _bytes(step.place))
        refusal = judging.judge(place, told.task or spool.task_of(place[1]), step, where, told.now)
        if refusal is not None:
            return place, judging.recorded(refusal), judging.answer(told.agent, refusal)
    return None


def _unheard(told: "_Told") -> "Sequence[sighting.Place]":
    """Returns where a session begins and the limits may be others than those that were compiled: a drain does that."""
    place = sighting.find_place(sighting.resolve(_cwd(told.step))) if told.step.event in _BEGINNINGS else None
    if place is None or not _enabled(place) or not spool.is_stale(place[2] + _SPOOL, place[2]):
        return ()
    return (place,)


def _limits(place: sighting.Place) -> bool:
    """Says whether anything may be denied in a work tree: a contract was compiled, or a task is required."""
    try:
        if os.listdir(place[2] + b"/pog/contracts"):
            return True
    except OSError:
        pass
    return spool.requires_task(place[2] + _SPOOL)


def _record(told: "_Told") -> "Sequence[sighting.Place]":
    """Records one thing that an agent says; returns where what waits is to be stored now."""
    cwd = _cwd(told.step)
    found, untold = _whose(_placed(told.step), cwd)
    if untold is not None:
        _count(untold, b"elsewhere", told.now)
    shared = {place[2] for place in list(found)[:1]}
    for at, (place, paths) in enumerate(found.items()):
        told.record(place, paths, aside=at > 0 and place[2] in shared)
    others = list(found) if told.step.paths else []
    for place in list(found)[:1] if told.step.command else []:
        words = f"{told.step.command} {told.step.place}"
        inside = dict.fromkeys([*_named_inside(place, words, cwd), *told.inside])
        others = [other for other in inside if _enabled(other)][:INSIDE]
        for beside in (*_beside(place, words), *others):
            told.record(beside, [], aside=True)
    _note_reached(others, told.step.session, cwd)
    also = _tell_end(told, next(iter(found))) if told.step.over and found else []
    return [*list(found)[:1], *also] if told.step.ends else ()


def _note_reached(places: "Sequence[sighting.Place]", session: str, cwd: bytes) -> None:
    """Remembers which repositories a session has reached that it is not in, to tell them when it ends."""
    home = sighting.find_place(sighting.resolve(cwd)) if places and session else None
    if home is None or not _enabled(home):
        return
    try:
        for place in places:
            if place[2] != home[2]:
                reached.note(home[2], session, place[0])
    except OSError:
        return


def _tell_end(told: "_Told", home: sighting.Place) -> list[sighting.Place]:
    """Tells the repositories that a session has reached of its end; returns them."""
    try:
        roots = reached.take(home[2], told.step.session)
    except OSError:
        return []
    places = [place for root in roots if (place := sighting.find_place(root)) is not None and place[0] == root]
    places = [place for place in places if place[2] != home[2] and _enabled(place)]
    for place in places:
        told.record(place, [], aside=False)
    return places


def _named_inside(place: sighting.Place, command: str, cwd: bytes) -> "Iterator[sighting.Place]":
    """Yields the repositories inside a work tree of which a command names a path, as far as its words tell."""
    prefix = place[0].rstrip(b"/") + b"/"
    words = dict.fromkeys(_bytes(command.replace("\0", " ")).translate(_APART).split())
    for word in list(words)[:WORDS]:
        other = sighting.find_place(sighting.resolve(os.path.join(cwd, word)))
        if other is not None and other[2] != place[2] and other[0].startswith(prefix):
            yield other


def _store_behind(place: sighting.Place, drain: "Sequence[str]", environ: "Mapping[str, str]") -> None:
    directory = place[2] + _SPOOL
    if spool.settings(directory)[3]:
        behind.start(drain, directory, place, environ)


def _whose(named: "Sequence[str]", cwd: bytes) -> tuple[dict[sighting.Place, list[bytes]], sighting.Place | None]:
    """Returns the enabled work trees whose step this is, each with those of its files that were named, and where one
    is counted that is not told.

    A step is of the repositories of the files that it names, else of the one that the session is in. What is done to a
    repository that is not enabled is not told to another one: that one counts it only.
    """
    found: dict[sighting.Place, list[bytes]] = {}
    elsewhere = False
    for path in dict.fromkeys(map(_bytes, named)):
        located, place = sighting.locate(os.path.join(cwd, path)) if path else (b"", None)
        if place is not None and _enabled(place):
            found.setdefault(place, []).append(located)
        else:
            elsewhere = elsewhere or place is not None
    home = None if found else sighting.find_place(sighting.resolve(cwd))
    if home is not None and _enabled(home):
        return ({}, home) if elsewhere else ({home: []}, None)
    return found, next(iter(found), None) if elsewhere else None


def _beside(place: sighting.Place, command: str) -> "Iterator[sighting.Place]":
    """Yields the other work trees of a repository whose folders a command names: it may have changed those too."""
    folder = place[2] + b"/worktrees"
    try:
        names = sorted(os.listdir(folder))[:BESIDE]
    except OSError:
        return
    roots = [os.path.dirname(sighting.pointed(os.path.join(folder, name, b"gitdir"))) for name in names]
    text = _bytes(command.replace("\0", " "))
    for root in (os.path.dirname(place[2]), *roots):
        name = os.path.basename(root)
        other = sighting.find_place(sighting.resolve(root)) if name and name in text else None
        if other is not None and other != place and other[2] == place[2]:
            yield other


def _enabled(place: sighting.Place) -> bool:
    """Says whether `git pog init` was run: a spool is there only where recording is wanted."""
    return os.path.isdir(place[2] + _SPOOL)


def _count(place: sighting.Place, reason: bytes, now: int) -> None:
    """Counts what is not recorded; where that cannot be, what else there is to record must not suffer."""
    try:  # noqa: SIM105 - `contextlib` costs what `pathlib` does
        spool.count_loss(place[2] + _SPOOL, reason, now)
    except OSError:
        pass


def _directory(cwd: str) -> bytes:
    """Returns where the session is, or else where we are: the same for an agent that does not say."""
    raw = _bytes(cwd)
    if raw.startswith(b"/"):
        return raw
    try:
        return os.getcwdb()
    except FileNotFoundError:
        return b"/"


def _cwd(step: Step) -> bytes:
    """Returns where the session is; of several directories in which it may be the first where recording is wanted."""
    for root in map(_bytes, step.roots):
        place = sighting.find_place(sighting.resolve(root)) if root.startswith(b"/") else None
        if place is not None and _enabled(place):
            return root
    return _directory(step.cwd or "".join(step.roots[:1]))


def _placed(step: Step) -> "Sequence[str]":
    """Returns the files that a step names, each below the directory in which it lies if several may be meant."""
    if len(step.roots) < 2:
        return step.paths
    found = []
    for path in step.paths:
        places = (os.path.join(root, path) for root in step.roots)
        found.append(next((place for place in places if os.path.lexists(_bytes(place))), path))
    return found


def _bytes(path: str) -> bytes:
    """Returns a path as the system takes it, whatever the locale; nothing for one that it cannot take."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b""
    return b"" if b"\0" in raw else raw


class _Told:
    """One thing that an agent said, as it is recorded in each work tree that it concerns."""

    __slots__ = ("agent", "begun", "inside", "now", "payload", "refused", "step", "task", "whole")

    def __init__(self, named: "Sequence[str]", payload: bytes, whole: bool, environ: "Mapping[str, str]") -> None:
        self.agent, self.payload, self.whole = named[0], payload, whole
        self.step: Step = understand(named[0], payload, named[1] if len(named) > 1 else "")
        self.now, self.task = _now(environ), environ.get("POG_TASK", "")
        self.begun = time.monotonic()
        self.refused = b""
        self.inside: list[sighting.Place] = []

    def refuse(self, place: sighting.Place, refused: bytes, answer: "Answer") -> int:
        """Records that a contract denied this, and says so as the agent takes it; returns the exit status for that."""
        self.refused = refused
        self.record(place, [], aside=False)
        out, err, status = answer
        for descriptor, said in ((1, out), (2, err)):
            if said:
                os.write(descriptor, said)
        return status

    def record(self, place: sighting.Place, paths: list[bytes], *, aside: bool) -> None:
        """Appends a record of one work tree; counts it as lost if that cannot be.

        `aside` says that the step is of another work tree, and that this one is told of what it did here.
        """
        directory = place[2] + _SPOOL
        try:
            max_blob, sync, patience, _ = spool.settings(directory)
            seen = self._seen(place, paths, max_blob, patience / 1000)
            record = self._encoded(place, seen)
            if self.refused:
                record += spool.fields((b"refused", self.refused))
            if aside:
                record += spool.fields((b"aside", b"1"))
            if seen.log >= 0:
                record += spool.fields((b"log", b"%d" % seen.log))
            spool.append(directory, record, sync=sync)
            seen.remember()
        except BaseException as fault:  # noqa: BLE001 - whatever it was, the record is lost
            _count(place, spool.loss_of(fault), self.now)

    def _seen(self, place: sighting.Place, paths: list[bytes], max_blob: int, patience: float) -> looking.Look:
        """Returns what is seen of a work tree: all of it, if any file may be another and there is time, or what was
        named.
        """
        if self.refused or is_bare(place[1], place[2]):  # then nothing there is a file of a work tree
            return looking.Look(place[1], b"", b"", [])
        if self.step.whole and patience:
            found = self._whole(place, max_blob, patience)
            if found.look != b"whole":
                found.states += _sightings(place[0], paths, max_blob)
            return found
        head = looking.head_of(place[1], place[2]) if paths or self.step.whole else b""
        return looking.Look(place[1], head, b"", _sightings(place[0], paths, max_blob))

    def _whole(self, place: sighting.Place, max_blob: int, patience: float) -> looking.Look:
        """Looks at a whole work tree; all looks of one step share its time."""
        left = patience - (time.monotonic() - self.begun)
        if left <= 0:
            return looking.Look(place[1], looking.head_of(place[1], place[2]), b"partial timeout", [])
        try:
            found = looking.look(place, max_blob, left)
        except Exception:  # noqa: BLE001 - what the agent said is worth more than what we can see
            return looking.Look(place[1], b"", b"partial failed", [])
        self.inside += found.inside
        return found

    def _encoded(self, place: sighting.Place, seen: looking.Look) -> bytes:
        root, git_dir, common_dir = place
        return spool.encode_record(
            record_id=os.urandom(16).hex(),
            agent=self.agent,
            event=self.step.event,
            time=self.now,
            offset=time.localtime(self.now // 1_000_000).tm_gmtoff // 60,
            git_dir=git_dir,
            common_dir=common_dir,
            root=root,
            payload=self.payload,
            whole=self.whole,
            task=self.task or spool.task_of(git_dir),
            head=seen.head,
            look=seen.look,
            states=seen.states,
        )


def _sightings(root: bytes, paths: list[bytes], max_blob: int) -> list[bytes]:
    """Returns the states of the files that a step names, as far as time and room go; of the others that they are not
    known.
    """
    found: list[bytes] = []
    size, until = 0, time.monotonic() + SIGHTING
    for path in paths:
        if size <= LARGEST and time.monotonic() < until:
            states = sighting.states(root, path, max_blob)
            size += sum(map(len, states))
            found += states
        elif b"/.git/" not in path:
            found.append(spool.unseen(path[len(root.rstrip(b"/")) + 1 :], b"unread"))
    return found


def _now(environ: "Mapping[str, str]") -> int:
    """Returns the time in µs; `POG_NOW` stands in for the clock, as everywhere on the command line."""
    fixed = environ.get("POG_NOW", "")
    return int(fixed) if fixed.isascii() and fixed.isdigit() and len(fixed) <= 16 else time.time_ns() // 1000


def read_object(stdin: int) -> tuple[bytes, bool]:
    """Reads one JSON object from a descriptor, and not a byte more waited for; says whether it came to its end.

    What came is returned in any case: at the end of the input, after a silence, or when it is too much.
    """
    chunks: list[bytes] = []
    size, end = 0, _End()
    deadline = time.monotonic() + LONGEST
    patience = PATIENCE
    while size < LARGEST and time.monotonic() < deadline and select.select([stdin], [], [], patience)[0]:
        chunk = os.read(stdin, _CHUNK)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
        if end.reached(chunk):
            return b"".join(chunks), True
        patience = SILENCE
    return b"".join(chunks), False


class _End:
    """Finds the end of a JSON object in a text that comes in pieces, by counting braces outside of strings."""

    __slots__ = ("begun", "depth", "held", "in_string")

    def __init__(self) -> None:
        self.begun = False
        self.depth = 0
        self.held = b""
        self.in_string = 0

    def reached(self, chunk: bytes) -> bool:
        """Takes the next piece; says whether the object has ended in it. The cost is linear."""
        chunk = self.held + chunk
        # a backslash whose other half comes with the next piece
        odd = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2
        self.held = b"\\" * odd
        parts = chunk[: len(chunk) - odd].replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self.in_string :: 2])
        self.in_string = (self.in_string + len(parts) - 1) % 2
        self.begun = self.begun or b"{" in outside
        self.depth += outside.count(b"{") - outside.count(b"}")
        return self.begun and self.depth <= 0 and not self.in_string
