"""The JSON Schemas of `docs/schemas`, generated from the structs and compared with what stands there.

`python -m tests.test_schemas --update` writes them anew.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from pogstore.codec import MAX_CLOCK, MAX_INTEGER
from pogstore.model import FORMAT, KINDS, Actor, Definition
from pogstore.work import environment
from pogstore.work.environment import Asked, Environment

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "docs" / "schemas"
VECTORS = ROOT / "tests" / "vectors" / "1"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TASK = {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}
PARENTS = {
    "type": "array",
    "items": {"type": "string", "pattern": "^([a-z0-9]+_)?[0-9a-f]{64,128}$"},
    "uniqueItems": True,
    "description": "Event ids of this task, sorted.",
}
COMMON = {"task": TASK, "parents": PARENTS, "clock": {"type": "integer", "minimum": 1, "maximum": MAX_CLOCK - 1}}
"""What the types of the structs cannot say."""

Schema = dict[str, Any]


def event_schema() -> Schema:
    """Returns the schema of an event: one of the known kinds, or one that a newer reader understands."""
    found, parts = msgspec.json.schema_components((*KINDS.values(), Actor), ref_template="#/$defs/{name}")
    parts = _cleaned(parts)
    for kind in KINDS.values():
        fields = parts[kind.__name__]["properties"]
        fields |= COMMON | {"v": {"const": FORMAT}}
    parts["Newer"] = _newer()
    known = [_cleaned(ref) for ref in found[:-1]]
    return {
        "$schema": DIALECT,
        "title": "An event of pogstore",
        "description": (
            "What canonical bytes hold; docs/format.md is normative and says more. Enums are open and other fields are"
            " allowed everywhere, since a newer version may write them."
        ),
        "anyOf": [*known, {"$ref": "#/$defs/Newer"}],
        "$defs": dict(sorted(parts.items())),
    }


def definition_schema() -> Schema:
    """Returns the schema of a definition: the text that a `defined` event names."""
    schema = _cleaned(msgspec.json.schema(Definition, ref_template="#/$defs/{name}"))
    return {"$schema": DIALECT, "title": "A definition of pogstore's tasks", **schema}


def environment_schema() -> Schema:
    """Returns the schema of an environment: the text that `env` names. A variable that was not set is null."""
    schema = _cleaned(msgspec.json.schema(Environment, ref_template="#/$defs/{name}"))
    schema["$defs"]["Environment"]["properties"]["variables"]["additionalProperties"] = {"type": ["string", "null"]}
    return {"$schema": DIALECT, "title": "An environment, as pogstore records it", **schema}


def _newer() -> Schema:
    return {
        "title": "Newer",
        "description": "An event of an unknown kind, of another `v`, or with needs: carried, never interpreted.",
        "type": "object",
        "properties": COMMON
        | {
            "v": {"type": "integer"},
            "kind": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
            "time": _integer({}),
            "offset": _integer({}),
            "actor": {"$ref": "#/$defs/Actor"},
            "needs": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["clock", "kind", "task", "time", "v"],
        "anyOf": [
            {"properties": {"v": {"not": {"const": FORMAT}}}},
            {"properties": {"kind": {"not": {"enum": sorted(KINDS)}}}},
            {"properties": {"needs": {"minItems": 1}}, "required": ["needs"]},
        ],
    }


def _integer(schema: Schema) -> Schema:
    return {"minimum": -MAX_INTEGER, "maximum": MAX_INTEGER} | schema | {"type": "integer"}


def _cleaned(schema: Any) -> Any:
    """Returns a schema without null, which canonical bytes do not have, and with the bounds of integers."""
    if isinstance(schema, list):
        return [_cleaned(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if {"type": "null"} in schema.get("anyOf", ()):
        kept = [item for item in schema["anyOf"] if item != {"type": "null"}]
        rest = {key: item for key, item in schema.items() if key not in ("anyOf", "default")}
        return _cleaned(rest | (kept[0] if len(kept) == 1 else {"anyOf": kept}))
    cleaned = {key: _cleaned(item) for key, item in schema.items() if (key, item) != ("default", None)}
    return _integer(cleaned) if schema.get("type") == "integer" else cleaned


GENERATED: dict[str, Callable[[], Schema]] = {
    "event.json": event_schema,
    "definition.json": definition_schema,
    "environment.json": environment_schema,
}


def rendered(schema: Schema) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", GENERATED)
def test_the_schemas_in_the_docs_are_those_of_the_structs(name: str) -> None:
    schema = GENERATED[name]()
    Draft202012Validator.check_schema(schema)
    assert (SCHEMAS / name).read_text("utf-8") == rendered(schema), "run python -m tests.test_schemas --update"


def test_no_schema_is_left_over() -> None:
    by_hand = {"hook.json"}  # what agents say has no struct; tests/agents/test_generic.py holds it against the reader
    assert {path.name for path in SCHEMAS.iterdir()} == {*GENERATED, *by_hand}


def events() -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / "event.json").read_text("utf-8")))


def vector(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text("utf-8"))


def test_every_vector_fits() -> None:
    validator = events()
    names = sorted(path.stem for path in VECTORS.glob("*.json") if path.stem not in ("manifest", "content.definition"))
    assert len(names) > len(KINDS)
    for name in names:
        validator.validate(vector(name))
    definition = json.loads((SCHEMAS / "definition.json").read_text("utf-8"))
    Draft202012Validator(definition).validate(json.loads((VECTORS / "content.definition.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("moved", {"status": 5}),
        ("moved", {"status": None}),
        ("moved", {"actor": {"name": "nobody's type"}}),
        ("moved", {"reason": {"blob": "x"}}),
        ("moved", {"parents": ["X"]}),
        ("moved", {"clock": 0}),
        ("moved", {"time": 2**53}),
        ("moved", {"task": "0198A1B2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"}),
        ("stepped", {"changes": [{"before": {"mode": "100644"}}]}),
        ("stepped", {"duration_ms": 1.5}),
        ("unknown_kind", {"clock": "1"}),
    ],
)
def test_what_is_wrong_does_not_fit(name: str, wrong: dict[str, Any]) -> None:
    validator = events()
    assert not validator.is_valid(vector(name) | wrong)
    assert validator.is_valid(vector(name))


def test_open_enums_and_unknown_fields_fit() -> None:
    assert events().is_valid(vector("moved") | {"status": "paused", "zz": {"any": [1, "thing"]}})
    assert events().is_valid(vector("stepped") | {"class": "psychic", "effects": "elsewhere"})


def test_what_is_captured_fits(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("x")
    schema = Draft202012Validator(json.loads((SCHEMAS / "environment.json").read_text("utf-8")))
    wanted = Asked(named=("UNSET",))
    for later in (False, True):
        found = environment.capture(tmp_path, tmp_path, {b"TZ": b"UTC"}, wanted, tmp_path, recorder=True, later=later)
        schema.validate(json.loads(environment.text_of(found)))
    assert schema.is_valid({"zz": 1})
    wrongs: list[Schema] = [{"tools": {"git": 2}}, {"locks": []}, {"system": {"name": "x"}}, {"variables": {"TZ": 1}}]
    for wrong in wrongs:
        assert not schema.is_valid(wrong)


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        raise SystemExit("usage: python -m tests.test_schemas --update")
    SCHEMAS.mkdir(exist_ok=True)
    for file, make in GENERATED.items():
        (SCHEMAS / file).write_text(rendered(make()), "utf-8")
