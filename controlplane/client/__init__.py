"""The program that runs on the machines of agents. It imports nothing of the server."""
