"""How often blame finds the agent's session, on a real project whose commits name checkpoints of recorded sessions.

    python benchmarks/attribution.py REPOSITORY TRANSCRIPTS [--seeds N]

REPOSITORY has a branch with one directory for each checkpoint, and commits whose trailer names theirs: a witness that
blame knows nothing of. TRANSCRIPTS is a folder with the transcripts of that branch, each named by its path there, `_`
in the place of `/`; those that are missing are missing. Nothing is written but in a temporary directory.

A line is *present* if its commit names checkpoints all of whose transcripts are at hand, *missing* if not all of them
are, *other branch* if the branch knows none of them, and *no trailer* otherwise. Recall is the share of present lines
that have an event, agreement the share of those whose event belongs to a session of the checkpoint. The hold-out hides
a part of the sessions: all of their lines must then fall back to the commit.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import machine, pog, seal
from pogstore.history.blame import Blame, blame
from pogstore.model import EventId, Sealed
from pogstore.store.store import Store, open_store

CHECKPOINT = 12
"""So many hexadecimal digits name a checkpoint."""
SHARE = 0.3
"""The share of sessions that the hold-out hides."""
QUOTED = rb'"%s":"((?:[^"\\]|\\.)+)"'


class Witness(NamedTuple):
    """What the project itself tells: checkpoints of each commit, sessions of each checkpoint, and which are whole."""

    checkpoints: dict[str, list[str]]
    sessions: dict[str, set[str]]
    known: set[str]
    whole: set[str]

    def kind(self, commit: str | None) -> str:
        """Returns the class of a commit's lines."""
        named = self.checkpoints.get(commit or "", [])
        if not named:
            return "no trailer"
        if all(one in self.whole for one in named):
            return "present"
        return "missing" if any(one in self.known for one in named) else "other branch"

    def agrees(self, commit: str | None, session: str | None) -> bool:
        """Says whether a session is one of those that a commit's checkpoints hold."""
        return any(session in self.sessions[one] for one in self.checkpoints.get(commit or "", []))


class Claim(NamedTuple):
    """A line's event, with its session and the call that it tells of; nothing of a line that is the commit's."""

    event: EventId
    session: str | None
    call: str | None


Claims = dict[bytes, list[Claim | None]]


