"""Why the gate answers as it does, and how it would have answered under other rules."""
