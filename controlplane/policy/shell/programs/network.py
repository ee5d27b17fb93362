"""Programs of which some targets are known, but not all: the known ones can still be refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from controlplane.policy.shell.command import Call, Custom, Entry
from controlplane.policy.shell.options import Parsed, spec
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.word import Word


def _named_by(*options: str) -> Callable[[Call], None]:
    """`curl -o F`: the words behind these options are written."""

    def judge(call: Call) -> None:
        call.unknown(f"what else {call.name} changes is not known")
        for option, word in zip(call.args, call.args[1:], strict=False):
            if option.value in options:
                _try_write(call, word)

    return judge


def _last(call: Call) -> None:
    """`rsync A B`: the last word is the destination."""
    call.unknown(f"what else {call.name} changes is not known")
    if len(call.args) > 1 and ":" not in call.args[-1].prefix:
        _try_write(call, call.args[-1])


def _try_write(call: Call, word: Word) -> None:
    if word.value and not word.wild and not word.value.startswith("-") and call.state.folders is not None:
        call.write(word)


# Asking a server on this machine, as whoever develops one does all day. Left out are `-K`, `-c`, `-d`, `-T`
# and the like: they read settings, and send or keep files; and `-L`, which goes wherever the server sends it.
ASKING = spec(
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


def _curl(call: Call) -> None:
    """`curl -s localhost:3000/health` only asks; what else it may do is not known."""
    if not _asks_here(call):
        _named_by("-o", "--output")(call)


def _asks_here(call: Call) -> bool:
    try:
        parsed = call.parse(ASKING)
    except UnclearError:
        return False
    files = parsed.values("-o", "--output")
    if not _only_asks(parsed) or any("#" in (word.value or "#") for word in files):
        return False
    for file in files:
        call.write(file)
    return True


def _only_asks(parsed: Parsed) -> bool:
    """No address but of this machine, no method that changes something, no text out of a file or into one."""
    addresses, methods = parsed.operands, parsed.values("-X", "--request")
    texts = parsed.values("-H", "--header", "-w", "--write-out")
    return (
        len(addresses) > 0
        and all(not word.wild and OWN.fullmatch(word.value or "") for word in addresses)
        and all(word.value in METHODS for word in methods)
        and not any((word.value or "@").startswith("@") or "%output" in word.prefix for word in texts)
    )


PARTIAL: Mapping[str, Entry] = {
    "curl": Custom(_curl, "runs"),
    "wget": Custom(_named_by("-O", "--output-document"), "runs"),
    "rsync": Custom(_last, "runs"),
    "scp": Custom(_last, "runs"),
}
