"""Benchmark the core in process: three policy engines on the same scopes, shell commands, many intents.

    python benchmarks/core.py [--quick]

Every engine holds the same scopes, made only of patterns that all of them express exactly (folders and whole
paths), with its own means of being fast: parsed policy sets, a cache by subject. All must give the same
answers. The others are asked "may this intent change this path?". `scope` is that question;
`decide` is a whole decision: it starts from the tool call, reads its input, finds the file, goes through
all ten steps and renders a denial, which users of another engine have to do around it. So the same question
is held to ten times the fastest of the others, and a whole decision to no less than their bare question
(docs/decisions/0004-gate.md).
Times are processor times: nobody pays for what else the machine does. Every bar is a ratio to a yardstick of
the same run: `shlex` for commands, pathspec for patterns, a comparison of texts for pairs. Prints one JSON
object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import logging
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pathspec import GitIgnoreSpec

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
MANY_INTENTS, PATTERNS_PER_INTENT = 1_000, 20  # intents, patterns of each
MAX_SHELL_RATIO = 7  # analysis of a command beside splitting it into words with shlex
MAX_OVERLAP_RATIO = 40  # paths that two scopes share, for all pairs, beside comparing their texts
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

T = TypeVar("T")
Query = Callable[[str, str], bool]  # (intent, path) -> whether it may be changed


def intent_id(number: int) -> str:
    return f"INT-{number:04}"


def build_shared_scope(number: int) -> tuple[list[str], list[str]]:
    """(folders with their slash, whole paths): what every engine can express."""
    folders = [f"src/area{number}/mod{part}/" for part in range(PATTERNS_PER_INTENT - 2)]
    return folders, [f"docs/area{number}.md", f"config/area{number}.yaml"]


def build_patterns(number: int) -> tuple[str, ...]:
    folders, paths = build_shared_scope(number)
    return (*(f"{folder}**" for folder in folders), *paths)


def build_queries(intents: int) -> list[tuple[str, str]]:
    """Return (intent, path) pairs over all intents, half of them allowed."""
    queries = []
    for step in range(200):
        number = step * 7 % intents
        paths = (
            f"src/area{number}/mod{step % (PATTERNS_PER_INTENT - 2)}/deep/file{step}.ts",
            f"docs/area{number}.md",
            f"src/area{number}/elsewhere/file{step}.ts",
            f"docs/area{number}.md/more.md",
        )
        queries.append((intent_id(number), paths[step % 4]))
    return queries


# --- the engines -------------------------------------------------------------------------------


def build_decide(intents: int) -> Query:
    snapshots = {
        intent_id(number): Snapshot(
            state=SessionState.ACTION,
            selected_intent_id=intent_id(number),
            intent=SelectedIntent(intent_id(number), IntentStatus.IN_PROGRESS, build_patterns(number)),
        )
        for number in range(intents)
    }
    calls: dict[str, ToolCall] = {}

    def ask(intent: str, path: str) -> bool:
        call = calls.get(path)
        if call is None:
            data = {"file_path": f"{REPOSITORY}/{path}", "content": "export {};\n"}
            call = calls[path] = ToolCall("Write", data, root=REPOSITORY, cwd=REPOSITORY)
        return decide(call, snapshots[intent], NOW).verdict is Verdict.ALLOW

    return ask


def build_scope(intents: int) -> Query:
    scopes = {intent_id(number): Scope.from_patterns(build_patterns(number)) for number in range(intents)}
    return lambda intent, path: scopes[intent].matches(path)


def build_cedar(intents: int) -> Query:
    def clause(number: int) -> str:
        folders, paths = build_shared_scope(number)
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


def build_casbin(intents: int) -> Query:
    model = FastModel([0, 1])  # policies are looked up by subject and action
    model.load_model_from_text(CASBIN_MODEL)
    enforcer = casbin.FastEnforcer(model, cache_key_order=[0, 1])
    policies = enforcer.model.model["p"]["p"].policy  # add_policy() counts all of them at each one
    for number in range(intents):
        folders, paths = build_shared_scope(number)
        for pattern in (*(f"{folder}*" for folder in folders), *paths):
            policies.append([intent_id(number), "change", pattern])
    return lambda intent, path: enforcer.enforce(intent, "change", path)


def build_rego(intents: int) -> Query:
    interpreter = regopy.Interpreter()
    scopes = {}
    for number in range(intents):
        folders, paths = build_shared_scope(number)
        scopes[intent_id(number)] = {"folders": folders, "paths": paths}
    interpreter.add_data({"scopes": scopes})
    interpreter.add_module("gate", REGO_MODULE)

    def ask(intent: str, path: str) -> bool:
        interpreter.set_input({"intent": intent, "path": path})
        return str(interpreter.query("data.gate.allow")) == REGO_YES  # undefined where no rule holds

    return ask


OUR_ENGINES = {"decide": build_decide, "scope": build_scope}
BARS = {"decide": 1, "scope": 10}  # times the fastest of the others
OTHER_ENGINES = {"cedarpy": build_cedar, "casbin": build_casbin, "regopy": build_rego}


def measure_rates(intents: int, seconds: float, rounds: int) -> dict[str, float]:
    """Return decisions a second of each engine: the median of rounds in which they take turns."""
    engines = {name: build(intents) for name, build in (OUR_ENGINES | OTHER_ENGINES).items()}
    queries = build_queries(intents)
    answers = {name: [ask(*question) for question in queries[:40]] for name, ask in engines.items()}
    if len({tuple(each) for each in answers.values()}) != 1 or len(set(answers["decide"])) != 2:
        raise SystemExit(f"the engines do not agree: {answers}")
    measured: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(rounds):
        for name, ask in engines.items():
            measured[name].append(measure_rate(ask, queries, seconds))
    return {name: statistics.median(figures) for name, figures in measured.items()}


def measure_rate(ask: Query, queries: list[tuple[str, str]], seconds: float) -> float:
    count, start = 0, time.process_time()
    while True:
        for intent, path in queries:
            ask(intent, path)
            count += 1
            if count % 10 == 0 and time.process_time() - start > seconds:
                return count / (time.process_time() - start)


def compare_engines(intents: int, seconds: float, rounds: int) -> bool:
    measured = measure_rates(intents, seconds, rounds)
    for name, figure in measured.items():
        report(f"core/{intents}_intents/{name}", figure, "decisions/s")
    fastest = max(measured[name] for name in OTHER_ENGINES)
    holds = True
    for name, bar in BARS.items():
        ratio = measured[name] / fastest
        label = f"core/{intents}_intents/{name}_beside_fastest"
        holds &= report(label, ratio, "ratio", f">= {bar}", holds=ratio >= bar)
    return holds


# --- shell analysis, many intents --------------------------------------------------------------


def load_commands() -> Iterator[str]:
    for name in COMMANDS:
        for case in json.loads((CASES / f"{name}.json").read_text()):
            given = case["call"]["input"]
            if isinstance(given, dict) and isinstance(given.get("command"), str):
                yield given["command"]


def split_words(text: str) -> None:
    """Split a command as the standard library does: the least that any analysis has to do."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    with contextlib.suppress(ValueError):  # an open quote, in some of the cases
        list(lexer)


