"""What a verification answers: how much it looked at, and each fault with what is lost by it."""

from msgspec import Struct

from pogstore.model import TaskId


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that is not as it should be; `object` is an oid, a ref, or the name of a file."""

    object: str
    reason: str
    lost: str
    ref: str | None = None
    task: TaskId | None = None


class Checked(Struct, frozen=True, kw_only=True):
    """How much was looked at; `absent` counts contents that events name and that need not be here."""

    events: int = 0
    contents: int = 0
    refs: int = 0
    packs: int = 0
    absent: int = 0


class Report(Struct, frozen=True, kw_only=True):
    """The answer to "is everything as it was written?"."""

    checked: Checked
    faults: tuple[Fault, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no fault."""
        return not self.faults
