"""The words of a shell's language: quotes, escapes and expansions, and the commands that stand inside of them.

Lies on the path of a hook, so that it takes no module at all. Knows words, and not what is made of them.
"""

SPACE = " \t"
_ENDS_WORD = " \t\n;&|<>()"
_GLOB = "*?["


class Word:
    """One word without its quotes. `known` says that no expansion is in it, `glob` that it may mean several files.

    `spelled` is how it stands in the text, where that is known and the word is not.
    """

    __slots__ = ("glob", "known", "spelled", "text")

    def __init__(self, text: str, *, known: bool = True, glob: bool = False, spelled: str = "") -> None:
        self.text, self.known, self.glob, self.spelled = text, known, glob, spelled

    def __repr__(self) -> str:
        return repr(self.text) + ("" if self.known else "?")


class Unread(Exception):
    """What cannot be read, as a phrase."""


class Reading:
    """A text and where we are in it. `inside` takes the commands that stand inside of words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def inside(self, text: str) -> None:
        """Takes the text of a substitution."""
        raise NotImplementedError

    def sets(self, name: str) -> None:
        """Takes a variable that an expansion sets."""
        raise NotImplementedError

    def expanded(self) -> None:
        """Reads a text in which only expansions mean something, such as a here-document."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at += 2
            elif char in "$`":
                self._expansion()
            else:
                self.at += 1

    def word(self) -> Word:
        """Reads one word, which may be empty."""
        pieces: list[str] = []
        known, glob = True, False
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _ENDS_WORD:
            char = self.text[self.at]
            if char == "\\":
                pieces.append(self.text[self.at + 1 : self.at + 2].replace("\n", ""))
                self.at += 2
            elif char == "'":
                pieces.append(self._until("'"))
            elif char == '"':
                text, certain = self._quoted()
                pieces.append(text)
                known = known and certain
            elif char in "$`":
                text, certain = self._expansion()
                pieces.append(text)
                known = known and certain
            else:
                glob = glob or char in _GLOB
                known = known and char not in "{}" and not (char == "~" and self._is_home(start))
                pieces.append(char)
                self.at += 1
        if self.at > len(self.text):
            raise Unread("it ends in the middle")
        spelled = self.text[start : self.at]
        known = known or _is_brace(spelled)
        return Word("".join(pieces), known=known, glob=glob, spelled="" if known else spelled)

    def _is_home(self, start: int) -> bool:
        return self.at == start or self.text[self.at - 1] in "=:"

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise Unread("a quote stays open")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _quoted(self) -> tuple[str, bool]:
        """Reads what is in double quotes."""
        pieces: list[str] = []
        known = True
        self.at += 1
        while not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                raise Unread("a quote stays open")
            char = self.text[self.at]
            if char == "\\":
                after = self.text[self.at + 1 : self.at + 2]
                pieces.append("" if after == "\n" else after if after and after in '"\\$`' else char + after)
                self.at += 2
            elif char in "$`":
                text, certain = self._expansion()
                pieces.append(text)
                known = known and certain
            else:
                pieces.append(char)
                self.at += 1
        self.at += 1
        return "".join(pieces), known

    def _expansion(self) -> tuple[str, bool]:
        """Reads what `$` or a backtick begins; returns what it means, if that is known. Commands inside are read."""
        if self.text[self.at] == "`":
            self.inside(self._backticks())
            return "", False
        after = self.text[self.at + 1 : self.at + 2]
        if after == "(":
            self.at += 2
            inner = self._balanced()
            if inner.startswith("("):
                raise Unread("arithmetic is not read")
            self.inside(inner)
        elif after == "{":
            self.at += 2
            self._braced()
        elif after == "'":
            self.at += 1
            return self._ansi(), False  # only some shells know it; to others the sign is a letter
        elif after == '"':
            self.at += 1
            return self._quoted()[0], False
        elif after.isalpha() or after == "_":
            self.at += 2
            while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] == "_"):
                self.at += 1
        elif after and after in "0123456789@*#?$!-":
            self.at += 2
        else:
            self.at += 1
            return "$", True
        return "", False

    def _ansi(self) -> str:
        start = self.at + 1
        at = start
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            raise Unread("a quote stays open")
        self.at = at + 1
        return self.text[start:at]

    def _braced(self) -> None:
        """Passes `${…}`; commands inside of it are read."""
        start = self.at
        while self.text[self.at : self.at + 1].isalnum() or self.text.startswith("_", self.at):
            self.at += 1
        if self.text.startswith(("=", ":="), self.at):
            self.sets(self.text[start : self.at])
        elif self.text.startswith("!", start) and "=" in self.text[start : self.text.find("}", start)]:
            raise Unread("a variable that stands for another is not read")
        while not self.text.startswith("}", self.at):
            if self.at >= len(self.text):
                raise Unread("a brace stays open")
            char = self.text[self.at]
            if char == "\\":
                self.at += 2
            elif char == "'":
                self._until("'")
            elif char == '"':
                self._quoted()
            elif char in "$`":
                self._expansion()
            elif self.text.startswith("@P}", self.at):
                raise Unread("a value that runs is not read")
            else:
                self.at += 1
        self.at += 1

    def _backticks(self) -> str:
        pieces: list[str] = []
        self.at += 1
        while not self.text.startswith("`", self.at):
            if self.at >= len(self.text):
                raise Unread("a backtick stays open")
            char = self.text[self.at]
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("`", "\\", "$"):
                self.at += 1
            pieces.append(self.text[self.at : self.at + 1])
            self.at += 1
        self.at += 1
        return "".join(pieces)

    def _balanced(self) -> str:
        """Returns the text up to the bracket that closes the one before; quotes and brackets inside belong to it."""
        start, depth = self.at, 1
        marks: list[tuple[str, bool, bool]] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at += 1
            elif char == "'":
                self._until("'")
                continue
            elif char == '"':
                self._pass_quoted()
                continue
            elif char == "#" and self.text[self.at - 1] in " \t\n;(":
                raise Unread("a comment inside of a substitution is not read")
            elif self.text.startswith("<<<", self.at):
                self.at += 3
                continue
            elif self.text.startswith("<<", self.at):
                marks.append(self.mark())
                continue
            elif char == "\n" and marks:
                self.at += 1
                for mark, tabs, expands in marks:
                    body = self.document(mark, tabs=tabs, expands=expands)
                    # within a substitution bash takes the mark and a bracket for the end as well
                    if any(line.lstrip("\t").startswith(mark) for line in body.split("\n")):
                        raise Unread("a line that begins as the end of a here-document is not read")
                marks = []
                continue
            depth += (char == "(") - (char == ")")
            self.at += 1
            if depth == 0:
                if marks:
                    raise Unread("a here-document has no end")
                return self.text[start : self.at - 1]
        raise Unread("a bracket stays open")

    def mark(self) -> tuple[str, bool, bool]:
        """Passes the sign of a here-document; returns the line that ends it, whether tabs may precede that, and whether
        expansions are read in it.
        """
        self.at += 2
        tabs = self.text.startswith("-", self.at)
        self.at += tabs
        while self.at < len(self.text) and self.text[self.at] in SPACE:
            self.at += 1
        start = self.at
        word = self.word()
        if not (word.known and word.text):
            raise Unread("this end of a here-document is not read")
        return word.text, tabs, not any(char in "'\"\\" for char in self.text[start : self.at])

    def document(self, mark: str, *, tabs: bool, expands: bool) -> str:
        """Passes the lines of a here-document and its end; returns them."""
        body: list[str] = []
        joined = ""
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end].lstrip("\t") if tabs else self.text[self.at : end]
            self.at = end + 1
            whole = joined + line
            goes_on = expands and (len(line) - len(line.rstrip("\\"))) % 2 == 1
            if mark in (line, whole):
                if joined:
                    raise Unread("a line that goes on before the end of a here-document is not read")
                return "\n".join(body)
            joined = whole[:-1] if goes_on else ""
            body.append(line)
        raise Unread("a here-document has no end")

    def _pass_quoted(self) -> None:
        """Passes a double-quoted text without reading what is in it: that is done with the text around it."""
        self.at += 1
        while not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                raise Unread("a quote stays open")
            if self.text.startswith("$(", self.at):
                self.at += 2
                self._balanced()
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1


def _is_brace(raw: str) -> bool:
    """Says whether a word is nothing but a brace of the shell's own language."""
    return raw in ("{", "}", "{}")


def assigned(word: Word) -> str:
    """Returns the variable that a word sets in front of a command."""
    name, equals, _ = word.text.partition("=")
    name = name.partition("[")[0].removesuffix("+")
    return name if equals and name.isidentifier() and name.isascii() else ""
