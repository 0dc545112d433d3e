"""Searches of hpsearch.tune(on="inprocess"): the engine, and the trials, in the caller's process."""
