"""What a waiting user sees on a terminal: a line on standard error once something has taken more than two seconds."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 2.0  # seconds


class Waiting:
    """Within a `with`, shows `text` and a spinner after a while; a timer's thread draws it, because kernels free the GIL."""

    def __init__(self, text: str, quiet: bool = False) -> None:
        self._text, self._lock, self._over = text, Lock(), False
        self._status: Status | None = None
        self._timer = Timer(PATIENCE, self._show) if sys.stderr.isatty() and not quiet else None

    def update(self, text: str) -> None:
        """Show another text from now on."""
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(text)

    def __enter__(self) -> Waiting:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._over = True
            if self._timer is not None:
                self._timer.cancel()
            if self._status is not None:
                self._status.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._over:
                self._status = Status(self._text, console=Console(file=sys.stderr))
                self._status.start()
