"""Other engines on the same work: ten workloads from fixed seeds, every engine's answer checked against one count, side by side.

`suite.py` runs each engine in a process of its own (`__main__.py`), in turn with ours, and reports. `workloads.py` says what there is to
do, `data.py` makes the facts, `truth.py` knows the answers, and `engines/` has a module for each engine.

Only `suite.py` and the modules that it needs import this project's own package or its dependencies: a peer may live in another Python.
"""
