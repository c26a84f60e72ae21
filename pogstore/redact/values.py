"""What is assigned to a telling name, and whether it looks like a secret: code assigns to such names all the time.

A value that looks like a word, a variable, a call, a type, a path or a placeholder passes.
"""

import re
from collections.abc import Callable, Iterator

from pogstore.redact.rule import NAME_CHARS, Span, mixed, start_of_run

_Test = Callable[[str], bool]

# A group that must not give back what it took stands in a look-ahead and is named again behind it: groups with a
# possessive quantifier match wrongly before Python 3.11.5 (cpython gh-101955 and gh-106052; Debian 12 has 3.11.2).
ASSIGNED = r"""(?x)
    (?= (?P<rest> (?: [_-]? (?:access|key|base|value|text|string|plain) ){0,3} [0-9]{0,2} ) ) (?P=rest)
    \\{0,3}+ (?: ["'`] \]?+ | \*\* )?
    (?: \s{0,4}:?\s{0,2} &?(?:'static\s)?str(?:ing)?(?:\s\|\sNone)? (?=\s{0,4}=) )?
    (?P<operator> \s{0,8} (?: => | := | [:=](?![=>]) | \( ) \s{0,8}
                | \s{1,4} is:? \s{1,4}
                | ,?\s{1,40} ["'`]?value["'`]? \s{0,2}[:=]\s{0,4}
                | [ ]{1,2} | > )
    (?-i: [bruf]{0,2} (?P<quote> \\{0,3}["'`] )
        (?= (?P<quoted> (?: [^\s"'`\\]{1,256}+ | (?!(?P=quote))["'`\\] ){1,32} ) ) (?P=quoted) (?P=quote)
      | (?= (?P<bare> (?: [^\s"'`,;&()<>{}\[\]\\]{1,128}+
                        | [,;&](?! \s | \Z | ["'`)\]}\\] | [\w\ .-]{1,32}[=:] ) ){1,8} ) ) (?P=bare)
        (?= [\s"'`,;&)\]}>\\] | </ | \Z ) )
"""
_DULL_NAME = (
    "(?:page|next|csrf|xsrf|continuation|eos|bos|pad|unk|sep|cls|mask|stop|special|cancell?ation|sync|public)"
    "[_-]?(?:page)?[_-]?(?:token|access|api)"
)
_FILLER = r"""(?x)
    ^(?: [<{\[(*] | &\# | \$[\w{(] | %[\w({] )
    | \$\{ | \{\{ | \{\w*\} | <[\w\ -]+> | \.\.\. | \u2026 | x{4,} | \*{3,} | ://
    | your | example | placeholder | change.?me | redacted | dummy | insert | replace | sample
    | ^(?:my|new|old|user|db|the|test)?[_-]?pass(?:w(?:or)?d)?[_-]?\d{0,4}$
    | ^(?:~|\.{1,2})?/[a-z_.-]{2,}(?:/|$) | ^[a-z_.-]+/[a-z_.-]+(?:/|$) | /.*\.[a-z]{1,5}$ | ^[a-z]:[\\/]
    | ^[\w.+-]+@[\w-]+\.[a-z.]+$ | ^[\#.][a-z-]+$ | ^\#[0-9a-f]{3,8}$
"""
_DULL_VALUE = r"^(?:test|fake|foo|demo|none|null|true|false|undefined|secret|token|guest|root|admin|user)[\W_\d]*$"
_KEY_BY_NAME = (
    "(?:public|pub|publishable|cache|primary|foreign|partition|sort|lookup|message|translation|i18n|map|dict|react|host"
    "|object|storage|bucket|s3|site|idempotency|unique|index|row|group|order|query|routing|path|state|item)[_-]?keys?$"
)
"""Names of keys that are no secrets: they find something."""
_PUBLIC_VALUE = (
    "(?i)AAAA[BCE]3Nz|MI[IGH][A-Z]|MFkwEwYH|MHYwEAYH|MCowBQYD|xpub|(?:sha|md)[0-9]+[:-]|blake[0-9a-z]*[:-]|ed25519[:-]"
)
"""Begins a public key, a certificate or a digest."""
_METHOD = "(?:argon|bcrypt|scrypt|pbkdf|hmac|aes|rsa|sha|md|blake|base|utf|uuid|u?int|char|varchar)[_-]?[0-9]"
"""Begins what a password is hashed, written or kept as."""
_TYPE_OR_NUMBER = (
    r"(?:u?int|float|bytes|string|char|varchar|utf|sha|md|base|uuid|blake|[iuf])[_-]?\d+\w*"
    r"|\d[\d_.]*[a-z]{0,3}|\d{4}-\d\d.*"
)


