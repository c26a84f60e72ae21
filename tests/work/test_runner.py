"""Tests of recorded commands: what reaches the program, what is shown and kept, what the event says."""

import json
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.digest import hexdigest
from pogstore.errors import BadInput, CannotRun, LockHeld, NoSuchProgram, PogError
from pogstore.model import Actor, Base, Definition, Observed, OddPath, Ran, TaskId
from pogstore.store.lock import locked
from pogstore.store.store import Store
from pogstore.work import arguments, process, runner, tasks
from pogstore.work.active import worktree_id
from pogstore.work.acts import By
from pogstore.work.arguments import argv_of, argv_text
from pogstore.work.matched import OUTSIDE, match
from pogstore.work.process import Capture
from pogstore.work.runner import Command, Recorded, exit_status
from tests.builders_store import OTHER, TASK, opened
from tests.conftest import STARTED, Repo

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
ADA = Actor(type="human", name="ada")
WORDS = st.binary(max_size=20).map(lambda word: word.replace(b"\0", b""))


class Bench:
    """A repository with a task in which commands are recorded; `shown` is what they showed on both streams."""

    def __init__(self, repo: Repo) -> None:
        self.repo, self.path, self.store = repo, repo.path, opened(repo)
        self.by = By(ADA, STARTED, worktree=worktree_id(self.store.layout))
        self.begun = time.monotonic_ns()
        tasks.define(self.store, TASK, Definition(title="t"), self.by)
        self.shown = b"", b""

    def run(self, *argv: str | bytes, cwd: str = "", task: TaskId = TASK, **more: Any) -> Recorded:
        words = tuple(os.fsencode(word) for word in argv)
        command = Command(words, self.path / cwd, dict(os.environb), **more)
        pipes = [os.pipe(), os.pipe()]
        got: list[bytes] = [b"", b""]

        def read(at: int) -> None:
            with os.fdopen(pipes[at][0], "rb") as stream:
                got[at] = stream.read()

        readers = [threading.Thread(target=read, args=(at,)) for at in (0, 1)]
        for reader in readers:
            reader.start()
        try:
            return runner.run(
                self.store, task, command, self.by, shown=(pipes[0][1], pipes[1][1]),
                now=lambda: STARTED + (time.monotonic_ns() - self.begun) // 1000,
            )  # fmt: skip
        finally:
            for _, end in pipes:
                os.close(end)
            for reader in readers:
                reader.join()
            self.shown = got[0], got[1]

    def python(self, code: str, *arguments: str | bytes, **more: Any) -> Recorded:
        return self.run(sys.executable, "-c", code, *arguments, **more)

    def event(self, done: Recorded) -> Ran:
        assert done.fault is None
        assert done.event is not None
        assert isinstance(done.event.event, Ran)
        return done.event.event

    def text(self, done: Recorded, name: str) -> str | None:
        return self.store.find_text(getattr(self.event(done), name))


@pytest.fixture
def bench(repo: Repo) -> Iterator[Bench]:
    repo.commit({"a.txt": "one\n", "sub/b.txt": "one\n", "uv.lock": "x\n"})
    found = Bench(repo)
    yield found
    found.store.close()


def test_a_command_is_recorded(bench: Bench) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); open('b.txt', 'w').write('two\\n'); sys.exit(3)"
    done = bench.python(code, cwd="sub", inputs=("*.txt", "../a.txt"), outputs=("*.txt",))
    assert exit_status(done.finished) == 3
    assert bench.shown == (b"out\n", b"err\n")
    event = bench.event(done)
    assert (event.class_, event.ok, event.exit_code, event.cwd) == ("shell", False, 3, "sub")
    assert event.tool == Path(sys.executable).name
    assert (event.inputs, event.outputs) == (("a.txt", "sub/b.txt"), ("sub/b.txt",))
    assert event.base == Base(commit=f"sha1_{bench.repo.git('rev-parse', 'HEAD')}", branch="main")
    assert [change.path for change in event.changes] == ["sub/b.txt"]
    assert (event.coverage, event.duration_ms is not None) == ("shared", True)
    assert bench.text(done, "stdout") == "out\n"
    assert bench.text(done, "stderr") == "err\n"
    argv = bench.text(done, "argv")
    assert argv is not None
    assert argv_of(argv) == [os.fsencode(sys.executable), b"-c", code.encode()]
    assert {event.argv.class_} == {text.class_ for text in (event.stdout, event.stderr, event.env) if text}
    assert event.argv.class_ == "private"
    environment = json.loads(bench.text(done, "env") or "")
    assert environment["locks"] == {"uv.lock": hexdigest(b"x\n")}
    assert environment["system"]["name"] == os.uname().sysname
    assert environment["tools"].keys() == {"git"}
    assert environment["variables"] == {"LC_ALL": "C.UTF-8", "TZ": "UTC"}


