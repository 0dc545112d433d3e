"""The client of a daemon: `hpsearch.Client` and what it returns."""
