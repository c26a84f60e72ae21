"""The only door to the `git` command: how it is found, with which environment it runs, how its errors come back.

Every call names its repository outright and inherits nothing of a hook's `GIT_*` (pre-commit in a linked work tree
exports `GIT_DIR` and `GIT_INDEX_FILE`, and they would win over any directory). Never a shell.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

from pogstore.errors import GitFailed, NotFound
from pogstore.store import begun, gitargs, gitenv, spawn

environment = gitenv.environment


@cache
def executable() -> str:
    """Returns the absolute path of git; never one that lies in the current directory."""
    try:
        return os.fsdecode(spawn.find_git(os.environb.get(b"PATH", os.defpath.encode())))
    except FileNotFoundError:
        raise NotFound("program", "git", "install git and put it on the PATH") from None


@cache
def version() -> tuple[int, int]:
    """Returns git's major and minor version; (0, 0) if it will not say."""
    said = subprocess.run([executable(), "version"], stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
    found = re.search(rb"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def command(git_dir: Path, work_tree: Path | None, arguments: Sequence[str], *, hooks: bool = False) -> list[str]:
    """Returns the argument vector of one git call on one repository."""
    place = gitenv.place(str(git_dir), None if work_tree is None else str(work_tree))
    return [executable(), *([] if hooks else gitenv.QUIET), *place, *arguments]


class Done(NamedTuple):
    """What came of a git command."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Git:
    """The git command on one repository."""

    def __init__(self, git_dir: Path, work_tree: Path | None = None) -> None:
        self.git_dir, self.work_tree = git_dir, work_tree

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        check: bool = True,
        env: Mapping[str, str] | None = None,
        hooks: bool = False,
        progress: bool = False,
        timeout: float | None = None,
        output: IO[bytes] | None = None,
    ) -> Done:
        """Returns what a git command printed; raises `GitFailed` on a status other than 0, unless `check` is off.

        It is stopped, and has failed, after `timeout` seconds.

        With `progress` its error output goes where ours goes, so that a person sees it at once; it is not returned.
        With `output`, an open file, what it prints goes there.
        """
        argv = command(self.git_dir, self.work_tree, arguments, hooks=hooks)
        if not (stdin or output) and (said := begun.take(argv, env)) is not None:
            return Done(0, said, b"")
        try:
            done = subprocess.run(
                argv,
                input=stdin,
                stdout=output or subprocess.PIPE,
                stderr=None if progress else subprocess.PIPE,
                env=environment(env),
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as fault:
            raise GitFailed(arguments[0], -1, f"it was stopped after {timeout} s") from fault
        if check and done.returncode:
            raise GitFailed(arguments[0], done.returncode, (done.stderr or b"").decode("utf-8", "replace"))
        return Done(done.returncode, done.stdout or b"", done.stderr or b"")

    def text(self, *arguments: str, check: bool = True) -> str:
        """Returns what a git command printed, as text without the final newline."""
        return self.run(*arguments, check=check).stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def settings(self) -> dict[str, list[str]]:
        """Returns all of git's configuration as git itself sees it; section and name are lower case, as git lists them.

        A setting without a value is `true`.
        """
        found: dict[str, list[str]] = {}
        for record in self.run(*gitargs.SETTINGS).stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            name, newline, value = record.partition("\n")
            found.setdefault(name, []).append(value if newline else "true")
        return found

    def values(self, name: str) -> list[str]:
        """Returns every value of a setting as git itself sees it, `git -c` included; one without a value is empty."""
        done = self.run("config", "--null", "--get-all", name, check=False)
        if done.returncode not in (0, 1):  # 1: it is not set
            raise GitFailed("config", done.returncode, done.stderr.decode("utf-8", "replace").strip())
        return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]

    @contextmanager
    def stream(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Yields the standard output of a git command while it runs; raises `GitFailed` if it ends with an error."""
        with subprocess.Popen(
            command(self.git_dir, self.work_tree, arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        ) as process:
            output = process.stdout
            if output is None:  # pragma: no cover - PIPE was asked for
                raise GitFailed(arguments[0], -1, "no output stream")
            yield output
        if process.returncode:
            raise GitFailed(arguments[0], process.returncode, "")

    def converse(self, *arguments: str, env: Mapping[str, str] | None = None) -> "Conversation":
        """Begins a git command that is told things and answers; the caller ends it."""
        return Conversation(command(self.git_dir, self.work_tree, arguments), environment(env))


class Conversation:
    """A git command that runs: what it is told, and what it says. One that has gone says nothing."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        environ = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        self.process, self._telling, reads = spawn.converse([os.fsencode(word) for word in argv], environ)
        self._output = os.fdopen(reads, "rb")

    def tell(self, data: bytes) -> None:
        """Tells it something: at most what the system holds between two processes, else both may wait for ever."""
        with suppress(OSError):  # it has gone
            os.write(self._telling, data)

    def line(self) -> bytes:
        """Returns the next line that it says, without its end."""
        return self._output.readline().removesuffix(b"\n")

    def read(self, size: int) -> bytes:
        """Returns so many bytes that it says; fewer if it has ended."""
        return self._output.read(size)

    def end(self) -> None:
        """Ends it, wherever it is."""
        self._output.close()
        spawn.abandon(self.process, self._telling)


def ask_places(path: Path, env: Mapping[str, str]) -> tuple[int, str, str]:
    """Asks git where the repository at a path lies, in exactly the environment given: status, output, error output."""
    argv = [executable(), "-C", str(path), *gitargs.PLACES]
    if env == environment() and (said := begun.take(argv)) is not None:
        return 0, os.fsdecode(said), ""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, env=dict(env), check=False)
    return done.returncode, os.fsdecode(done.stdout), done.stderr.decode("utf-8", "replace")
