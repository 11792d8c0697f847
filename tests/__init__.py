"""Tests. A package, so that tests can import the oracle and the strategies by their full names."""
