"""The control plane as an MCP server, at /mcp."""
