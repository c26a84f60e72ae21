"""How a person names a rollback point, and what a point lacks in words."""

from collections.abc import Mapping

from pogstore.cli._context import Env
from pogstore.cli._render import counted, safe
from pogstore.errors import NotFound
from pogstore.history.names import NOUN
from pogstore.history.pointnames import named_points
from pogstore.history.points import Lack
from pogstore.history.timeline import PointId

BEFORE = "^"
"""After a name: the state right before that event."""
LACKS: Mapping[str, tuple[str, str]] = {
    "no-end": ("step", "without an end"),
    "outside": ("step", "with effects outside"),
    "unknown": ("step", "with unknown effects"),
    "none": ("step", "not compared"),
    "partial": ("step", "recorded in part"),
    "shared": ("step", "perhaps shared"),
    "scoped": ("step", "compared only where it said"),
    "observed": ("look", "between steps in part"),
    "incomplete": ("event", "not understood here"),
    "not-recorded": ("content", "not recorded"),
    "content-absent": ("content", "not fetched"),
    "content-erased": ("content", "erased"),
    "content-omitted": ("content", "too large to be recorded"),
    "content-lost": ("content", "lost or damaged"),
}
"""By the reason why a point is partial: of what there are some, and what is so of them."""


def point_named(env: Env, name: str) -> PointId:
    """Returns the point that somebody names: by its own name, or as an event; with `^`, the state before it."""
    found = named_points(env.store).get(name)
    if found is not None:
        return found
    if name.endswith(BEFORE) and name != BEFORE:
        return point_named(env, name.removesuffix(BEFORE))._replace(before=True)
    try:
        named = env.named(name)
    except NotFound as fault:
        if fault.noun != NOUN:
            raise
        raise NotFound(f"point, {NOUN}", name, "'git pog points' lists the points of a task") from None
    if named.event_id is None:
        raise NotFound("point", name, f"it is a task; 'git pog points {named.task[:8]}' lists its points")
    return PointId(named.task, named.event_id)


def lack_text(lack: Lack) -> str:
    """Returns one reason why a point is partial, in words."""
    noun, phrase = LACKS.get(lack.reason) or ("step", safe(lack.reason))
    return f"{counted(lack.times, noun)} {phrase}"
