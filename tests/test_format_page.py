"""The dumps of `docs/format.md` are what plain git prints: the page's commands are run in its scratch repository.

`python -m tests.test_format_page DIR` makes that repository, to look at it by hand.
"""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from pogstore import codec, model
from pogstore.model import FORMAT, Actor, Change, Definition, Person, Prompted, Stepped, TaskId
from pogstore.store.batch import Batch
from pogstore.store.carrier import _HIDDEN
from pogstore.store.store import Store, open_store
from pogstore.work import tasks
from pogstore.work.acts import By
from tests.conftest import SECOND, STARTED, Repo
from tests.test_transcripts import steps

PAGE = Path(__file__).parents[1] / "docs" / "format.md"
TEXT = PAGE.read_text("utf-8")
TASK = TaskId("01998aa4-3c00-7d1e-a6c5-0d9e8f7a6b5c")
ADA = Person(name="Ada Example", email="ada@example.org")
PERSON = Actor(type="human", name="Ada Example", on_behalf_of=ADA)
AGENT = Actor(type="agent", name="claude-code", session="3f9c", on_behalf_of=ADA)
SHIM = """#!{python}
import sys
from pogstore import digest
print(digest.hexdigest(sys.stdin.buffer.read()) + "  -")
"""

SALT_BYTES = 16


def fill(store: Store) -> None:
    """Writes the three events of the page, with salts that are counted instead of drawn."""
    salts = (number.to_bytes(16, "big") for number in count(1))
    drawn = os.urandom
    with mock.patch("os.urandom", side_effect=lambda size: next(salts) if size == SALT_BYTES else drawn(size)):
        by = By(actor=PERSON, time=STARTED, offset=60)
        tasks.define(store, TASK, Definition(title="Greet in English", checks=("python greet.py",)), by)
        store.transact(_prompt)
        store.transact(_step)


def _prompt(batch_: Batch) -> None:
    text = batch_.add_text(TASK, "Say hello, not hola.", "private")
    batch_.append(Prompted(v=FORMAT, task=TASK, clock=1, time=STARTED + SECOND, offset=60, actor=PERSON, text=text))


def _step(batch_: Batch) -> None:
    change = Change(
        path="greet.py",
        before=batch_.add_file(TASK, "greet.py", "100644", b"print('hola')\n"),
        after=batch_.add_file(TASK, "greet.py", "100644", b"print('hello')\n"),
    )
    batch_.append(
        Stepped(
            v=FORMAT,
            task=TASK,
            clock=1,
            time=STARTED + 2 * SECOND,
            offset=60,
            actor=AGENT,
            tool="Edit",
            class_="edit",
            call_id="toolu_01",
            ok=True,
            changes=(change,),
            coverage="scoped",
            effects="tree",
        )
    )


def make(place: Path) -> None:
    """Makes the page's repository."""
    place.mkdir(parents=True, exist_ok=True)
    repo = Repo(place)
    repo.git("init", "-q")
    repo.git("config", "pog.enabled", "true")
    fill(open_store(place))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `b3sum`, also on a machine that has none."""
    folder = tmp_path_factory.mktemp("bin")
    if not shutil.which("b3sum"):
        (folder / "b3sum").write_text(SHIM.format(python=sys.executable))
        (folder / "b3sum").chmod(0o755)
    return folder


def test_the_page_shows_what_git_prints(tmp_path: Path, tools: Path) -> None:
    make(tmp_path / "repo")
    environ = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    commands = steps(TEXT)
    assert len(commands) >= 6
    for step in commands:
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=tmp_path / "repo",
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert tuple(line.rstrip() for line in done.stdout.rstrip("\n").split("\n")) == step.output, step.command
        assert done.returncode == 0, done.stderr


def row_names(heading: str) -> list[str]:
    """The names in the first column of the tables below a heading."""
    part = TEXT.partition(f"\n{heading}\n")[2]
    assert part, f"no heading '{heading}'"
    rows = [line for line in part.split("\n## ")[0].splitlines() if line.startswith("| `")]
    return [name.strip("`") for row in rows for name in row.split("|")[1].replace(" ", "").split(",") if name]


def test_every_kind_and_every_field_stands_on_the_page() -> None:
    """The page changes when the bytes can (STYLE, review card 7)."""
    for kind in model.KINDS:
        assert kind in row_names("## The kinds")
    structs: tuple[type[msgspec.Struct], ...] = (Definition, Actor, Change, model.Side, model.Text, model.Source)
    for struct in (*model.KINDS.values(), *structs):
        for name in struct.__struct_encode_fields__:
            assert f"`{name}`" in TEXT, f"{struct.__name__}.{name}"


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    assert codec.MAX_DEPTH == 64
    assert (codec.MAX_BYTES, codec.MAX_BYTES_WITH_CHANGES) == (1_048_576, 8_388_608)
    for word in ("64 levels", "1,048,576", "8,388,608", "2^53", "2^52", "2^40", "120", "4,294,967,295", "840"):
        assert word in TEXT


def test_the_page_lists_exactly_the_characters_that_a_subject_escapes() -> None:
    block = TEXT.partition("<!-- escaped -->")[2].partition("<!-- end -->")[0]
    listed: set[int] = set()
    for cell in [
        cell.strip() for line in block.splitlines() if line.startswith("| U+") for cell in line.split("|")[1:2]
    ]:
        first, _, last = cell.partition(" to ")
        listed.update(range(int(first[2:], 16), int((last or first)[2:], 16) + 1))
    assert listed == {ord(character) for character in _HIDDEN.findall("".join(map(chr, range(0x110000))))}


if __name__ == "__main__":
    make(Path(sys.argv[1]))
