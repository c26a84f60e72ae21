"""One session of Claude Code, gathered from all files that tell of it: what was said and called, each thing once.

Knows neither files of a repository nor drafts.
"""

from typing import NamedTuple

from pogstore.interop.claude_edits import TOOLS
from pogstore.interop.claude_lines import Answer, Entry, Outcome, Part, Said, Thought, Use, read_entries
from pogstore.interop.claude_speech import speech
from pogstore.interop.json_lines import Oddities, Transcript
from pogstore.model import Actor

AGENT = "claude-code"
"""The name of the agent, in actors, in the derivation of task ids, and as the format of sources."""

CLASSES = {
    **dict.fromkeys(TOOLS, "edit"),
    **dict.fromkeys(("Bash", "PowerShell"), "shell"),
    **dict.fromkeys(("Read", "NotebookRead", "Grep", "Glob", "LS", "LSP", "ToolSearch"), "read"),
    **dict.fromkeys(("WebFetch", "WebSearch"), "read"),
}
"""What sort of tool each is; those that are not named here are `mcp` by their prefix, or `other`."""


class Moment(NamedTuple):
    """Something that was said, and when in the session."""

    clock: int
    number: int
    time: int
    kind: str
    topic: str | None
    text: str
    actor: Actor
    key: str


class End(NamedTuple):
    """How a tool call ended, and when in the session."""

    clock: int
    number: int
    time: int
    answer: Answer
    outcome: Outcome | None
    name: str


class Call(NamedTuple):
    """A tool call, and its end if that was seen. A call with an end stands where it ended: there it took effect."""

    clock: int
    number: int
    time: int
    use: Use
    actor: Actor
    cwd: str
    message: str
    name: str
    line: int
    end: End | None = None

    @property
    def tool_class(self) -> str:
        """The class of the tool."""
        return CLASSES.get(self.use.tool, "mcp" if self.use.tool.startswith("mcp__") else "other")

    @property
    def ok(self) -> bool | None:
        """Whether the call did what it was to do; `None` if nobody says."""
        if self.end is None:
            return None
        return self.end.answer.ok and not (self.outcome and self.outcome.interrupted is True)

    @property
    def answer(self) -> str:
        """What the model was told, empty if it was told nothing."""
        return self.end.answer.text if self.end else ""

    @property
    def outcome(self) -> Outcome | None:
        """What Claude Code itself kept of the result."""
        return self.end.outcome if self.end else None


class Session:
    """What the files of one session say, each thing once, in one order.

    Within a file the order is its own. Files are merged by time; an entry counts as no earlier than those before it.
    """

    def __init__(self, session: str) -> None:
        self.session = session
        self.moments: dict[str, Moment] = {}
        self.calls: dict[str, Call] = {}
        self.ends: dict[str, End] = {}
        self.cwds: dict[str, None] = {}
        self.tokens: dict[str, tuple[int, int]] = {}
        self.titles: list[Entry] = []
        self.uuids: set[str] = set()
        self._latest: dict[str | None, tuple[int, int, str]] = {}
        self._number = 0

    def read(self, transcript: Transcript, oddities: Oddities) -> None:
        """Takes what one file says of this session."""
        clock = 0
        for entry in read_entries(transcript, oddities):
            if entry.session not in (None, self.session):
                continue
            clock = max(clock, entry.time or 0)
            self._take(entry, clock)

    def ordered(self) -> list[Moment | Call]:
        """Returns all that was said and called, in the order in which it happened."""
        calls = [_ended(call, self.ends.get(call_id)) for call_id, call in self.calls.items()]
        return sorted([*self.moments.values(), *calls], key=lambda each: each[:2])

    def orphans(self) -> list[End]:
        """Returns the ends of calls that no file holds."""
        return [end for call_id, end in self.ends.items() if call_id not in self.calls]

    def is_open(self, call: Call) -> bool:
        """Whether a call may still have been running when the transcript was copied: nothing was said after it."""
        return call.end is None and self._latest[call.actor.agent_id][2] == call.message

    def _take(self, entry: Entry, clock: int) -> None:
        if entry.cwd:
            self.cwds.setdefault(entry.cwd)
        if entry.uuid:
            self.uuids.add(entry.uuid)
        if entry.title:
            self.titles.append(entry)
        if entry.message_id and entry.tokens:
            seen = self.tokens.get(entry.message_id, (0, 0))
            self.tokens[entry.message_id] = max(seen[0], entry.tokens[0]), max(seen[1], entry.tokens[1])
        for index, part in enumerate(entry.parts):
            self._number += 1
            self._take_part(entry, part, index, clock)

    def _take_part(self, entry: Entry, part: Part, index: int, clock: int) -> None:
        match part:
            case Use() if entry.type == "assistant":
                self._begin(entry, part, clock)
            case Answer() if entry.type == "user":
                self._end(entry, part, clock)
            case Said() | Thought() if entry.type in ("user", "assistant"):
                self._say(entry, part, index, clock)

    def _begin(self, entry: Entry, use: Use, clock: int) -> None:
        call = Call(
            use=use,
            clock=clock,
            number=self._number,
            time=_time(entry, clock),
            actor=self._agent(entry),
            cwd=entry.cwd or "",
            message=_message(entry),
            name=entry.name,
            line=entry.line,
        )
        self.calls.setdefault(use.call_id, call)
        self._mark(entry, clock)

    def _end(self, entry: Entry, answer: Answer, clock: int) -> None:
        outcome = entry.outcome if sum(isinstance(part, Answer) for part in entry.parts) == 1 else None
        end = End(clock, self._number, _time(entry, clock), answer, outcome, entry.name)
        seen = self.ends.setdefault(answer.call_id, end)
        if seen.outcome is None and outcome is not None:  # a sub-agent's own file tells more than the main one
            self.ends[answer.call_id] = seen._replace(outcome=outcome)

    def _say(self, entry: Entry, part: Said | Thought, index: int, clock: int) -> None:
        found = speech(entry, part)
        if found is None:
            return
        key = f"{_name(entry)}/{index}"
        actor = Actor(type="human", session=self.session) if found.human else self._agent(entry)
        moment = Moment(clock, self._number, _time(entry, clock), found.kind, found.topic, found.text, actor, key)
        self.moments.setdefault(key, moment)
        self._mark(entry, clock)

    def _mark(self, entry: Entry, clock: int) -> None:
        said = (clock, self._number, _message(entry))
        self._latest[entry.agent_id] = max(self._latest.get(entry.agent_id, said), said, key=lambda each: each[:2])

    def _agent(self, entry: Entry) -> Actor:
        model = None if entry.model == "<synthetic>" else entry.model
        return Actor(
            type="agent",
            name=AGENT,
            model=model,
            version=entry.version,
            session=self.session,
            agent_id=entry.agent_id,
        )


def _name(entry: Entry) -> str:
    """Returns what tells an entry from all others of its session, in every copy of its file."""
    return entry.uuid or f"line/{entry.agent_id or ''}/{entry.line}"


def _message(entry: Entry) -> str:
    """Returns what the entries of one message have in common."""
    return entry.message_id or _name(entry)


def _time(entry: Entry, clock: int) -> int:
    return clock if entry.time is None else entry.time


def _ended(call: Call, end: End | None) -> Call:
    return call._replace(clock=end.clock, number=end.number, time=end.time, end=end) if end else call
