"""The events of `tests/vectors/1`, built from structs, or from plain values where no struct of ours can say them.

Each says which of the others are its parents, so that ids and carriers rest on one another as in a repository.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pogstore import codec
from pogstore.model import (
    FORMAT,
    Actor,
    Base,
    BlobId,
    Budget,
    Change,
    Checked,
    ChecklistItem,
    Claimed,
    Committed,
    Decided,
    Defined,
    Definition,
    ErasedChange,
    Event,
    EventId,
    Extra,
    Globs,
    Hunk,
    Link,
    Moved,
    Noted,
    Observed,
    OddPath,
    Oid,
    Outcome,
    Person,
    Prompted,
    Ran,
    Redacted,
    Refused,
    Released,
    Replayed,
    Restored,
    Reviewed,
    RolledBack,
    Sealed,
    Side,
    Signed,
    Slice,
    Source,
    Stepped,
    TaskId,
    Text,
    Usage,
)
from pogstore.store import carrier, content, loose

TASK = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
OTHER = TaskId("6f1c9f0e-5d0a-4b6e-9a53-2f1f0f7f9d11")
STARTED = 1_767_603_600_000_000
SALT = "00112233445566778899aabbccddeeff"
LARGEST = 2**53 - 1

ADA = Person(name="Ada Example", email="ada@example.org")
HOSTILE = Person(name="張 <偉>\x1b[31m.", email="<i\n@例>")
HUMAN = Actor(type="human", name="Ada Example", on_behalf_of=ADA)
AGENT = Actor(
    type="agent",
    name="claude-code",
    model="opus",
    version="2.1.0",
    session="3f9c",
    agent_id="a1",
    on_behalf_of=ADA,
)
TOOL = Actor(type="tool", name="pogstore")

DEFINITION = Definition(
    title="Speak English: 挨拶 👋",
    intent="greet visitors in their language",
    category="feature",
    priority="high",
    tags=("i18n",),
    checklist=(ChecklistItem(text="write it"), ChecklistItem(text="test it", done=True)),
    inputs=("greeting.py",),
    estimate_minutes=30,
    aliases=("PROJ-123",),
    extra=(
        Extra(name="estimate", value="1.50"),
        Extra(name="owner", fields=(Extra(name="team", items=(Extra(name="", value="core"), Extra(name=""))),)),
    ),
    scope=Globs(allow=("src/**",), deny=("src/secret/**",)),
    commands=Globs(allow=()),
    budget=Budget(tokens=100_000, cost_micro_usd=2_500_000, minutes=60, changed_lines=400),
    checks=("python -m pytest -q",),
    approvals=1,
)

Ids = Mapping[str, EventId]


class Built(NamedTuple):
    """One vector: the event, the names of its parents, and the carrier of it."""

    sealed: Sealed
    parents: tuple[str, ...]
    oid: Oid
    carrier: bytes


def blob(number: int) -> BlobId:
    return BlobId(f"{number:064x}")


def text(number: int, class_: str = "content", size: int = 12) -> Text:
    return Text(blob=blob(number), size=size, class_=class_)


def side(number: int, mode: str = "100644") -> Side:
    return Side(mode=mode, blob=blob(number), size=number)


EDIT = Change(path="src/greeting.py", before=side(0x10), after=side(0x11))
MOVE = Change(path="src/hello.py", from_="src/greeting.py", before=side(0x11), after=side(0x11, "100755"))
NEW = Change(path="README.md", after=side(0x12))
GONE = Change(path="old.txt", before=side(0x13))
MODULE = Change(
    path="vendor/lib",
    before=Side(mode="160000", commit=f"sha1_{1:040x}"),
    after=Side(mode="160000", commit=f"sha256_{2:064x}"),
)
ODD = (
    Change(path=OddPath(b64="/2NhZsOp"), after=side(0x14, "120000")),
    Change(path=OddPath(outside=True)),
    Change(path='a "quoted"\tname\\with\nall\u202eof it', after=side(0x15)),
    Change(path="naïve 😀/測試.txt", from_=OddPath(b64="gA=="), after=side(0x16)),
)


def of_structs(ids: Ids) -> dict[str, tuple[tuple[str, ...], Callable[..., Event], dict[str, Any]]]:
    """Returns for each vector its parents, its kind and what differs from the common fields."""
    taken = (Outcome(event=ids.get("stepped", EventId("")), outcome="applied"),)
    return {
        "defined": (
            (),
            Defined,
            {
                "definition": text(1, size=77),
                "links": (
                    Link(rel="depends_on", task=OTHER),
                    Link(rel="derived_from", event=EventId(f"{3:064x}")),
                    Link(rel="derived_from", commit=f"sha1_{4:040x}"),
                ),
            },
        ),
        "claimed": (("defined",), Claimed, {"definition_id": blob(1), "lease_until": STARTED + 3_600_000_000}),
        "moved": (("claimed",), Moved, {"status": "in_progress", "reason": text(2)}),
        "prompted": (("moved",), Prompted, {"actor": HUMAN, "text": text(3, "private", 0)}),
        "stepped": (
            ("prompted",),
            Stepped,
            {
                "tool": "Edit",
                "class_": "edit",
                "call_id": "toolu_01",
                "ok": True,
                "duration_ms": 12,
                "input": text(4, "private"),
                "output": Text(blob=blob(5), size=20_000_000, class_="private", omitted="too-large"),
                "changes": (EDIT, MOVE, NEW, GONE, MODULE),
                "coverage": "scoped",
                "base": Base(commit=f"sha1_{5:040x}", branch="main"),
                "env": text(6, "private"),
                "usage": Usage(tokens_in=1200, tokens_out=80, cost_micro_usd=4200),
                "effects": "tree",
                "source": Source(format="claude-code", key="3f9c/toolu_01", raw=text(7, "private")),
                "inferred": True,
                "worktree": "00ff00ff00ff00ff",
            },
        ),
        "ran": (
            ("stepped",),
            Ran,
            {
                "tool": "git-pog",
                "class_": "shell",
                "ok": False,
                "argv": text(8, "private"),
                "stdout": text(9, "private"),
                "stderr": text(10, "private"),
                "cwd": "src",
                "exit_code": -9,
                "inputs": ("src/greeting.py",),
                "outputs": (OddPath(b64="/w=="),),
                "coverage": "partial",
                "coverage_reason": "timeout",
                "effects": "outside",
            },
        ),
        "refused": (("ran",), Refused, {"rule": "scope.deny", "tool": "Write", "paths": ("src/secret/key", "b")}),
        "observed": (
            ("refused",),
            Observed,
            {
                "actor": Actor(type="unknown"),
                "changes": (EDIT,),
                "coverage": "exact",
                "base_from": Base(commit=f"sha1_{5:040x}", branch="main"),
                "base": Base(commit=f"sha1_{6:040x}"),
                "during": ("toolu_01", "toolu_02"),
            },
        ),
        "committed": (
            ("observed",),
            Committed,
            {"commit": f"sha1_{7:040x}", "tree": f"sha1_{8:040x}", "commit_parents": (f"sha1_{6:040x}",)},
        ),
        "decided": (("committed",), Decided, {"actor": HUMAN, "text": text(11)}),
        "noted": (("decided",), Noted, {"topic": "SessionStart"}),
        "checked": (("noted",), Checked, {"item": 0, "done": True, "definition_id": blob(1)}),
        "reviewed": (
            ("checked",),
            Reviewed,
            {"actor": HUMAN, "verdict": "rejected", "of": tuple(filter(None, [ids.get("stepped")])), "text": text(12)},
        ),
        "rolled_back": (
            ("reviewed",),
            RolledBack,
            {
                "targets": tuple(filter(None, [ids.get("stepped")])),
                "outcomes": taken,
                "strategy": "merge",
                "changes": (Change(path="src/greeting.py", before=side(0x11), after=side(0x10)),),
            },
        ),
        "restored": (
            ("rolled_back",),
            Restored,
            {"targets": tuple(filter(None, [ids.get("rolled_back")])), "strategy": "undo", "changes": (EDIT,)},
        ),
        "replayed": (("restored",), Replayed, {"outcomes": taken, "strategy": "effects"}),
        "signed": (
            ("replayed",),
            Signed,
            {
                "of": tuple(filter(None, [ids.get("stepped"), ids.get("reviewed")])),
                "key": "SHA256:uNiVztksCsDhcc0u9e8BrrqXKIGFNDQ",
                "sig": "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n",
            },
        ),
        "redacted": (
            ("signed",),
            Redacted,
            {
                "blobs": (blob(0x11),),
                "reason": "secret",
                "hunks": (
                    ErasedChange(
                        event=ids.get("stepped", EventId("")),
                        path="src/greeting.py",
                        hunks=(Hunk(old_start=1, old_lines=1, new_start=1, new_lines=2),),
                    ),
                ),
            },
        ),
        "released": (
            ("redacted",),
            Released,
            {"definition_id": blob(1), "links": (Link(rel="releases", event=ids.get("claimed")),)},
        ),
        "left": (("released",), Noted, {"text": text(13, "private"), "time": STARTED + 2_000_000}),
        "right": (("released",), Noted, {"topic": "right", "clock": 24, "time": STARTED + 1_000_000}),
        "done": (("joined",), Moved, {"status": "completed", "reason": text(2), "outcome": text(14)}),
        "odd_paths": ((), Observed, {"changes": ODD, "coverage": "shared"}),
        "unicode": (
            (),
            Noted,
            {
                "topic": "漢字 かな 한글 😀𝄞 é e\u0301 \x00\x08\t\n\x0c\r\x1b\x7f\x80\u2028 </script> \"\\/",
                "actor": Actor(type="human", name="\u202eevil <a@b>\n", on_behalf_of=HOSTILE),
            },
        ),
        "no_identity": ((), Noted, {"actor": Actor(type="human", on_behalf_of=Person(name=" .,:;<>\"\\'", email="x"))}),
        "largest": (
            (),
            Stepped,
            {
                "tool": "t" * 130,
                "class_": "other",
                "clock": 2**40,
                "time": LARGEST,
                "offset": 841,
                "duration_ms": LARGEST,
                "usage": Usage(tokens_in=9_000_000_000_000_000, tokens_out=0),
            },
        ),
        "smallest": ((), Noted, {"time": -LARGEST, "offset": -90, "topic": ""}),
        "hidden": ((), Refused, {"rule": "r", "tool": "x\u202e\x1b\n", "paths": ('"a\\b" \U000e0041\u200b\x7fé😀',)}),
        "outside": ((), Refused, {"rule": "r", "paths": (OddPath(outside=True), "b")}),
        "part_1": ((), Stepped, {"tool": "Bash", "class_": "shell", "changes": (EDIT,), "part": Slice(n=1, of=2)}),
        "part_2": (
            ("part_1",),
            Stepped,
            {"tool": "Bash", "class_": "shell", "changes": (NEW,), "part": Slice(n=2, of=2)},
        ),
        "handed": (
            ("claimed",),
            Claimed,
            {
                "definition_id": blob(1),
                "holder": Actor(type="agent", name="codex"),
                "links": (Link(rel="releases", event=ids.get("claimed")),),
            },
        ),
    }  # fmt: skip


OF_VALUES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "unknown_kind": (
        (),
        {"kind": "teleported", "status": "gone", "changes": [{"path": "a b"}], "zone": {"x": [1, True]}},
    ),
    "unknown_field": ((), {"kind": "moved", "status": "paused", "mood": "calm", "tool": "later", "parents": []}),
    "needs": ((), {"kind": "moved", "status": "completed", "needs": ["quorum"]}),
    "version_2": ((), {"kind": "moved", "status": "completed", "v": 2, "weight": 5}),
}  # fmt: skip
"""What a newer version may write: all fields but the common ones."""


def build() -> dict[str, Built]:
    """Returns all vectors in an order in which parents come first."""
    built: dict[str, Built] = {}
    for number, name in enumerate(of_structs({}), 1):
        if name == "done":
            _add(built, "joined", codec.join([built["left"].sealed, built["right"].sealed]), ("left", "right"))
        ids = {known: found.sealed.event_id for known, found in built.items()}
        parents, kind, fields = of_structs(ids)[name]
        clock = 1 + max((built[parent].sealed.event.clock for parent in parents), default=0)
        event = kind(**(_common(number, clock, tuple(ids[parent] for parent in parents)) | fields))
        _add(built, name, codec.encode(event), parents)
    for name, (parents, fields) in OF_VALUES.items():
        common = {"v": FORMAT, "task": TASK, "clock": 1, "time": STARTED, "actor": {"type": "tool"}}
        _add(built, name, codec.decode(codec.encode_value(common | fields)), parents)
    return built


def _common(number: int, clock: int, parents: tuple[EventId, ...]) -> dict[str, Any]:
    return {
        "v": FORMAT,
        "task": TASK,
        "clock": clock,
        "time": STARTED + number * 1_000_000,
        "offset": 60,
        "actor": AGENT,
        "parents": tuple(sorted(parents)),
    }


def _add(built: dict[str, Built], name: str, sealed: Sealed, parents: tuple[str, ...]) -> None:
    by_id = {built[parent].sealed.event_id: built[parent].oid for parent in parents}
    raw = carrier.carrier(sealed, [by_id[parent] for parent in sealed.event.parents])
    built[name] = Built(sealed, parents, loose.oid_of("commit", raw), raw)


class Stored(NamedTuple):
    """The vectors of contents: bytes by file name, and what is derived from them."""

    files: dict[str, bytes]
    derived: dict[str, str]


def build_contents() -> Stored:
    """Returns a definition, a text and a file version as they are stored, with their names, tree and commits."""
    definition = codec.encode_definition(DEFINITION)
    words = content.salted("Speak English.\n", SALT)
    version = b"def greet():\n    return 'hello'\n"
    names = {
        content.blob_id(words): loose.oid_of("blob", words),
        content.file_name(content.blob_id(version), "src/greeting.py"): loose.oid_of("blob", version),
    }
    tree = content.tree(names)
    commit = carrier.content_commit(loose.oid_of("tree", tree), [], STARTED)
    second = carrier.content_commit(loose.oid_of("tree", tree), [loose.oid_of("commit", commit)], STARTED + 999_999)
    return Stored(
        {"definition.json": definition, "text": words, "file_version": version, "tree": tree, "commit": commit},
        {
            "definition": content.blob_id(definition),
            "definition_salted": content.blob_id(content.salted(definition.decode(), SALT)),
            "text": content.blob_id(words),
            "file_version": content.blob_id(version),
            "file_name": content.file_name(content.blob_id(version), "src/greeting.py"),
            "file_name_odd": content.file_name(content.blob_id(version), OddPath(b64="/2NhZsOp")),
            "tree_oid": loose.oid_of("tree", tree),
            "commit_oid": loose.oid_of("commit", commit),
            "second_commit_oid": loose.oid_of("commit", second),
        },
    )
