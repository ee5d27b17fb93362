"""Scan sed scripts for the files that they read or write, and for commands that run something.

A small scanner for the script language of GNU and BSD sed. What the two read differently (a delimiter inside
a bracket expression, a raw newline in a replacement) is unclear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from controlplane.policy.shell.result import UnclearCommandError

ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|\$|[+~]\d+)")
SINGLE = frozenset("=dDgGhHnNpPxzF")
NUMBERED = frozenset("qQlL")
TEXT = frozenset("aic")
LABELLED = frozenset("btT:")
SUBSTITUTE_FLAGS = re.compile(r"[gpiIMm0-9]*")


@dataclass(slots=True)
class Script:
    """The files that a script names, besides its input."""

    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)


def scan_script(text: str) -> Script:
    """Scan a script; raises UnclearCommandError where it runs something or is not understood."""
    scanner = _Scanner(text)
    while scanner.skip(" \t\n;}"):
        scanner.command()
    return scanner.script


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.script = Script()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, chars: str) -> bool:
        """Move past `chars`; returns whether anything follows."""
        while self.at < len(self.text) and self.text[self.at] in chars:
            self.at += 1
        return self.at < len(self.text)

    def take(self) -> str:
        char = self.peek()
        self.at += 1
        return char

    def match(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return bool(match)

    def line(self) -> str:
        """Move to the end of the line; returns what stood before it."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line, self.at = self.text[self.at : end], end
        return line.strip(" \t")

    def command(self) -> None:
        self.addresses()
        name = self.take()
        if name in SINGLE or name in NUMBERED:
            self.skip(" \t0123456789" if name in NUMBERED else " \t")
            self.ends()
        elif name == "s":
            self.substitute()
        elif name == "y":
            self.delimited(self.delimited(self.take(), is_regex=False), is_regex=False)
            self.ends()
        elif name in TEXT:
            self.appended()
        elif name in LABELLED:
            self.skip(" \t")
            self.match(re.compile(r"[^\s;}]*"))
        elif name in "wW" and name:
            self.script.writes.append(self.line())
        elif name in "rR" and name:
            self.script.reads.append(self.line())
        elif name == "#":
            self.line()
        elif name != "{":
            raise UnclearCommandError("the sed script runs something or is not understood")

    def addresses(self) -> None:
        if self.address():
            self.skip(" \t")
            if self.peek() == ",":
                self.at += 1
                self.skip(" \t")
                if not self.address():
                    raise UnclearCommandError("a sed address that is not understood")
        self.skip(" \t!")

    def address(self) -> bool:
        if self.match(ADDRESS):
            return True
        if self.peek() not in ("/", "\\"):
            return False
        delimiter = self.take()
        self.delimited(self.take() if delimiter == "\\" else delimiter, is_regex=True)
        self.skip("IM")
        return True

    def delimited(self, delimiter: str, *, is_regex: bool) -> str:
        """Move past the next unescaped delimiter; returns it."""
        if delimiter in ("", "\\", "\n"):
            raise UnclearCommandError("a sed delimiter that is not understood")
        start = self.at
        while (char := self.take()) != delimiter:
            if char == "\\":
                char = self.take()
            elif char == "\n":
                raise UnclearCommandError("a sed command over several lines")
            if not char:
                raise UnclearCommandError("a sed command without its end")
        if is_regex and _opens_bracket(self.text[start : self.at - 1]):
            raise UnclearCommandError("a sed delimiter in a bracket expression")
        return delimiter

    def substitute(self) -> None:
        delimiter = self.delimited(self.take(), is_regex=True)
        self.delimited(delimiter, is_regex=False)
        self.match(SUBSTITUTE_FLAGS)
        if self.peek() == "w":
            self.at += 1
            self.script.writes.append(self.line())
        self.ends()

    def appended(self) -> None:
        """Move past text that ends with the first line without a backslash at its end."""
        if re.compile(r"[ \t]*\\[ \t]+(\n|$)").match(self.text, self.at):
            raise UnclearCommandError("sed text that is not understood")
        while (char := self.take()) not in ("", "\n"):
            if char == "\\":
                self.at += 1

    def ends(self) -> None:
        self.skip(" \t")
        if self.peek() not in ("", ";", "\n", "}", "#"):
            raise UnclearCommandError("the sed script runs something or is not understood")


def _opens_bracket(regex: str) -> bool:
    """Return whether a bracket expression is open at the end, so that the delimiter in it was literal."""
    bare = re.sub(r"\\.", "", regex, flags=re.DOTALL)
    closed = re.sub(r"\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]\[]|\[)*\]", "", bare)
    return "[" in closed