def assigned_password(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Judges a value that stands where a password does."""
    return _assigned(text, at, match, _is_password)


def assigned_key(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Judges a value that stands where a generated key does."""
    return _assigned(text, at, match, _is_key)


def assigned_random(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Judges a value whose name only hints at a secret (`key`, `auth`): it must look drawn by chance."""
    start = start_of_run(text, at, NAME_CHARS, 64)
    if not re.search(_KEY_BY_NAME, text[start : match.end("rest")], re.I):
        yield from _assigned(text, at, match, _is_random)


def _assigned(text: str, at: int, match: re.Match[str], is_secret: _Test) -> Iterator[Span]:
    group = "quoted" if match["quoted"] else "bare"
    value = match[group].rstrip(".:!?") if group == "bare" else match[group]
    start = start_of_run(text, at, NAME_CHARS, 64)
    name = text[start : match.end("rest")]
    if is_filler(value) or re.search(_DULL_VALUE, value, re.I) or re.search(_DULL_NAME, name, re.I):
        return
    if not is_secret(value):
        return
    told = match["operator"].strip().lower() in ("is", "is:")
    if told and group == "bare":
        plain = _is_told_password(value) if is_secret is _is_password else _is_random(value)
    else:
        plain = group == "bare" and _is_no_code(match["operator"], value)
    if plain or _is_literal(text, start, name, match):
        yield match.span(group)


def _is_literal(text: str, start: int, name: str, match: re.Match[str]) -> bool:
    """Tells whether the form alone says value: quotes, or an option, environment, query, element or manifest."""
    operator = match["operator"]
    if operator == ">":
        return text.startswith("</", match.end())
    if (name.startswith("-") and operator != "(") or "value" in operator.lower():
        return True
    if match["quoted"]:
        return not operator.isspace() and (operator.strip() != "(" or _is_key(match["quoted"]))
    return operator == "=" and (name.isupper() or (start > 0 and text[start - 1] in "?&;"))


def _is_no_code(operator: str, value: str) -> bool:
    """Tells whether a bare value cannot be a variable, an attribute, a type, a number or a date."""
    if operator.strip() not in ("=", ":=", "=>", ":") or operator.endswith(":") or "\n" in operator:
        return False
    if re.fullmatch(_TYPE_OR_NUMBER, value, re.IGNORECASE) or "::" in value or "->" in value:
        return False
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", value, re.ASCII):
        return len(value) >= 8
    if len(value) >= (20 if "." in value else 8) and len(re.findall("[0-9]+", value)) >= 3:
        return True
    return not re.search("[_.-]|[a-z][A-Z]|(?i:pass|pwd|token|secret|key)", value)


def is_filler(value: str) -> bool:
    """Tells whether a value stands where a secret will: a template, a mask, a path, an address, a word that says so."""
    return re.search(_FILLER, value, re.IGNORECASE) is not None


def _is_password(value: str) -> bool:
    """Tells whether a value is no plain word: it has letters, and digits or a sign in the middle."""
    signed = re.search(r"[0-9]|(?<=.)[!@#$%^*~](?=.)", value)
    return len(value) >= 6 and any(map(str.isalpha, value)) and signed is not None


def _is_told_password(value: str) -> bool:
    """Tells whether a word of a sentence, "the password is …", is one: sentences go on with `sha256` too."""
    if len(value) < 8 or re.match(_METHOD, value, re.IGNORECASE):
        return False
    signed = re.search("(?<=.)[!@#$%^*~](?=.)|[!@#$%^*~]$", value) and re.search("[0-9]", value)
    return bool(mixed(value) or signed or re.fullmatch("[A-Za-z]{3,}[0-9]{2,}", value))


def _is_random(value: str) -> bool:
    """Tells whether a value looks drawn by chance: capitals, small letters and digits in turn, few of them often.

    Ids of git, of BLAKE3 and UUIDs have no capitals beside small letters; a digest or a public key says what it is.
    """
    size = len(value)
    if size < 20 or not mixed(value) or re.match(_PUBLIC_VALUE, value):
        return False
    often = sum(value.count(each) ** 2 for each in set(value[:256]))
    turns = len(re.findall("(?<=[A-Z])[a-z0-9]|(?<=[a-z])[A-Z0-9]|(?<=[0-9])[A-Za-z]", value))
    return size * size >= 10 * often and 3 * turns >= size and not re.search(r"[^\w+/=.~-]", value)


def _is_key(value: str) -> bool:
    """Tells whether a value is no numbered word: its digits are many or scattered."""
    runs = re.findall("[0-9]+", value)
    scattered = len(value) >= 6 and len(runs) >= 2
    many = (len(value) >= 8 and sum(map(len, runs)) >= 4) or (len(value) >= 20 and mixed(value))
    return any(map(str.isalpha, value)) and (scattered or many) and not re.fullmatch("0x[0-9A-Fa-f]{1,16}", value)
