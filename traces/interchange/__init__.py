"""Import and export traces: agent_trace.jsonl, Agent Trace, git-ai notes, intent_map.md."""
