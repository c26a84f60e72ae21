"""In which environment something is done: system, tools, lock files, container, and the variables that may be named.

Best effort: what cannot be had is absent, and nothing here fails. Never records a secret: a variable is named before
its value is looked at, one whose name or value looks like a secret is left out, and what is left is redacted.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from pogstore import codec, redact
from pogstore.digest import hexdigest_stream
from pogstore.store.store import Store
from pogstore.work import toolversions
from pogstore.work.arguments import looks_secret

ENV_TOOLS = "pog.envTools"
ENV_ALLOW = "pog.envAllow"
TOOLS = ("python3", "node", "go", "cargo", "gcc", "git")
ALLOW = (
    *("CI", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "SOURCE_DATE_EPOCH"),
    *("PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONUTF8", "NODE_ENV", "RUSTFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS"),
    *("GOOS", "GOARCH", "GOFLAGS", "CGO_ENABLED"),
)
LOCKS = (
    *("Cargo.lock", "Gemfile.lock", "Pipfile.lock", "bun.lock", "bun.lockb", "composer.lock", "conda-lock.yml"),
    *("deno.lock", "flake.lock", "go.sum", "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json", "package-lock.json"),
    *("pdm.lock", "pnpm-lock.yaml", "poetry.lock", "pubspec.lock", "pylock.toml", "uv.lock", "yarn.lock"),
)
"""Files that say which versions of others' work a project stands on."""
REQUIREMENTS = "requirements*.txt"
_MOST_LOCKS = 50
_LARGEST_LOCK = 64 << 20
_LONGEST = 1000
_DEEPEST = 20
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_KINDS = ("kubepods", "docker", "libpod", "containerd", "lxc", "garden", "buildkit")
_IMAGES = (b"CI_JOB_IMAGE", b"CONTAINER_IMAGE")
_OWN_MOUNTS = ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf")
"""What an engine mounts into each container from a place that names it; other mounts may be of other containers."""
_ROOT = Path("/")

_T = TypeVar("_T")


