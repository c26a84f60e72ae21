"""What a command line runs and writes, as a POSIX shell would take it apart: the words of each command, and its files.

Nothing runs, and nothing is guessed: a word that only the shell can know is marked so, and what is not understood is
said in `fault`. Lies on the path of a hook, so that it takes no module at all; time is linear in the text. Knows no
limits.
"""

from pogstore.shell.words import SPACE, Reading, Unread, Word, assigned

LONGEST = 256 * 1024
"""Characters of a command line that are read."""
DEEPEST = 24
"""Commands inside of commands."""
PLACES = 8
"""Folders that a command may find itself in, by what commands before it have come to."""

Where = tuple[Word, ...]
"""The arguments of the `cd`s that lead to a folder."""

_TOO_DEEP = "commands are nested too deep"
_SKIPPED = frozenset(("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time"))
"""Words behind which a command begins as it does without them."""
_GOES_ANYWHERE = frozenset(("pushd", "popd", "source", ".", "eval", "chdir", "command", "builtin"))
"""What may leave the shell in a folder that nobody knows."""
_UNREAD = frozenset(("case", "esac", "function", "select", "coproc"))


class Command:
    """One simple command: the variables set for it, its words, the files it is redirected to, and where it may run.

    An empty `wheres` says that nobody knows in which folder.
    """

    __slots__ = ("assigned", "wheres", "words", "writes")

    def __init__(self, wheres: "tuple[Where, ...]") -> None:
        self.assigned: list[str] = []  # `NAME=value`, or `NAME` where the value is not known
        self.words: list[Word] = []
        self.writes: list[Word] = []
        self.wheres = wheres


class Script:
    """The commands of a command line, those inside of others included, and what of it could not be read."""

    __slots__ = ("commands", "fault")

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.fault = ""


def parse(text: str) -> Script:
    """Returns what a command line runs; never fails."""
    script = Script()
    if len(text) > LONGEST:
        script.fault = "it is too long to be read"
    elif "\0" in text:
        script.fault = "no shell takes it"
    else:
        _read(text, script, ((),), 0)
    return script


def _read(text: str, script: Script, wheres: "tuple[Where, ...]", depth: int) -> None:
    if depth > DEEPEST:
        script.fault = script.fault or _TOO_DEEP
        return
    reader = _Reader(text, script, wheres, depth)
    try:
        reader.read()
    except Unread as fault:
        script.fault = script.fault or str(fault)
    except RecursionError:
        script.fault = script.fault or _TOO_DEEP


