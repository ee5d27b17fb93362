"""Programs of which some targets are known, but not all: the known ones can still be refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from controlplane.policy.shell.command import CustomProgram, KnownProgram, ProgramCall
from controlplane.policy.shell.options import ParsedOptions, build_spec
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word


def _named_by(*options: str) -> Callable[[ProgramCall], None]:
    """`curl -o F`: the words behind these options are written."""

    def judge(call: ProgramCall) -> None:
        call.add_unknown(f"what else {call.name} changes is not known")
        for option, word in zip(call.args, call.args[1:], strict=False):
            if option.value in options:
                _try_write(call, word)

    return judge


def _last(call: ProgramCall) -> None:
    """`rsync A B`: the last word is the destination."""
    call.add_unknown(f"what else {call.name} changes is not known")
    if len(call.args) > 1 and ":" not in call.args[-1].prefix:
        _try_write(call, call.args[-1])


def _try_write(call: ProgramCall, word: Word) -> None:
    if (
        word.value
        and not word.has_wildcard
        and not word.value.startswith("-")
        and call.state.directories is not None
    ):
        call.write(word)


# Asking a server on this machine, as whoever develops one does all day. Left out are `-K`, `-c`, `-d`, `-T`
# and the like: they read settings, and send or keep files; and `-L`, which goes wherever the server sends it.
ASKING = build_spec(
    "-sSfkIivgN46 -H= -A= -e= -m= -w= -X= -o=w --silent --show-error --fail --fail-with-body "
    "--insecure --head --include --verbose --no-buffer --compressed --globoff --header= --user-agent= "
    "--referer= --max-time= --connect-timeout= --retry= --retry-delay= --retry-connrefused --request= "
    "--write-out= --output=w --http1.1 --http2",
    "-*",
)
BYTE = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
OWN = re.compile(
    rf"(https?://)?(localhost|127(\.{BYTE}){{3}}|\[::1\]|0\.0\.0\.0)(:\d+)?([/?][^@]*)?", re.ASCII
)
METHODS = frozenset({"GET", "HEAD"})


def _curl(call: ProgramCall) -> None:
    """`curl -s localhost:3000/health` only asks; what else it may do is not known."""
    if not _asks_here(call):
        _named_by("-o", "--output")(call)


def _asks_here(call: ProgramCall) -> bool:
    try:
        parsed = call.parse_options(ASKING)
    except UnclearCommandError:
        return False
    files = parsed.values("-o", "--output")
    if not _only_asks(parsed) or any("#" in (word.value or "#") for word in files):
        return False
    for file in files:
        call.write(file)
    return True


def _only_asks(parsed: ParsedOptions) -> bool:
    """No address but of this machine, no method that changes something, no text out of a file or into one."""
    addresses, methods = parsed.operands, parsed.values("-X", "--request")
    texts = parsed.values("-H", "--header", "-w", "--write-out")
    return (
        len(addresses) > 0
        and all(not word.has_wildcard and OWN.fullmatch(word.value or "") for word in addresses)
        and all(word.value in METHODS for word in methods)
        and not any((word.value or "@").startswith("@") or "%output" in word.prefix for word in texts)
    )


PARTIAL: Mapping[str, KnownProgram] = {
    "curl": CustomProgram(_curl, "runs"),
    "wget": CustomProgram(_named_by("-O", "--output-document"), "runs"),
    "rsync": CustomProgram(_last, "runs"),
    "scp": CustomProgram(_last, "runs"),
}
