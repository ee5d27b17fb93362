"""Formats in and out: agent_trace.jsonl, Agent Trace, intent_map.md, AGENT.md."""
