"""Secret rules over text: where a secret stands, and the text without it.

Knows strings and nothing else, and imports no more than `re` and `typing`, because a hook may load it. A secret is
told by kind and place, never by value. Rules are made for decoded text: who holds JSON redacts its leaves, not the
serialised form.

A rule is an anchor, a literal that stands in every match, and a pattern for what follows it. Anchors are sought by
plain search, so a text without secrets costs a few fast passes and compiles no pattern. Time is linear in the size of
the text: patterns are possessive or bounded, and one that can fail after a long run begins only where that run does.

There are three sorts of rule, from certain to careful: keys to which their issuer gave a shape; frames that hold a
secret (a private key block, the user part of a URL); values assigned to a telling name. Only the last sort judges the
value: what looks like a word, a variable, a call, a type, a path or a placeholder passes. Git ids, BLAKE3 ids and
UUIDs that stand for themselves have none of these forms.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Finding(NamedTuple):
    """The place of a secret, `text[start:end]`, and what sort of secret it is; never the secret itself."""

    kind: str
    start: int
    end: int


def findings(text: str) -> list[Finding]:
    """Returns the places of all secrets, in order and without overlap.

    Places that overlap become one, of the kind whose rule is the most certain. What only begins to look like a secret
    once its neighbour is gone is found too.
    """
    found = _scan(text)
    while found and (more := _scan(_masked(text, found))):
        wider = _merged([*found, *_unmasked(more, found)])
        if wider == found:
            break
        found = wider
    return found


def findings_in_bytes(data: bytes) -> list[Finding]:
    """Returns the places of all secrets in bytes that need not be UTF-8; offsets count bytes."""
    return findings(data.decode("latin-1"))


def redact(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Returns the text with `[redacted:<kind>]` in place of each secret, and where in the given text they stood.

    A text without a secret comes back as the same object; redacting twice is redacting once.
    """
    found = findings(text)
    return (_masked(text, found), tuple(found)) if found else (text, ())


def excerpt(text: str, start: int, end: int) -> str:
    """Returns `text[start:end]` as it is without secrets, none of which shows a part where it reaches over an end.

    A text must be cut so, and not be redacted afterwards: half of a secret passes the rules that find whole ones.
    """
    found = [one for one in findings(text) if one.start < end and one.end > start]
    inside = [Finding(one.kind, max(one.start, start) - start, min(one.end, end) - start) for one in found]
    return _masked(text[start:end], inside)


def broken_off(text: str) -> Finding | None:
    """Returns the part of a secret with which a text ends that was cut: what would be one if it went on.

    Only a text that ends with an ellipsis was cut. A part counts from eight characters, with a digit among them.
    """
    shown = text.removesuffix("…")
    words = shown.split()
    if shown == text or not words or not re.search("[0-9]", words[-1]):
        return None
    for rest in ("0a1b2c3d" * 12, "0A1B2C3D" * 12):
        for length in range(1, len(rest)):
            for one in findings(shown + rest[:length]):
                part = shown[one.start :]
                if one.end > len(shown) and len(part) >= 8 and re.search("[0-9]", part):
                    return Finding(one.kind, one.start, len(shown))
    return None


def line_of(text: str | bytes, offset: int) -> int:
    """Returns the line in which an offset stands, counted from 1, so that a report can name a place and no value."""
    newlines = text.count("\n", 0, offset) if isinstance(text, str) else text.count(b"\n", 0, offset)
    return newlines + 1


def _masked(text: str, found: Iterable[Finding]) -> str:
    pieces: list[str] = []
    at = 0
    for kind, start, end in found:
        pieces += text[at:start], _mask(kind)
        at = end
    return "".join([*pieces, text[at:]])


def _unmasked(more: list[Finding], found: list[Finding]) -> Iterator[Finding]:
    """Yields places in the masked text as places in the text itself; what touches a mask takes in all it hides."""
    pending = iter([*found, Finding("", 1 << 62, 1 << 62)])
    kind, start, end = next(pending)
    shift = 0  # from the masked text to the text, between masks
    bounds: list[int] = []
    for at in [offset for one in more for offset in one[1:]]:
        while at + shift >= start + (length := len(_mask(kind))):
            shift += end - start - length
            kind, start, end = next(pending)
        inside = at + shift > start
        bounds.append((end if len(bounds) % 2 else start) if inside else at + shift)
    for place, one in enumerate(more):
        yield Finding(one.kind, bounds[2 * place], bounds[2 * place + 1])


