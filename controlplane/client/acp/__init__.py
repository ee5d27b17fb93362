"""`icp.py acp -- AGENT …`: stand between an editor and an agent of the Agent Client Protocol."""
