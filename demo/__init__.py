"""The example workspace: its intents, its repository, and the scripted agent that works in it."""
