"""The one git hook that is useful to us: a `pre-push` that keeps private refs from leaving by a plain `git push`.

It is installed only where a person asks for it, where git itself says that hooks lie, and only where no other stands:
`core.hooksPath` is never set, a hook of somebody else never moved or edited. Where a program manages the hooks, that
program would overwrite ours or never call it; there nothing is written, and `snippets` say what a person can give it.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from pogstore.digest import hexdigest
from pogstore.errors import WorkTreeFailed
from pogstore.store.layout import Layout
from pogstore.store.store import Store

PRE_PUSH = "pre-push"
SIGN = "pog hook pre-push"
"""What calls us has this in it, whoever wrote it."""
_KEPT = "pre-push"
"""Beside the spool: that the hook is wanted; if we wrote one its hash, and whether its directory was made for it."""
_LONGEST = 1 << 20

State = Literal["absent", "ours", "changed", "managed"]

_HOOK = """\
#!/bin/sh
# Keeps what is private in pogstore from leaving by 'git push --mirror' and the like; all else may go.
# Written by 'git pog init --pre-push', taken away by 'git pog init --remove'.
refs=$(cat)
case $refs in *refs/pog*) ;; *) exit 0 ;; esac
PATH=$PATH:$HOME/.local/bin
python={python}
if command -v git-pog >/dev/null 2>&1; then
    printf '%s\\n' "$refs" | git-pog hook pre-push "$@"
elif [ -x "$python" ]; then
    printf '%s\\n' "$refs" | "$python" -P -m pogstore hook pre-push "$@"
fi
[ $? -ne 4 ]
"""
_SHELL = """\
pog=$(cat)
case $pog in *refs/pog*)
    if command -v git-pog >/dev/null 2>&1; then
        printf '%s\\n' "$pog" | git-pog hook pre-push "$@" || [ $? -ne 4 ] || exit 1
    fi ;;
esac
exec <<POG
$pog
POG
"""
"""For a hook that others wrote: what git says on standard input is there for all that follows, too."""
_LEFTHOOK = """\
pre-push:
  scripts:
    pogstore.sh:
      runner: sh
      use_stdin: true
