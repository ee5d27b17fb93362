"""Scripts for the machines of agents, shown on the Connect page. They import nothing of the server."""
