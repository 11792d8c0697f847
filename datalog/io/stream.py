"""Transaction streams: lines in, transactions and errors out, in the order in which they are complete."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, Literal

from datalog.errors import DataError, Diagnostic, StreamError
from datalog.io.staging import StagedTransaction
from datalog.io.stream_jsonl import read_jsonl
from datalog.io.stream_text import read_text
from datalog.ir.core import Predicate

__all__ = ["Format", "StagedTransaction", "open_stream", "read_transactions"]

Format = Literal["text", "jsonl"]
BYTE_ORDER_MARK = "\ufeff"


def read_transactions(
    lines: Iterable[str], format: Format, signature: Mapping[str, Predicate], file: str
) -> Iterator[StagedTransaction | StreamError]:
    """Each transaction as soon as the line that completes it has been read, and for each bad one its error.

    Errors are handed on and not raised, so that a reader that wants to go on behind a bad transaction just takes the next
    item. A stream that ends inside a transaction gives an error in the last place. Nothing is read ahead.
    """
    rows = iter(lines)
    first = next(rows, None)
    if first is None:
        return
    read = read_text if format == "text" else read_jsonl
    yield from read(chain([first.removeprefix(BYTE_ORDER_MARK)], rows), signature, file)


def open_stream(name: str) -> IO[str]:
    """A file, or standard input for `-`, as lines for `read_transactions`, which reports bytes that are no UTF-8 in place."""
    if name == "-":
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
        return sys.stdin
    try:
        return open(name, encoding="utf-8", errors="surrogateescape", newline="\n")  # noqa: PTH123 (the caller closes it)
    except OSError as error:
        raise DataError([Diagnostic(f"cannot read the stream {name}: {error.strerror}", name, 0, 0)]) from error
