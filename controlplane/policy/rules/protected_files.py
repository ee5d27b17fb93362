"""Files that decide what an agent may do, or what runs by itself: protected in every workspace.

A test holds this table to the files that the hook client writes for each agent (`controlplane.client`).
"""

from __future__ import annotations

# Folders that belong to an agent, with all that is in them.
AGENT_FOLDERS = (".claude", ".codex", ".gemini", ".cursor", ".roo", ".qwen")

# The files in them, and elsewhere, that decide: settings, hooks, plug-ins, MCP servers, trust.
DECIDING_FILES = (
    # Claude Code
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/**",
    ".claude/plugins/**",
    ".claude.json",
    ".claude/commands/**",
    ".claude/agents/**",
    ".claude/skills/**",
    ".mcp.json",
    # Codex
    ".codex/config.toml",
    ".codex/hooks.json",
    ".codex/hooks/**",
    ".codex/rules/**",
    ".codex/agents/**",
    ".agents/plugins/**",
    ".agents/hooks/**",
    # Gemini CLI, Qwen Code
    ".gemini/settings.json",
    ".gemini/hooks/**",
    ".gemini/commands/**",
    ".gemini/extensions/**",
    ".gemini/policies/**",
    ".gemini/trustedFolders.json",
    ".gemini/.env",
    ".qwen/settings.json",
    ".qwen/hooks/**",
    ".qwen/commands/**",
    ".qwen/extensions/**",
    ".qwen/trustedFolders.json",
    # Copilot
    ".github/hooks/**",
    ".github/mcp.json",
    ".github/agents/**",
    ".copilot/config.json",
    ".copilot/mcp-config.json",
    ".copilot/hooks/**",
    # Cursor, Windsurf
    ".cursor/hooks.json",
    ".cursor/hooks/**",
    ".cursor/mcp.json",
    ".cursor/cli.json",
    ".cursor/permissions.json",
    ".windsurf/hooks.json",
    ".windsurf/hooks/**",
    ".windsurf/mcp_config.json",
    ".windsurf/workflows/**",
    # OpenCode, Kilo
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".opencode/plugin/**",
    ".opencode/plugins/**",
    ".opencode/tool/**",
    ".opencode/tools/**",
    ".opencode/command/**",
    ".opencode/commands/**",
    ".opencode/agent/**",
    ".opencode/agents/**",
    "kilo.json",
    "kilo.jsonc",
    ".kilo/kilo.json",
    ".kilo/kilo.jsonc",
    ".kilo/plugin/**",
    ".kilo/plugins/**",
    ".kilo/tool/**",
    ".kilo/tools/**",
    ".kilocode/mcp.json",
    ".kilocodemodes",
    # Cline, Roo
    ".cline/plugins/**",
    ".cline/hooks/**",
    ".cline/data/settings/**",
    ".clinerules/hooks/**",
    ".clinerules/workflows/**",
    ".roo/mcp.json",
    ".roo/commands/**",
    ".roomodes",
    # Editors
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".vscode/extensions.json",
    ".idea/runConfigurations/**",
    ".idea/workspace.xml",
    ".zed/settings.json",
    ".zed/tasks.json",
    ".devcontainer/**",
    ".devcontainer.json",
    # What runs by itself: git's hooks and their managers, direnv
    ".git/**",
    ".husky/**",
    "lefthook.yml",
    ".lefthook.yml",
    ".envrc",
)

# This product's own files.
OWN_FILES = (".intentignore", ".orchestration/**")

ALWAYS_PROTECTED = (
    *OWN_FILES,
    *DECIDING_FILES,
    *(f"{folder}/**" for folder in AGENT_FOLDERS),
)
ANYWHERE = tuple(f"**/{pattern}" for pattern in (*DECIDING_FILES, *(f"{each}/**" for each in AGENT_FOLDERS)))
