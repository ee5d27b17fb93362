"""Grants that are wider than one call: kinds of commands, plans, a word about an MCP tool."""
