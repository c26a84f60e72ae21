"""A command line as a text that events name, and which variables may be told beside it. Pure.

An argument is bytes. One that is UTF-8 stands in the text as itself, any other as `{"b64": …}`, so that a command can
be run again exactly as it was, unless a secret was taken out of it.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from pogstore import redact
from pogstore.errors import BadInput

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_WORDS = "TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|API_KEY|PRIVATE"
_SECRET = re.compile(rf"(?:^|_)(?:{_WORDS})(?:_|$)|(?:PASSWORD|_PWD|(?:^|_)KEY|(?:^|_)AUTH)$")


def argv_text(argv: Sequence[bytes]) -> str:
    """Returns a command line as a JSON array, without secrets; those that an option before them tells are found too."""
    items = [_item(word, spans) for word, spans in zip(argv, _secrets(argv), strict=True)]
    while True:
        text = json.dumps(items, ensure_ascii=False)
        hidden = _hidden(items, text)
        if hidden == items:
            return text
        items = hidden


def argv_of(text: str) -> list[bytes]:
    """Returns the command line that `argv_text` wrote; raises `BadInput` for any other text."""
    try:
        return [_word(item) for item in json.loads(text)]
    except (ValueError, TypeError, LookupError) as fault:
        raise BadInput("a command line", f"cannot be read: {fault}") from fault


def _word(item: object) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, dict):
        return base64.b64decode(item["b64"], validate=True)
    raise TypeError("an argument is neither text nor bytes")


def _item(word: bytes, spans: Sequence[redact.Finding]) -> object:
    text = word.decode("utf-8", "surrogateescape")
    for kind, start, end in reversed(spans):
        text = f"{text[:start]}[redacted:{kind}]{text[end:]}"
    try:
        text.encode()
    except UnicodeEncodeError:
        if not spans:
            return {"b64": base64.b64encode(word).decode("ascii")}
        return text.encode("utf-8", "replace").decode()
    return text


def _secrets(argv: Sequence[bytes]) -> Iterator[list[redact.Finding]]:
    """Yields where secrets stand in each word, seen by itself and as a part of the line."""
    words = [word.decode("utf-8", "surrogateescape") for word in argv]
    line = redact.findings(" ".join(words))
    at = 0
    for word in words:
        end = at + len(word)
        inside = [
            redact.Finding(kind, max(start, at) - at, min(stop, end) - at)
            for kind, start, stop in line
            if start < end and stop > at
        ]
        yield inside or redact.findings(word)
        at = end + 1


def _hidden(items: list[object], text: str) -> list[object]:
    """Returns the items of a JSON array, without those in which a secret is seen once they are written as one."""
    found = redact.findings(text)
    hidden: list[object] = []
    at = 1
    for item in items:
        end = at + len(json.dumps(item, ensure_ascii=False))
        kinds = [kind for kind, start, stop in found if start < end and stop > at]
        hidden.append(f"[redacted:{kinds[0]}]" if kinds else item)
        at = end + 2
    return hidden


def check_variables(names: Sequence[str], environ: Mapping[bytes, bytes]) -> None:
    """Raises `BadInput` for what is no name of a variable, and for one that holds a secret."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise BadInput(f"'{name}'", "is no name of a variable", "name it alone; its value is read here")
        value = environ.get(os.fsencode(name), b"").decode("utf-8", "replace")
        if looks_secret(name, value):
            raise BadInput(f"the variable '{name}'", "looks like a secret", "secrets are never recorded")


def looks_secret(name: str, value: str) -> bool:
    """Says whether a variable holds a secret, by its name or by what it holds."""
    return bool(_SECRET.search(name.upper()) or redact.redact(f"{name}={value}")[1])