def _mask(kind: str) -> str:
    return f"[redacted:{kind}]"


def _merged(found: list[Finding]) -> list[Finding]:
    merged: list[Finding] = []
    for one in sorted(found, key=lambda finding: finding.start):
        if merged and one.start < merged[-1].end:
            last = merged.pop()
            kind = min(last.kind, one.kind, key=_KINDS.index)
            one = Finding(kind, last.start, max(last.end, one.end))  # noqa: PLW2901
        merged.append(one)
    return merged


def _scan(text: str) -> list[Finding]:
    # One byte a character keeps the offsets; anchors are ASCII, and only ASCII is folded.
    plain = text.encode("ascii", "replace")
    folded = plain.lower()
    words = _long_words(plain)
    found = [Finding("discord-token", *span) for span in _discord_tokens(text, words)]
    for rules, anywhere, sought, flags in (
        (_KEYS, words, plain, re.ASCII),
        (_FRAMES, plain, plain, re.ASCII),
        (_NAMES, folded, folded, re.ASCII | re.IGNORECASE),
    ):
        for anchor, rule in rules if anywhere else ():
            if anchor in anywhere:
                found += [Finding(rule.kind, *span) for span in _spans(rule, anchor, text, sought, flags)]
    return _merged(found)


# Matching: from an anchor to the spans of its rule.

_Span = tuple[int, int]
_Judge = Callable[[str, int, re.Match[str]], Iterable[_Span]]
_Test = Callable[[str], bool]


class _Rule(NamedTuple):
    kind: str
    anchors: str  # separated by white space; in lower case where any case will do
    pattern: str  # of what follows an anchor
    judge: _Judge  # what of a match is secret, given the text and the place of the anchor
    before: str | None = ""  # what may not precede an anchor, beside letters and digits; None if anything may


def _spans(rule: _Rule, anchor: bytes, text: str, sought: bytes, flags: int) -> Iterator[_Span]:
    pattern = re.compile(rule.pattern, flags)
    at = sought.find(anchor)
    while at >= 0:
        end = at + len(anchor)
        if (rule.before is None or _opens(text, at, rule.before)) and (match := pattern.match(text, end)):
            for span in rule.judge(text, at, match):
                yield span
                end = max(end, span[1])
        at = sought.find(anchor, end)


def _opens(text: str, at: int, before: str) -> bool:
    r"""Tells whether a token can begin here: outside a word, or after an escape that ends like one (`\n`, `%20`)."""
    last = text[at - 1 : at]
    in_word = last.isascii() and last != "" and (last.isalnum() or last in before)
    return not in_word or text[max(0, at - 2) : at] in (r"\n", r"\r", r"\t") or text[max(0, at - 3) : at - 2] == "%"


def _long_words(plain: bytes) -> bytes:
    """Returns the runs of token characters that are long enough for a key: little of a text, so quick to search."""
    # In slices, so that memory is bounded; they overlap by more than the longest anchor and the shortest key.
    slices = (plain[at : at + 0x10040] for at in range(0, len(plain), 0x10000))
    return b" ".join([word for part in slices for word in part.translate(_SPACED).split() if len(word) >= 16])


def _start_of_run(text: str, at: int, chars: str, limit: int) -> int:
    least = max(0, at - limit)
    while at > least and text[at - 1] in chars:
        at -= 1
    return at


