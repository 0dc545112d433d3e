"""hpsearch-mcp: the tools of a daemon for coding agents, by the Model Context Protocol (docs/agents.md).

What imports the package `mcp`, the protocol's SDK, is in server.py and over_http.py.
"""
