"""Mutation testing of the decision core: small faults are put into a copy, and the tests must notice each.

    python -m tests.mutate [--sample N] [PATTERN …]     (make mutate SAMPLE=1500 MODULES="controlplane.policy.globs.parse*")

mutmut writes the faulty versions (all of them into one copy, one of them switched on at a time). How they are judged is
our own, since starting pytest for each took seconds: the tests are collected once and every mutant gets a fork
of that process, where only those tests run that reach the function, those first that killed its neighbours.
"""
