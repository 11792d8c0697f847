"""The REPL on a terminal: line editing, history, colours, completion of names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer

from datalog import __version__
from datalog.highlight import DatalogLexer
from datalog.statements import split_statements

if TYPE_CHECKING:
    from datalog.repl import Session

BEGUN = re.compile(r"(?:^:\w*|[A-Za-z_?][\w?]*)$", re.MULTILINE)  # what a name or a command begins with, before the cursor


def talk(session: Session) -> int:
    """Read, execute, print until Ctrl-D or :quit; the exit status."""
    print(f"datalog {__version__}; :help shows what can be typed, Ctrl-D leaves")
    lines = prompt_session(session)
    while not session.over:
        try:
            text = lines.prompt("> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
        try:
            session.execute(text)
        except KeyboardInterrupt:
            print("interrupted; nothing of this has changed anything")
    if session.staged:
        print("// what waited for a commit is forgotten")
    return 0


def prompt_session(session: Session) -> PromptSession[str]:
    return PromptSession(
        history=history(),
        lexer=PygmentsLexer(DatalogLexer),
        completer=Names(session),
        complete_while_typing=False,
        multiline=True,
        key_bindings=enter_when_complete(),
        prompt_continuation="… ",
    )


def enter_when_complete() -> KeyBindings:
    """Enter hands over a text whose statements are complete, or any text by an empty line; else it begins a new line."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        text = buffer.text
        if split_statements(text)[1] == len(text) or text.endswith("\n"):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


class Names(Completer):
    """Completes the names of predicates and of commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        begun = BEGUN.search(document.text_before_cursor)
        if begun is None:
            return
        names = self._session.commands if begun[0].startswith(":") else sorted(self._session.database)
        for name in names:
            if name.startswith(begun[0]):
                yield Completion(name, start_position=-len(begun[0]))


def history() -> History:
    """Kept in the user's state directory, or for this session only where that cannot be written."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser())
    file = state / "leapfrog-datalog" / "history"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8"):
            return FileHistory(str(file))
    except OSError:
        return InMemoryHistory()
