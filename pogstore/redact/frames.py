"""Judges of frames: what of a private key block, a URL, or a command line is the secret, and keys without an anchor."""

import re
from collections.abc import Iterator

from pogstore.redact.rule import ALNUM, B64URL, Judge, Span, mixed, start_of_run
from pogstore.redact.values import is_filler

_DISCORD_REST = rf"{B64URL}{{22,27}}+\.{B64URL}{{6}}\.{B64URL}{{27,}}+"
_DISCORD = rf"[MNO](?:(?<!{B64URL}.)|(?<=\\[nrt].)|(?<=%[0-9A-F]{{2}}.)){_DISCORD_REST}"


def aws_secrets_beside(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Yields what may be the secret of a key id that stands near."""
    candidate = re.compile("(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
    for near in candidate.finditer(text, max(0, at - 200), match.end() + 200):
        # The end of the window cuts a longer run to size, so it is matched again without.
        if mixed(near[0]) and candidate.match(text, near.start()):
            yield near.span()


def azure_signature(_text: str, _at: int, match: re.Match[str]) -> Iterator[Span]:
    """Yields the signature of a shared access URL: in base 64, its end mostly escaped."""
    if match["secret"].upper().endswith("%3D") or match.string.startswith("=", match.end()):
        yield match.span("secret")


def azure_client_secret(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Yields the secret of an application, which has a digit and three characters before the anchor."""
    before = text[max(0, at - 4) : at]
    if re.fullmatch(r"[\w~.-]{3}[0-9]", before, re.ASCII) and mixed(before + match[0]):
        yield at - 4, match.end()


def azure_devops_token(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Yields a personal token: 84 letters and digits, the anchor near their end."""
    start = start_of_run(text, at, ALNUM, 77)
    if at - start == 76:
        yield start, match.end()


def mixed_group(_text: str, _at: int, match: re.Match[str]) -> Iterator[Span]:
    """Judges the group to be the secret if it is no id: those have no capitals beside small letters."""
    if mixed(match["secret"]):
        yield match.span("secret")


def telegram_token(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Yields a bot token, whose number stands before the anchor."""
    start = start_of_run(text, at, "0123456789", 12)
    if at - start >= 6:
        yield start, match.end()


def discord_tokens(text: str, words: bytes) -> Iterator[Span]:
    """Yields bot tokens, the one key without a literal: a number in base 64, a time stamp and a signature."""
    if re.search(f"[MNO]{_DISCORD_REST}".encode(), words):
        for match in re.finditer(_DISCORD, text, re.DOTALL):
            if mixed(match[0]):
                yield match.span()


def private_key(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
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


def url_user(_text: str, _at: int, match: re.Match[str]) -> Iterator[Span]:
    """Yields the password of a URL, and a user that looks like a token."""
    user, password = match["user"], match["password"] or ""
    if len(user) >= 16 and re.search("[A-Za-z]", user) and re.search("[0-9]", user) and not is_filler(user):
        yield match.span("user")
    if len(password) >= 4 and password not in (user, "x-oauth-basic") and not is_filler(password):
        yield match.span("password")


def after(word: str) -> Judge:
    """Returns the judge of a frame that is one only a little after some word."""

    def judge(text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
        if word in text[max(0, at - 300) : at] and not is_filler(match["secret"]):
            yield match.span("secret")

    return judge
