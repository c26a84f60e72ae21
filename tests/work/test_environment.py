"""Tests of the environment that is recorded: what it names, what it never names, and that it is stored once."""

import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pogstore
from pogstore.digest import hexdigest
from pogstore.draft import Draft, DraftText, TaskDrafts
from pogstore.model import Noted, Ran, Stepped, Text
from pogstore.store.batch import Batch
from pogstore.store.refs import content_ref
from pogstore.store.store import Store
from pogstore.work import environment, intake, jottings, process, tasks, toolversions
from pogstore.work.acts import By
from pogstore.work.environment import Asked, capture, members, text_of
from tests.builders_store import ADA, OTHER, TASK, opened
from tests.conftest import STARTED, Repo

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
NOTHING = Asked(tools=(), allow=())


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Where answers are kept."""
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    """A folder on the search path, in which a test puts its tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def tool(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def on(*folders: Path) -> dict[bytes, bytes]:
    places = [*map(str, folders), os.defpath]
    return {b"PATH": os.fsencode(os.pathsep.join(places))}


def value_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def test_what_is_found_is_canonical_and_deterministic(tmp_path: Path, own: Path) -> None:
    (tmp_path / "uv.lock").write_text("x")
    wanted = Asked(tools=("git",), allow=("TZ", "LANG"), named=("UNSET",))
    environ = {b"TZ": b"UTC", b"LANG": b"eo", b"PATH": os.fsencode(os.environ["PATH"]), b"SHELL": b"/bin/sh"}
    found = capture(tmp_path, tmp_path, environ, wanted, own)
    text = text_of(found)
    assert text == json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert text == text_of(capture(tmp_path, tmp_path, dict(reversed(environ.items())), wanted, own))
    value = value_of(text)
    assert (value["system"]["name"], value["system"]["machine"]) == (os.uname().sysname, os.uname().machine)
    assert value["locks"] == {"uv.lock": hexdigest(b"x")}
    assert value["variables"] == {"LANG": "eo", "TZ": "UTC", "UNSET": None}
    assert value["tools"].keys() == {"git"}
    assert "interpreter" not in value
    assert "later" not in value


def test_what_cannot_be_had_is_absent_and_no_failure(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.rmdir()
    own.write_text("a file stands where a folder should")
    gone = tmp_path / "gone"

    def refused() -> None:
        raise OSError

    monkeypatch.setattr(environment, "_system", refused)
    found = capture(gone, gone / "below", {b"PATH": b""}, Asked(), own)
    assert (found.system, found.tools, found.locks) == (None, {}, {})
    assert capture(None, None, {}, NOTHING, own).locks == {}


def test_no_secret_is_ever_named(tmp_path: Path, own: Path) -> None:
    """Threat T18: neither a telling name nor a telling value, whatever a configuration asks for."""
    names = ("MY_TOKEN", "DB_PASSWORD", "INNOCENT", "URL", "PLAIN")
    values = ("a1b2c3", "hunter2x", KEY, "https://ada:s3cr3tpass@example.org/", "yes")
    environ = {name.encode(): value.encode() for name, value in zip(names, values, strict=True)}
    found = capture(tmp_path, tmp_path, environ, Asked(tools=(), allow=names), own).variables
    assert found == {"PLAIN": "yes"}


@given(st.dictionaries(st.sampled_from(["CI", "TZ", "LANG"]), st.binary(max_size=30)))
def test_any_value_makes_a_text_that_can_be_stored(values: dict[str, bytes]) -> None:
    environ = {name.encode(): value for name, value in values.items()}
    found = environment.variables_of(environ, Asked(allow=("CI", "TZ", "LANG")))
    text = text_of(environment.Environment(variables=found))
    text.encode()
    assert found.keys() == values.keys()
    assert members(text) == {f"variables.{name}": value for name, value in found.items()}


def test_lock_files_are_found_from_the_folder_up_to_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "other").mkdir()
    for name in ("go.sum", "a/requirements-dev.txt", "a/b/uv.lock", "other/uv.lock", "a/notes.txt"):
        (root / name).write_text(name)
    (tmp_path / "uv.lock").write_text("above the root")
    (root / "yarn.lock").mkdir()
    (root / "poetry.lock").symlink_to(tmp_path / "uv.lock")
    os.mkfifo(root / "Cargo.lock")
    found = environment.lock_hashes(root, root / "a" / "b")
    assert found == {name: hexdigest(name.encode()) for name in ("go.sum", "a/requirements-dev.txt", "a/b/uv.lock")}
    assert environment.lock_hashes(root, tmp_path).keys() == {"go.sum"}


def test_a_tool_is_asked_once_for_each_file(bin_: Path, own: Path, tmp_path: Path) -> None:
    path = tool(bin_, "node", f"echo x >> '{tmp_path}/asked'; echo v20.1.0")
    environ = on(bin_)
    assert toolversions.versions(["node"], None, environ, own) == {"node": "20.1.0"}
    assert toolversions.versions(["node"], None, environ, own) == {"node": "20.1.0"}
    assert (tmp_path / "asked").read_text() == "x\n"
    tool(bin_, "node", f"echo y >> '{tmp_path}/asked'; echo v21.10.0")
    os.utime(path, (1, 1))
    assert toolversions.versions(["node"], None, environ, own) == {"node": "21.10.0"}
    assert (tmp_path / "asked").read_text() == "x\ny\n"
    assert stat.S_IMODE((own / "tools.json").stat().st_mode) == 0o600


def test_a_damaged_cache_is_made_anew(bin_: Path, own: Path) -> None:
    tool(bin_, "node", "echo v20.1.0")
    for damaged in (b"", b"[1]", b"{", b'{"%b": 1}' % os.fsencode(bin_ / "node"), b"[" * 100_000):
        (own / "tools.json").write_bytes(damaged)
        assert toolversions.versions(["node"], None, on(bin_), own) == {"node": "20.1.0"}


def test_a_tool_that_hangs_fails_or_floods_is_unknown_and_ended(
    bin_: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolversions, "SECONDS", 0.3)
    tool(bin_, "node", f"(sleep 1; touch '{tmp_path}/left') & sleep 60")
    tool(bin_, "go", "echo go1.2; exit 3")
    tool(bin_, "gcc", "yes 1.2.3")
    names = ["node", "go", "gcc"]
    assert toolversions.versions(names, None, on(bin_), own) == dict.fromkeys(names, "unknown")
    assert [each[2] for each in json.loads((own / "tools.json").read_text()).values()] == ["unknown"] * 3, "nor again"
    time.sleep(1.1)
    assert not (tmp_path / "left").exists(), "what it had started is ended with it"


def test_all_tools_together_have_their_time(bin_: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is not asked for lack of it is asked the next time."""
    monkeypatch.setattr(toolversions, "ALL_SECONDS", 0.3)
    tool(bin_, "node", "sleep 60")
    tool(bin_, "gcc", "echo 1.2.3")
    assert toolversions.versions(["node", "gcc"], None, on(bin_), own) == {"node": "unknown", "gcc": "unknown"}
    assert toolversions.versions(["node", "gcc"], None, on(bin_), own) == {"node": "unknown", "gcc": "1.2.3"}


def test_a_tool_of_the_work_tree_is_not_run(tmp_path: Path, own: Path) -> None:
    inside = tmp_path / "root" / "node_modules" / ".bin"
    inside.mkdir(parents=True)
    tool(inside, "node", f"touch '{tmp_path}/ran'; echo 1.0.0")
    assert toolversions.versions(["node"], tmp_path / "root", on(inside), own) == {"node": "unknown"}
    assert not (tmp_path / "ran").exists()


def test_no_name_of_a_tool_leads_elsewhere(
    tmp_path: Path, bin_: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bin_)
    tool(bin_, "node", f"touch '{tmp_path}/ran'; echo 1.0.0")
    for name in ("./node", str(bin_ / "node"), "-node", "no de", "", "$(node)"):
        assert toolversions.versions([name], None, on(bin_), own) == {}
    assert toolversions.versions(["node"], None, {b"PATH": b".:"}, own) == {}
    assert not (tmp_path / "ran").exists()


def test_the_python_of_a_virtual_environment_says_so_in_a_file(tmp_path: Path, own: Path) -> None:
    venv = tmp_path / "root" / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.7\n")
    tool(venv / "bin", "python3", f"touch '{tmp_path}/ran'")
    assert toolversions.versions(["python3"], tmp_path / "root", on(venv / "bin"), own) == {"python3": "3.12.7"}
    assert not (tmp_path / "ran").exists()


def test_what_chooses_by_directory_is_asked_outside_of_all(
    bin_: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims = bin_ / "shims"
    shims.mkdir()
    tool(shims, "node", 'echo "18.0.$(pwd | wc -c | tr -d " ")"')
    assert toolversions.versions(["node"], None, on(shims), own) == {"node": "18.0.2 (by default)"}


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("Python 3.11.7\n", "3.11.7"),
        ("v20.20.2", "20.20.2"),
        ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", "1.95.0"),
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.1\nCopyright", "12.2.1"),
        ("go version go1.22.1 linux/amd64", "1.22.1"),
        ("\n\ngit version 2.39.5\n", "2.39.5"),
        ("git version 2.50.GIT", "2.50.GIT"),
        ("tool (1.2)", "1.2"),
        ("no number", "no number"),
        ("", "unknown"),
    ],
)
def test_the_version_in_what_a_tool_says(said: str, version: str) -> None:
    assert toolversions.version_in(said) == version


def test_nothing_is_asked_of_a_program_that_is_not_there() -> None:
    assert process.said([b"/nonexistent"], environ={}, seconds=1) is None
    assert process.said([b"/bin/echo", b"a\0b"], environ={}, seconds=1) is None


ID = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("files", "environ", "found"),
    [
        ({}, {}, None),
        ({"proc/self/cgroup": "0::/user.slice\n", "proc/self/mountinfo": "1 2 0:1 / / rw - ext4 x rw\n"}, {}, None),
        ({".dockerenv": ""}, {}, {"kind": "docker"}),
        ({".dockerenv": "", "proc/self/cgroup": f"0::/docker/{ID}\n"}, {}, {"kind": "docker", "id": ID}),
        (
            {"proc/self/mountinfo": f"1 2 0:1 /var/lib/docker/containers/{ID}/hostname /etc/hostname rw - ext4 x rw\n"},
            {},
            {"id": ID},
        ),
        # a host sees the mounts of all its containers
        (
            {"proc/self/mountinfo": f"1 2 0:1 /x/{ID} /var/lib/docker/overlay2/{ID}/merged rw - overlay x rw\n"},
            {},
            None,
        ),
        (
            {"run/.containerenv": f'engine="podman-4.3"\nid="{ID}"\nimage="docker.io/library/x:1"\nimageid="abc"\n'},
            {},
            {"kind": "podman", "id": ID, "image": "abc"},
        ),
        ({}, {b"KUBERNETES_SERVICE_HOST": b"10.0.0.1"}, {"kind": "kubernetes"}),
        ({}, {b"container": b"lxc", b"CI_JOB_IMAGE": b"python:3.12"}, {"kind": "lxc", "image": "python:3.12"}),
        ({}, {b"container": b"$(evil)"}, None),
        ({}, {b"CI_JOB_IMAGE": b"python:3.12"}, None),
    ],
)
def test_the_container(
    files: dict[str, str], environ: dict[bytes, bytes], found: dict[str, str] | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    seen = environment._container(environ, tmp_path)
    said = None if seen is None else {name: getattr(seen, name) for name in ("kind", "id", "image")}
    assert said == (None if found is None else dict.fromkeys(("kind", "id", "image")) | found)


def test_members_of_texts_of_any_version() -> None:
    assert members('{"a":{"b":"1","c":null},"d":2,"e":["x"]}') == {"a.b": "1", "a.c": None, "d": "2", "e": '["x"]'}
    for text in ("", "[]", "{", "1", "[" * 100_000):
        assert members(text) is None


# How it is stored.


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    found = opened(repo)
    for task in (TASK, OTHER):
        tasks.define(found, task, pogstore.Definition(title="t"), By(ADA, STARTED))
    yield found
    found.close()


def told(store: Store, text: str, task: Any = TASK, **more: Any) -> Text:
    named = DraftText(text=text, class_="private", once=True)
    draft = Draft(kind="noted", time=STARTED, actor=ADA, texts={"text": named}, **more)
    intake.take(store, [TaskDrafts(task=task, drafts=(draft,))], imported=False)
    event = store.events(task)[-1].event
    assert isinstance(event, Noted)
    assert event.text is not None
    assert store.find_text(event.text) == text
    return event.text


def test_an_equal_text_of_a_task_is_stored_once(store: Store) -> None:
    first = told(store, "one")
    tip = store.refs.read(content_ref(TASK, "private"))
    assert told(store, "one") == first
    assert store.refs.read(content_ref(TASK, "private")) == tip, "nothing was stored"
    assert told(store, "two") != first
    assert told(store, "one") == first, "one that comes back is known as well"
    assert told(store, "one", OTHER) != first, "a task names nothing that another one holds"


def test_two_in_one_write_are_stored_once(store: Store) -> None:
    named = DraftText(text="one", class_="private", once=True)
    drafts = tuple(Draft(kind="noted", time=STARTED, actor=ADA, texts={"text": named}) for _ in "12")
    intake.take(store, [TaskDrafts(task=TASK, drafts=drafts)], imported=False)
    assert len({event.text for each in store.events(TASK)[-2:] if isinstance(event := each.event, Noted)}) == 1


def test_after_an_erasure_it_is_stored_anew(store: Store, repo: Repo) -> None:
    """An erasure replaces the chain; what it took must not be named again as if it were there."""
    first = told(store, "one")
    ref = content_ref(TASK, "private")
    empty = repo.git("commit-tree", "-m", "content", repo.git("mktree", input=""))
    repo.git("update-ref", ref, empty)
    assert store.find_text(first) is None
    again = told(store, "one")
    assert again.blob != first.blob
    assert told(store, "one") == again


@pytest.mark.parametrize("damaged", ["", "[]", json.dumps({TASK: [1, ["x"], ["x", 1, "private"]]})])
def test_what_is_remembered_may_be_lost(store: Store, damaged: str) -> None:
    told(store, "one")
    (store.layout.own / "texts.json").write_text(damaged)
    told(store, "one")


def test_what_is_remembered_is_for_its_owner_and_bounded(store: Store) -> None:
    for number in range(6):
        told(store, str(number))
    path = store.layout.own / "texts.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    kept = json.loads(path.read_text())
    assert len(kept[TASK]) == 4
    assert "one" not in path.read_text()


def test_jottings_never_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("1")
    (tmp_path / "x").symlink_to(tmp_path / "elsewhere")
    assert jottings.read(tmp_path / "x") is None
    assert jottings.jot(tmp_path / "x", 2)
    assert (tmp_path / "elsewhere").read_text() == "1"
    assert jottings.read(tmp_path / "x") == 2
    assert not jottings.jot(tmp_path / "no folder" / "x", 2)
    assert not (tmp_path / "no folder").exists()


# Who records it.


def test_a_program_that_records_itself(repo: Repo, store: Store) -> None:
    repo.commit({"uv.lock": "1"})
    with pogstore.open(repo.path) as recorder, recorder.task("t", by="robot") as task:
        for paths in (["a"], ["b"], None):
            with task.step("tool", paths=paths):
                (repo.path / "a").write_text("x")
        (repo.path / "uv.lock").write_text("2")
        with task.step("tool"):
            pass
    events = [each.event for each in store.events(task.id) if isinstance(each.event, Stepped)]
    named = [event.env for event in events]
    assert named[0] == named[1] == named[2] != named[3], "stored once, and anew where it has changed"
    first, last = (value_of(store.find_text(each) or "") for each in (named[0], named[3]))
    assert first["interpreter"] == f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
    assert first["locks"] == {"uv.lock": hexdigest(b"1")}
    assert last["locks"] == {"uv.lock": hexdigest(b"2")}
    assert {text.class_ for text in named if text} == {"private"}


def test_what_is_asked_for_is_set_in_gits_configuration(repo: Repo, store: Store) -> None:
    assert environment.asked(store) == Asked(tools=("git",))
    repo.git("config", "pog.envTools", "")
    repo.git("config", "pog.envAllow", "A, B  A")
    assert environment.asked(Store(store.layout), ["C"]) == Asked((), ("A", "B"), ("C",))


def test_batches_know_nothing_of_it(store: Store) -> None:
    """A text that is not to be named again gets a salt of its own each time."""

    def write(batch: Batch) -> tuple[Text, Text]:
        return batch.add_text(TASK, "one", "private"), batch.add_text(TASK, "one", "private")

    first, second = store.transact(write)
    assert first.blob != second.blob
    assert Ran.__struct_fields__.count("env") == 1