def measure_commands(read: Callable[[str], object], texts: list[str], rounds: int) -> list[float]:
    """Return the microseconds of each command, its best round: the machine does other things, too."""
    best = [float("inf")] * len(texts)
    for _ in range(rounds):
        for index, text in enumerate(texts):
            start = time.process_time()
            read(text)
            best[index] = min(best[index], time.process_time() - start)
    return [seconds * 1_000_000 for seconds in best]


def measure_shell(rounds: int) -> bool:
    texts = list(load_commands())
    analysis = measure_commands(lambda text: analyse(text, root=REPOSITORY), texts, rounds)
    split = measure_commands(split_words, texts, rounds)
    report("core/shell_median", statistics.median(analysis), "µs")
    report("core/shell_p95", sorted(analysis)[int(len(texts) * 0.95)], "µs")
    ratio = statistics.median(ours / theirs for ours, theirs in zip(analysis, split, strict=True))
    bar = MAX_SHELL_RATIO
    return report("core/shell_beside_shlex", ratio, "ratio", f"<= {bar}", holds=ratio <= bar)


def build_mixed_patterns(number: int, schema: str) -> tuple[str, ...]:
    """Return a scope as people write them: folders, tests, documents, a shared folder, an exclusion."""
    return (
        *(f"src/area{number}/mod{part}/**" for part in range(11)),
        *(f"tests/area{number}/**/test_{part}*.py" for part in range(4)),
        f"docs/area{number}/*.{{md,rst}}",
        f"config/area{number}.y?ml",
        f"src/shared{number % 50}/[a-m]*.ts",
        schema,
        f"!src/area{number}/mod0/generated/**",
    )


def measure_many_intents(name: str, schema: str) -> bool:
    """`schema` is one of the 20 patterns; it decides how much the intents overlap."""
    clear_caches()
    patterns = [build_mixed_patterns(number, schema.format(number)) for number in range(MANY_INTENTS)]
    scopes, compilation = measure_time(lambda: [Scope.from_patterns(row) for row in patterns])
    _, pathspec_compilation = measure_time(lambda: [GitIgnoreSpec.from_lines(row) for row in patterns])
    ratio = compilation / pathspec_compilation
    report(f"core/{name}/compile_1000_intents", compilation, "s")
    label = f"core/{name}/compile_beside_pathspec"
    holds = report(label, ratio, "ratio", "<= 1", holds=ratio <= 1)

    pairs, search = measure_time(lambda: sum(1 for _ in find_overlaps(scopes)))
    _, loop = measure_time(lambda: count_equal_pairs(patterns))
    ratio, bar = search / loop, MAX_OVERLAP_RATIO
    report(f"core/{name}/overlapping_pairs", pairs, "pairs")
    report(f"core/{name}/overlap_of_all_pairs", search, "s")
    label = f"core/{name}/overlap_beside_equality"
    return holds & report(label, ratio, "ratio", f"<= {bar}", holds=ratio <= bar)


def measure_time(work: Callable[[], T]) -> tuple[T, float]:
    """Return what `work` returns, and its seconds of processor time."""
    start = time.process_time()
    return work(), time.process_time() - start


def count_equal_pairs(patterns: list[tuple[str, ...]]) -> int:
    """Compare all pairs by the text of their patterns alone: the least that a search of all pairs can do."""
    sets = [frozenset(row) for row in patterns]
    return sum(not one.isdisjoint(other) for one, other in itertools.combinations(sets, 2))


def clear_caches() -> None:
    """Start as a process does that has seen no pattern yet."""
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
    holds = measure_many_intents("ordinary", "migrations/area{}/*.sql")
    holds &= measure_many_intents("all_overlapping", "**/area{}_*.sql")
    holds &= measure_shell(3 if options.quick else 10)
    holds &= compare_engines(10, seconds, rounds)
    holds &= compare_engines(MANY_INTENTS, seconds, rounds)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