class System(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The operating system."""

    name: str
    release: str
    machine: str
    distribution: str | None = None
    libc: str | None = None


class Container(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The container that it ran in: of what kind, and its id and image as far as either can be seen from inside."""

    kind: str | None = None
    id: str | None = None
    image: str | None = None


class Environment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was found. `interpreter` is the Python that recorded its own work; `later` says that what was done was over.

    `tools` are versions by name, `locks` BLAKE3 by path; a variable that was asked for and is not set is null.
    """

    system: System | None = None
    container: Container | None = None
    interpreter: str | None = None
    tools: dict[str, str] = {}
    locks: dict[str, str] = {}
    variables: dict[str, str | None] = {}
    later: bool = False


class Asked(NamedTuple):
    """What is to be found out: the tools, the variables that may be named, and those that must be; `locks` are paths of
    lock files, besides those that are found.
    """

    tools: tuple[str, ...] = TOOLS
    allow: tuple[str, ...] = ALLOW
    named: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()


def asked(store: Store, named: Sequence[str] = ()) -> Asked:
    """Returns what git's configuration says is to be found out; an empty setting asks for nothing of its sort."""
    tools, allow = store.config.text(ENV_TOOLS), store.config.text(ENV_ALLOW)
    return Asked(
        TOOLS if tools is None else _words(tools), ALLOW if allow is None else _words(allow), tuple(named)
    )  # fmt: skip


def _words(setting: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(setting.replace(",", " ").split()))[:_MOST_LOCKS]


def capture(
    root: Path | None,
    cwd: Path | None,
    environ: Mapping[bytes, bytes],
    wanted: Asked,
    own: Path,
    *,
    recorder: bool = False,
    later: bool = False,
) -> Environment:
    """Returns the environment of what is done in a folder of a work tree, as far as it can be had.

    `own` is where the versions of tools are kept for the next time. `recorder` says that it is this very process which
    does the work. With `later` it is over, and what variables it had is not known here.
    """
    variables = {} if later else variables_of(environ, wanted)
    return Environment(
        system=_or_nothing(_system),
        container=_or_nothing(lambda: _container(environ)),
        interpreter=_interpreter() if recorder else None,
        tools=_or_nothing(lambda: toolversions.versions(wanted.tools, root, environ, own)) or {},
        locks=_or_nothing(lambda: lock_hashes(root, cwd or root, wanted.locks)) or {} if root is not None else {},
        variables=variables,
        later=later,
    )


def _or_nothing(find: Callable[[], _T]) -> _T | None:
    try:
        return find()
    except (OSError, ValueError):
        return None


def text_of(environment: Environment) -> str:
    """Returns an environment as canonical JSON: keys sorted, no white space, what is absent left out."""
    value = msgspec.to_builtins(environment)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def members(text: str) -> dict[str, str | None] | None:
    """Returns what an environment's text says, by dotted names, also what a newer version says; nothing if it is none.

    Of a variable that was asked for and not set it is `None`.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return dict(_members(value, ())) if isinstance(value, dict) else None


def _members(value: Mapping[str, object], above: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    for name in sorted(value):
        found = value[name]
        if isinstance(found, dict) and len(above) < _DEEPEST:
            yield from _members(found, (*above, name))
        elif found is None or isinstance(found, str):
            yield ".".join((*above, name)), found
        else:
            yield ".".join((*above, name)), json.dumps(found, sort_keys=True)


def variables_of(environ: Mapping[bytes, bytes], wanted: Asked) -> dict[str, str | None]:
    """Returns the variables that may be told, with their values; none that looks like a secret."""
    found: dict[str, str | None] = {}
    for name in (*wanted.allow, *wanted.named):
        value = environ.get(os.fsencode(name))
        text = None if value is None else value.decode("utf-8", "replace")
        if looks_secret(name, text or ""):
            continue
        if text is not None:
            found[name] = redact.redact(text)[0][:_LONGEST]
        elif name in wanted.named:
            found[name] = None
    return found


def lock_hashes(root: Path, cwd: Path, named: Sequence[str] = ()) -> dict[str, str]:
    """Returns the BLAKE3 of the lock files in a folder and in those above it, by their paths from the root.

    Those that are `named`, by such paths, are looked for besides.
    """
    inside = cwd.parts[len(root.parts) :] if cwd.is_relative_to(root) else ()
    folders = [root.joinpath(*inside[:depth]) for depth in range(min(len(inside), _DEEPEST) + 1)]
    found: dict[str, str] = {}
    besides = (root / name for name in named if _is_lock(Path(name)))
    for path in dict.fromkeys((*(path for folder in folders for path in _locks(folder)), *besides)):
        digest = _hash(root, path) if len(found) < _MOST_LOCKS else None
        if digest is not None:
            name = path.relative_to(root).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            found[name] = digest
    return found


def _locks(folder: Path) -> Iterator[Path]:
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return
    yield from filter(_is_lock, paths)


def _is_lock(path: Path) -> bool:
    return path.name in LOCKS or fnmatchcase(path.name, REQUIREMENTS)


def _hash(root: Path, path: Path) -> str | None:
    """Returns the hash of a file of the work tree; of none that a link leads out of it, or that is no lock file."""
    try:
        real = Path(os.path.realpath(path))
        if not (real.is_relative_to(root) and real.is_file() and real.stat().st_size <= _LARGEST_LOCK):
            return None
        with real.open("rb") as file:
            return hexdigest_stream(file)[0]
    except OSError:
        return None


def _interpreter() -> str:
    return f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"


def _system() -> System:
    uname = os.uname()
    return System(
        name=uname.sysname, release=uname.release, machine=uname.machine, distribution=_distribution(), libc=_libc()
    )


def _libc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or None
    except (ValueError, OSError):
        return None  # not a GNU system


def _distribution(slash: Path = _ROOT) -> str | None:
    """Returns what a system calls itself in `os-release`; `None` where there is none."""
    said = _settings_in(slash / "etc" / "os-release") or _settings_in(slash / "usr" / "lib" / "os-release")
    return " ".join(filter(None, (said.get("ID"), said.get("VERSION_ID")))) or None


def _settings_in(path: Path) -> dict[str, str]:
    """Returns a file of shell assignments, quotes taken off; nothing where there is none."""
    try:
        lines = path.read_bytes()[: 1 << 14].decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.strip(): codec.scrub(value.strip().strip("\"'"))[:_LONGEST] for name, _, value in pairs}


def _container(environ: Mapping[bytes, bytes], slash: Path = _ROOT) -> Container | None:
    """Returns the container that this process is in; nothing outside of all."""
    podman = _settings_in(slash / "run" / ".containerenv")
    id_ = _container_id(slash)
    kind = next((kind for kind, here in _signs(environ, slash) if here), None)
    image = podman.get("imageid") or podman.get("image")
    if kind is not None:
        image = image or next((environ[name].decode("utf-8", "replace") for name in _IMAGES if name in environ), None)
    if kind is None and id_ is None and image is None:
        return None
    shown = None if image is None else redact.redact(image)[0][:_LONGEST]
    return Container(kind=kind, id=podman.get("id") or id_, image=shown)


def _signs(environ: Mapping[bytes, bytes], slash: Path) -> Iterator[tuple[str, bool]]:
    named = environ.get(b"container", b"").decode("utf-8", "replace")[:30]
    yield "podman", (slash / "run" / ".containerenv").exists()
    yield "kubernetes", b"KUBERNETES_SERVICE_HOST" in environ
    yield "docker", (slash / ".dockerenv").exists()
    yield named, re.fullmatch("[a-z][a-z0-9-]+", named) is not None


def _container_id(slash: Path) -> str | None:
    """Returns the id of this container, as its mounts or its control group say."""
    proc = slash / "proc" / "self"
    mounts = [line for line in _lines(proc / "mountinfo") if line.split(" ")[4:5] and line.split(" ")[4] in _OWN_MOUNTS]
    groups = [line for line in _lines(proc / "cgroup") if any(kind in line for kind in _KINDS)]
    for line in (*mounts, *groups):
        if match := _ID.search(line):
            return match[0]
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_bytes()[: 1 << 20].decode("utf-8", "replace").splitlines()
    except OSError:
        return []