class _Reader(Reading):
    """Goes through one text, once."""

    def __init__(self, text: str, script: Script, wheres: "tuple[Where, ...]", depth: int) -> None:
        super().__init__(text)
        self.script, self.depth = script, depth
        self.wheres = wheres
        self.failed: tuple[Where, ...] = ()
        """Where we are if a `cd` of this chain did not succeed."""
        self.outer: list[tuple[tuple[Where, ...], tuple[Where, ...], int]] = []
        self.groups: list[tuple[Where, ...]] = []
        self.loops = self.loop_at = 0
        """How many loops we are in, and with which command the outermost began."""
        self.here: list[tuple[str, bool, bool]] = []
        self.command = Command(wheres)
        self.is_piped = self.is_else = False
        """Whether the command is a part of a pipe, and whether it runs only if the one before failed."""
        self.is_timed = False
        """Whether `time` came before, which has options of its own."""

    def read(self) -> None:
        """Reads to the end."""
        while self.at < len(self.text):
            self._next()
        self._end(";")
        if self.outer:
            raise Unread("a bracket stays open")
        if self.here:
            raise Unread("a here-document has no end")

    def _next(self) -> None:
        char = self.text[self.at]
        if char in SPACE:
            self.at += 1
        elif self.text.startswith("\\\n", self.at):
            self.at += 2
        elif char == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char == "\n":
            self.at += 1
            self._end(";")
            self._pass_documents()
        elif char in ";&|" and not self.text.startswith("&>", self.at):
            self._connect(char)
        elif char in "()":
            self._bracket(char)
        elif self._redirects():
            self._redirect()
        else:
            self._take(self.word())

    def _connect(self, char: str) -> None:
        double = self.text.startswith(char * 2, self.at)
        if self.text.startswith((";;", ";&"), self.at):
            raise Unread("';;' is not read")
        if char == "|":
            self.at += 2 if double or self.text.startswith("|&", self.at) else 1
            self._end("||" if double else "|")
        else:
            self.at += 1 + double
            self._end("&&" if double else ";" if char == ";" else "&")

    def _bracket(self, char: str) -> None:
        self.at += 1
        if char == "(":
            if self.command.words or self.command.assigned or self.command.writes:
                raise Unread("a function or an array is not read")
            if self.text.startswith("(", self.at):
                raise Unread("arithmetic is not read")
            self.outer.append((self.wheres, self.failed, self.loops))
            self.is_piped = False
        else:
            if not self.outer:
                raise Unread("a bracket is closed that was not opened")
            self._end(";")
            self.wheres, self.failed, self.loops = self.outer.pop()
            self.command = Command(self.wheres)

    def _end(self, connector: str) -> None:
        """Ends a command; what comes next depends on it as the connector says."""
        command = self.command
        alone = connector not in ("|", "&") and not self.is_piped
        if command.words or command.assigned or command.writes:
            self.script.commands.append(command)
            if alone:
                self._move(command)
        self.is_piped, self.is_else = connector == "|", connector == "||"
        if connector not in ("|", "&&"):
            self.wheres, self.failed = _both(self.wheres, self.failed), ()
        self.command = Command(self.wheres)

    def _move(self, command: Command) -> None:
        """Follows a `cd`, which may fail."""
        name = command.words[0].text if command.words and command.words[0].known else ""
        if name in _GOES_ANYWHERE or (name == "cd" and self.loops):
            self.wheres, self.failed = (), ()
            for earlier in self.script.commands[self.loop_at :] if self.loops else ():
                earlier.wheres = ()  # the next time round it runs where this one leads to
        elif name == "cd":
            given = command.words[1:]
            given = given[1:] if given and given[0].text == "--" else given
            known = len(given) == 1 and given[0].known and not given[0].glob and not given[0].text.startswith("-")
            old = self.wheres
            self.wheres = tuple((*where, given[0]) for where in old) if known and given[0].text else ()
            if self.is_else and self.wheres:  # what is passed over counts as done
                self.wheres = _both(self.wheres, old)
            self.failed = _both(old, self.failed) if self.wheres else ()

    def _take(self, word: Word) -> None:
        """Takes a word: a variable that is set, a word of the shell's own language, or one of a command."""
        command = self.command
        if command.words:
            command.words.append(word)
            return
        name = assigned(word)
        is_timed, self.is_timed = self.is_timed, word.known and word.text == "time"
        if is_timed and word.text in ("-p", "--"):
            self.is_timed = True
        elif name:
            if "$(" in word.text or "`" in word.text:
                raise Unread("a value that may run later is not read")
            command.assigned.append(f"{name}={word.text.partition('=')[2]}" if word.known else name)
        elif word.known and word.text in _SKIPPED and not command.assigned:
            self._pass(word.text)
        elif word.known and word.text in _UNREAD:
            raise Unread(f"'{word.text}' is not read")
        elif word.known and word.text == "for":
            self._enter_loop()
            self._pass_for()
        else:
            command.words.append(word)

    def _pass(self, word: str) -> None:
        """Passes a word of the shell's own language; behind it begins a command that is no part of a pipe."""
        self.is_piped = False
        if word in ("while", "until"):
            self._enter_loop()
        self.loops -= word == "done" and self.loops > 0
        if word == "{":
            self.groups.append(self.wheres)
        elif word == "}" and self.groups:  # it may have been a part of a pipe, and then nothing of it stays
            before = self.groups.pop()
            self.wheres = _both(self.wheres, before) if before else ()
            self.command = Command(self.wheres)

    def _enter_loop(self) -> None:
        if not self.loops:
            self.loop_at = len(self.script.commands)
        self.loops += 1

    def sets(self, name: str) -> None:
        """Takes a variable that is set in passing."""
        command = Command(self.wheres)
        command.assigned.append(name)
        self.script.commands.append(command)

    def _pass_for(self) -> None:
        """Passes `NAME in WORD…`; commands inside of the words are read."""
        while self.text[self.at : self.at + 1] in SPACE and self.at < len(self.text):
            self.at += 1
        if self.text[self.at : self.at + 1] not in "()<>&|;\n":
            self.sets(self.word().text)
        while self.at < len(self.text) and self.text[self.at] not in ";\n":
            if self.text[self.at] in SPACE:
                self.at += 1
            elif self.text[self.at] in "()<>&|":
                raise Unread("this 'for' is not read")
            else:
                self.word()

    def _redirects(self) -> bool:
        at = self.at
        while at < len(self.text) and self.text[at].isdigit():
            at += 1
        return self.text.startswith(("<", ">"), at) or self.text.startswith("&>", self.at)

    def _redirect(self) -> None:
        while self.text[self.at].isdigit():
            self.at += 1
        for sign in ("<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">"):
            if self.text.startswith(sign, self.at):
                break
        if sign in ("<<", "<<-"):
            self.here.append(self.mark())
            return
        self.at += len(sign)
        if sign in ("<", ">") and self.text.startswith("(", self.at):
            self.at += 1
            self.inside(self._balanced())
            self._take(Word("", known=False))
            return
        while self.at < len(self.text) and self.text[self.at] in SPACE:
            self.at += 1
        target = self.word()
        if sign in (">&", "<&") and (target.text.isdigit() or target.text in ("-",)):
            return
        if sign not in ("<<<", "<", "<&"):
            self.command.writes.append(target)

    def _pass_documents(self) -> None:
        """Passes the here-documents that begin behind this line; commands inside of them are read."""
        for mark, tabs, expands in self.here:
            body = self.document(mark, tabs=tabs, expands=expands)
            if expands:
                _Reader(body, self.script, self.wheres, self.depth).expanded()
        self.here = []

    def inside(self, text: str) -> None:
        """Reads the commands of a substitution: they run where we are, and what they change of that stays there."""
        _read(text, self.script, _both(self.wheres, self.failed) if self.wheres else (), self.depth + 1)


def _both(one: "tuple[Where, ...]", other: "tuple[Where, ...]") -> "tuple[Where, ...]":
    """Returns all places of two; none, which says that they are not known, if one is not or they are too many."""
    if not one:
        return ()
    found = list(one)
    found += [where for where in other if where not in found]
    return tuple(found) if len(found) <= PLACES else ()
