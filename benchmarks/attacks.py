"""Count the stored attacks that a policy allows: gate cases, attacks and probes of tests/data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from controlplane.policy.decision import decide
from controlplane.policy.model import Grant, Place, Policy, Snapshot, ToolCall, Verdict
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.rules.places import compile_places, to_place_path
from sessions.lifecycle.contained_run import choose_network
from tests.policy import gate_cases, gate_probes
from tests.policy.builders import NOW, bash, call, no_intent, snapshot
from tests.policy.local_filesystem import LocalFilesystem
from tests.policy.test_attacks import AGENTS, ATTACKS, FILES, LINKS, TOOL_ATTACKS

PERMITTED = Path(__file__).parent / "data" / "permitted_commands.json"


@dataclass(frozen=True, slots=True)
class Attack:
    """A call that must not be allowed, in the state and on the disk that it was made for."""

    name: str
    call: ToolCall
    snapshot: Snapshot
    filesystem: Filesystem


def list_allowed(
    folder: Path,
    policy: Policy,
    grants: tuple[Grant, ...] = (),
    permitted: frozenset[str] = frozenset(),
    *,
    contains: bool = False,
) -> tuple[int, list[str]]:
    """Return how many attacks were tried, and which of them were allowed.

    `grants` are what the session was given before the attack. `permitted` are commands that policy and grants
    allow on purpose. A client that `contains` commands runs them behind walls, where only the network could
    do harm: a command that is allowed contained counts where its run would have one.
    """
    # The cases lie in a temporary folder, which starters open as scratch space: what is outside of a
    # workspace there would be open as well.
    policy = replace(policy, places=tuple(place for place in policy.places if not _holds(place, folder)))
    tried, allowed = 0, []
    for attack in _list_attacks(folder):
        if _read_command(attack) in permitted:
            continue
        state = replace(attack.snapshot, policy=_merge(policy, attack.snapshot.policy), grants=grants)
        tried += 1
        decision = decide(replace(attack.call, can_contain=contains), state, NOW, attack.filesystem)
        is_walled = decision.contained and choose_network(decision.effects) == "none"
        if decision.verdict is Verdict.ALLOW and not is_walled:
            allowed.append(attack.name)
    return tried, allowed


def load_permitted(key: str) -> frozenset[str]:
    return frozenset(json.loads(PERMITTED.read_text())[key])


def _read_command(attack: Attack) -> str:
    data = attack.call.input
    command = (data.get("command") or data.get("cmd")) if isinstance(data, dict) else None
    return command.strip() if isinstance(command, str) else ""


def _holds(place: Place, folder: Path) -> bool:
    path = to_place_path(str(folder.resolve() / "x"))
    return compile_places((place,)).permits(path, writing=False, recursive=False)


def _merge(policy: Policy, own: Policy) -> Policy:
    """The policy of the starter, with what the case itself sets: its tool classes, its need of hashes."""
    return replace(policy, tool_classes=own.tool_classes, require_content_hash=own.require_content_hash)


def _list_attacks(folder: Path) -> Iterator[Attack]:
    yield from _list_gate_cases(folder / "cases")
    yield from _list_command_attacks(folder / "attacks")
    yield from gate_probes.list_attacks(folder / "probes")


def _list_gate_cases(base: Path) -> Iterator[Attack]:
    laid_out = ""
    for name in (*gate_cases.FILES, "needs-setup"):
        for raw in gate_cases.load(name):
            expect = raw["expect"]
            if "allow" in (expect.get("decision_in") or [expect["decision"]]):
                continue
            if raw.get("needs") or raw["call"]["tool"] == "select_intent":
                continue  # judged by the handshake, or by a registry that this replay does not have
            case = gate_cases.filled_in(raw, base)
            key = gate_cases.layout_key(case)
            if key != laid_out:
                gate_cases.lay_out(base, case)
                laid_out = key
            root = base / "acme"
            state, the_call = gate_cases.snapshot_of(case), gate_cases.call_of(case, root)
            yield Attack(case["id"], the_call, state, LocalFilesystem(root))


def _list_command_attacks(base: Path) -> Iterator[Attack]:
    root = _lay_out_attacks(base)
    local, remote = LocalFilesystem(root), UnknownFilesystem()
    for case in ATTACKS:
        the_call = replace(bash(case["command"]), root=str(root))
        yield from _in_both_states(
            case["command"], the_call, (local,) if case.get("disk") else (local, remote)
        )
    for case in TOOL_ATTACKS:
        for agent in AGENTS:
            the_call = replace(call(case["tool"], case["input"]), root=str(root), agent=agent)
            yield from _in_both_states(json.dumps(case), the_call, (local,))


def _in_both_states(name: str, the_call: ToolCall, filesystems: Sequence[Filesystem]) -> Iterator[Attack]:
    for filesystem in filesystems:
        for state in (snapshot("src/**"), no_intent()):
            yield Attack(name, the_call, state, filesystem)


def _lay_out_attacks(base: Path) -> Path:
    from tests.policy.shell.scratch import Scratch  # noqa: PLC0415  makes folders when it is built

    root = Scratch(base).root
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name, target in LINKS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    return root
