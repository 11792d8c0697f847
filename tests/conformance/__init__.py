"""Soufflé's own integration tests, run by this engine from a checkout of Soufflé's repository that the environment names.

`suite` finds the tests, `runner` runs them in processes of their own, `judge` compares what they gave with what the checkout expects,
`stream` lets their facts come as transactions, and `python -m tests.conformance` reports. No test is treated apart from others.
"""

CHECKOUT = "SOUFFLE_SUITE"  # the environment variable that names the checkout
