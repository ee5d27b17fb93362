"""The table of commands: what each option and operand of a program stands for, as data (`*.toml`).

What a row does not list is not known, and asks. So a program that learns a new option stays safe, and a grant
of a kind never covers an option that writes elsewhere or runs another program.
"""
