"""What codes stand for: words with and without a sign, and floats. See `datalog/store/values.py`."""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import device

LOWEST = -(2**63)
HIGHEST = 2**63 - 1
SIGN_REST = 2**63 - 1  # all bits but the sign


@device
def word_of(value: np.int64 | int) -> np.uint64:
    return np.int64(value).view(np.uint64)


@device
def number_of(word: np.uint64) -> np.int64:
    return np.uint64(word).view(np.int64)


@device
def float_of(code: np.int64) -> np.float64:
    """Codes of floats are their bits, mapped so that integer order is float order."""
    if code < 0:
        code = code ^ SIGN_REST
    return np.int64(code).view(np.float64)


@device
def code_of(value: np.float64 | float) -> np.int64:
    if value != value:
        return np.int64(0x7FF8000000000000)  # the one NaN
    if value == 0.0:
        return np.int64(0)  # -0.0 = 0.0
    bits = np.float64(value).view(np.int64)
    if bits < 0:
        bits = bits ^ SIGN_REST
    return bits


@device
def magnitude_of(value: np.int64) -> np.uint64:
    return np.uint64(0) - word_of(value) if value < 0 else word_of(value)
