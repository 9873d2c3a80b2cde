"""Tools for tests: servers, clocks, harness, store conformance."""
