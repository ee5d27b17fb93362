"""Which tools of MCP servers only read: what servers list, what admins say."""
