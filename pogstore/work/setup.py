"""Enabling a repository: the consent without which nothing is recorded, pausing it, and taking it back.

Touches git's configuration in exactly the named settings. Hooks cannot ask git, so that for them the spool is the
consent: it is made last, and goes first.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from pogstore.digest import hexdigest
from pogstore.errors import Conflict, NotEnabled
from pogstore.store.layout import Layout
from pogstore.store.store import Store
from pogstore.work import acknowledged, contracts, githooks, policies, spool, spooled

ENABLED = "pog.enabled"
LOOK_TIMEOUT = "pog.lookTimeout"
AUTO_DRAIN = "pog.autoDrain"
HIDDEN = "log.excludeDecoration"
PATTERNS = ("refs/pog/", "refs/pog-remotes/")
_BEFORE = "config-before"
"""Beside the spool: the hash of the configuration as we left it, a newline, and its bytes as we found them."""


def spool_of(layout: Layout) -> Path:
    """Returns where the records of hooks wait; the directory exists while recording is wanted."""
    return layout.own / "spool"


def paused_of(layout: Layout) -> Path:
    """Returns where the spool lies while recording is paused."""
    return layout.own / "spool.paused"


def paused(layout: Layout) -> bool:
    """Says whether recording is paused."""
    return paused_of(layout).is_dir() and not spool_of(layout).is_dir()


def plan_enable(store: Store) -> list[str]:
    """Returns what enabling would do, each as a phrase; nothing if it was done before."""
    steps = [] if store.enabled else [f"set {ENABLED} to true"]
    steps += [f"add {pattern} to {HIDDEN}" for pattern in _missing(store)]
    if not paused(store.layout) and not _prepared(store.layout):
        steps.append(f"make {_shown(store, spool_of(store.layout))}, where records wait")
    return steps


def enable(store: Store) -> list[str]:
    """Enables a repository, keeps our refs out of `git log`'s decorations and makes the spool; returns what it did.

    While recording is paused it stays so.
    """
    steps = plan_enable(store)
    config = _config(store.layout)
    before = _bytes(config)
    if not store.enabled:
        store.git.run("config", "--local", ENABLED, "true")
    for pattern in _missing(store):
        store.git.run("config", "--local", "--add", HIDDEN, pattern)
    _remember(store.layout, before, _bytes(config))
    if not paused(store.layout):
        spooled.prepare(spool_of(store.layout))
        leave_settings(store)
    return steps


def leave_settings(store: Store) -> None:
    """Leaves for the hooks what git's configuration says to them."""
    max_blob, sync, look, drain = settings(store)
    require = policies.requires_task(store)
    contracts.refresh_policy(store)
    layout = store.layout
    stamp = spool.stamp(os.fsencode(os.path.realpath(layout.common_dir)))
    spooled.write_settings(
        spool_of(layout), max_blob=max_blob, sync=sync, look=look, drain=drain, require=require, stamp=stamp
    )


def settings(store: Store) -> tuple[int, bool, int, bool]:
    """Returns what git's configuration says to hooks, as `spool.settings` does."""
    look = max(store.config.number(LOOK_TIMEOUT, spool.LOOK), 0)
    return store.max_blob, store.fsync, look, store.config.flag(AUTO_DRAIN, default=True)


def plan_disable(store: Store) -> list[str]:
    """Returns what disabling would do, each as a phrase; nothing if pogstore is not enabled here."""
    steps = githooks.plan_unguard(store) + [f"remove {_shown(store, place)}" for place in _places(store.layout)]
    steps += [f"remove {pattern} from {HIDDEN}" for pattern in PATTERNS if pattern in _local_values(store, HIDDEN)]
    return steps + ([f"unset {ENABLED}"] if _local_values(store, ENABLED) else [])


def disable(store: Store, *, force: bool = False) -> list[str]:
    """Removes the spool, our git hook and our settings, so that git's configuration has its former bytes; tasks stay.

    Returns what it did. Raises `Conflict`, with nothing changed, while records wait or were set aside as damaged;
    `force` lets them go too.
    """
    steps = plan_disable(store)
    for place in _places(store.layout):
        _check_set_aside(place, force)
    for place in _places(store.layout):
        _remove(place, force)
    githooks.unguard(store)
    contracts.forget_policy(store)
    _restore(store)
    for name in (os.fsdecode(spool.LOST), acknowledged.KEPT, _BEFORE):
        (store.layout.own / name).unlink(missing_ok=True)
    return steps


