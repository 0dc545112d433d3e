"""Searches on this machine: the programs, their state directory, and the daemon and worker that run for a search."""
