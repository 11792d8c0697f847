"""What a user who waits at a terminal sees."""

from __future__ import annotations

import io
import time

import pytest

from datalog import progress
from datalog.progress import Waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, patience: float) -> Terminal:
    """Called within the test: pytest puts its own standard error in place after fixtures."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    return terminal


def wait_for(text: str, terminal: Terminal) -> bool:
    end = time.monotonic() + 10
    while text not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.02)
    return text in terminal.getvalue()


def test_a_long_wait_shows_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = at_a_terminal(monkeypatch, 0.01)
    with Waiting("reading") as waiting:
        assert wait_for("reading", stderr)
        waiting.update("evaluating")
        assert wait_for("evaluating", stderr)


def test_a_short_wait_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = at_a_terminal(monkeypatch, 0.2)
    with Waiting("reading") as waiting:
        waiting.update("evaluating")
    time.sleep(0.3)
    assert stderr.getvalue() == ""


def test_a_quiet_wait_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = at_a_terminal(monkeypatch, 0.01)
    with Waiting("reading", quiet=True):
        time.sleep(0.1)
    assert stderr.getvalue() == ""


def test_a_wait_without_a_terminal_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with Waiting("reading"):
        time.sleep(0.1)
    assert file.getvalue() == ""