def _all(_text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
    yield at, match.end()


def _group(_text: str, _at: int, match: re.Match[str]) -> Iterator[_Span]:
    yield match.span("secret")


def _aws_secrets_beside(text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
    candidate = re.compile("(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
    for near in candidate.finditer(text, max(0, at - 200), match.end() + 200):
        # The end of the window cuts a longer run to size, so it is matched again without.
        if _mixed(near[0]) and candidate.match(text, near.start()):
            yield near.span()


def _telegram_token(text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
    start = _start_of_run(text, at, "0123456789", 12)
    if at - start >= 6:
        yield start, match.end()


def _discord_tokens(text: str, words: bytes) -> Iterator[_Span]:
    """Yields bot tokens, the one key without a literal: a number in base 64, a time stamp and a signature."""
    if re.search(f"[MNO]{_DISCORD_REST}".encode(), words):
        for match in re.finditer(_DISCORD, text, re.DOTALL):
            if _mixed(match[0]):
                yield match.span()


def _mixed(value: str) -> bool:
    return all(re.search(chars, value) for chars in ("[A-Z]", "[a-z]", "[0-9]"))


def _private_key(text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
    """Yields a block with its footer or, if that is cut off, as far as a body can go; a mere mention has no body."""
    begin, stop = match.end(), match.end() + 0x10000
    dashes = text.find("-----", begin, stop)
    if dashes >= 0 and (footer := re.compile("-----END [A-Z0-9 ]{1,64}-----").match(text, dashes)):
        body_end, end, least = dashes, footer.end(), 10
    else:
        body = re.compile(r"""[A-Za-z0-9+/=\s\\"'`,:|>\u2192-]*+""", re.ASCII)
        run = body.match(text, begin, stop if dashes < 0 else dashes)
        body_end = end = run.end() if run else begin
        least = 20
    if re.compile(f"[A-Za-z0-9+/]{{{least}}}").search(text, begin, body_end):
        yield at, end


def _url_user(_text: str, _at: int, match: re.Match[str]) -> Iterator[_Span]:
    user, password = match["user"], match["password"] or ""
    if len(user) >= 16 and re.search("[A-Za-z]", user) and re.search("[0-9]", user) and not _is_filler(user):
        yield match.span("user")
    if len(password) >= 4 and password not in (user, "x-oauth-basic") and not _is_filler(password):
        yield match.span("password")


def _after(word: str) -> _Judge:
    """Returns the judge of a frame that is one only a little after some word."""

    def judge(text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
        if word in text[max(0, at - 300) : at] and not _is_filler(match["secret"]):
            yield match.span("secret")

    return judge


# Judging: code assigns to telling names all the time, so what is assigned must look like a secret.


def _assigned_password(text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
    return _assigned(text, at, match, _is_password)


def _assigned_key(text: str, at: int, match: re.Match[str]) -> Iterator[_Span]:
    return _assigned(text, at, match, _is_key)


def _assigned(text: str, at: int, match: re.Match[str], is_secret: _Test) -> Iterator[_Span]:
    group = "quoted" if match["quoted"] else "bare"
    value = match[group].rstrip(".:!?") if group == "bare" else match[group]
    start = _start_of_run(text, at, _NAME_CHARS, 64)
    name = text[start : match.end("rest")]
    if _is_filler(value) or re.search(_DULL_VALUE, value, re.I) or re.search(_DULL_NAME, name, re.I):
        return
    if not is_secret(value):
        return
    if _is_literal(text, start, name, match) or (group == "bare" and _is_no_code(match["operator"], value)):
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


def _is_filler(value: str) -> bool:
    """Tells whether a value stands where a secret will: a template, a mask, a path, an address, a word that says so."""
    return re.search(_FILLER, value, re.IGNORECASE) is not None


def _is_password(value: str) -> bool:
    """Tells whether a value is no plain word: it has letters, and digits or a sign in the middle."""
    signed = re.search(r"[0-9]|(?<=.)[!@#$%^*~](?=.)", value)
    return len(value) >= 6 and any(map(str.isalpha, value)) and signed is not None


def _is_key(value: str) -> bool:
    """Tells whether a value is no numbered word: its digits are many or scattered."""
    runs = re.findall("[0-9]+", value)
    scattered = len(value) >= 6 and len(runs) >= 2
    many = (len(value) >= 8 and sum(map(len, runs)) >= 4) or (len(value) >= 20 and _mixed(value))
    return any(map(str.isalpha, value)) and (scattered or many) and not re.fullmatch("0x[0-9A-Fa-f]{1,16}", value)


# The rules.

_B64URL = "[A-Za-z0-9_-]"
_NAME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SPACED = bytes(byte if chr(byte) in _NAME_CHARS + "." else 0x20 for byte in range(256))

_DISCORD_REST = rf"{_B64URL}{{22,27}}+\.{_B64URL}{{6}}\.{_B64URL}{{27,}}+"
_DISCORD = rf"[MNO](?:(?<!{_B64URL}.)|(?<=\\[nrt].)|(?<=%[0-9A-F]{{2}}.)){_DISCORD_REST}"
# The second part is empty where a token is encrypted directly; the third where it is not signed.
_JWT_REST = rf"{_B64URL}{{8,}}+\.(?:{_B64URL}{{8,}}+|(?=\.{_B64URL}{{8}}))\.{_B64URL}*+(?:\.{_B64URL}++){{0,2}}"
_AWS_KEY_ID = "[A-Z0-9]{16}(?![A-Za-z0-9])"
_HEX_KEY = f"[0-9a-f]{{32}}(?!{_B64URL})"
_BEARER = r"(?P<secret>(?=[\w.~+/=-]{0,63}[0-9=])[\w.~+/=-]{8,}+)"

# A group that must not give back what it took stands in a look-ahead and is named again behind it: groups with a
# possessive quantifier match wrongly before Python 3.11.5 (cpython gh-101955 and gh-106052; Debian 12 has 3.11.2).
_ASSIGNED = r"""(?x)
    (?= (?P<rest> (?: [_-]? (?:access|key|base|value|text|string|plain) ){0,3} [0-9]{0,2} ) ) (?P=rest)
    \\{0,3}+ (?: ["'`] \]?+ | \*\* )?
    (?: \s{0,4}:?\s{0,2} &?(?:'static\s)?str(?:ing)?(?:\s\|\sNone)? (?=\s{0,4}=) )?
    (?P<operator> \s{0,8} (?: => | := | [:=](?![=>]) | \( ) \s{0,8}
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
_TYPE_OR_NUMBER = (
    r"(?:u?int|float|bytes|string|char|varchar|utf|sha|md|base|uuid|blake|[iuf])[_-]?\d+\w*"
    r"|\d[\d_.]*[a-z]{0,3}|\d{4}-\d\d.*"
)


def _key(kind: str, prefixes: str, least: int, chars: str = "A-Za-z0-9_-", before: str = "") -> _Rule:
    """Returns the rule of a key that is a prefix and a run; what hangs on to the run goes with it."""
    return _Rule(kind, prefixes, f"[{chars}]{{{least},}}+{_B64URL}*+", _all, before)


def _anchored(*rules: _Rule) -> tuple[tuple[bytes, _Rule], ...]:
    return tuple((anchor.encode(), rule) for rule in rules for anchor in rule.anchors.split())


_ALNUM = "A-Za-z0-9"
# Each of these, anchor included, begins with 16 letters, digits, `_`, `-` or `.` at least.
_KEYS = _anchored(
    _Rule("aws-key-id", "AKIA ASIA ABIA ACCA", _AWS_KEY_ID, _all),
    _Rule("aws-secret-key", "AKIA ASIA", _AWS_KEY_ID, _aws_secrets_beside),
    _key("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", 30, _ALNUM),
    _key("github-token", "github_pat_", 36, "A-Za-z0-9_"),
    _Rule(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glagent-",
        rf"{_B64URL}{{20,}}+(?:\.{_B64URL}{{2,}}+){{0,3}}",
        _all,
    ),
    _Rule("slack-token", "xox", rf"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{{12,}}+{_B64URL}*+", _all),
    _key("slack-token", "xapp-", 20),
    _key("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", 16, _ALNUM),
    _key("anthropic-key", "sk-ant-", 20),
    _key("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf-", 20),
    _key("openai-key", "sk-", 32, _ALNUM, before="_-"),
    _key("google-api-key", "AIza", 35),
    _key("google-client-secret", "GOCSPX-", 20),
    _key("google-token", "ya29.", 30),
    _key("npm-token", "npm_", 30, _ALNUM),
    _key("pypi-token", "pypi-", 50),
    _Rule("twilio-key", "SK", _HEX_KEY, _all, before="_-"),
    _Rule("sendgrid-key", "SG.", rf"{_B64URL}{{16,}}+\.{_B64URL}{{16,}}+", _all, before="_-"),
    _Rule("mailgun-key", "key-", _HEX_KEY, _all, before="_-"),
    _key("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", 32, "a-f0-9"),
    _key("shopify-token", "shpat_ shpca_ shppa_ shpss_", 32, "A-Fa-f0-9"),
    _Rule("square-token", "sq0", f"[a-z]{{3}}-{_B64URL}{{20,}}+", _all),
    _Rule("databricks-token", "dapi", "[0-9a-f]{32}(?![A-Za-z0-9])(?:-[0-9]+)?", _all),
    _key("huggingface-token", "hf_ api_org_", 30, _ALNUM, before="_-"),
    _key("heroku-key", "HRKU-", 36),
    _key("atlassian-token", "ATATT3 ATCTT3", 40, "A-Za-z0-9_=-"),
    _key("vault-token", "hvs. hvb. hvr.", 24, before="_-"),
    _key("doppler-token", "dp.pt. dp.st.", 30, _ALNUM, before="_-"),
    _key("planetscale-token", "pscale_tkn_ pscale_pw_", 24),
    _key("registry-token", "rubygems_ dckr_pat_ dckr_oat_", 24),
    _key("model-key", "gsk_ xai- pplx- tvly- r8_", 30, _ALNUM, before="_-"),
    _key("sentry-token", "sntrys_ sntryu_", 40),
    _key("service-token", "lin_api_ ntn_ figd_ glsa_ sbp_ nfp_ NRAK- PMAK- CCIPAT_", 24, before="_-"),
    _key("age-key", "AGE-SECRET-KEY-1", 50, "A-Z0-9"),
    _Rule("jwt", "eyJ", _JWT_REST, _all, before="_-"),
)
_FRAMES = _anchored(
    _Rule("telegram-token", ":A", f"{_B64URL}{{33,}}+", _telegram_token, before=None),
    _Rule("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w/+-]{20,}+)", _group),
    _Rule("discord-webhook", "/api/webhooks/", rf"[0-9]{{15,20}}/(?P<secret>{_B64URL}{{40,}}+)", _group, before=None),
    _Rule("azure-key", "AccountKey= SharedAccessKey=", "(?P<secret>[A-Za-z0-9+/]{40,}+={0,2})", _group, before=None),
    _Rule("private-key", "-----BEGIN", " (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----", _private_key, None),
    _Rule("private-key", "Private-Lines:", r" \d{1,3}(?P<secret>(?:\r?\n[A-Za-z0-9+/=]{1,76}+(?=\s|\Z))+)", _group),
    _Rule(
        "url-password",
        "://",
        r"""(?P<user>[^\s/?#@:"'<>\\`\[\]]{0,256}+)(?::(?P<password>[^\s/?#"'<>\\`]{1,256}))?@(?=[\w\[])""",
        _url_user,
        before=None,
    ),
    _Rule("password", "-u --user", r"""[ =]?["']?[^\s:"'$]{1,64}+:(?P<secret>[^\s"'$]{4,256}+)""", _after("curl"), "-"),
    _Rule("password", "sshpass", r""" -p ?["']?(?P<secret>[^\s"']{4,256}+)""", _after("")),
    _Rule("password", "login", r"\s\S{1,64}\s{1,8}password\s{1,8}(?P<secret>\S{4,256}+)", _after("machine ")),
)
_NAMES = _anchored(
    _Rule(
        "heroku-key",
        "heroku",
        r"""[\w .-]{0,24}["']?\s{0,3}[:=]>?\s{0,3}["']?(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})""",
        _group,
        before=None,
    ),
    _Rule(
        "authorization",
        "authorization",
        r"""\\{0,3}["'`]?\]?\s{0,4}(?::\s{0,4}|(?:=>|[=,])\s{0,4}(?=[\\"'`]))\\{0,3}["'`]?"""
        rf"(?:(?:bearer|basic|token|apikey|bot)\s{{1,4}})?(?!aws4-){_BEARER}",
        _group,
        before=None,
    ),
    _Rule("authorization", "bearer", rf"\s(?=\S{{16}}){_BEARER}", _group),
    _Rule("authorization", '"auth"', r'\s{0,4}:\s{0,4}"(?P<secret>(?=\w{0,63}[0-9=])[A-Z0-9+/]{12,}+={0,2})', _group),
    _Rule(
        "aws-secret-key",
        "secret_access_key secretaccesskey secret-access-key aws_secret_key",
        r"""\\{0,3}["'`]?\]?\s{0,8}[:=]>?\s{0,8}\\{0,3}["'`]?(?P<secret>[A-Z0-9/+]{40,}+)""",
        _group,
        before=None,
    ),
    _Rule("password", "password passwd passphrase pwd _pass", _ASSIGNED, _assigned_password, before=None),
    _Rule("secret", "secret", _ASSIGNED, _assigned_key, before=None),
    _Rule("api-key", "api_key apikey api-key", _ASSIGNED, _assigned_key, before=None),
    _Rule(
        "secret-key",
        "access_key accesskey private_key privatekey auth_key signing_key encryption_key",
        _ASSIGNED,
        _assigned_key,
        before=None,
    ),
    _Rule("token", "token", _ASSIGNED, _assigned_key, before=None),
)
# In order of certainty.
_KINDS = ("discord-token", *dict.fromkeys(rule.kind for _, rule in (*_KEYS, *_FRAMES, *_NAMES)))
