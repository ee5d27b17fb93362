"""Secrets under a name: variables, fields of JSON and YAML, headers, options of commands."""

from __future__ import annotations

from typing import Any

from controlplane.shared.secret_rules.names import (
    HEADER,
    NAME,
    VARIABLE,
    is_code,
    is_harmless,
    is_public_name,
    is_sentence,
    is_weak_name,
)
from controlplane.shared.secret_rules.rule import Rule, Span, compile_pattern

HINTS = (
    "pass", "pwd", "secret", "token", "key", "credential", "auth", "cookie", "pat", "dsn", "sas", "webhook",
    "connection", "session", "x-", "api-", "--pw", "bearer",
)  # fmt: skip
# A text in quotes, with the quotes escaped as often as it is nested; its end may be cut off.
QUOTED = r"\\{0,7}(?:\"(?P<double>(?:[^\"\\\n]|\\[^\"\n])+)|'(?P<single>[^'\n\\]+)|`(?P<tick>[^`\n\\]+))"
BARE = r"(?P<bare>[^\s\"'`;&|<>(){}\[\]$,\\][^\s\"'`;&|<>(){}\[\],]*)"
LINE = r"(?P<bare>[^\n\"'`\\]+)"
AFTER_NAME = r"(?:\\{0,7}[\"'`])?\]?\)?[ \t]{0,5}(?::=|=>|\?=|[:=])[ \t]{0,5}"
VALUE = rf"(?:{QUOTED}|{BARE})"
LIST = r"[\"'][ \t]{0,5},[ \t]{0,5}"
NEXT = r"(?:\"(?P<next_double>[^\"\n]+)\"|'(?P<next_single>[^'\n]+)')"  # the next text of a list
QUOTE = r"\\{0,7}[\"']"
MIN_VALUE = 3
MIN_HEADER = 6
MIN_PLAIN = 8  # characters of a bare word of letters only: a shorter one is as likely a name
NO_VALUES = ("-", "id=", "src=", "type=", "/", "./", "@")  # another option, or where the secret is
VALUES = (b"double", b"single", b"tick", b"bare", b"next_double", b"next_single")


def assignment_rules() -> list[Rule]:
    """Return the rules; their order does not matter, since what they find is united."""
    setting = r"(?:\bENV|\bARG|\bsetx|\bset -g?x|\baws configure set|\bconfig set|\bsecrets? (?:set|put))\s+"
    option = rf"(?:^|[\s\"',\[])--?(?P<name>{NAME}|(?i:[\w-]{{0,40}}(?:pass|auth|bearer))|pw)"
    call = r"(?i:setenv|putenv|setRequestHeader|add_?header|setHeader|\.header|\.set)\(\s{0,5}\\{0,3}[\"']"
    attribute = rf"(?i:key|name)={QUOTE}"
    separator = r"\\{0,3}[\"']\s{0,5},\s{0,5}"
    return [
        _rule("variable", rf"\b(?P<name>{VARIABLE})=(?:{QUOTED}|{BARE})", _variable),
        _rule("field", rf"(?P<name>{NAME}|\b{VARIABLE}){AFTER_NAME}{VALUE}", _field),
        _rule("setting", rf"{setting}(?:\S*[:/])?(?P<name>{NAME}|{VARIABLE})\s+{VALUE}", _variable),
        _rule("attribute", rf"{attribute}(?P<name>{NAME}|{VARIABLE}){QUOTE}\s+(?i:value)={VALUE}", _field),
        _rule("block", rf"(?P<name>{NAME}):[ \t]*[>|][-+0-9]*[ \t]*\n\s+{BARE}", _variable),
        _rule(
            "option", rf"{option}(?:(?:=|[ \t]{{1,5}}){VALUE}|[\"'][ \t]{{0,5}},[ \t]{{0,5}}{NEXT})", _option
        ),
        _rule("call", rf"{call}(?P<name>{NAME}|{VARIABLE}|{HEADER}){separator}{VALUE}", _field),
        _rule("header", rf"(?P<name>\b{HEADER}){AFTER_NAME}(?:{QUOTED}|(?P<bare>[^\n\"'`\\]+))", _header),
        _rule("xml", rf"<(?P<name>[\w:.-]{{0,40}}{NAME})>\s{{0,5}}(?P<bare>[^<\s][^<\n]*)</", _variable),
    ]


def _rule(name: str, pattern: str, find_span: Any) -> Rule:
    return Rule(name, HINTS, compile_pattern(pattern), find_span)


def _value(match: Any) -> tuple[str, str, Span]:
    """Return the group that matched, its text and its place."""
    groups = match.groupdict()
    group = next(name for name in VALUES if groups.get(name) is not None)
    return group.decode(), groups[group].decode("utf-8", "replace"), match.span(match.re.groupindex[group])


def _is_name_quoted(match: Any) -> bool:
    end = match.end(match.re.groupindex[b"name"])
    return match.string[end : end + 1] in {b'"', b"'"}


def _name(match: Any) -> str:
    text: str = match[b"name"].decode("utf-8", "replace")
    return text


def _variable(match: Any) -> Span | None:
    """An assignment without spaces, as a shell reads it: whatever stands there is the value."""
    _, value, span = _value(match)
    if is_public_name(_name(match)) or is_harmless(value) or len(value) < MIN_VALUE:
        return None
    return span


def _field(match: Any) -> Span | None:
    """A field of data, or an assignment of code, where a bare word may name something else."""
    group, value, span = _value(match)
    name = _name(match)
    if is_public_name(name) or is_harmless(value) or len(value) < MIN_VALUE or value == name:
        return None
    if is_weak_name(name) and not (len(value) >= MIN_PLAIN and any(map(str.isdigit, value))):
        return None
    if group != "bare":
        return None if is_sentence(value) else span
    follows = match.string[span[1] : span[1] + 1]
    if follows in {b"(", b"["} or is_code(value) or (value.isidentifier() and _is_name_quoted(match)):
        return None
    return None if value.isalpha() and len(value) < MIN_PLAIN else span


def _option(match: Any) -> Span | None:
    group, value, span = _value(match)
    name = _name(match).lower()
    if is_harmless(value) or (group == "bare" and value.startswith(NO_VALUES)):
        return None
    if name in {"auth", "basic-auth"}:  # `--auth user:password`, and `--auth` alone
        return (span[0] + value.index(":") + 1, span[1]) if ":" in value else None
    return span


def _header(match: Any) -> Span | None:
    """A header's value: of credentials what follows their scheme, of cookies and others all of it."""
    group, value, span = _value(match)
    text = value.strip()
    if group == "bare" and _is_name_quoted(match):
        return None  # a field of code whose value is no text: `"Cookie": cookie`
    name = _name(match).lower()
    if "cookie" in name:
        return span if "=" in text and not is_harmless(text.partition("=")[2]) else None
    scheme, _, rest = text.partition(" ")
    secret = (rest or scheme).strip()
    if len(secret) < MIN_HEADER or is_harmless(secret):
        return None
    is_header_line = "-" in name  # and so no code
    if group == "bare" and not rest and (secret.isalpha() or (is_code(secret) and not is_header_line)):
        return None
    if rest and not scheme.replace("-", "").isalnum():
        return None
    start = span[0] + len(value[: value.index(secret)].encode())
    return start, start + len(secret.encode())