def test_what_changed_before_is_observed(bench: Bench) -> None:
    (bench.path / "a.txt").write_text("a person's\n")
    bench.run("true")
    events = [sealed.event for sealed in bench.store.events(TASK)]
    assert isinstance(events[-2], Observed)
    assert [change.path for change in events[-2].changes] == ["a.txt"]
    assert isinstance(events[-1], Ran)
    assert (events[-1].changes, events[-1].coverage) == ((), "exact")


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_any_argv_can_be_had_back(argv: list[bytes]) -> None:
    text = argv_text(argv)
    text.encode()
    assert argv_of(text) == argv or "[redacted:" in text


@given(
    st.lists(st.text(max_size=8).map(lambda text: text.replace("\0", "").encode("utf-8", "surrogatepass")), max_size=4)
)
def test_unicode_stands_as_it_is(argv: list[bytes]) -> None:
    assert argv_of(argv_text(argv)) == argv


@given(
    st.lists(
        st.sampled_from(
            [b"--password", b"Hunter2xyz!!", KEY.encode(), b"x" + KEY.encode() + b"\xff", b'a"b', b"--token=x"]
        )
    )
)
def test_no_secret_stands_in_a_command_line(argv: list[bytes]) -> None:
    text = argv_text(argv)
    assert KEY not in text
    assert len(argv_of(text)) == len(argv)
    assert argv_text(argv_of(text)) == text, "to redact twice is to redact once"


def test_a_secret_is_found_by_the_option_before_it() -> None:
    said = argv_of(argv_text([b"login", b"--password", b"Tr0ub4dor&3x9"]))
    assert said[:2] == [b"login", b"--password"]
    assert b"Tr0ub4dor" not in said[2]
    for wrong in ("", "{", "{}x", "[1]", '[{"b64": "%"}]', "[{}]", "3"):
        with pytest.raises(BadInput):
            argv_of(wrong)


def test_the_program_gets_its_bytes(bench: Bench) -> None:
    words = [b"", b" a  b ", b"*", b"$HOME", b"\xff\xfe", "ü\u202e".encode(), b"--x", b"--", b"a\nb"]
    code = "import os, sys; os.write(1, b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    done = bench.python(code, *words)
    assert bench.shown[0] == b"\0".join(words)
    argv = bench.text(done, "argv")
    assert argv is not None
    assert argv_of(argv)[3:] == words


def test_output_is_shown_while_it_comes(bench: Bench) -> None:
    """The command waits for an answer that only comes once what it printed was shown."""
    gate = bench.path / "gate"
    os.mkfifo(gate)
    reads, writes = os.pipe()
    faults: list[bytes] = []

    def answer() -> None:
        faults.append(os.read(reads, 5))
        gate.write_bytes(b"g")

    waiting = threading.Thread(target=answer, daemon=True)
    waiting.start()
    code = b"import os, sys; os.write(1, b'ready'); sys.exit(open('gate', 'rb').read() != b'g')"
    with process.signals_passed_on() as signals:
        done = process.execute(
            [os.fsencode(sys.executable), b"-c", code], signals,
            cwd=bench.path, environ=dict(os.environb), stdout=writes, stderr=writes,
        )  # fmt: skip
    waiting.join(timeout=30)
    for end in (reads, writes):
        os.close(end)
    assert (done.status, done.stdout, faults) == (0, "ready", [b"ready"])