def pause(store: Store) -> bool:
    """Stops recording at once and keeps what waits; says whether it was not paused before. Raises `NotEnabled`."""
    if not store.enabled:
        raise NotEnabled
    if paused(store.layout):
        return False
    if spool_of(store.layout).is_dir():
        spool_of(store.layout).rename(paused_of(store.layout))
    else:
        spooled.prepare(paused_of(store.layout))
    return True


def resume(store: Store) -> bool:
    """Records again after a pause; says whether there was one."""
    if not paused(store.layout):
        return False
    paused_of(store.layout).rename(spool_of(store.layout))
    leave_settings(store)
    return True


def _prepared(layout: Layout) -> bool:
    return spool_of(layout).is_dir() and (layout.own / os.fsdecode(spool.LOST)).exists()


def _places(layout: Layout) -> list[Path]:
    return [place for place in (spool_of(layout), paused_of(layout)) if place.is_dir()]


def _missing(store: Store) -> list[str]:
    present = _local_values(store, HIDDEN)
    return [pattern for pattern in PATTERNS if pattern not in present]


def _check_set_aside(place: Path, force: bool) -> None:
    left = [str(path) for path in spooled.set_aside_parts(place)]
    if left and not force:
        one = len(left) == 1
        raise Conflict(
            f"'{place}' holds {len(left)} damaged part{'' if one else 's'} of records",
            left,
            f"{'it is' if one else 'they are'} nowhere else; '--force' deletes {'it' if one else 'them'}",
        )


def _remove(place: Path, force: bool) -> None:
    """Takes a spool out of the hooks' sight, and deletes it if nothing waits in it."""
    aside = place.with_name("spool.removed")
    shutil.rmtree(aside, ignore_errors=True)
    place.rename(aside)
    if not force and (waiting := spooled.pending(aside)):
        aside.rename(place)
        wait = "record waits" if waiting == 1 else "records wait"
        raise Conflict(f"{waiting} {wait} to be stored", [str(place)], "try again; '--force' deletes what waits")
    shutil.rmtree(aside)


def _shown(store: Store, place: Path) -> str:
    """Returns how a place is called: below the work tree as one finds it there."""
    root = store.layout.work_tree
    return str(place.relative_to(root) if root is not None and place.is_relative_to(root) else place)


def _config(layout: Layout) -> Path:
    return Path(os.path.realpath(layout.common_dir / "config"))


def _bytes(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _remember(layout: Layout, before: bytes, after: bytes) -> None:
    """Keeps the configuration as it was: git does not restore a missing newline or an emptied section."""
    kept = layout.own / _BEFORE
    if before == after or kept.exists():
        return
    layout.own.mkdir(exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(kept, flags, 0o600), "wb") as file:
        file.write(hexdigest(after).encode() + b"\n" + before)


def _restore(store: Store) -> None:
    """Gives git's configuration back its bytes; if somebody changed it since, takes our settings out of it."""
    left, newline, before = _bytes(store.layout.own / _BEFORE).partition(b"\n")
    if newline and _put_back(_config(store.layout), left.decode("ascii", "replace"), before):
        return
    for pattern in PATTERNS:
        if pattern in _local_values(store, HIDDEN):
            store.git.run("config", "--local", "--fixed-value", "--unset-all", HIDDEN, pattern)
    if _local_values(store, ENABLED):
        store.git.run("config", "--local", "--unset-all", ENABLED)


def _put_back(config: Path, left: str, before: bytes) -> bool:
    """Replaces the configuration under git's own lock, if it is as we left it; says whether it was."""
    lock = config.with_name(f"{config.name}.lock")
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False  # git will say that it is locked
    try:
        with os.fdopen(descriptor, "wb") as file:
            if hexdigest(_bytes(config)) != left:
                return False
            file.write(before)
            os.fchmod(file.fileno(), config.stat().st_mode & 0o7777)
        lock.replace(config)
        return True
    finally:
        lock.unlink(missing_ok=True)


def _local_values(store: Store, name: str) -> list[str]:
    text = store.git.text("config", "--local", "--get-all", name, check=False)
    return text.split("\n") if text else []
