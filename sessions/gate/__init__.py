"""The gate: a tool call comes in, a decision goes out. `checking` is the way through it."""
