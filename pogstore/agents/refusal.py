"""How each agent is told that a tool must not run: what a hook prints, what it says on standard error, how it ends.

The line in an agent's settings lets standard output through and always ends with 0, so an answer is JSON there, and the
status says no more than that the hook worked. Every word of an answer is one that the agent's own contract names: Codex
takes no answer with a field that it does not know. Pure. Lies on the path of every hook: see `work/spool.py`.
"""

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Answer = tuple[bytes, bytes, int]
    """Standard output, standard error, exit status."""

_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
"""The characters that stand for themselves in every JSON string, whatever a terminal makes of the others."""


def claude_code(reason: str) -> "Answer":
    """Returns what Claude Code takes for a denied call before a tool runs; the model is shown the reason."""
    return _printed('{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
                    f'"permissionDecisionReason":{quoted(reason)}}}}}')  # fmt: skip


def codex(reason: str) -> "Answer":
    """Returns what Codex takes for it: the same words, and a schema that allows no others."""
    return claude_code(reason)


def gemini(reason: str) -> "Answer":
    """Returns what Gemini CLI takes for it; the turn goes on with the reason as the error of the tool."""
    return _printed(f'{{"decision":"deny","reason":{quoted(reason)}}}')


def cursor(reason: str) -> "Answer":
    """Returns what Cursor takes for it: older versions have other names for the two messages, so both are there."""
    told = quoted(reason)
    return _printed(f'{{"permission":"deny","user_message":{told},"agent_message":{told},'
                    f'"userMessage":{told},"agentMessage":{told}}}')  # fmt: skip


def copilot(reason: str) -> "Answer":
    """Returns what Copilot CLI takes for it."""
    return _printed(f'{{"permissionDecision":"deny","permissionDecisionReason":{quoted(reason)}}}')


def generic(reason: str) -> "Answer":
    """Returns what our own contract has for it: the words that most agents use."""
    return gemini(reason)


def opencode(reason: str) -> "Answer":
    """Returns what our plugin in OpenCode throws as an error, which keeps the tool from running."""
    return _printed(f'{{"refused":{quoted(reason)}}}')


REFUSALS: "Mapping[str, Callable[[str], Answer]]" = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "cursor": cursor,
    "copilot": copilot,
    "opencode": opencode,
    "generic": generic,
}
"""By the name under which `git pog hook` is called."""


def quoted(text: str) -> str:
    """Returns a text as a JSON string in ASCII; `json` alone would cost a hook as much as all it does."""
    return '"' + "".join(each if each in _PLAIN else _escaped(each) for each in text) + '"'


def _escaped(character: str) -> str:
    """Returns one character as JSON escapes it, half of a surrogate pair as what stands for an unknown one."""
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        code = 0xFFFD
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _printed(answer: str) -> "Answer":
    return answer.encode("ascii") + b"\n", b"", 0
