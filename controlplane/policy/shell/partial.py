"""Programs of which some targets are known, but not all: the known ones can still be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controlplane.policy.shell.call import Call, Custom, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controlplane.policy.shell.words import Word


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


PARTIAL: Mapping[str, Entry] = {
    "curl": Custom(_named_by("-o", "--output"), "runs"),
    "wget": Custom(_named_by("-O", "--output-document"), "runs"),
    "rsync": Custom(_last, "runs"),
    "scp": Custom(_last, "runs"),
}