def main() -> None:
    """Measures and prints."""
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="pog-attribution-") as name:
        seal(Path(name))
        place = Path(name) / "clone"
        git(Path(name), "clone", "--quiet", str(given.repository), str(place))
        witness = read_witness(given.repository, place, given.transcripts, given)
        git(place, "config", "pog.enabled", "true")
        _import(place, given.transcripts)
        store = open_store(place)
        store.refresh()
        print(machine())
        files = [path for path in tracked(place) if not given.suffix or path.endswith(tuple(given.suffix))]
        claims = _report(store, files, witness)
        for seed in range(1, given.seeds + 1):
            _hold_out(store, place, claims, seed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--branch", default="entire/checkpoints/v1", help="the branch that holds the checkpoints")
    parser.add_argument("--trailer", default="Entire-Checkpoint", help="the trailer that names one")
    parser.add_argument("--suffix", action="append", type=str.encode, help="only files that end so; may be repeated")
    parser.add_argument("--seeds", type=int, default=1, help="how many hold-outs")
    given = parser.parse_args()
    given.repository, given.transcripts = given.repository.resolve(), given.transcripts.resolve()
    return given


def read_witness(repository: Path, place: Path, transcripts: Path, given: argparse.Namespace) -> Witness:
    """Reads what commits and the branch of checkpoints tell."""
    paths: dict[str, list[str]] = defaultdict(list)
    for path in git(repository, "ls-tree", "-r", "--name-only", given.branch).decode().splitlines():
        if path.endswith(".jsonl"):
            paths[checkpoint_of(path)].append(path)
    here = {path.name: path for path in transcripts.glob("*.jsonl")}
    whole = {name for name, its in paths.items() if all(path.replace("/", "_") in here for path in its)}
    sessions: dict[str, set[str]] = defaultdict(set)
    for name, transcript in here.items():
        found = re.findall(QUOTED % b"sessionId", transcript.read_bytes())
        sessions[checkpoint_of(name)].update(one.decode() for one in set(found))
    log = git(place, "log", "--format=%H%x01%B%x02").decode("utf-8", "replace")
    trailer = re.compile(rf"{re.escape(given.trailer)}:\s*([0-9a-f]{{{CHECKPOINT}}})")
    commits = (entry.strip().partition("\x01") for entry in log.split("\x02"))
    return Witness({oid: trailer.findall(body) for oid, _, body in commits}, sessions, set(paths), whole)


def checkpoint_of(path: str) -> str:
    """Returns the name of the checkpoint that a path, or a file named by one, belongs to."""
    return re.sub(r"[/_]", "", path[: CHECKPOINT + 1])


def _import(place: Path, transcripts: Path) -> None:
    roots = [part for root in roots_of(place, transcripts) for part in ("--root", root)]
    begun = time.perf_counter()
    run(pog("import", "claude-code", str(transcripts), *roots), place)
    print(f"imported in {time.perf_counter() - begun:.1f} s, {len(roots) // 2} roots")


def roots_of(place: Path, transcripts: Path) -> list[str]:
    """Returns the directories in which sessions ran and below which a file of the project was edited."""
    names = set(git(place, "log", "--name-only", "--format=", "-z").decode("utf-8", "replace").split("\0"))
    directories: set[str] = set()
    edited: set[str] = set()
    for path in transcripts.glob("*.jsonl"):
        data = path.read_bytes()
        directories |= {found.decode() for found in set(re.findall(QUOTED % b"cwd", data))}
        edited |= {found.decode("utf-8", "replace") for found in set(re.findall(QUOTED % b"filePath", data))}
    return sorted(directory for directory in directories if _is_root(directory + "/", edited, names))


def _is_root(directory: str, edited: Iterable[str], names: set[str]) -> bool:
    below = (name.removeprefix(directory) for name in edited if name.startswith(directory))
    return any("/" in name and name in names for name in below)


def tracked(place: Path) -> list[bytes]:
    """Returns the files of the tip that are text."""
    shown = git(place, "grep", "-I", "-l", "-z", "-e", "", "HEAD")
    return sorted(path.removeprefix(b"HEAD:") for path in shown.split(b"\0") if path)


def _report(store: Store, files: Sequence[bytes], witness: Witness) -> Claims:
    """Blames all files and prints what it found for each class of lines."""
    counts: Counter[tuple[str, str]] = Counter()
    claims: Claims = {}
    begun = time.perf_counter()
    for path in files:
        found = blame(store, path)
        claims[path] = list(_claims(found))
        for line, claim in zip(found.lines, claims[path], strict=True):
            kind = witness.kind(line.commit)
            counts[kind, "lines"] += 1
            counts[kind, "event"] += claim is not None
            counts[kind, "agrees"] += claim is not None and witness.agrees(line.commit, claim.session)
    print(f"blamed {len(files)} files in {time.perf_counter() - begun:.1f} s")
    for kind in ("present", "missing", "other branch", "no trailer"):
        lines, events, agree = (counts[kind, what] for what in ("lines", "event", "agrees"))
        text = f"{kind:14}{lines:8,} lines  {events:8,} with an event ({share(events, lines)})"
        print(text if kind == "no trailer" else f"{text}  {agree:8,} agree ({share(agree, events)})")
    return claims


def share(part: int, of: int) -> str:
    """Returns a share as people read it."""
    return f"{100 * part / of:.2f} %" if of else "-"


def _claims(found: Blame) -> Iterator[Claim | None]:
    for line in found.lines:
        yield _claim(found.events[line.event]) if line.event is not None and line.owner == "event" else None


def _claim(sealed: Sealed) -> Claim:
    actor = sealed.event.actor
    return Claim(sealed.event_id, actor.session if actor else None, getattr(sealed.event, "call_id", None))


def _hold_out(store: Store, place: Path, claims: Claims, seed: int) -> None:
    """Hides a part of the sessions, blames again and prints where the lines went."""
    sessions = {claim.session for its in claims.values() for claim in its if claim is not None and claim.session}
    hidden = {session for session in sessions if _chance(seed, session) < SHARE}
    refs = git(place, "for-each-ref", "--format=%(objectname) %(refname)", "refs/pog/").decode().splitlines()
    tasks = {task for session in hidden for task in _tasks(store, claims, session)}
    gone = [line.split(" ") for line in refs if line.rpartition("/")[2] in tasks]
    git(place, "update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for _, ref in gone))
    counts: Counter[str] = Counter()
    for path, before in claims.items():
        for old, new in zip(before, _claims(blame(store, path)), strict=True):
            counts[_what_became(old, new, hidden)] += 1
    git(place, "update-ref", "--stdin", stdin="".join(f"create {ref} {oid}\n" for oid, ref in gone))
    lost = counts["fell back"] + counts["wrong"]
    print(f"seed {seed}: {len(hidden)} of {len(sessions)} sessions hidden, {lost:,} lines: ", end="")
    print(f"{counts['wrong']} wrong ({share(counts['wrong'], lost)}); of the others {counts['kept']:,} kept, ", end="")
    print(f"{counts['lost']} lost, {counts['changed']} changed, {counts['claimed']} newly claimed")


def _chance(seed: int, session: str) -> float:
    """Returns a number below 1 that depends on a seed and a session alone."""
    return int.from_bytes(hashlib.sha256(f"{seed} {session}".encode()).digest()[:4], "big") / 2**32


def _tasks(store: Store, claims: Claims, session: str) -> set[str]:
    events = {claim.event for its in claims.values() for claim in its if claim is not None and claim.session == session}
    return {str(store.event(event).event.task) for event in events}


def _what_became(old: Claim | None, new: Claim | None, hidden: set[str]) -> str:
    if old is None:
        return "claimed" if new is not None else "the commit's"
    if old.session in hidden:
        return "wrong" if new is not None and new.call != old.call else "fell back"
    if new is None:
        return "lost"
    return "kept" if new.call == old.call else "changed"


def git(place: Path, *arguments: str, stdin: str = "") -> bytes:
    """Runs git in a directory and returns what it prints."""
    return run(["git", *arguments], place, stdin)


def run(command: Sequence[str], place: Path, stdin: str = "") -> bytes:
    """Runs a command and returns what it prints; ends the process where it fails."""
    done = subprocess.run(command, cwd=place, input=stdin.encode(), capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])}: status {done.returncode}\n{done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


if __name__ == "__main__":
    main()