def test_a_long_output_is_shown_whole_and_kept_in_part(bench: Bench) -> None:
    code = "import sys\nfor n in range(300000): print(n)\nsys.stderr.buffer.write(b'\\xff\\n')"
    done = bench.python(code)
    assert bench.shown[0] == b"".join(b"%d\n" % n for n in range(300000))
    kept = bench.text(done, "stdout")
    assert kept is not None
    assert kept.startswith("0\n1\n")
    assert kept.endswith("\n299999\n")
    assert len(kept) < process.KEPT + 100
    first, _, rest = kept.partition("\n[")
    count, _, last = rest.partition(" bytes omitted]\n")
    assert len(first) + int(count) + len(last) == len(bench.shown[0]), "nothing else is missing"
    assert bench.text(done, "stderr") == "\ufffd\n"


@given(st.lists(st.binary(max_size=400), max_size=20), st.integers(min_value=2, max_value=300))
def test_a_capture_keeps_the_beginning_and_the_end(parts: list[bytes], limit: int) -> None:
    capture, data = Capture(limit), b"".join(parts)
    for part in parts:
        capture.add(part)
    assert capture.size == len(data)
    if len(data) <= limit // 2 * 2:
        assert capture.text == data.decode("utf-8", "replace")
        return
    first, _, rest = capture.text.rpartition(" bytes omitted]\n")[0].rpartition("\n[")
    last = capture.text.rpartition(" bytes omitted]\n")[2]
    assert data.decode("utf-8", "replace")[: max(len(first) - 1, 0)] == first[: max(len(first) - 1, 0)]
    assert data.endswith(last.encode()) or "\ufffd" in last
    assert 0 < int(rest) <= len(data)


def test_a_secret_at_the_cut_is_not_kept_by_halves() -> None:
    line = b"x" * 40 + b" " + KEY.encode() + b"\n"
    for limit in range(20, 400, 7):
        capture = Capture(limit)
        capture.add(line * 20)
        pieces = capture.text.replace("\n", " ").split()
        halves = [piece for piece in pieces if piece != KEY and len(piece) > 3 and piece in KEY]
        assert halves == [], limit


def test_a_signal_that_ended_it(bench: Bench) -> None:
    done = bench.run("sh", "-c", "kill -KILL $$")
    assert (bench.event(done).exit_code, bench.event(done).ok, exit_status(done.finished)) == (-9, False, 137)


@pytest.mark.parametrize("number", process.FORWARDED)
def test_a_signal_goes_to_the_command_and_the_event_is_written(bench: Bench, number: signal.Signals) -> None:
    code = (
        "import os, signal, sys, time\n"
        "def on(n, _): print(n, flush=True); sys.exit(5)\n"
        f"signal.signal({number.value}, on)\n"
        "os.kill(os.getppid(), {0})\n".format(number.value)
        + "time.sleep(30)"
    )
    before = signal.getsignal(number)
    done = bench.python(code)
    assert bench.event(done).exit_code == 5
    assert bench.text(done, "stdout") == f"{number.value}\n"
    assert signal.getsignal(number) is before


def test_ignored_signals_stay_ignored(bench: Bench) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        done = bench.run("sh", "-c", "kill -HUP $PPID; kill -HUP $$; echo alive")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert bench.text(done, "stdout") == "alive\n"


def test_a_reader_who_goes_away_stops_the_command(bench: Bench) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with process.signals_passed_on() as signals, Path(os.devnull).open("wb") as nowhere:
        done = process.execute(
            [b"yes"], signals, cwd=bench.path, environ=dict(os.environb), stdout=writes, stderr=nowhere.fileno()
        )
    os.close(writes)
    assert exit_status(done) == 128 + signal.SIGPIPE


