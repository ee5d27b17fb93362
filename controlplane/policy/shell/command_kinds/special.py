"""Programs whose effect hangs on their arguments in a way of their own: forges, remote shells, privileges."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from controlplane.policy.effects import Effect
from controlplane.policy.hosts import find_host
from controlplane.policy.shell.command_kinds.words import Arguments, CommandKind
from controlplane.policy.shell.options import parse_options
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import DATA, FLAG, FORM, METHOD, RAW, TEXT, WRITE
from controlplane.policy.shell.word import Word

GH_PATH = re.compile(r"/?(?:repos|orgs|users)/")
READ_METHODS = frozenset({"GET", "HEAD"})


def _find_program(texts: Arguments) -> CommandKind | None:
    """Return the effect of a program that has it with any arguments."""
    row = load_table().programs.get(texts.program)
    return CommandKind("", row.effect, f"{texts.program} {row.why}") if row is not None else None


def _find_mount(texts: Arguments) -> CommandKind | None:
    """Return that `mount` without arguments lists what is mounted."""
    if all(value == "-l" for value in texts.values):
        return CommandKind("mount", Effect.READS, "only looks")
    return _find_program(texts)


# Not `ext::…`, which is a command, and no folder of this machine.
CLONE_ADDRESS = re.compile(
    r"(?:https?://|ssh://(?:git@)?|git@)(?P<host>[A-Za-z0-9][\w.-]*(?::\d+(?=/))?)[:/](?P<path>[\w./~+-]+)"
)


def _find_git(texts: Arguments) -> CommandKind | None:
    """Return `git clone HOST`, which fills a folder that is new; the table knows the rest of git."""
    row, operands = load_table().special["git clone"], list[Word]()
    rest = list(texts.words[1:])
    while rest and texts.values[0] == "clone":
        word = rest.pop(0)
        if word.value is None or word.may_split or word.has_wildcard:
            return None
        name, equals, _ = word.value.partition("=")
        if not name.startswith("-"):
            operands.append(word)
        elif row.options.get(name) == TEXT and not equals and rest and not rest[0].may_split:
            rest.pop(0)
        elif row.options.get(name) != (TEXT if equals else FLAG):
            return None
    return _name_clone(*operands) if 1 <= len(operands) <= 2 else None


def _name_clone(address: Word, folder: Word | None = None) -> CommandKind | None:
    found = CLONE_ADDRESS.fullmatch(address.value or "")
    name = found["path"].rstrip("/").removesuffix(".git").rpartition("/")[2] if found else ""
    if found is None or not name.strip("."):
        return None
    host = found["host"].lower()
    makes = folder or Word(name, name, *address.span)
    return CommandKind(
        f"git clone {host}", Effect.INSTALLS, f"brings a repository of {host} in", makes=(makes,)
    )


def _find_ssh(texts: Arguments) -> CommandKind:
    """Return `ssh HOST`: whatever runs there runs there. Options that run something here have no kind."""
    rest, options = list(texts.values), load_table().special["ssh"].options
    while rest and rest[0] and rest[0].startswith("-"):
        option = rest.pop(0) or ""
        if options.get(option) == TEXT and rest:
            rest.pop(0)
        elif options.get(option) != FLAG:
            return CommandKind("", Effect.SENDS, f"ssh with {option[:20]} is not known")
    host = rest[0] if rest else None
    if not host or not re.fullmatch(r"[\w.@-]+", host):
        return CommandKind("", Effect.SENDS, "ssh to a host that is not known")
    return CommandKind(f"ssh {host}", Effect.SENDS, f"runs commands on {host}")


def _find_tmux(texts: Arguments) -> CommandKind | None:
    """Return that a format runs a program (`#(…)`), or nothing: the table knows the rest."""
    if any(value is None or "#(" in value for value in texts.values):
        return CommandKind("", Effect.RUNS_CODE, "tmux may run what a format holds")
    return None


# Signs behind which a value names a file to read, wherever they stand in it.
CURL_FILE_SIGNS = {"-F": "@<;", "--form": "@<;", "--data-urlencode": "@"}
LONG_VALUE = re.compile(r"--[\w-]+=")
CURL_METHODS = {"-I": "HEAD", "--head": "HEAD", "-G": "GET", "--get": "GET"}


def find_curl_kind(words: tuple[Word, ...], root: str) -> CommandKind | None:
    return _find_curl(Arguments("curl", words, root))


def _find_curl(texts: Arguments) -> CommandKind | None:
    """Return `curl METHOD HOST` for one address and plain options; what reads a file has no kind."""
    row = load_table().special["curl"]
    try:
        parsed = parse_options(texts.words, row)
    except UnclearCommandError:
        return None
    values = [(name, row.options[name], word) for name, word in parsed.options if word is not None]
    # curl knows neither `--` nor `--name=value`.
    is_spelled = parsed.after_double_dash is None and not any(
        LONG_VALUE.match(word.prefix) for word in texts.words
    )
    if not is_spelled or not all(_is_curl_text(*value) for value in values):
        return None
    methods: list[str] = []
    for name, word in parsed.options:
        role = row.options[name]
        methods += [CURL_METHODS[name]] if name in CURL_METHODS else []
        methods += [(word.value or "").upper()] if role == METHOD and word is not None else []
        methods += ["POST"] if role in {DATA, FORM, RAW} else []
    outputs = tuple(word for _, role, word in values if role == WRITE)
    return _name_request(methods, [word.value or "" for word in parsed.operands], outputs)


def _is_curl_text(name: str, role: str, word: Word) -> bool:
    """Return whether a value is a text, and no file to read or write: `@file`, `%output{file}`."""
    text = word.value
    if text is None or word.has_wildcard or word.has_tilde or "%output" in text:
        return False
    signs = CURL_FILE_SIGNS.get(name, "")
    return role == RAW or not (text.startswith("@") or any(sign in text for sign in signs))


def _name_request(methods: list[str], addresses: list[str], outputs: tuple[Word, ...]) -> CommandKind | None:
    host = find_host(addresses[0]) if len(addresses) == 1 else ""
    explicit = [method for method in methods if method != "POST"]
    method = (explicit or methods or ["GET"])[0]
    if not host or not method.isalpha() or any("#" in (word.value or "") for word in outputs):
        return None
    is_read = method in READ_METHODS and "POST" not in methods
    effect, reason = (Effect.BROWSES, "reads from") if is_read else (Effect.SENDS, "sends to")
    return CommandKind(f"curl {method} {host}", effect, f"{reason} {host}", outputs)


def _find_gh(texts: Arguments) -> CommandKind | None:
    """Return `gh api` by its method and query, and any other command that changes something there."""
    values = list(texts.values)
    if values[:1] == ["api"]:
        return _find_gh_api([_fill_path(word) for word in texts.words[1:]])
    known = [value for value in values[:2] if value and re.fullmatch(r"[a-z][a-z-]*", value)]
    action = known[1] if len(known) > 1 else ""
    if action in load_table().words["forge_changes"]:
        kind = f"gh {known[0]} {action}"
        return CommandKind(kind, Effect.SENDS, "changes something on the forge")
    return None


def _fill_path(word: Word) -> str | None:
    """Return a word, or what is known of a path that is one word: `repos/a/b/pulls/$number`."""
    is_path = not (word.may_split or word.has_wildcard) and GH_PATH.match(word.prefix)
    return word.prefix if word.value is None and is_path else word.value


def _find_gh_api(values: list[str | None]) -> CommandKind:
    method, sends, paths, fields = "", False, [], []
    rest, options = list(values), load_table().special["gh api"].options
    while rest:
        value = rest.pop(0)
        if value is None:
            return CommandKind("", Effect.SENDS, "gh api with an argument that is known only when it runs")
        name, equals, attached = value.partition("=")
        if not value.startswith("-"):
            paths.append(value)
        elif options.get(name) == FLAG:
            continue
        elif value.startswith("-X") and len(value) > 2:
            method = value[2:].lstrip("=")
        elif name in options:
            argument = attached if equals else (rest.pop(0) if rest else None)
            method = (argument or "?") if options[name] == METHOD else method
            sends |= options[name] == DATA
            fields.append(argument or "@")
        else:
            return CommandKind("", Effect.SENDS, f"gh api with {name[:20]} is not known")
    if paths[:1] == ["graphql"]:
        return _find_graphql(fields)
    method = method.upper() or ("POST" if sends else "GET")
    if method in READ_METHODS:
        return CommandKind("gh api GET", Effect.FETCHES, "reads from the forge")
    return CommandKind(
        f"gh api {method}" if method.isalpha() else "", Effect.SENDS, "changes something on the forge"
    )


def _find_graphql(fields: list[str]) -> CommandKind:
    queries = [field.partition("=")[2] for field in fields if field.startswith("query=")]
    hidden = any("=@" in field or field.startswith("@") for field in fields)
    if len(queries) == 1 and not hidden and not re.search(r"\bmutation\b", queries[0]):
        return CommandKind("gh api graphql query", Effect.FETCHES, "reads from the forge")
    return CommandKind(
        "gh api graphql mutation" if queries and not hidden else "",
        Effect.SENDS,
        "changes something on the forge",
    )


SPECIAL_PROGRAMS: Mapping[str, Callable[[Arguments], CommandKind | None]] = {
    "mount": _find_mount,
    "git": _find_git,
    "ssh": _find_ssh,
    "gh": _find_gh,
    "tmux": _find_tmux,
    "curl": _find_curl,
}


def find_special(texts: Arguments) -> CommandKind | None:
    """Return the kind of a command whose program has rules of its own."""
    return SPECIAL_PROGRAMS.get(texts.program, _find_program)(texts)
