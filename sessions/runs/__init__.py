"""Contained runs: the terms of a run, the judgement of what it changed, and what waits for a person."""
