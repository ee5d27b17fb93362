"""The signing key over time: its files, its changes, its rotation."""
