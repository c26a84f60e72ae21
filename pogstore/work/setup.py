"""Enabling a repository: the consent without which nothing is recorded, and taking it back.

Touches git's configuration in exactly the named settings, and nothing else.
"""

from pogstore.store.store import Store

ENABLED = "pog.enabled"
HIDDEN = "log.excludeDecoration"
PATTERNS = ("refs/pog/", "refs/pog-remotes/")


def enable(store: Store) -> bool:
    """Enables a repository and keeps our refs out of `git log`'s decorations; says whether anything changed."""
    changed = False
    if not store.enabled:
        store.git.run("config", "--local", ENABLED, "true")
        changed = True
    for pattern in PATTERNS:
        if pattern not in _local_values(store, HIDDEN):
            store.git.run("config", "--local", "--add", HIDDEN, pattern)
            changed = True
    return changed


def disable(store: Store) -> bool:
    """Takes our settings out of the configuration again; tasks and events stay. Says whether anything changed."""
    changed = False
    for pattern in PATTERNS:
        if pattern in _local_values(store, HIDDEN):
            store.git.run("config", "--local", "--fixed-value", "--unset-all", HIDDEN, pattern)
            changed = True
    if _local_values(store, ENABLED):
        store.git.run("config", "--local", "--unset-all", ENABLED)
        changed = True
    return changed


def _local_values(store: Store, name: str) -> list[str]:
    text = store.git.text("config", "--local", "--get-all", name, check=False)
    return text.split("\n") if text else []
