"""The table of commands by kind and effect (contract 7), and its one evaluator.

What a row does not list is no kind: the command asks by itself. So a program that learns a new option stays
safe, and a grant of a kind never covers an option that writes elsewhere or runs another program.
"""
