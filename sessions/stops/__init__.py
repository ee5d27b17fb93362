"""Stop everything of a workspace, an agent or a session at once, and start it again."""
