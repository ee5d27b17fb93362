"""The decision core in process: beside three policy engines on the same scopes, shell analysis, many intents.

    python benchmarks/core.py [--quick]

Every engine holds the same scopes, made only of patterns that all of them express exactly (folders and whole
paths), with its own means of being fast: parsed policy sets, a cache by subject. All must give the same
answers. The others are asked "may this intent change this path?". `scope` is that question;
`decide` is a whole decision: it starts from the tool call, reads its input, finds the file, goes through
all ten steps and words a refusal, which whoever uses another engine has to do around it. So the same question
is held to ten times the fastest of the others, and a whole decision to no less than their bare question
(docs/decisions/0004-gate.md).
Times are CPU times: nobody pays for what else the machine does. Prints one JSON object a line; exit status 1
when a bar does not hold.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from controlplane.policy.decision import decide  # noqa: E402
from controlplane.policy.globs import automaton, intersection, match, parse  # noqa: E402
from controlplane.policy.globs import scope as scopes_module  # noqa: E402
from controlplane.policy.globs.overlaps import find_overlaps  # noqa: E402
from controlplane.policy.globs.scope import Scope  # noqa: E402
from controlplane.policy.model import (  # noqa: E402
    IntentStatus,
    SelectedIntent,
    SessionState,
    Snapshot,
    ToolCall,
    Verdict,
)
from controlplane.policy.shell import analyse  # noqa: E402

# The others after ours: google-re2 crashes when regopy's allocator was there before it.
# isort: split
import casbin  # noqa: E402
import cedarpy  # noqa: E402
import regopy  # noqa: E402
from casbin.model import FastModel  # noqa: E402

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REPOSITORY = "/home/ada/acme"
CASES = ROOT / "tests" / "data" / "gate_cases"
COMMANDS = ("shell-readonly", "shell-writes", "shell-tricks")
MANY, PATTERNS = 1_000, 20  # intents, patterns of each
CASBIN_MODEL = """
[request_definition]
r = sub, act, obj
[policy_definition]
p = sub, act, obj
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.act == p.act && keyMatch(r.obj, p.obj)
"""
REGO_MODULE = """package gate
allow if { some folder in data.scopes[input.intent].folders; startswith(input.path, folder) }
allow if { some path in data.scopes[input.intent].paths; input.path == path }
"""
REGO_YES = '{"expressions":[true]}'

Ask = Callable[[str, str], bool]  # (intent, path) -> whether it may be changed


def intent_id(number: int) -> str:
    return f"INT-{number:04}"


def shared_scope(number: int) -> tuple[list[str], list[str]]:
    """(folders with their slash, whole paths): what every engine can express."""
    folders = [f"src/area{number}/mod{part}/" for part in range(PATTERNS - 2)]
    return folders, [f"docs/area{number}.md", f"config/area{number}.yaml"]


def patterns_of(number: int) -> tuple[str, ...]:
    folders, paths = shared_scope(number)
    return (*(f"{folder}**" for folder in folders), *paths)


def questions(intents: int) -> list[tuple[str, str]]:
    """Half of them allowed, spread over all intents."""
    found = []
    for step in range(200):
        number = step * 7 % intents
        places = (
            f"src/area{number}/mod{step % (PATTERNS - 2)}/deep/file{step}.ts",
            f"docs/area{number}.md",
            f"src/area{number}/elsewhere/file{step}.ts",
            f"docs/area{number}.md/more.md",
        )
        found.append((intent_id(number), places[step % 4]))
    return found


# --- the engines -------------------------------------------------------------------------------


def ours_whole(intents: int) -> Ask:
    snapshots = {
        intent_id(number): Snapshot(
            state=SessionState.ACTION,
            selected_intent_id=intent_id(number),
            intent=SelectedIntent(intent_id(number), IntentStatus.IN_PROGRESS, patterns_of(number)),
        )
        for number in range(intents)
    }
    asked: dict[str, ToolCall] = {}

    def ask(intent: str, path: str) -> bool:
        call = asked.get(path)
        if call is None:
            data = {"file_path": f"{REPOSITORY}/{path}", "content": "export {};\n"}
            call = asked[path] = ToolCall("Write", data, root=REPOSITORY, cwd=REPOSITORY)
        return decide(call, snapshots[intent], NOW).verdict is Verdict.ALLOW

    return ask


def ours_scope(intents: int) -> Ask:
    scopes = {intent_id(number): Scope.from_patterns(patterns_of(number)) for number in range(intents)}
    return lambda intent, path: scopes[intent].matches(path)


def cedar(intents: int) -> Ask:
    def clause(number: int) -> str:
        folders, paths = shared_scope(number)
        tests = [f'context.path like "{folder}*"' for folder in folders]
        tests += [f'context.path == "{path}"' for path in paths]
        who = f'principal == Intent::"{intent_id(number)}"'
        return f'permit({who}, action == Action::"change", resource) when {{ {" || ".join(tests)} }};'

    policies = cedarpy.PolicySet.from_str("\n".join(map(clause, range(intents))))
    entities = cedarpy.Entities.from_json_str("[]")
    workspace = {"type": "Workspace", "id": "acme"}

    def ask(intent: str, path: str) -> bool:
        request = {
            "principal": {"type": "Intent", "id": intent},
            "action": {"type": "Action", "id": "change"},
            "resource": workspace,
            "context": {"path": path},
        }
        return cedarpy.is_authorized(request, policies, entities).allowed

    return ask


def casbin_fast(intents: int) -> Ask:
    model = FastModel([0, 1])  # policies are looked up by subject and action
    model.load_model_from_text(CASBIN_MODEL)
    enforcer = casbin.FastEnforcer(model, cache_key_order=[0, 1])
    policies = enforcer.model.model["p"]["p"].policy  # add_policy() counts all of them at each one
    for number in range(intents):
        folders, paths = shared_scope(number)
        for pattern in (*(f"{folder}*" for folder in folders), *paths):
            policies.append([intent_id(number), "change", pattern])
    return lambda intent, path: enforcer.enforce(intent, "change", path)


def rego(intents: int) -> Ask:
    interpreter = regopy.Interpreter()
    scopes = {}
    for number in range(intents):
        folders, paths = shared_scope(number)
        scopes[intent_id(number)] = {"folders": folders, "paths": paths}
    interpreter.add_data({"scopes": scopes})
    interpreter.add_module("gate", REGO_MODULE)

    def ask(intent: str, path: str) -> bool:
        interpreter.set_input({"intent": intent, "path": path})
        return str(interpreter.query("data.gate.allow")) == REGO_YES  # undefined where no rule holds

    return ask


OURS = {"decide": ours_whole, "scope": ours_scope}
BARS = {"decide": 1, "scope": 10}  # times the fastest of the others
OTHERS = {"cedarpy": cedar, "casbin": casbin_fast, "regopy": rego}


def rates(intents: int, seconds: float, rounds: int) -> dict[str, float]:
    """Decisions a second of each engine: the median of rounds in which they take turns."""
    engines = {name: make(intents) for name, make in (OURS | OTHERS).items()}
    asked = questions(intents)
    answers = {name: [ask(*question) for question in asked[:40]] for name, ask in engines.items()}
    if len({tuple(each) for each in answers.values()}) != 1 or len(set(answers["decide"])) != 2:
        raise SystemExit(f"the engines do not agree: {answers}")
    measured: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(rounds):
        for name, ask in engines.items():
            measured[name].append(rate(ask, asked, seconds))
    return {name: statistics.median(figures) for name, figures in measured.items()}


def rate(ask: Ask, asked: list[tuple[str, str]], seconds: float) -> float:
    count, began = 0, time.process_time()
    while True:
        for intent, path in asked:
            ask(intent, path)
            count += 1
            if count % 10 == 0 and time.process_time() - began > seconds:
                return count / (time.process_time() - began)


def beside_others(intents: int, seconds: float, rounds: int) -> bool:
    found = rates(intents, seconds, rounds)
    for name, figure in found.items():
        report(f"core/{intents}_intents/{name}", figure, "decisions/s")
    fastest = max(found[name] for name in OTHERS)
    held = True
    for name, bar in BARS.items():
        ratio = found[name] / fastest
        label = f"core/{intents}_intents/{name}_beside_fastest"
        held &= report(label, ratio, "ratio", f">= {bar}", holds=ratio >= bar)
    return held


# --- shell analysis, many intents --------------------------------------------------------------


def commands() -> Iterator[str]:
    for name in COMMANDS:
        for case in json.loads((CASES / f"{name}.json").read_text()):
            given = case["call"]["input"]
            if isinstance(given, dict) and isinstance(given.get("command"), str):
                yield given["command"]


def shell(rounds: int) -> bool:
    """Each command by its best of several rounds: what it costs, not what else the machine does."""
    texts = list(commands())
    best = [float("inf")] * len(texts)
    for _ in range(rounds):
        for index, text in enumerate(texts):
            began = time.process_time()
            analyse(text, root=REPOSITORY)
            best[index] = min(best[index], time.process_time() - began)
    micros = sorted(seconds * 1_000_000 for seconds in best)
    median = statistics.median(micros)
    report("core/shell_p95", micros[int(len(micros) * 0.95)], "µs")
    return report("core/shell_median", median, "µs", "<= 300", holds=median <= 300)


def mixed_patterns(number: int, schema: str) -> tuple[str, ...]:
    """The scope of an intent as people write them: folders, tests, documents, a shared folder, a hole."""
    return (
        *(f"src/area{number}/mod{part}/**" for part in range(11)),
        *(f"tests/area{number}/**/test_{part}*.py" for part in range(4)),
        f"docs/area{number}/*.{{md,rst}}",
        f"config/area{number}.y?ml",
        f"src/shared{number % 50}/[a-m]*.ts",
        schema,
        f"!src/area{number}/mod0/generated/**",
    )


def many_intents(name: str, schema: str) -> bool:
    """`schema` is one of the 20 patterns; it decides over how much the intents have to do with each other."""
    forget_patterns()
    began = time.process_time()
    scopes = [Scope.from_patterns(mixed_patterns(number, schema.format(number))) for number in range(MANY)]
    compiled = time.process_time() - began
    held = report(f"core/{name}/compile_1000_intents", compiled, "s", "< 1", holds=compiled < 1)
    began = time.process_time()
    found = sum(1 for _ in find_overlaps(scopes))
    spent = time.process_time() - began
    report(f"core/{name}/overlapping_pairs", found, "pairs")
    return held & report(f"core/{name}/overlap_of_all_pairs", spent, "s", "< 10", holds=spent < 10)


def forget_patterns() -> None:
    """As in a process that has seen none of them yet."""
    for module in (scopes_module, parse, match, intersection, automaton):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def report(name: str, figure: float, unit: str, bar: str = "", *, holds: bool = True) -> bool:
    line = {"name": name, "figure": round(figure, 3), "unit": unit, "bar": bar, "holds": holds}
    print(json.dumps(line, ensure_ascii=False), flush=True)
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Short rounds.")
    options = parser.parse_args()
    logging.getLogger("casbin").setLevel(logging.ERROR)
    seconds, rounds = (0.3, 3) if options.quick else (1.5, 5)
    held = many_intents("ordinary", "migrations/area{}/*.sql")
    held &= many_intents("all_overlapping", "**/area{}_*.sql")
    held &= shell(3 if options.quick else 10)
    held &= beside_others(10, seconds, rounds)
    held &= beside_others(MANY, seconds, rounds)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
