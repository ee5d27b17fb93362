"""Contained runs: run a command over a copy-on-write view, list what it changed, land what may land.

These modules are served as one file of their own, `icp_runs.py`, which no hook call has to load.
"""
