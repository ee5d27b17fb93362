"""Programs that use the network: what they change is known in part, and may be refused for that part."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from controlplane.policy.shell.command_kinds import special
from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.roles import CustomProgram
from controlplane.policy.shell.result import UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.word import Word


def _record_values(*options: str) -> Callable[[ProgramCall], None]:
    """Build a handler that records the values of these options as written: `curl -o F`."""

    def record(call: ProgramCall) -> None:
        call.add_unknown(f"{call.name} may change more than the files that are named")
        for option, word in zip(call.args, call.args[1:], strict=False):
            if option.value in options:
                _try_write(call, word)

    return record


def _copy_to_last(call: ProgramCall) -> None:
    """Run `rsync A B` or `scp A B`: the last word is the destination."""
    call.add_unknown(f"{call.name} may change more than the files that are named")
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


BYTE = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
LOCAL_URL = re.compile(
    rf"(https?://)?(localhost|127(\.{BYTE}){{3}}|\[::1\]|0\.0\.0\.0)(:\d+)?([/?][^@]*)?", re.ASCII
)
SAFE_METHODS = frozenset({"GET", "HEAD"})


def _curl(call: ProgramCall) -> None:
    """Run `curl`: `curl -s localhost:3000/health` is known to be harmless, anything else is not."""
    if _record_local_request(call):
        return
    if special.find_curl_kind(call.args, call.recorder.root or "") is not None:
        raise UnknownUsageError("a request to another machine")
    _record_values("-o", "--output")(call)


def _record_local_request(call: ProgramCall) -> bool:
    try:
        parsed = call.parse_options(load_table().files["curl"])
    except UnclearCommandError:
        return False
    files = parsed.values("-o", "--output")
    if not _is_local_request(parsed) or any("#" in (word.value or "#") for word in files):
        return False
    for file in files:
        call.write(file)
    return True


def _is_local_request(parsed: ParsedOptions) -> bool:
    """Return whether a request goes to this machine, with a safe method and no text from or into a file."""
    addresses, methods = parsed.operands, parsed.values("-X", "--request")
    texts = parsed.values("-H", "--header", "-w", "--write-out")
    return (
        len(addresses) > 0
        and all(not word.has_wildcard and LOCAL_URL.fullmatch(word.value or "") for word in addresses)
        and all(word.value in SAFE_METHODS for word in methods)
        and not any((word.value or "@").startswith("@") or "%output" in word.prefix for word in texts)
    )


NETWORK_PROGRAMS: Mapping[str, CustomProgram] = {
    "curl": CustomProgram(_curl, "runs"),
    "wget": CustomProgram(_record_values("-O", "--output-document"), "runs"),
    "rsync": CustomProgram(_copy_to_last, "runs"),
    "scp": CustomProgram(_copy_to_last, "runs"),
}
