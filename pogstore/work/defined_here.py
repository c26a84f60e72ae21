"""Which definitions a person wrote in this very repository: only their checks are ever run.

One empty file for each, `<common git dir>/pog/defined/<blob>`. It is never fetched nor pushed, and no event can claim
to be in it.
"""

import contextlib

from pogstore.model import BlobId, Defined, Sealed
from pogstore.store.store import Store

FOLDER = "defined"


def register(store: Store, sealed: Sealed) -> None:
    """Keeps that a definition was written here; a repository that cannot be written to forgets it."""
    if isinstance(sealed.event, Defined) and store.enabled:
        folder = store.layout.own / FOLDER
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            (folder / sealed.event.definition.blob).touch(mode=0o600)


def is_here(store: Store, blob: BlobId) -> bool:
    """Says whether a person wrote a definition here."""
    return (store.layout.own / FOLDER / blob).is_file()
