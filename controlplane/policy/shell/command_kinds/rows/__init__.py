"""The rows of the table of commands, a family a file; `command_kinds.row` says how a line is read."""