def test_somebody_left_running_is_not_waited_for(bench: Bench) -> None:
    begun = time.monotonic()
    done = bench.run("sh", "-c", "sleep 60 & echo $!")
    os.kill(int(bench.shown[0]), signal.SIGKILL)
    assert time.monotonic() - begun < 30
    assert (bench.event(done).exit_code, bench.event(done).coverage) == (0, "partial")
    assert bench.event(done).coverage_reason == "still-running"


def test_what_cannot_be_started_leaves_nothing(bench: Bench) -> None:
    (bench.path / "plain").write_text("x")
    (bench.path / "odd").write_text("#!/nowhere\n")
    (bench.path / "odd").chmod(0o755)
    before = len(bench.store.events(TASK))
    for argv, kind in (
        (["no-such-program"], NoSuchProgram), (["./nothing"], NoSuchProgram), ([""], PogError),
        (["./plain"], CannotRun), (["./odd"], CannotRun), (["true", "a\0b"], CannotRun), (["./sub"], CannotRun),
    ):  # fmt: skip
        with pytest.raises(kind) as caught:
            bench.run(*argv)
        assert caught.value.exit_status == (127 if kind is NoSuchProgram else caught.value.exit_status)
    ran = [sealed for sealed in bench.store.events(TASK)[before:] if isinstance(sealed.event, Ran)]
    assert ran == []
    assert CannotRun("x", "y").exit_status == 126


def test_rules_of_one_s_own_hold_where_an_output_is_cut(bench: Bench) -> None:
    bench.repo.git("config", "--add", "pog.redact", "regex:KW-[0-9]{7}")
    vars(bench.store).pop("own_rules", None)  # an open store keeps those it had
    half = process.KEPT // 2
    done = bench.python(f"print('x' * {half - 5} + 'KW-' + '7351928' + 'x' * {2 * half})")
    shown = bench.text(done, "stdout")
    assert shown is not None
    assert "bytes omitted]" in shown
    assert "KW-" not in shown


def test_what_could_not_be_recorded_is_not_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pogstore.work.runner.locked", lambda place: locked(place, 0.01))
    with locked(bench.store.layout.own), pytest.raises(LockHeld):
        bench.run("touch", "ran")
    wrong: tuple[dict[str, Any], ...] = (
        {"inputs": ("nothing",)},
        {"variables": ("MY_TOKEN",)},
        {"variables": ("A=B",)},
    )
    for more in wrong:
        with pytest.raises(BadInput):
            bench.run("touch", "ran", **more)
    monkeypatch.setenv("INNOCENT", KEY)
    with pytest.raises(BadInput, match="secret"):
        bench.run("touch", "ran", variables=("INNOCENT",))
    assert not (bench.path / "ran").exists()


def test_a_fault_after_the_command_is_told_with_its_status(bench: Bench) -> None:
    done = bench.run("sh", "-c", "git config pog.enabled false; exit 4")
    assert done.fault is not None
    assert done.event is None
    assert done.finished.status == 4


def test_variables_are_kept_by_name_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEVEL", "3")
    monkeypatch.setenv("OTHER", "4")
    done = bench.run("true", variables=("LEVEL", "UNSET"))
    assert json.loads(bench.text(done, "env") or "")["variables"] == {
        "LC_ALL": "C.UTF-8", "LEVEL": "3", "TZ": "UTC", "UNSET": None,
    }  # fmt: skip


SECRET = (
    "GITHUB_TOKEN",
    "DB_PWD",
    "PGPASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "SSH_KEY",
    "api_key",
    "PASS",
    "X_PASS_2",
    "BASIC_AUTH",
)
INNOCENT = ("PWD", "OLDPWD", "TOKENIZERS_PARALLELISM", "COMPASS", "LANG", "KEYBOARD", "SSH_AUTH_SOCK", "MONKEY", "PATH")


def test_which_variables_look_like_secrets() -> None:
    for name in SECRET:
        with pytest.raises(BadInput, match="looks like a secret"):
            arguments.check_variables((name,), {})
    arguments.check_variables(INNOCENT, {})


