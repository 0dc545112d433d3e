"""Functions as searches: `hpsearch.tune`, and how a function gets to its trials."""