"""
_LEFTHOOK_SCRIPT = """\
command -v git-pog >/dev/null 2>&1 || exit 0
git-pog hook pre-push "$@" || [ $? -ne 4 ]
"""
"""A command in lefthook's own settings is skipped where no file is pushed; a script is not (lefthook 2.2, tried)."""
_OVERCOMMIT = """\
PrePush:
  Pogstore:
    enabled: true
    command:
      - sh
      - -c
      - command -v git-pog >/dev/null 2>&1 || exit 0; git-pog hook pre-push "$@" || [ $? -ne 4 ]
      - sh
"""
_FILES = {
    "husky": (".husky",),
    "lefthook": tuple(
        f"{folder}{dot}lefthook{local}.{kind}"
        for folder, dot in (("", ""), ("", "."), (".config/", ""))
        for local in ("", "-local")
        for kind in ("yml", "yaml", "toml", "json", "jsonc")
    ),
    "pre-commit": (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"),
    "overcommit": (".overcommit.yml",),
}
"""What lies at the top of a work tree whose hooks a program manages."""
_MARKS = {"lefthook": b"lefthook", "overcommit": b"overcommit", "pre-commit": b"pre-commit.com"}
"""What a hook holds that such a program wrote."""


class Guard(NamedTuple):
    """How things stand with the hook: where it lies or would lie, what stands there, who manages hooks here.

    `calls` says that something which git or the manager runs calls us; `wanted`, that a person once asked for it.
    """

    hook: Path
    state: State
    manager: str | None
    calls: bool
    wanted: bool

    @property
    def lost(self) -> bool:
        """Whether it was asked for and nothing calls us any more (case UC-11)."""
        return self.wanted and not self.calls


class Snippet(NamedTuple):
    """What a person may put somewhere so that we are called: where, after "put this", and the text."""

    where: str
    text: str


_SNIPPETS = {
    "husky": (Snippet("at the top of .husky/pre-push", _SHELL),),
    "lefthook": (
        Snippet(f"into .lefthook/{PRE_PUSH}/pogstore.sh", _LEFTHOOK_SCRIPT),
        Snippet("into lefthook.yml", _LEFTHOOK),
    ),
    "overcommit": (Snippet("into .overcommit.yml", _OVERCOMMIT),),
}


def look(store: Store) -> Guard:
    """Returns how things stand; writes nothing."""
    hook = _directory(store) / PRE_PUSH
    found = _read(hook)
    kept = _kept(store.layout)
    wanted = kept is not None
    if found is not None and _is_ours(found):
        state: State = "ours" if kept is None or hexdigest(found) in kept else "changed"
        return Guard(hook, state, None, os.access(hook, os.X_OK), wanted)
    manager = _manager(store, hook, found)
    if manager is None:
        return Guard(hook, "absent", None, False, wanted)
    return Guard(hook, "managed", manager, any(_calls(path) for path in _callers(store, hook)), wanted)


def maker(store: Store, names: Iterable[str]) -> str | None:
    """Returns what would run as one of some hooks: the program that manages it, or the hook; nothing without one."""
    directory = _directory(store)
    for name in names:
        hook = directory / name
        if os.access(hook, os.X_OK) and hook.is_file():
            manager = _manager(store, hook, _read(hook))
            return f"git hook {name}" if manager in (None, "a hook", "core.hooksPath") else manager
    return None


def wanted(layout: Layout) -> bool:
    """Says whether a person once asked for the hook; costs next to nothing."""
    return _kept(layout) is not None


def plan_guard(store: Store, python: str) -> list[str]:
    """Returns what `guard` would do, each as a phrase; nothing where it stands already or is another's to place."""
    found = look(store)
    ours = found.state == "ours" and found.wanted and _read(found.hook) != _text(python)
    return [f"write {_shown(store, found.hook)}"] if ours or found.state == "absent" else []


def guard(store: Store, python: str) -> list[str]:
    """Installs the hook where nobody else manages hooks; returns what it did.

    It looks for git-pog on the `PATH`, and else asks the interpreter `python` (case UC-71). Where a program manages the
    hooks only the wish is kept, so that `look` can tell if it is not met. Raises `WorkTreeFailed`.
    """
    found, steps = look(store), plan_guard(store, python)
    if found.state == "managed":
        _keep(store.layout, "")
    if not steps:
        return []
    text, kept = _text(python), _kept(store.layout) or ""
    try:
        made = " made" in kept or not found.hook.parent.is_dir()
        found.hook.parent.mkdir(exist_ok=True)
        # what we know of a hook comes first: one that we do not know would be taken for somebody's change of ours
        _keep(store.layout, f"{hexdigest(text)} {kept[:64]}{' made' if made else ''}\n")
        _write(found.hook, text, replace=found.state == "ours")
    except OSError as fault:
        raise WorkTreeFailed(str(found.hook), fault.strerror or str(fault)) from fault
    return steps


def plan_unguard(store: Store) -> list[str]:
    """Returns what `unguard` would do, each as a phrase."""
    found = look(store)
    return [f"remove {_shown(store, found.hook)}"] if found.state == "ours" and found.wanted else []


def unguard(store: Store) -> list[str]:
    """Takes away the hook that we wrote, if nobody changed it since, and forgets the wish; returns what it did."""
    steps = plan_unguard(store)
    hook, kept = _directory(store) / PRE_PUSH, _kept(store.layout)
    try:
        if steps:
            hook.unlink()
            if kept is not None and kept.endswith(" made\n"):
                with suppress(OSError):  # others have put hooks of theirs there
                    hook.parent.rmdir()
    except OSError as fault:
        raise WorkTreeFailed(str(hook), fault.strerror or str(fault)) from fault
    (store.layout.own / _KEPT).unlink(missing_ok=True)
    return steps


def snippets(store: Store, found: Guard) -> list[Snippet]:
    """Returns what a person may put where, where a program manages hooks or another hook stands; else nothing."""
    if found.manager in _SNIPPETS:
        return list(_SNIPPETS[found.manager])
    hook, there, whole = _shown(store, found.hook), os.path.lexists(found.hook), "#!/bin/sh\n" + _SHELL
    if found.manager == "pre-commit":
        # it reads what is pushed itself and tells its hooks of one ref only; a hook that it found it tells all
        name = f"{hook}{'.legacy' if there else ''}"
        return [Snippet(f"into {name}, executable: pre-commit runs it before its own hooks", whole)]
    if found.manager and there:
        return [Snippet(f"at the top of {hook}, below its first line", _SHELL)]
    return [Snippet(f"into {hook}, executable", whole)] if found.manager else []


def _text(python: str) -> bytes:
    return _HOOK.format(python=shlex.quote(python)).encode("utf-8", "surrogateescape")


def _directory(store: Store) -> Path:
    said = store.git.run("rev-parse", "--git-path", "hooks", hooks=True).stdout
    here = store.layout.work_tree or store.layout.git_dir
    return here / os.fsdecode(said.removesuffix(b"\n"))


def _manager(store: Store, hook: Path, found: bytes | None) -> str | None:
    """Returns who manages hooks here: a program, `a hook` that stands there already, `core.hooksPath`; or nobody."""
    elsewhere = os.path.realpath(hook.parent) != os.path.realpath(store.layout.common_dir / "hooks")
    if elsewhere and ".husky" in hook.parts:
        return "husky"
    if found is not None:
        return next((name for name, mark in _MARKS.items() if mark in found), "a hook")
    if os.path.lexists(hook):
        return "a hook"
    root = store.layout.work_tree
    if root is not None:
        for name, files in _FILES.items():
            if any(os.path.lexists(root / file) for file in files):
                return name
    return "core.hooksPath" if elsewhere or hook.parent.is_symlink() else None


def _callers(store: Store, hook: Path) -> Iterator[Path]:
    """Yields every file that may call us; git passes over a hook that is not executable, and so does pre-commit."""
    hooks = (hook, hook.with_name(f"{PRE_PUSH}.legacy")) if hook.exists() else ()
    yield from (path for path in hooks if os.access(path, os.X_OK))
    root = store.layout.work_tree
    if root is not None:
        yield root / ".husky" / PRE_PUSH
        for name in ("lefthook", "overcommit"):
            yield from (root / file for file in _FILES[name])
        yield from sorted((root / ".lefthook" / PRE_PUSH).glob("*"))


def _calls(path: Path) -> bool:
    """Says whether a file calls us, in a line that is no comment."""
    lines = (_read(path) or b"").decode("utf-8", "replace").splitlines()
    return any(SIGN in line and not line.lstrip().startswith("#") for line in lines)


def _is_ours(data: bytes) -> bool:
    """Says whether we wrote a hook, perhaps with another interpreter, or somebody who began with ours."""
    return re.match(rb"#!/bin/sh\n# [^\n]* pogstore [^\n]*\n# Written by 'git pog init --pre-push'", data) is not None


def _read(path: Path) -> bytes | None:
    """Returns the beginning of a regular file, through links; nothing if there is none, or it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(file, _LONGEST)
    except OSError:
        return None
    finally:
        os.close(file)


def _kept(layout: Layout) -> str | None:
    found = _read(layout.own / _KEPT)
    return None if found is None else found.decode("ascii", "replace")


def _keep(layout: Layout, text: str) -> None:
    layout.own.mkdir(exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(layout.own / _KEPT, flags, 0o600), "w", encoding="ascii") as file:
        file.write(text)


def _write(hook: Path, data: bytes, *, replace: bool) -> None:
    """Writes a hook whole or not at all; it must not be there yet, unless it is to be replaced."""
    beside = hook.with_name(f"{hook.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(beside, flags, 0o777), "wb") as file:
            file.write(data)
        if replace:
            beside.replace(hook)
            return
        os.link(beside, hook)  # unlike a rename it does not replace one that came meanwhile
    finally:
        beside.unlink(missing_ok=True)


def _shown(store: Store, place: Path) -> str:
    root = store.layout.work_tree
    return str(place.relative_to(root) if root is not None and place.is_relative_to(root) else place)