def test_patterns(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in (
        "a.csv",
        "b.csv",
        ".hidden.csv",
        "[x].csv",
        "sub/c.csv",
        "sub/deep/d.csv",
        ".git/e.csv",
        "odd\udcff.csv",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "link.csv").symlink_to("a.csv")
    (tmp_path / "out.csv").write_text("x")

    def found(*patterns: str, cwd: str = "") -> list[Any]:
        return list(match(root, root / cwd, patterns).paths)

    odd = OddPath(b64="b2Rk/y5jc3Y=")
    assert found("*.csv") == [".hidden.csv", "[x].csv", "a.csv", "b.csv", "link.csv", odd]
    assert found("[x].csv") == ["[x].csv"], "a name means itself"
    assert found("[ab].csv") == ["a.csv", "b.csv"]
    assert found("sub") == ["sub/c.csv", "sub/deep/d.csv"]
    assert found("**/d.csv", "**/e.csv") == ["sub/deep/d.csv", OUTSIDE]
    assert found("*.csv", cwd="sub") == ["sub/c.csv"]
    assert found("../a.csv", "../../out.csv", str(tmp_path / "out.csv"), cwd="sub") == ["a.csv", OUTSIDE]
    assert match(root, root, ("x*", "a.csv", "y")).unmatched == ("x*", "y")
    assert not match(root, root, ("*",)).cut


def test_too_many_files_are_not_named(bench: Bench) -> None:
    folder = bench.path / "many"
    folder.mkdir()
    for number in range(1300):
        (folder / f"{number:0200}").touch()
    with pytest.raises(BadInput, match="too many"):
        bench.run("touch", "ran", inputs=("many",))
    bench.repo.git("config", "core.excludesFile", "/dev/null")
    done = bench.run("true", outputs=("many",))
    assert done.outputs.cut
    assert 1000 < len(bench.event(done).outputs) < 1300


def test_two_commands_at_once_are_told_apart_as_far_as_can_be(bench: Bench) -> None:
    tasks.define(bench.store, OTHER, Definition(title="o"), bench.by)
    inner = (
        "from pathlib import Path\n"
        "import os, time\n"
        "from pogstore.store.store import open_store\n"
        "from pogstore.work import runner\n"
        "from pogstore.work.runner import Command\n"
        "from pogstore.work.acts import By\n"
        "from pogstore.model import Actor\n"
        f"by = By(Actor(type='human', name='ada'), {STARTED}, worktree='{bench.by.worktree}')\n"
        "store = open_store('.')\n"
        "command = Command((b'touch', b'inner.txt'), Path.cwd(), dict(os.environb))\n"
        f"now = lambda: {STARTED} + (time.monotonic_ns() - {bench.begun}) // 1000\n"
        f"runner.run(store, '{OTHER}', command, by, now=now)\n"
    )
    done = bench.python(f"{inner}\nopen('outer.txt', 'w')")
    assert bench.shown[1] == b""
    assert [change.path for change in bench.event(done).changes] == ["outer.txt"]
    events = [each.event for each in bench.store.events(OTHER)]
    (ran,) = [event for event in events if isinstance(event, Ran)]
    assert ([change.path for change in ran.changes], ran.coverage_reason) == (["inner.txt"], "another-call")


def test_calls_are_private(bench: Bench) -> None:
    code = "import os, sys; print(*os.listdir('.git/pog/calls'))"
    bench.python(code)
    (name,) = bench.shown[0].split()
    assert not (bench.path / ".git" / "pog" / "calls" / name.decode()).exists()
    bench.python("import os; p = '.git/pog/calls/'; print(os.stat(p + os.listdir(p)[0]).st_mode)")
    assert stat.S_IMODE(int(bench.shown[0])) == 0o600


def test_a_bare_store_runs_nothing(make_repo: Any) -> None:
    bare = make_repo("bare.git", "--bare", commit=False)
    store: Store = opened(bare)
    command = Command((b"touch", b"ran"), bare.path, dict(os.environb))
    with pytest.raises(PogError, match="work tree"):
        runner.run(store, TASK, command, By(ADA, STARTED), now=lambda: STARTED)
    assert not (bare.path / "ran").exists()
    store.close()
