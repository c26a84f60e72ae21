"""The one table of per-path cases of DESIGN section 8: what an agent did, what a person did then, and what each verb
that writes makes of it. A verb that is added reads its column, or the first two.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.model import Side
from tests.builders_rollback import Files, file, link, program


class Refused(NamedTuple):
    """A conflict for each of some paths; nothing is written."""

    paths: Mapping[str, str]


class Case(NamedTuple):
    """Files before a step of an agent and after it, and as a person has left them since (if at all).

    `rolled_back` and `restored` are the files afterwards, by default those from before. `recorded` is what the event
    holds where git stores something else than lies in the work tree; `older` gives the former names of files.
    """

    before: Files
    after: Files
    now: Files | None = None
    rolled_back: Files | Refused | None = None
    restored: Files | Refused | None = None
    older: Mapping[str, str] = {}
    recorded: tuple[Files, Files] | None = None
    sides: tuple[str, Side | None, Side | None] | None = None
    config: Mapping[str, str] = {}


def _files(**named: bytes | FileVersion) -> Files:
    return {name: file(data) if isinstance(data, bytes) else data for name, data in named.items()}


TEXT, EDIT = b"1\n2\n3\n4\n5\n", b"1\nagent\n3\n4\n5\n"
MORE, WITHOUT = EDIT + b"person\n", TEXT + b"person\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize %d\n"
POINTERS = [POINTER % (digit * 64, size) for digit, size in ((b"1", 10), (b"2", 20), (b"2", 30))]
CRLF = {"core.autocrlf": "true"}
SUBMODULE = ("lib", Side(mode="160000", commit=f"sha1_{'1' * 40}"), Side(mode="160000", commit=f"sha1_{'2' * 40}"))
ODD = (
    "日本/語.txt",
    "a b/#&'\".txt",
    "-rf",
    "...foo",
    "*?[",
    "caf\u00e9",
    "cafe\u0301",
    "\udcff\udcfe",
    "notes: today",
)

CASES: dict[str, Case] = {
    "text": Case(_files(f=TEXT), _files(f=EDIT)),
    "text, edited elsewhere since": Case(
        _files(f=TEXT), _files(f=EDIT), _files(f=MORE), _files(f=WITHOUT), Refused({"f": "edited-since"})
    ),
    "text, edited at the same line since": Case(
        _files(f=TEXT), _files(f=EDIT), _files(f=TEXT.replace(b"2", b"person")),
        Refused({"f": "overlap"}), Refused({"f": "edited-since"}),
    ),
    "text, taken out by hand": Case(_files(f=TEXT), _files(f=EDIT), _files(f=TEXT)),
    "created": Case({}, _files(f=TEXT)),
    "created, edited since": Case(
        {}, _files(f=TEXT), _files(f=WITHOUT),
        Refused({"f": "edited-since-create"}), Refused({"f": "edited-since-create"}),
    ),
    "created, deleted since": Case({}, _files(f=TEXT), {}),
    "edited, deleted since, PC-96": Case(
        _files(f=TEXT), _files(f=EDIT), {}, Refused({"f": "deleted-since"}), Refused({"f": "deleted-since"})
    ),
    "deleted": Case(_files(f=TEXT), {}),
    "deleted, recreated since": Case(
        _files(f=TEXT), {}, _files(f=EDIT), Refused({"f": "recreated-since"}), Refused({"f": "recreated-since"})
    ),
    "deleted, recreated as it was": Case(_files(f=TEXT), {}, _files(f=TEXT)),
    "mode only": Case(_files(f=TEXT), {"f": program(TEXT)}),
    "mode only, back again": Case({"f": program(TEXT)}, _files(f=TEXT)),
    "mode only, edited since": Case(
        _files(f=TEXT), {"f": program(TEXT)}, {"f": program(WITHOUT)}, _files(f=WITHOUT),
        Refused({"f": "edited-since"}),
    ),
    "executable bit and an edit": Case(_files(f=TEXT), {"f": program(EDIT)}),
    "executable bit and an edit, edited since": Case(
        _files(f=TEXT), {"f": program(EDIT)}, {"f": program(MORE)}, _files(f=WITHOUT), Refused({"f": "edited-since"})
    ),
    "binary": Case(_files(f=b"\0\xff"), _files(f=b"\0\xfe" * 500)),
    "binary, changed since": Case(
        _files(f=b"\0\xff"), _files(f=b"\0\xfe"), _files(f=b"\0\xfd"),
        Refused({"f": "binary"}), Refused({"f": "edited-since"}),
    ),
    "symlink": Case({"f": link(b"a")}, {"f": link(b"/nowhere/at all")}),
    "symlink created": Case({}, {"f": link(b"../outside")}),
    "symlink deleted": Case({"f": link(b"a")}, {}),
    "symlink, changed since": Case(
        {"f": link(b"a")}, {"f": link(b"b")}, {"f": link(b"c")},
        Refused({"f": "link-changed"}), Refused({"f": "edited-since"}),
    ),
    "file to symlink": Case(_files(f=TEXT), {"f": link(b"keep")}),
    "symlink to file": Case({"f": link(b"keep")}, _files(f=TEXT)),
    "submodule, PC-73": Case(
        {}, {}, {}, Refused({"lib": "submodule"}), {}, sides=SUBMODULE
    ),
    "LFS pointer": Case({"x.bin": file(POINTERS[0])}, {"x.bin": file(POINTERS[1])}),
    "LFS pointer, changed since, RC-65": Case(
        {"x.bin": file(POINTERS[0])}, {"x.bin": file(POINTERS[1])},
        {"x.bin": file(POINTERS[2])}, Refused({"x.bin": "binary"}), Refused({"x.bin": "edited-since"}),
    ),
    "renamed": Case(_files(old=TEXT), {"d/new": file(TEXT)}, older={"d/new": "old"}),
    "renamed and edited, edited since": Case(
        _files(old=TEXT), {"d/new": file(EDIT)}, {"d/new": file(MORE)}, _files(old=WITHOUT),
        Refused({"d/new": "edited-since-create"}), older={"d/new": "old"},
    ),
    "renamed, the name is taken since": Case(
        _files(old=TEXT), _files(new=TEXT), _files(new=TEXT, old=b"person\n"),
        Refused({"old": "recreated-since"}), Refused({"old": "recreated-since"}), older={"new": "old"},
    ),
    "file to directory": Case(_files(f=TEXT), {"f/a": file(TEXT), "f/b/c": program(EDIT)}),
    "directory to file": Case({"f/a": file(TEXT), "f/b/c": program(EDIT)}, _files(f=TEXT)),
    "file to directory, with a person's file in it": Case(
        _files(f=TEXT), {"f/a": file(TEXT)}, {"f/a": file(TEXT), "f/mine": file(b"person\n")},
        Refused({"f": "in-the-way"}), Refused({"f": "in-the-way"}),
    ),
    "file to directory, which became a repository of its own, RC-19": Case(
        _files(f=TEXT), {"f/a": file(TEXT)}, {"f/a": file(TEXT), "f/.git": file(b"gitdir: ../.git\n")},
        Refused({"f": "in-the-way"}), Refused({"f": "in-the-way"}),
    ),
    "symlink to directory, RC-13": Case({"f": link(b"keep")}, {"f/a": file(TEXT)}),
    "directory to symlink, RC-13": Case({"f/a": file(TEXT)}, {"f": link(b"keep")}),
    "no final newline": Case(_files(f=b"1\n2"), _files(f=b"1\n2\n")),
    "no final newline, edited since": Case(
        _files(f=b"1\n2\n3\n4"), _files(f=b"agent\n2\n3\n4"), _files(f=b"agent\n2\n3\n4!"), _files(f=b"1\n2\n3\n4!"),
        Refused({"f": "edited-since"}),
    ),
    "CRLF in the repository": Case(_files(f=b"1\r\n2\r\n"), _files(f=b"1\nagent\r\n2\r\n")),
    "CRLF by autocrlf": Case(
        {"f.txt": file(b"1\r\n2\r\n")}, {"f.txt": file(b"1\r\nagent\r\n2\r\n")},
        recorded=({"f.txt": file(b"1\n2\n")}, {"f.txt": file(b"1\nagent\n2\n")}), config=CRLF,
    ),
    "CRLF by autocrlf, edited since": Case(
        {"f.txt": file(b"1\r\n2\r\n")}, {"f.txt": file(b"1\r\nagent\r\n2\r\n")},
        {"f.txt": file(b"1\r\nagent\r\n2\r\n3\r\n")}, {"f.txt": file(b"1\r\n2\r\n3\r\n")},
        Refused({"f.txt": "edited-since"}),
        recorded=({"f.txt": file(b"1\n2\n")}, {"f.txt": file(b"1\nagent\n2\n")}), config=CRLF,
    ),
    "mixed line endings under autocrlf": Case(
        {"f.txt": file(b"1\r\n")}, {"f.txt": file(b"1\r\nagent\r\n")}, {"f.txt": file(b"1\r\nagent\n")},
        Refused({"f.txt": "filtered"}), Refused({"f.txt": "filtered"}),
        recorded=({"f.txt": file(b"1\n")}, {"f.txt": file(b"1\nagent\n")}), config=CRLF,
    ),
    "unicode and odd names, PC-61, PC-63": Case(
        {name: file(TEXT) for name in ODD}, {name: file(b"agent " + TEXT) for name in ODD}
    ),
    "odd names created": Case({}, {name: program(TEXT) for name in ODD}),
    "odd names deleted": Case({name: file(TEXT) for name in ODD}, {}),
    "case twins": Case(_files(README=TEXT, readme=EDIT), _files(README=EDIT, readme=TEXT)),
    "one of case twins": Case(_files(README=TEXT), _files(README=TEXT, readme=EDIT)),
    "renamed in case alone": Case(_files(readme=TEXT), _files(README=TEXT), older={"README": "readme"}),
    "empty file created": Case({}, _files(f=b"")),
    "empty file deleted": Case(_files(f=b""), {}),
    "empty file filled": Case(_files(f=b""), _files(f=TEXT)),
    "file emptied": Case(_files(f=TEXT), _files(f=b"")),
    "empty file made executable": Case(_files(f=b""), {"f": program(b"")}),
    "below new directories": Case({}, {"d/e/f": file(TEXT), "d/g/h": link(b"../e")}),
    "all of a directory deleted": Case({"d/e/f": file(TEXT), "d/g": file(EDIT)}, {}),
    "many, one of them edited since": Case(
        _files(a=TEXT, b=TEXT, c=TEXT), _files(a=EDIT, b=EDIT, d=EDIT), _files(a=EDIT, b=EDIT, d=MORE),
        Refused({"d": "edited-since-create"}), Refused({"d": "edited-since-create"}),
    ),
}  # fmt: skip
