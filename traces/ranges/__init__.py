"""Track recorded line ranges through the history of a file.

Values in, values out, except for `git_reader` and `file_history`, which read a repository.
"""
